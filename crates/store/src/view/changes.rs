//! Reading the log in one state of the store.

use super::state::View;
use super::walk::AllEntries;
use crate::changes::{
    BY_CSN, ChainEnd, ChangeRecord, CsnVector, HAS_END, LogState, PackedCsn, change_key,
    change_of_key, csn_key, tombstone_key, tombstone_of_key, uuid_key,
};
use crate::error::{Damage, StoreError};
use fulgurite::Snapshot;

/// The memory of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tombstone<'v> {
    /// The entryUUID.
    pub uuid: [u8; 16],
    /// The number of the deletion's record.
    pub csn: PackedCsn,
    /// The greatest number of the states that the deletion ends. Later states are news.
    pub ends: PackedCsn,
    /// Its position in the log.
    pub position: u64,
    /// The last name.
    pub dn: &'v str,
}

/// The part of the log that a reader of it does not know yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogLag {
    /// The number of changes.
    pub changes: u64,
    /// The age of the oldest of them in microseconds; 0 if there is none.
    pub age_us: u64,
}

/// The attribute with the number of an entry's last change.
const ENTRY_CSN: &str = "entryCSN";

impl<T: Snapshot> View<'_, T> {
    /// Returns the state of the log. A store of the layout before, opened for reading, has none:
    /// its vector is still to be computed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn changes(&self) -> Result<LogState, StoreError> {
        if !self.store.dbs.has_log {
            return Ok(LogState::of_older());
        }
        let state = LogState::read(&self.txn, self.store.dbs.meta)?;
        Ok(state.unwrap_or_else(LogState::of_new))
    }

    /// Returns the record at a position. `None` if there is none, or a damaged one. Readers treat
    /// both like a record that the log has dropped.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn change(&self, position: u64) -> Result<Option<ChangeRecord<'_>>, StoreError> {
        if !self.store.dbs.has_log {
            return Ok(None);
        }
        let record = self
            .txn
            .get(self.store.dbs.changes, &position.to_be_bytes())?;
        Ok(record.and_then(ChangeRecord::decode))
    }

    /// Returns how far a reader of the log is behind, at a time in microseconds.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn lag_behind(&self, position: u64, now_us: u64) -> Result<LogLag, StoreError> {
        let state = self.changes()?;
        let changes = state.newest.saturating_sub(position);
        let oldest = match changes {
            0 => None,
            // A bulk load leaves positions without records.
            _ => self.change(state.oldest.max(position + 1))?,
        };
        let age_us = oldest.map_or(0, |record| now_us.saturating_sub(record.time_us));
        Ok(LogLag { changes, age_us })
    }

    /// Returns true if a change in no chain is found by its number.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) fn has_number(&self, csn: PackedCsn, position: u64) -> Result<bool, StoreError> {
        let row = self
            .txn
            .get(self.store.dbs.change_csn, &change_key(csn, position))?;
        Ok(row.is_some())
    }

    /// Returns the positions of all changes that a vector does not cover, ascending. `None` if
    /// there are more than `max`, or if a record is damaged.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn changes_beyond(
        &self,
        vector: &CsnVector,
        max: usize,
    ) -> Result<Option<Vec<u64>>, StoreError> {
        let mut positions = Vec::new();
        if !self.store.dbs.has_log {
            return Ok(Some(positions));
        }
        let state = self.changes()?;
        for end in state.chains.iter() {
            if !self.chain_beyond(end, state.oldest, vector, (&mut positions, max))? {
                return Ok(None);
            }
        }
        if !self.rows_beyond(state.oldest, vector, (&mut positions, max))? {
            return Ok(None);
        }
        positions.sort_unstable();
        Ok(Some(positions))
    }

    /// Appends the positions of the records of a chain that a vector does not cover. Returns false
    /// if there are too many, or if the chain is broken.
    fn chain_beyond(
        &self,
        end: ChainEnd,
        oldest: u64,
        vector: &CsnVector,
        (positions, max): (&mut Vec<u64>, usize),
    ) -> Result<bool, StoreError> {
        if vector.covers(end.csn) {
            return Ok(true);
        }
        let (mut position, mut beyond) = (end.position, None);
        while position >= oldest {
            let record = match self.change(position)? {
                Some(record) if record.csn.server() == end.csn.server() => record,
                _ => return Ok(false),
            };
            let is_sound = beyond.is_none_or(|beyond| record.csn < beyond);
            let Some(back) = record.back.filter(|back| is_sound && *back <= position) else {
                return Ok(false);
            };
            if vector.covers(record.csn) {
                break;
            }
            positions.push(position);
            if positions.len() > max {
                return Ok(false);
            }
            if back == 0 {
                break;
            }
            beyond = Some(record.csn);
            position -= back;
        }
        Ok(true)
    }

    /// Appends the positions of the records in no chain that a vector does not cover. Returns false
    /// if there are too many.
    fn rows_beyond(
        &self,
        oldest: u64,
        vector: &CsnVector,
        (positions, max): (&mut Vec<u64>, usize),
    ) -> Result<bool, StoreError> {
        let mut cursor = self.txn.cursor(self.store.dbs.change_csn)?;
        let mut row = cursor.first()?;
        while let Some((key, _)) = row {
            let server = change_of_key(key).ok_or(Damage::Changes)?.0.server();
            // The rows of the vector's own number are covered.
            if let Some(covered) = vector.of(server) {
                row = cursor.seek_range(&csn_key(covered))?;
                while row.is_some_and(|(key, _)| key.starts_with(&csn_key(covered))) {
                    row = cursor.next()?;
                }
            }
            while let Some((key, _)) = row
                && key.starts_with(&server.to_be_bytes())
            {
                let (_, position) = change_of_key(key).ok_or(Damage::Changes)?;
                positions.extend((position >= oldest).then_some(position));
                if positions.len() > max {
                    return Ok(false);
                }
                row = cursor.next()?;
            }
        }
        Ok(true)
    }

    /// Returns the memory of the deletion of an entry.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn tombstone(&self, uuid: [u8; 16]) -> Result<Option<Tombstone<'_>>, StoreError> {
        if !self.store.dbs.has_log {
            return Ok(None);
        }
        let Some(bytes) = self.txn.get(self.store.dbs.tombstones, &uuid_key(uuid))? else {
            return Ok(None);
        };
        let parse = |mut bytes| {
            let bytes = &mut bytes;
            let csn = PackedCsn::from_bytes(crate::bytes::take(bytes, PackedCsn::LEN)?)?;
            let position = crate::bytes::take(bytes, 8)?.try_into().ok()?;
            let position = u64::from_be_bytes(position);
            crate::bytes::take(bytes, 8)?;
            let ends = match position & HAS_END {
                0 => csn,
                _ => PackedCsn::from_bytes(crate::bytes::take(bytes, PackedCsn::LEN)?)?,
            };
            Some(Tombstone {
                uuid,
                csn,
                ends,
                position: position & !HAS_END,
                dn: str::from_utf8(bytes).ok()?,
            })
        };
        Ok(Some(parse(bytes).ok_or(Damage::Changes)?))
    }

    /// Returns the entries whose deletion a vector does not cover.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn deleted_beyond(&self, vector: &CsnVector) -> Result<Vec<[u8; 16]>, StoreError> {
        let mut deleted = Vec::new();
        if !self.store.dbs.has_log {
            return Ok(deleted);
        }
        let mut cursor = self.txn.cursor(self.store.dbs.tombstones)?;
        let mut row = cursor.seek_range(&[BY_CSN])?;
        while let Some((key, _)) = row {
            let (csn, uuid) = tombstone_of_key(key).ok_or(Damage::Changes)?;
            row = match vector.of(csn.server()).filter(|covered| *covered >= csn) {
                // All rows up to the covered number are passed over.
                Some(covered) => {
                    let last = tombstone_key(covered, [u8::MAX; 16]);
                    match cursor.seek_range(&last)? {
                        Some((key, _)) if *key == last => cursor.next()?,
                        row => row,
                    }
                }
                None => {
                    deleted.push(uuid);
                    cursor.next()?
                }
            };
        }
        Ok(deleted)
    }

    /// Returns the greatest entryCSN of each server.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn vector_of_entries(&self) -> Result<CsnVector, StoreError> {
        let mut vector = CsnVector::default();
        let Some(attribute) = self.schema().attribute(ENTRY_CSN) else {
            return Ok(vector);
        };
        let mut entries = AllEntries::of(self)?;
        while let Some(entry) = entries.next()? {
            let values = entry.plain_values(attribute.index);
            let csn = values.and_then(|values| PackedCsn::parse(values.first()?));
            if let Some(csn) = csn {
                vector.raise(csn);
            }
        }
        Ok(vector)
    }
}
