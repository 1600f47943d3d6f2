//! Cursors near a change, and which of them the reference itself adjusts.
//!
//! In the reference, a cursor on a key with one value misses the duplicates that another cursor
//! adds. The reference then deletes too much, or crashes. Such cursors are only used again after
//! they were placed anew.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{PositionState, Runner, name};
use crate::compare::{Difference, Outcome};
use crate::constants::*;
use crate::step::{CURSORS, WRITERS};

/// A key as cursors remember it.
pub(crate) fn mark(key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

impl Runner<'_> {
    /// Writing cursors on a database, but for one.
    fn neighbours(&self, db: usize, except: Option<usize>) -> Vec<usize> {
        (0..CURSORS)
            .filter(|&cursor| Some(cursor) != except)
            .filter(|&cursor| {
                self.cursor(cursor).is_some_and(|known| {
                    known.db == db && known.txn.is_some_and(|txn| txn < WRITERS)
                })
            })
            .collect()
    }

    /// Updates the cursors near an insertion under `key`. Asked before it is made.
    pub(crate) fn left_behind(
        &mut self,
        txn: usize,
        db: usize,
        key: &[u8],
        by: Option<usize>,
    ) -> Result<Vec<(usize, PositionState)>, Difference> {
        let mut left = Vec::new();
        if txn >= WRITERS {
            return Ok(left);
        }
        let duplicates = self.spec(db).has_duplicates();
        for cursor in self.neighbours(db, by) {
            let Some(known) = self.cursor(cursor) else {
                continue;
            };
            // A cursor at the end stays there if it is on the last node of a page. An insertion may
            // split the page behind it.
            if known.place == PositionState::PastEnd || known.at_end && !duplicates {
                left.push((cursor, PositionState::Unknown));
            }
            if !duplicates || known.key.is_some_and(|k| k != mark(key)) {
                continue;
            }
            let place = match known.place {
                PositionState::Exact
                    if !known.after_delete && self.usable_cursor(cursor).is_some() =>
                {
                    let count = self.count(cursor)?;
                    match count.value("count") {
                        Some(1) => PositionState::Unknown,
                        Some(_) => PositionState::Stale,
                        None => PositionState::Exact,
                    }
                }
                _ => PositionState::Unknown,
            };
            left.push((cursor, place));
        }
        Ok(left)
    }

    /// Sets what [`Self::left_behind`] found, after the insertion succeeded. The reference may
    /// convert the only value of a key even if it then refuses to append another.
    pub(crate) fn leave_behind(
        &mut self,
        cursors: Vec<(usize, PositionState)>,
        flags: u32,
        outcome: &Outcome,
    ) {
        let converted = outcome.code == KEYEXIST && flags & APPENDDUP != 0;
        if outcome.code == 0 || converted || outcome.value("stored").is_some_and(|n| n > 0) {
            for (cursor, place) in cursors {
                self.place(cursor, place);
            }
        }
    }

    /// After a deletion: cursors on the key may be on another one now, or have lost duplicates.
    pub(crate) fn deleted(
        &mut self,
        txn: usize,
        db: usize,
        by: Option<usize>,
        outcome: &Outcome,
    ) -> Result<(), Difference> {
        if outcome.code != 0 {
            return Ok(());
        }
        self.emptied_by_child(txn, db)?;
        if let Some(cursor) = by {
            self.key_at(cursor, None);
            self.after_delete(cursor, true);
            self.just_deleted(cursor, true);
            if self.cursor(cursor).is_some_and(|c| c.stored_after_miss) {
                self.place(cursor, PositionState::Unknown);
            }
        }
        let duplicates = self.spec(db).has_duplicates();
        for cursor in self.neighbours(db, by) {
            self.key_at(cursor, None);
            self.after_delete(cursor, true);
            if self.cursor(cursor).is_some_and(|c| c.at_end) {
                // In the reference it is at the end still, even if it is not.
                self.place(cursor, PositionState::Unknown);
            }
            let known = self.cursor(cursor).map(|c| c.place);
            if duplicates && matches!(known, Some(PositionState::Exact | PositionState::Stale)) {
                self.place(cursor, PositionState::Unsettled);
            }
        }
        Ok(())
    }

    /// A child that empties the database changes the cursors of its parent, even if it is aborted.
    fn emptied_by_child(&mut self, txn: usize, db: usize) -> Result<(), Difference> {
        let of_parents: Vec<usize> = self
            .neighbours(db, None)
            .into_iter()
            .filter(|&cursor| self.cursor(cursor).is_some_and(|c| c.txn < Some(txn)))
            .collect();
        let Some(dbi) = self.dbi(txn, db).filter(|_| !of_parents.is_empty()) else {
            return Ok(());
        };
        let arguments = format!("{} {}", name(txn), self.db_name(db));
        let stat = self.both("mdb_stat", &arguments, |s| s.api.stat(s.txns[txn], dbi))?;
        if stat.value("entries") == Some(0) {
            for cursor in of_parents {
                self.place(cursor, PositionState::Unknown);
            }
        }
        Ok(())
    }

    /// After a cursor operation that did not miss: remembers where the cursor is.
    pub(crate) fn moved(&mut self, cursor: usize, op: u32, key: &[u8], outcome: &Outcome) {
        let Some(known) = self.cursor(cursor) else {
            return;
        };
        if outcome.code == 0 {
            self.after_delete(cursor, false);
        }
        let key = match (outcome.code, op) {
            (0, SET | SET_KEY | GET_BOTH | GET_BOTH_RANGE) => Some(mark(key)),
            (0, _) => outcome.bytes("key").map(mark),
            (NOTFOUND, SET_RANGE) => {
                self.place(cursor, PositionState::PastEnd);
                return self.key_at(cursor, None);
            }
            // A further step fails too, and the cursor stays.
            (NOTFOUND, _) => return,
            _ => return,
        };
        let placed = matches!(
            op,
            FIRST | LAST | SET | SET_KEY | SET_RANGE | GET_BOTH | GET_BOTH_RANGE
        );
        // A step back to a key with one value keeps in the reference which duplicate was current.
        let keeps_duplicate = known.place == PositionState::Unsettled && op == PREV_NODUP;
        let other_key =
            key.is_some() && known.key.is_some() && key != known.key && !keeps_duplicate;
        let disturbed = matches!(known.place, PositionState::Stale | PositionState::Unsettled);
        if placed || other_key || !disturbed {
            self.place(cursor, PositionState::Exact);
        }
        let same_key = matches!(op, GET_CURRENT | FIRST_DUP | LAST_DUP | NEXT_DUP | PREV_DUP);
        if key.is_some() || !same_key {
            self.key_at(cursor, key);
        }
    }
}
