//! The calls whose outcome follows from the interface alone, in any version and with any layout of
//! the pages.

use super::{Cursor, PositionState, Runner, name};
use crate::api::Arg;
use crate::compare::{Difference, short};
use crate::constants::*;
use crate::profile::{Database, EMPTY, HUGE, KeyKind, OTHER_SIZE, SEQUENCE, TOO_LONG, ValueKind};
use crate::step::{NullArgument, Value, WRITERS};

/// Duplicates of one key that take no more than this are on one page, however they got there.
const ONE_PAGE_BYTES: usize = 600;

impl Runner<'_> {
    /// Returns true if values of this database may be the records of named ones, which hold page
    /// numbers.
    pub(super) fn holds_records(&self, db: usize) -> bool {
        db == 0 && self.profile.has_named()
    }

    /// Returns true if a value may be put: sizes that the reference stores wrongly are left out.
    pub(super) fn may_store(&self, spec: &Database, value: Value) -> bool {
        match value.id {
            OTHER_SIZE => !spec.has_duplicates(),
            EMPTY => !(self.old && spec.has_duplicates()),
            _ => true,
        }
    }

    pub(super) fn defined(
        &self,
        spec: &Database,
        op: u32,
        key: u32,
        value: Value,
        missing: NullArgument,
    ) -> bool {
        let takes_value = matches!(op, GET_BOTH | GET_BOTH_RANGE);
        if takes_key(op) && !may_look_up(spec, key) || takes_value && !may_look_for(spec, value) {
            return false;
        }
        let no_data = matches!(missing, NullArgument::Data | NullArgument::Both);
        // Stepping among duplicates the reference may write through a NULL datum.
        let steps = matches!(
            op,
            NEXT | NEXT_DUP | PREV | PREV_DUP | PREV_NODUP | GET_CURRENT
        );
        if spec.has_duplicates() && no_data && (self.old || steps) {
            return false;
        }
        !(self.old && spec.has_duplicates() && op == PREV_DUP)
    }

    /// Returns true if a step after a deletion shows how the reference keeps its place among
    /// duplicates.
    pub(super) fn hazy_after_delete(
        &self,
        known: Cursor,
        op: u32,
        key: u32,
        missing: NullArgument,
    ) -> bool {
        // A call that is refused for its arguments clears in the reference what a deletion left.
        let refused =
            op > PREV_MULTIPLE || missing != NullArgument::None || takes_key(op) && key == EMPTY;
        known.after_delete
            && (refused
                // Behind the last item it may step back to another key.
                || op == PREV_DUP
                // How the successor's duplicates are entered shows only in the first step. Where
                // there are none, the deletion before the last one counts in an emptied database.
                || op == NEXT_DUP && !(known.just_deleted && self.spec(known.db).has_duplicates())
                || matches!(op, FIRST_DUP | LAST_DUP))
    }

    /// Returns true if the reference may still see the end, where it was before duplicates were
    /// changed.
    pub(super) fn hazy_at_end(&self, known: Cursor, op: u32) -> bool {
        known.at_end
            && matches!(op, NEXT | NEXT_DUP)
            && self.spec(known.db).has_duplicates()
            && known.place != PositionState::PastEnd
    }

    /// Returns true if the operation sets the key in any layout. It may not for the only value left
    /// of a key: the reference may still store it like several.
    pub(super) fn hides_key(
        &mut self,
        cursor: usize,
        spec: &Database,
        op: u32,
    ) -> Result<bool, Difference> {
        if !spec.has_duplicates() || !matches!(op, FIRST_DUP | LAST_DUP | GET_MULTIPLE) {
            return Ok(false);
        }
        if self
            .cursor(cursor)
            .is_some_and(|c| c.place != PositionState::Exact || c.after_delete)
        {
            return Ok(true);
        }
        Ok(self.count(cursor)?.value("count") == Some(1))
    }

    /// The reference refuses a put over the record of a named database, and some with APPENDDUP.
    /// But it commits a snapshot for them. So that transaction ids stay equal, something is changed
    /// first.
    pub(super) fn change_first(
        &mut self,
        txn: usize,
        db: usize,
        key: &[u8],
        flags: u32,
    ) -> Result<(), Difference> {
        let name = self.holds_records(db) && (key.starts_with(b"db") || key == b"extra");
        let converts = self.spec(db).has_duplicates() && flags & APPENDDUP != 0;
        if txn >= WRITERS || !name && !converts {
            return Ok(());
        }
        let value = Value {
            id: SEQUENCE,
            len: 3,
        };
        self.put(txn, 0, SEQUENCE, value, 0, NullArgument::None)
    }

    /// Returns true if the key has one value already, the first of these: the reference then stores
    /// no other.
    pub(super) fn starts_with_value(
        &mut self,
        cursor: Cursor,
        key: &[u8],
        items: &[u8],
    ) -> Result<bool, Difference> {
        let Some((txn, dbi)) = cursor.txn.and_then(|t| Some((t, self.dbi(t, cursor.db)?))) else {
            return Ok(true);
        };
        let arguments = format!("{} {} {}", name(txn), self.db_name(cursor.db), short(key));
        let first = self.both("mdb_get", &arguments, |s| {
            s.api.get(s.txns[txn], dbi, Arg::Bytes(key), Arg::Room)
        })?;
        Ok(first
            .bytes("data")
            .is_some_and(|data| !data.is_empty() && items.starts_with(data)))
    }

    /// Returns true if a block operation answers the same however the duplicates are spread over
    /// pages.
    pub(super) fn block_is_certain(
        &mut self,
        cursor: usize,
        spec: &Database,
        op: u32,
    ) -> Result<bool, Difference> {
        let Some(size) = spec.fixed_size() else {
            return Ok(true);
        };
        if !matches!(op, GET_MULTIPLE | NEXT_MULTIPLE | PREV_MULTIPLE) {
            return Ok(true);
        }
        if self
            .usable_cursor(cursor)
            .is_some_and(|c| c.place != PositionState::Exact || c.after_delete)
        {
            return Ok(false);
        }
        let count = self.count(cursor)?;
        Ok(match count.code {
            EINVAL => op == GET_MULTIPLE,
            // Where it came from the end of the duplicates the reference may take them for read
            // already.
            0 if op == GET_MULTIPLE && !self.cursor(cursor).is_some_and(|c| c.forward) => false,
            0 => count
                .value("count")
                .is_some_and(|n| n * size <= ONE_PAGE_BYTES),
            _ => false,
        })
    }
}

