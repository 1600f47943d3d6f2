//! Steps on items, by key and through cursors.

use super::Planner;
use crate::constants::*;
use crate::profile::Database;
use crate::step::{CURSORS, NullArgument, Step, WRITERS};

impl Planner<'_> {
    pub(super) fn item_step(&mut self) {
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
                let no_key = matches!(missing, NullArgument::Key | NullArgument::Both);
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

    pub(super) fn cursor_step(&mut self) {
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

    pub(super) fn open_cursor(&mut self, cursor: usize, txn: usize, db: usize) {
        self.steps.push(Step::CursorOpen { cursor, txn, db });
        self.cursors[cursor] = Some((txn, db));
    }

    /// A cursor of this transaction on this database, opened if there is none.
    pub(super) fn cursor_on(&mut self, txn: usize, db: usize) -> usize {
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

    pub(super) fn op(&mut self, spec: &Database) -> u32 {
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

    pub(super) fn put_flags(&mut self, spec: &Database) -> u32 {
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
}
