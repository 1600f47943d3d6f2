//! Many puts or deletes in a row: the tree must split, grow and shrink.

use super::Planner;
use crate::constants::*;
use crate::profile::{Database, SEQUENCE};
use crate::step::{NullArgument, Step, Value};

impl Planner<'_> {
    /// Many puts or deletes in a row: the tree must split, grow and shrink.
    pub(super) fn bulk(&mut self) {
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
                    missing: NullArgument::None,
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
                        missing: NullArgument::None,
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

    pub(super) fn bulk_keys(&mut self, txn: usize, db: usize, spec: &Database, count: u32) {
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
                missing: NullArgument::None,
            });
        }
    }

    pub(super) fn bulk_duplicates(&mut self, txn: usize, db: usize, spec: &Database, count: u32) {
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
                missing: NullArgument::None,
            });
        }
    }

    /// The first id of a run of ascending values, and flags to store it with.
    pub(super) fn run_of_values(&mut self) -> (u32, u32) {
        let first = if self.random.chance(30) {
            self.random.below(20) as u32
        } else {
            SEQUENCE + self.random.below(300) as u32
        };
        (first, *self.random.pick(&[0, 0, 0, APPENDDUP, NODUPDATA]))
    }
}
