//! From a seed to a sequence of steps. The generator follows only which slots are probably in use; what really happened
//! is known when the steps run.

use fulgurite_testkit::Random;

use crate::constants::*;
use crate::profile::{Database, EMPTY, HUGE, OTHER_SIZE, Profile, SEQUENCE, TOO_LONG, ValueKind};
use crate::step::{BadOpen, CURSORS, Missing, NullCall, READERS, Step, TXNS, Value, WRITERS};

/// The profile and the steps of a seed.
pub(crate) fn plan(seed: u64) -> (Profile, Vec<Step>) {
    let mut random = Random::new(seed ^ 0x6c6d_6462);
    let profile = Profile::new(&mut random);
    let calls = random.between(200, 400);
    let mut planner = Planner {
        nested: random.chance(50),
        cursor_share: *random.pick(&[30, 45, 60]),
        random,
        profile: &profile,
        steps: Vec::new(),
        depth: 0,
        readers: [false; READERS],
        cursors: [None; CURSORS],
        sequence: SEQUENCE,
    };
    planner.opening();
    for _ in 0..calls {
        planner.next();
    }
    let steps = planner.steps;
    (profile, steps)
}

struct Planner<'p> {
    random: Random,
    profile: &'p Profile,
    steps: Vec<Step>,
    nested: bool,
    /// Percentage of steps that go through a cursor.
    cursor_share: usize,
    /// How many writers are stacked.
    depth: usize,
    readers: [bool; READERS],
    /// Transaction and database of each open cursor.
    cursors: [Option<(usize, usize)>; CURSORS],
    /// The next id in ascending order.
    sequence: u32,
}