/// Returns true if the operation looks for a key.
pub(super) fn takes_key(op: u32) -> bool {
    matches!(op, SET | SET_KEY | SET_RANGE | GET_BOTH | GET_BOTH_RANGE)
}

/// Returns true if the operation's answer follows from what is known of the cursor's place.
pub(super) fn place_allows(place: PositionState, op: u32, duplicates: bool) -> bool {
    let absolute = matches!(
        op,
        FIRST | LAST | SET | SET_KEY | SET_RANGE | GET_BOTH | GET_BOTH_RANGE
    );
    match (place, op) {
        _ if absolute => true,
        (PositionState::Exact, _) => true,
        (PositionState::Stale, _) => !matches!(op, GET_MULTIPLE | NEXT_MULTIPLE | PREV_MULTIPLE),
        (PositionState::Unsettled, _) => matches!(op, GET_CURRENT | NEXT_NODUP | PREV_NODUP),
        (PositionState::PastEnd, _) if !duplicates => true,
        // A step to the next duplicate reads behind the last node of the page. A record deleted
        // from there before may still show.
        (PositionState::PastEnd, _) => {
            matches!(
                op,
                NEXT_NODUP | GET_CURRENT | FIRST_DUP | LAST_DUP | PREV | PREV_NODUP
            )
        }
        // With duplicates the reference may have none to step back from.
        (PositionState::Missed, PREV) => !duplicates,
        _ => false,
    }
}

/// Integer keys of a wrong size are ordered at random by the reference.
pub(super) fn may_look_up(spec: &Database, key: u32) -> bool {
    key != TOO_LONG || spec.keys == KeyKind::Bytes
}

/// Integers of a wrong size as well. An empty value is refused or not found, depending on how the
/// others are stored.
pub(super) fn may_look_for(spec: &Database, value: Value) -> bool {
    if value.id == EMPTY && spec.has_duplicates() {
        return false;
    }
    !matches!(value.id, EMPTY | TOO_LONG | OTHER_SIZE | HUGE)
        || !matches!(spec.values, ValueKind::Integer(_))
}
