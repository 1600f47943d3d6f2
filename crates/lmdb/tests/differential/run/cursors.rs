//! The steps that go through a cursor.

use super::defined::{place_allows, takes_key};
use super::items::{arguments_of, mask, show};
use super::neighbours::mark;
use super::{PositionState, Runner, StepResult, name};
use crate::api::{Arg, Handle};
use crate::compare::{Difference, Outcome, short};
use crate::constants::*;
use crate::step::{NullArgument, TXNS, Value};

impl Runner<'_> {
    pub(super) fn cursor_open(&mut self, cursor: usize, txn: usize, db: usize) -> StepResult {
        if self.cursor_mut(cursor).is_some() || !self.is_open(txn) {
            return Ok(());
        }
        let Some(dbi) = self.dbi(txn, db) else {
            return Ok(());
        };
        let arguments = format!("c{cursor} {} {}", name(txn), self.db_name(db));
        let outcome = self.both("mdb_cursor_open", &arguments, |s| {
            let (outcome, handle) = s.api.cursor_open(s.txns[txn], dbi);
            s.cursors[cursor] = handle;
            outcome
        })?;
        if outcome.code == 0 {
            self.cursor_opened(cursor, txn, db);
        }
        Ok(())
    }

    pub(super) fn cursor_close(&mut self, cursor: usize) -> StepResult {
        let Some(known) = *self.cursor_mut(cursor) else {
            return Ok(());
        };
        if known.txn.is_some_and(|txn| self.blocked(txn)) {
            return Ok(());
        }
        *self.cursor_mut(cursor) = None;
        self.both("mdb_cursor_close", &format!("c{cursor}"), |s| {
            let handle = std::mem::replace(&mut s.cursors[cursor], Handle::NULL);
            s.api.cursor_close(handle)
        })
        .map(drop)
    }

    pub(super) fn cursor_renew(&mut self, cursor: usize, txn: usize) -> StepResult {
        let Some(known) = *self.cursor_mut(cursor) else {
            return Ok(());
        };
        let Some(dbi) = self.dbi(txn, known.db) else {
            return Ok(());
        };
        // The reference stops the program when the transaction does not know the handle.
        let arguments = format!("{} {}", name(txn), self.db_name(known.db));
        let there = self.both("mdb_dbi_flags", &arguments, |s| {
            s.api.dbi_flags(s.txns[txn], dbi)
        })?;
        if there.code != 0 {
            return Ok(());
        }
        let outcome = self.both(
            "mdb_cursor_renew",
            &format!("c{cursor} {}", name(txn)),
            |s| s.api.cursor_renew(s.txns[txn], s.cursors[cursor]),
        )?;
        if outcome.code == 0 {
            self.cursor_opened(cursor, txn, known.db);
        }
        Ok(())
    }

    pub(super) fn cursor_get(
        &mut self,
        cursor: usize,
        op: u32,
        key: u32,
        value: Value,
        missing: NullArgument,
    ) -> StepResult {
        let Some(known) = self.usable_cursor(cursor) else {
            return Ok(());
        };
        let spec = self.spec(known.db);
        if !place_allows(known.place, op, spec.has_duplicates())
            || !self.defined(spec, op, key, value, missing)
        {
            return Ok(());
        }
        let hazy = self.hazy_after_delete(known, op, key, missing) || self.hazy_at_end(known, op);
        if hazy || !self.block_is_certain(cursor, spec, op)? {
            return Ok(());
        }
        let hides_key = self.hides_key(cursor, spec, op)?;
        self.just_deleted(cursor, false);
        let (key, value) = (spec.key(key), spec.value(value.id, value.len));
        let takes_key = takes_key(op);
        let takes_value = matches!(op, GET_BOTH | GET_BOTH_RANGE);
        let mut arguments = format!("c{cursor}");
        if takes_key {
            arguments.push_str(&format!(" {}", show(&key, missing, true)));
        }
        if takes_value {
            arguments.push_str(&format!(" = {}", show(&value, missing, false)));
        }
        if missing != NullArgument::None {
            arguments.push_str(&format!(" (NULL: {missing:?})"));
        }
        let masked = self.holds_records(known.db);
        let outcome = self.both(
            &format!("mdb_cursor_get {}", op_name(op)),
            &arguments,
            |s| {
                let data = if takes_value {
                    Arg::Bytes(&value)
                } else {
                    Arg::Room
                };
                let (mut key_arg, data) = arguments_of(&key, data, missing);
                if !takes_key && matches!(key_arg, Arg::Bytes(_)) {
                    key_arg = Arg::Room;
                }
                let outcome = s.api.cursor_get(s.cursors[cursor], key_arg, data, op);
                let outcome = if hides_key {
                    // A lone value comes with its key, not as a block: what data points to then is
                    // left over.
                    outcome.without(if op == GET_MULTIPLE { "data" } else { "key" })
                } else {
                    outcome
                };
                mask(masked, outcome)
            },
        )?;
        if outcome.code == 0 {
            self.stored_after_miss(cursor, false);
        }
        let forward = matches!(
            op,
            FIRST | NEXT | NEXT_NODUP | SET | SET_KEY | SET_RANGE | GET_BOTH | FIRST_DUP
        );
        self.came_forward(cursor, outcome.code == 0 && forward);
        let to_end = outcome.code == NOTFOUND && matches!(op, NEXT | NEXT_NODUP | NEXT_DUP);
        if outcome.code == 0 && op != GET_CURRENT || to_end {
            self.at_end(cursor, to_end || matches!(op, LAST | LAST_DUP));
        }
        if known.after_delete && op == NEXT_DUP && outcome.code == NOTFOUND {
            // The result of a second step among duplicates depends on whether the successor's
            // duplicates were read.
            self.place(cursor, PositionState::Unsettled);
        }
        let missed =
            outcome.code == NOTFOUND && matches!(op, SET | SET_KEY | GET_BOTH | GET_BOTH_RANGE);
        if missed {
            let place = if matches!(op, SET | SET_KEY) {
                PositionState::Missed
            } else {
                PositionState::Unknown
            };
            self.place(cursor, place);
        } else {
            self.moved(cursor, op, &key, &outcome);
        }
        Ok(())
    }

    pub(super) fn cursor_put(
        &mut self,
        cursor: usize,
        key: u32,
        value: Value,
        flags: u32,
        missing: NullArgument,
    ) -> StepResult {
        let Some(known) = self.usable_cursor(cursor) else {
            return Ok(());
        };
        let spec = self.spec(known.db);
        let mut flags = flags & !(CURRENT | MULTIPLE);
        if spec.has_duplicates() {
            flags &= !RESERVE;
        }
        // The reference reads through a NULL datum.
        if !self.may_store(spec, value) || missing == NullArgument::Data {
            return Ok(());
        }
        let (key, value) = (spec.key(key), spec.value(value.id, value.len));
        let arguments = format!(
            "c{cursor} {} = {}",
            show(&key, missing, true),
            show(&value, missing, false)
        );
        let masked = self.holds_records(known.db);
        let function = format!("mdb_cursor_put {}", put_flag_names(flags));
        self.change_first(known.txn.unwrap_or(TXNS), known.db, &key, flags)?;
        let left = self.left_behind(known.txn.unwrap_or(TXNS), known.db, &key, Some(cursor))?;
        let outcome = self.both(&function, &arguments, |s| {
            let (key, data) = arguments_of(&key, Arg::Bytes(&value), missing);
            mask(
                masked,
                s.api.cursor_put(s.cursors[cursor], key, data, flags),
            )
        })?;
        if flags & (APPEND | APPENDDUP) != 0 {
            self.came_forward(cursor, false);
        }
        if outcome.code == 0 {
            self.key_at(cursor, Some(mark(&key)));
            // Appending goes to the end first.
            self.at_end(cursor, known.at_end || flags & APPEND != 0);
            // In the reference the end or the miss that it found before goes on, and shows after a
            // deletion. A deletion of the last record leads to the end too.
            let missed = known.place == PositionState::Missed || known.at_end || known.after_delete;
            self.stored_after_miss(cursor, missed || known.stored_after_miss);
            let place = if known.after_delete && spec.has_duplicates() {
                PositionState::Unsettled
            } else {
                PositionState::Exact
            };
            self.place(cursor, place);
        } else if outcome.code == KEYEXIST {
            self.key_at(cursor, None);
            if known.after_delete {
                // In the reference the next step still stays, as after the deletion.
                self.place(cursor, PositionState::Unknown);
            }
        }
        self.leave_behind(left, flags, &outcome);
        Ok(())
    }

    /// Replaces the item under the cursor, where the interface says what that means.
    pub(super) fn cursor_put_current(
        &mut self,
        cursor: usize,
        value: Value,
        flags: u32,
        same_size: bool,
    ) -> StepResult {
        let Some(known) = self.usable_cursor(cursor) else {
            return Ok(());
        };
        let spec = self.spec(known.db);
        if known.place != PositionState::Exact || !self.may_store(spec, value) {
            return Ok(());
        }
        let masked = self.holds_records(known.db);
        let here = self.both("mdb_cursor_get GET_CURRENT", &format!("c{cursor}"), |s| {
            mask(
                masked,
                s.api
                    .cursor_get(s.cursors[cursor], Arg::Room, Arg::Room, GET_CURRENT),
            )
        })?;
        let key = match here.code {
            0 => here.bytes("key").unwrap_or_default().to_vec(),
            EINVAL => spec.key(0),
            _ => return Ok(()),
        };
        let old = here.bytes("data").unwrap_or_default().to_vec();
        if masked && (old.is_empty() || key.starts_with(b"db") || key.starts_with(b"extra")) {
            return Ok(());
        }
        let mut new = spec.value(value.id, value.len);
        if same_size && !spec.has_duplicates() {
            new.resize(old.len(), b'=');
        }
        if spec.has_duplicates() && here.code == 0 && !self.is_lone_item(cursor)? {
            // Another value would have to sort at the same place.
            new = old;
        }
        let flags = CURRENT | if spec.has_duplicates() { 0 } else { flags };
        let function = format!("mdb_cursor_put {}", put_flag_names(flags));
        let arguments = format!("c{cursor} {} = {}", short(&key), short(&new));
        self.both(&function, &arguments, |s| {
            s.api
                .cursor_put(s.cursors[cursor], Arg::Bytes(&key), Arg::Bytes(&new), flags)
        })
        .map(drop)
    }

    /// Returns true if the key under the cursor has one item, and never had more since it was
    /// inserted.
    pub(super) fn is_lone_item(&mut self, cursor: usize) -> Result<bool, Difference> {
        let count = self.count(cursor)?;
        if count.value("count") != Some(1) {
            return Ok(false);
        }
        // A key that has lost its other duplicates may still store the last one separately. Only
        // then the key is not set.
        self.note_only(
            "mdb_cursor_get FIRST_DUP",
            &format!("c{cursor} (not compared)"),
        );
        let [first, second] = &self.sides;
        let mut lone = true;
        for side in [first, second] {
            let got = side
                .api
                .cursor_get(side.cursors[cursor], Arg::Room, Arg::Room, FIRST_DUP);
            lone &= got.bytes("key").is_some();
        }
        Ok(lone)
    }

    pub(super) fn cursor_put_many(
        &mut self,
        cursor: usize,
        key: u32,
        first: u32,
        count: u32,
        flags: u32,
    ) -> StepResult {
        let Some(known) = self.usable_cursor(cursor) else {
            return Ok(());
        };
        let spec = self.spec(known.db);
        if count == 0 && self.old {
            return Ok(());
        }
        let size = spec.fixed_size().unwrap_or(4);
        let items: Vec<u8> = match spec.fixed_size() {
            Some(_) => (0..count).flat_map(|i| spec.value(first + i, 0)).collect(),
            None => vec![b'm'; size * count as usize],
        };
        let key = spec.key(key);
        let function = format!("mdb_cursor_put {}", put_flag_names(MULTIPLE | flags));
        let arguments = format!("c{cursor} {} = {count} x {}", short(&key), short(&items));
        let twice = items.len() >= 2 * size && items[..size] == items[size..2 * size];
        if twice
            || known.txn.is_some_and(|txn| self.is_reset(txn))
            || self.starts_with_value(known, &key, &items)?
        {
            return Ok(());
        }
        self.change_first(known.txn.unwrap_or(TXNS), known.db, &key, flags)?;
        let left = self.left_behind(known.txn.unwrap_or(TXNS), known.db, &key, Some(cursor))?;
        let outcome = self.both(&function, &arguments, |s| {
            s.api
                .cursor_put_many(s.cursors[cursor], &key, &items, size, MULTIPLE | flags)
        })?;
        if outcome.code == 0 {
            self.key_at(cursor, Some(mark(&key)));
            // Where among the duplicates depends on how they were stored before.
            self.place(cursor, PositionState::Unsettled);
        } else if outcome.code == KEYEXIST {
            self.key_at(cursor, None);
            if known.after_delete {
                // In the reference the next step still stays, as after the deletion.
                self.place(cursor, PositionState::Unknown);
            }
        }
        self.leave_behind(left, flags, &outcome);
        Ok(())
    }

    pub(super) fn cursor_del(&mut self, cursor: usize, flags: u32) -> StepResult {
        let Some(known) = self.usable_cursor(cursor) else {
            return Ok(());
        };
        if !matches!(known.place, PositionState::Exact | PositionState::PastEnd) {
            return Ok(());
        }
        if known.after_delete && self.spec(known.db).has_duplicates() {
            // The reference may delete another duplicate of the successor than the first.
            return Ok(());
        }
        let function = format!("mdb_cursor_del {}", put_flag_names(flags));
        let outcome = self.both(&function, &format!("c{cursor}"), |s| {
            s.api.cursor_del(s.cursors[cursor], flags)
        })?;
        self.deleted(known.txn.unwrap_or(TXNS), known.db, Some(cursor), &outcome)
    }

    pub(super) fn cursor_count(&mut self, cursor: usize) -> StepResult {
        let Some(known) = self.usable_cursor(cursor) else {
            return Ok(());
        };
        if known.txn.is_some_and(|txn| self.is_reset(txn))
            || known.after_delete
            || known.place != PositionState::Exact
        {
            return Ok(());
        }
        self.count(cursor).map(drop)
    }

    pub(super) fn count(&mut self, cursor: usize) -> Result<Outcome, Difference> {
        self.both("mdb_cursor_count", &format!("c{cursor}"), |s| {
            s.api.cursor_count(s.cursors[cursor])
        })
    }
}
