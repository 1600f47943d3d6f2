//! Steps on transactions, databases and the environment.

use super::Planner;
use crate::constants::*;
use crate::step::{BadOpen, CURSORS, READERS, Step, WRITERS};

impl Planner<'_> {
    /// Most seeds begin, and go on after a reopen, with all databases open.
    pub(super) fn opening(&mut self) {
        self.depth = 0;
        self.readers = [false; READERS];
        self.cursors = [None; CURSORS];
        self.begin_writer();
        for db in 0..self.profile.databases.len() {
            if db == 0 || self.random.chance(85) {
                self.steps.push(Step::Open {
                    txn: 0,
                    db,
                    create: true,
                    flags: None,
                });
            }
        }
        if self.random.chance(70) {
            self.end_writer(true);
        }
    }

    pub(super) fn begin_writer(&mut self) {
        self.steps.push(Step::Begin {
            txn: 0,
            read_child: false,
        });
        self.depth = 1;
    }

    /// Ends the deepest writer and forgets its cursors.
    pub(super) fn end_writer(&mut self, commit: bool) {
        let Some(txn) = self.depth.checked_sub(1) else {
            return;
        };
        self.end_writer_at(txn, commit);
    }

    pub(super) fn end_writer_at(&mut self, txn: usize, commit: bool) {
        self.steps.push(Step::End { txn, commit });
        self.depth = txn;
        for cursor in &mut self.cursors {
            if cursor.is_some_and(|(of, _)| of >= txn && of < WRITERS) {
                *cursor = None;
            }
        }
    }

    pub(super) fn transaction_step(&mut self) {
        let reader = WRITERS + self.random.below(READERS);
        match self.random.below(100) {
            0..=24 => {
                let commit = self.random.chance(70);
                self.end_writer(commit);
            }
            25..=27 if self.depth > 1 => {
                // Ending a parent ends its children first.
                let txn = self.random.below(self.depth);
                let commit = self.random.chance(60);
                self.end_writer_at(txn, commit);
            }
            25..=54 if self.nested && (1..WRITERS).contains(&self.depth) => {
                self.steps.push(Step::Begin {
                    txn: self.depth,
                    read_child: false,
                });
                self.depth += 1;
            }
            55..=57 if (1..WRITERS).contains(&self.depth) => {
                self.steps.push(Step::Begin {
                    txn: self.depth,
                    read_child: true,
                });
            }
            58..=69 => {
                self.steps.push(Step::Reset { txn: reader });
                if self.random.chance(70) {
                    self.steps.push(Step::Renew { txn: reader });
                    self.renew_cursors(reader);
                }
            }
            70..=75 => {
                let txn = self.txn();
                self.steps.push(
                    *self
                        .random
                        .clone()
                        .pick(&[Step::Reset { txn }, Step::Renew { txn }]),
                );
            }
            _ if self.readers[reader - WRITERS] => {
                let commit = self.random.chance(50);
                self.steps.push(Step::End {
                    txn: reader,
                    commit,
                });
                self.readers[reader - WRITERS] = false;
            }
            _ => {
                self.steps.push(Step::Begin {
                    txn: reader,
                    read_child: false,
                });
                self.readers[reader - WRITERS] = true;
                self.renew_cursors(reader);
            }
        }
    }

    pub(super) fn renew_cursors(&mut self, txn: usize) {
        for cursor in 0..CURSORS {
            if self.cursors[cursor].is_some_and(|(of, _)| of >= WRITERS) && self.random.chance(80) {
                self.steps.push(Step::CursorRenew { cursor, txn });
                self.cursors[cursor] = self.cursors[cursor].map(|(_, db)| (txn, db));
            }
        }
    }

    /// Ends all transactions, so that what only works without any can be tried.
    pub(super) fn end_all(&mut self) {
        if self.depth > 0 {
            self.end_writer_at(0, true);
        }
        for reader in 0..READERS {
            if std::mem::take(&mut self.readers[reader]) {
                let txn = WRITERS + reader;
                self.steps.push(Step::End { txn, commit: true });
            }
        }
        for cursor in 0..CURSORS {
            if self.cursors[cursor].take().is_some() {
                self.steps.push(Step::CursorClose { cursor });
            }
        }
    }

    pub(super) fn database_step(&mut self) {
        let (txn, db) = (self.txn(), self.db());
        let step = match self.random.below(100) {
            0..=24 => Step::Open {
                txn,
                db,
                create: self.random.chance(70),
                flags: None,
            },
            25..=34 => {
                let flags =
                    *self
                        .random
                        .pick(&[0, DUPSORT, REVERSEKEY, INTEGERKEY, DUPSORT | DUPFIXED]);
                Step::Open {
                    txn,
                    db,
                    create: self.random.chance(50),
                    flags: Some(flags),
                }
            }
            35..=49 => {
                let key = self.random.below(6) as u32;
                let how = *self.random.pick(&[
                    BadOpen::Unknown,
                    BadOpen::UnknownCreate,
                    BadOpen::EmptyName,
                    BadOpen::LongName,
                    BadOpen::UnknownFlag,
                    BadOpen::PlainRecord(key),
                ]);
                Step::BadOpen { txn, how }
            }
            50..=54 => Step::CloseDb { db },
            55..=74 => {
                let del = *self.random.pick(&[0, 0, 0, 1, 1, 2, -1]);
                Step::Drop { txn, db, del }
            }
            _ => Step::Facts { txn, db },
        };
        if matches!(step, Step::CloseDb { .. }) && self.random.chance(60) {
            self.end_all();
        }
        self.steps.push(step);
        if matches!(step, Step::Drop { del: 1, .. } | Step::CloseDb { .. })
            && self.random.chance(80)
        {
            let txn = self.writer();
            self.steps.push(Step::Open {
                txn,
                db,
                create: true,
                flags: None,
            });
        }
    }

    pub(super) fn environment_step(&mut self) {
        let step = match self.random.below(100) {
            0..=44 => Step::EnvFacts,
            45..=64 => Step::EnvFlags {
                flags: *self
                    .random
                    .pick(&[NOSYNC, NOMETASYNC, MAPASYNC, NOMEMINIT, NOTLS, WRITEMAP, 0]),
                on: self.random.chance(50),
            },
            65..=79 => Step::MapSize {
                grow: *self.random.pick(&[0, 4096, 1 << 20, 12_345]),
            },
            80..=94 => Step::Sync {
                force: self.random.chance(30),
            },
            _ => Step::ErrorText {
                code: *self.random.pick(&[
                    0, 2, 13, 22, -1, -30799, -30798, -30795, -30792, -30785, -30782, -30780,
                    -30779,
                ]),
            },
        };
        if matches!(step, Step::MapSize { .. }) && self.random.chance(60) {
            self.end_all();
        }
        self.steps.push(step);
    }

    pub(super) fn reopen(&mut self) {
        let flip = if self.random.chance(50) {
            0
        } else {
            *self.random.pick(&[WRITEMAP, NOTLS, NORDAHEAD, NOMETASYNC])
        };
        self.steps.push(Step::Reopen {
            swap: self.random.chance(60),
            flip,
        });
        self.opening();
    }
}
