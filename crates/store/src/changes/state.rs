//! The state of the log, one row of the main tree.

use super::chain::Chains;
use super::vector::CsnVector;
use crate::bytes::{take, u64_at};
use crate::error::{Damage, StoreError};
use fulgurite::{Database, Snapshot, WriteTxn};

const KEY: &[u8] = b"changes.state";

/// The key of the row in the table `meta`, where stores from before the chains have it.
const KEY_BEFORE: &[u8] = b"changes";

/// The first byte of the row.
const VERSION: u8 = 2;
/// The first byte of a row without chains.
const WITHOUT_CHAINS: u8 = 1;

/// Length of the row of a store with one server, in bytes.
const ROW_LEN: usize = 160;

const PENDING: u8 = 1;
const SHOWN: u8 = 2;

/// The state of the log of changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogState {
    /// The position of the newest record; 0 before the first.
    pub newest: u64,
    /// The position of the oldest record that is kept; one more than `newest` without any.
    pub oldest: u64,
    /// Bytes of the records that are kept.
    pub bytes: u64,
    /// The greatest CSN of each server up to which the content is complete.
    pub vector: CsnVector,
    /// The greatest CSN of each server that the log does not have any more.
    pub horizon: CsnVector,
    /// The same for deletions.
    pub tombstone_horizon: CsnVector,
    /// True after a load, until the vector is computed from the entries.
    pub is_pending: bool,
    /// True if the vector is part of the exported content.
    pub is_shown: bool,
    pub(crate) chains: Chains,
    /// True if the row is still where stores from before the chains have it.
    is_in_meta: bool,
}

impl LogState {
    /// Returns the state of a store without changes.
    pub(crate) fn of_new() -> LogState {
        LogState {
            oldest: 1,
            ..LogState::default()
        }
    }

    /// Writes the state of a store whose entries are older than its log.
    pub(crate) fn write_pending(txn: &mut WriteTxn<'_>, meta: Database) -> Result<(), StoreError> {
        LogState::of_older().write(txn, meta)
    }

    /// Returns the state of a store whose entries are older than its log.
    pub(crate) fn of_older() -> LogState {
        LogState {
            is_pending: true,
            ..LogState::of_new()
        }
    }

    /// Returns true if a store has two states of the log. The second one is where stores from
    /// before the chains have it.
    pub(crate) fn is_ambiguous(txn: &impl Snapshot, meta: Database) -> Result<bool, StoreError> {
        Ok(txn.get(Database::MAIN, KEY)?.is_some() && txn.get(meta, KEY_BEFORE)?.is_some())
    }

    /// Replaces two states by one of an empty log. No position comes again.
    pub(crate) fn write_anew(txn: &mut WriteTxn<'_>, meta: Database) -> Result<(), StoreError> {
        let rows = [txn.get(Database::MAIN, KEY)?, txn.get(meta, KEY_BEFORE)?];
        let states = rows.into_iter().flatten();
        let states: Vec<LogState> = states
            .filter_map(|mut row| LogState::decode(&mut row))
            .collect();
        let newest = states.iter().map(|state| state.newest).max();
        let newest = newest.unwrap_or_default();
        let mut state = LogState {
            newest,
            oldest: newest + 1,
            is_shown: states.iter().any(|state| state.is_shown),
            is_in_meta: true,
            ..LogState::of_older()
        };
        for held in &states {
            // The vector of the entries may be lower, because of deletions.
            state.vector.raise_all(&held.vector);
        }
        state.write(txn, meta)
    }

    /// Returns the number of records that are kept.
    #[must_use]
    pub fn len(&self) -> u64 {
        (self.newest + 1).saturating_sub(self.oldest)
    }

    /// Returns true without any record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the row; a store of an older layout has none.
    pub(crate) fn read(
        txn: &impl Snapshot,
        meta: Database,
    ) -> Result<Option<LogState>, StoreError> {
        let (row, is_in_meta) = match txn.get(Database::MAIN, KEY)? {
            Some(row) => (Some(row), false),
            None => (txn.get(meta, KEY_BEFORE)?, true),
        };
        let Some(mut row) = row else {
            return Ok(None);
        };
        let state = LogState::decode(&mut row).ok_or(Damage::Changes)?;
        Ok(Some(LogState {
            is_in_meta,
            ..state
        }))
    }

    pub(crate) fn write(&self, txn: &mut WriteTxn<'_>, meta: Database) -> Result<(), StoreError> {
        let mut row = Vec::with_capacity(ROW_LEN);
        row.push(VERSION);
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        row.push(flag(self.is_pending, PENDING) | flag(self.is_shown, SHOWN));
        for number in [self.newest, self.oldest, self.bytes] {
            row.extend_from_slice(&number.to_le_bytes());
        }
        for vector in [&self.vector, &self.horizon, &self.tombstone_horizon] {
            vector.encode(&mut row);
        }
        self.chains.encode(&mut row);
        if self.is_in_meta {
            txn.delete(meta, KEY_BEFORE)?;
        }
        Ok(txn.put(Database::MAIN, KEY, &row)?)
    }

    fn decode(row: &mut &[u8]) -> Option<LogState> {
        let &[version, flags] = take(row, 2)? else {
            return None;
        };
        if !matches!(version, VERSION | WITHOUT_CHAINS) {
            return None;
        }
        let mut number = || u64_at(take(row, 8)?, 0);
        let (newest, oldest, bytes) = (number()?, number()?, number()?);
        let state = LogState {
            newest,
            oldest,
            bytes,
            vector: CsnVector::decode(row)?,
            horizon: CsnVector::decode(row)?,
            tombstone_horizon: CsnVector::decode(row)?,
            is_pending: flags & PENDING != 0,
            is_shown: flags & SHOWN != 0,
            chains: match version {
                WITHOUT_CHAINS => Chains::default(),
                _ => Chains::decode(row)?,
            },
            is_in_meta: false,
        };
        let is_sound = newest < u64::MAX
            && (1..=newest + 1).contains(&oldest)
            && state.chains.iter().all(|end| end.position <= newest);
        (row.is_empty() && is_sound).then_some(state)
    }
}