impl Planner<'_> {
    /// Most seeds begin, and go on after a reopen, with all databases open.
    fn opening(&mut self) {
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

    fn next(&mut self) {
        if self.depth == 0 && self.random.chance(60) {
            return self.begin_writer();
        }
        match self.random.below(1000) {
            0..=69 => self.transaction_step(),
            70..=94 => self.database_step(),
            95..=109 => self.environment_step(),
            110..=114 => self.reopen(),
            115..=134 => self.bulk(),
            135..=139 => {
                let call = *self.random.pick(&[
                    NullCall::Environment,
                    NullCall::Transaction,
                    NullCall::Cursor,
                ]);
                let db = self.db();
                self.steps.push(Step::Null { call, db });
            }
            _ if self.random.chance(self.cursor_share) => self.cursor_step(),
            _ => self.item_step(),
        }
    }

    fn begin_writer(&mut self) {
        self.steps.push(Step::Begin {
            txn: 0,
            read_child: false,
        });
        self.depth = 1;
    }

    /// Ends the deepest writer and forgets its cursors.
    fn end_writer(&mut self, commit: bool) {
        let Some(txn) = self.depth.checked_sub(1) else {
            return;
        };
        self.end_writer_at(txn, commit);
    }

    fn end_writer_at(&mut self, txn: usize, commit: bool) {
        self.steps.push(Step::End { txn, commit });
        self.depth = txn;
        for cursor in &mut self.cursors {
            if cursor.is_some_and(|(of, _)| of >= txn && of < WRITERS) {
                *cursor = None;
            }
        }
    }

    fn transaction_step(&mut self) {
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

    fn renew_cursors(&mut self, txn: usize) {
        for cursor in 0..CURSORS {
            if self.cursors[cursor].is_some_and(|(of, _)| of >= WRITERS) && self.random.chance(80) {
                self.steps.push(Step::CursorRenew { cursor, txn });
                self.cursors[cursor] = self.cursors[cursor].map(|(_, db)| (txn, db));
            }
        }
    }

    /// Ends all transactions, so that what only works without any can be tried.
    fn end_all(&mut self) {
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

    fn database_step(&mut self) {
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

    fn environment_step(&mut self) {
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

    fn reopen(&mut self) {
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

    /// Many puts or deletes in a row: the tree must split, grow and shrink.
    fn bulk(&mut self) {
        let (txn, db) = (self.writer(), self.db());
        let spec = self.profile.databases[db].clone();
        let count = *self.random.pick(&[20, 60, 200]);
        let cursor = self.cursor_on(txn, db);
        match self.random.below(8) {
            0 | 1 => self.bulk_keys(txn, db, &spec, count),
            2 | 3 if spec.has_duplicates() => self.bulk_duplicates(txn, db, &spec, count),
            4 if spec.fixed_size().is_some() => {
                let key = self.key(&spec);
                let (first, flags) = self.run_of_values();
                self.steps.push(Step::CursorPutMany {
                    cursor,
                    key,
                    first,
                    count,
                    flags,
                });
            }
            5 => {
                // A run of deletes through one cursor, from somewhere.
                let key = self.key(&spec);
                let value = self.value(&spec);
                let op = *self.random.pick(&[SET_RANGE, FIRST, LAST]);
                self.steps.push(Step::CursorGet {
                    cursor,
                    op,
                    key,
                    value,
                    missing: Missing::Nothing,
                });
                let then = *self
                    .random
                    .pick(&[NEXT, PREV, GET_CURRENT, NEXT_DUP, FIRST]);
                let flags = if self.random.chance(15) { NODUPDATA } else { 0 };
                for _ in 0..count / 4 {
                    self.steps.push(Step::CursorDel { cursor, flags });
                    self.steps.push(Step::CursorGet {
                        cursor,
                        op: then,
                        key,
                        value,
                        missing: Missing::Nothing,
                    });
                }
            }
            6 => {
                // Most of what was loaded in order goes again.
                let from = self.sequence.saturating_sub(count).max(SEQUENCE);
                for id in from..self.sequence {
                    if self.random.chance(90) {
                        self.steps.push(Step::Del {
                            txn,
                            db,
                            key: id,
                            value: None,
                            no_key: false,
                        });
                    }
                }
            }
            _ => {
                let op = *self
                    .random
                    .pick(&[NEXT, PREV, NEXT_NODUP, PREV_NODUP, NEXT_MULTIPLE]);
                let txn = self.txn();
                self.steps.push(Step::Walk { txn, db, op });
            }
        }
    }

    fn bulk_keys(&mut self, txn: usize, db: usize, spec: &Database, count: u32) {
        let append = if self.random.chance(40) { APPEND } else { 0 };
        let len = *self.random.pick(&[10, 10, 100, 700, 2100]);
        let ascending = self.random.chance(60);
        for i in 0..count {
            let key = if ascending || append != 0 {
                self.sequence += 1;
                self.sequence
            } else {
                SEQUENCE + self.random.below(4000) as u32
            };
            let value = Value {
                id: i % spec.value_pool,
                len,
            };
            self.steps.push(Step::Put {
                txn,
                db,
                key,
                value,
                flags: append,
                missing: Missing::Nothing,
            });
        }
    }

    fn bulk_duplicates(&mut self, txn: usize, db: usize, spec: &Database, count: u32) {
        let key = self.key(spec);
        let (first, flags) = self.run_of_values();
        let ascending = self.random.chance(60);
        for i in 0..count {
            let id = if ascending {
                first + i
            } else {
                first + self.random.below(2000) as u32
            };
            let value = Value { id, len: 0 };
            let flags = flags & (APPENDDUP | NODUPDATA);
            self.steps.push(Step::Put {
                txn,
                db,
                key,
                value,
                flags,
                missing: Missing::Nothing,
            });
        }
    }

    /// The first id of a run of ascending values, and flags to store it with.
    fn run_of_values(&mut self) -> (u32, u32) {
        let first = if self.random.chance(30) {
            self.random.below(20) as u32
        } else {
            SEQUENCE + self.random.below(300) as u32
        };
        (first, *self.random.pick(&[0, 0, 0, APPENDDUP, NODUPDATA]))
    }

    fn item_step(&mut self) {
        let db = self.db();
        let spec = self.profile.databases[db].clone();
        let key = self.key(&spec);
        let missing = self.missing();
        let step = match self.random.below(100) {
            0..=29 => Step::Get {
                txn: self.txn(),
                db,
                key,
                missing,
            },
            30..=74 => {
                let flags = self.put_flags(&spec);
                let value = self.value(&spec);
                Step::Put {
                    txn: self.writing(),
                    db,
                    key,
                    value,
                    flags,
                    missing,
                }
            }
            75..=94 => {
                let value = self.random.chance(60).then(|| self.value(&spec));
                let no_key = matches!(missing, Missing::Key | Missing::Both);
                Step::Del {
                    txn: self.writing(),
                    db,
                    key,
                    value,
                    no_key,
                }
            }
            _ => {
                let values = self.random.chance(50);
                let pool = if values {
                    spec.value_pool
                } else {
                    spec.key_pool
                };
                let a = self.random.below(pool as usize) as u32;
                let b = self.random.below(pool as usize) as u32;
                Step::Compare {
                    txn: self.txn(),
                    db,
                    a,
                    b,
                    values,
                }
            }
        };
        self.steps.push(step);
    }

    fn cursor_step(&mut self) {
        let cursor = self.random.below(CURSORS);
        let Some((txn, db)) = self.cursors[cursor] else {
            let (txn, db) = (self.txn(), self.db());
            self.open_cursor(cursor, txn, db);
            return;
        };
        let spec = self.profile.databases[db].clone();
        let (key, value) = (self.key(&spec), self.value(&spec));
        let missing = self.missing();
        let changes = txn < WRITERS || self.random.chance(5);
        let step = match self.random.below(100) {
            0..=2 => {
                self.cursors[cursor] = None;
                Step::CursorClose { cursor }
            }
            3 => Step::CursorRenew {
                cursor,
                txn: self.txn(),
            },
            4..=8 => Step::CursorCount { cursor },
            9..=26 if changes => {
                let flags = self.put_flags(&spec);
                Step::CursorPut {
                    cursor,
                    key,
                    value,
                    flags,
                    missing,
                }
            }
            27..=34 if changes => Step::CursorPutCurrent {
                cursor,
                value,
                flags: *self.random.pick(&[0, 0, 0, RESERVE]),
                same_size: self.random.chance(40),
            },
            35..=38 if changes && spec.has_duplicates() => {
                let (first, flags) = self.run_of_values();
                let count = self.random.below(12) as u32;
                Step::CursorPutMany {
                    cursor,
                    key,
                    first,
                    count,
                    flags,
                }
            }
            39..=54 if changes => {
                let flags = *self.random.pick(&[0, 0, 0, 0, NODUPDATA, 1]);
                Step::CursorDel { cursor, flags }
            }
            _ => {
                let op = self.op(&spec);
                Step::CursorGet {
                    cursor,
                    op,
                    key,
                    value,
                    missing,
                }
            }
        };
        self.steps.push(step);
    }

    fn open_cursor(&mut self, cursor: usize, txn: usize, db: usize) {
        self.steps.push(Step::CursorOpen { cursor, txn, db });
        self.cursors[cursor] = Some((txn, db));
    }

    /// A cursor of this transaction on this database, opened if there is none.
    fn cursor_on(&mut self, txn: usize, db: usize) -> usize {
        if let Some(found) = self.cursors.iter().position(|c| *c == Some((txn, db))) {
            return found;
        }
        let cursor = self.random.below(CURSORS);
        if self.cursors[cursor].is_some() {
            self.steps.push(Step::CursorClose { cursor });
        }
        self.open_cursor(cursor, txn, db);
        cursor
    }

    fn op(&mut self, spec: &Database) -> u32 {
        const PLAIN: [u32; 14] = [
            FIRST,
            GET_CURRENT,
            GET_CURRENT,
            LAST,
            NEXT,
            NEXT,
            NEXT_NODUP,
            PREV,
            PREV,
            PREV_NODUP,
            SET,
            SET_KEY,
            SET_RANGE,
            SET_RANGE,
        ];
        const DUPLICATES: [u32; 9] = [
            FIRST_DUP,
            LAST_DUP,
            NEXT_DUP,
            NEXT_DUP,
            PREV_DUP,
            PREV_DUP,
            GET_BOTH,
            GET_BOTH_RANGE,
            GET_BOTH_RANGE,
        ];
        const BLOCKS: [u32; 3] = [GET_MULTIPLE, NEXT_MULTIPLE, PREV_MULTIPLE];
        let odd = !spec.has_duplicates() && self.random.chance(8);
        match self.random.below(100) {
            0 => *self.random.pick(&[19, 77, 0x8000_0000]),
            1..=35 if spec.has_duplicates() || odd => *self.random.pick(&DUPLICATES),
            36..=50 if spec.fixed_size().is_some() || odd => *self.random.pick(&BLOCKS),
            _ => *self.random.pick(&PLAIN),
        }
    }

    fn put_flags(&mut self, spec: &Database) -> u32 {
        let flags = match self.random.below(100) {
            0..=54 => 0,
            55..=66 => NOOVERWRITE,
            67..=76 => NODUPDATA,
            77..=80 => APPEND,
            81..=88 => APPENDDUP,
            89 => NOOVERWRITE | NODUPDATA,
            90 => APPEND | NOOVERWRITE,
            91 => APPEND | APPENDDUP,
            92 => *self.random.pick(&[CURRENT, MULTIPLE, 1]),
            _ => 0,
        };
        if !spec.has_duplicates() && self.random.chance(12) {
            flags | RESERVE
        } else {
            flags
        }
    }

    fn key(&mut self, spec: &Database) -> u32 {
        match self.random.below(100) {
            0 => *self.random.pick(&[EMPTY, TOO_LONG]),
            1..=9 => SEQUENCE + self.random.below((self.sequence - SEQUENCE) as usize + 2) as u32,
            _ => self.random.below(spec.key_pool as usize) as u32,
        }
    }

    fn value(&mut self, spec: &Database) -> Value {
        let len = match self.random.below(100) {
            0..=4 => 0,
            5..=54 => self.random.between(1, 30),
            55..=74 => self.random.between(31, 600),
            75..=84 => self.random.between(1900, 2100),
            85..=89 => self.random.between(3900, 4200),
            _ => self.random.between(601, 10_000),
        };
        let id = match (self.random.below(600), spec.values) {
            (0, _) => HUGE,
            (1..=6, ValueKind::Bytes | ValueKind::Fixed(_) | ValueKind::Integer(_)) => {
                *self.random.pick(&[EMPTY, TOO_LONG])
            }
            (7..=15, ValueKind::Fixed(_)) => OTHER_SIZE,
            (16..=60, _) => SEQUENCE + self.random.below(300) as u32,
            _ => self.random.below(spec.value_pool as usize) as u32,
        };
        Value {
            id,
            len: len as u32,
        }
    }

    fn missing(&mut self) -> Missing {
        if self.random.chance(97) {
            return Missing::Nothing;
        }
        *self
            .random
            .pick(&[Missing::Key, Missing::Data, Missing::Both])
    }

    /// Small numbers of databases are used most by chance; the main one beside named ones rarely.
    fn db(&mut self) -> usize {
        let count = self.profile.databases.len();
        if count > 1 && self.random.chance(90) {
            1 + self.random.below(count - 1)
        } else {
            0
        }
    }

    /// The deepest writer, open or not.
    fn writer(&self) -> usize {
        self.depth.saturating_sub(1)
    }

    /// Where a change is tried: mostly the deepest writer, sometimes a blocked parent or a reader.
    fn writing(&mut self) -> usize {
        if self.random.chance(96) {
            self.writer()
        } else {
            self.random.below(TXNS)
        }
    }

    /// Any transaction, mostly one that is open.
    fn txn(&mut self) -> usize {
        match self.random.below(100) {
            0..=2 => self.random.below(TXNS),
            3..=29 => {
                let open: Vec<usize> = (0..READERS).filter(|&r| self.readers[r]).collect();
                if open.is_empty() {
                    self.writer()
                } else {
                    WRITERS + *self.random.pick(&open)
                }
            }
            _ => self.writer(),
        }
    }
}
