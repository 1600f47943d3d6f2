//! Appending to the log, and dropping its old end, in the commit of the changes.

use super::csn::PackedCsn;
use super::record::{ChangeKind, ChangeRecord, NewChange};
use super::state::LogState;
use super::vector::CsnVector;
use crate::error::{Damage, StoreError};
use crate::view::View;
use crate::write::Writer;
use fulgurite::{Snapshot, WriteTxn};

/// The log in a writer's transaction.
#[derive(Default)]
pub(crate) struct LogWriter {
    /// Read at the first change.
    state: Option<LogState>,
    has_changed: bool,
    appended: u64,
    /// The time of the newest change, in microseconds.
    now_us: u64,
    record: Vec<u8>,
}

/// Returns the key of a change or a deletion by its number.
pub(super) fn csn_key(csn: PackedCsn) -> [u8; 2 + PackedCsn::LEN] {
    let mut key = [0; 2 + PackedCsn::LEN];
    let (server, number) = key.split_at_mut(2);
    server.copy_from_slice(&csn.server().to_be_bytes());
    number.copy_from_slice(csn.as_bytes());
    key
}

/// The first byte of the keys of tombstones by entryUUID.
pub(super) const BY_UUID: u8 = 0;
/// The first byte of the keys of tombstones by CSN.
pub(super) const BY_CSN: u8 = 1;

pub(super) fn uuid_key(uuid: [u8; 16]) -> [u8; 17] {
    let mut key = [BY_UUID; 17];
    key[1..].copy_from_slice(&uuid);
    key
}

pub(super) fn tombstone_key(csn: PackedCsn) -> [u8; 3 + PackedCsn::LEN] {
    let mut key = [BY_CSN; 3 + PackedCsn::LEN];
    key[1..].copy_from_slice(&csn_key(csn));
    key
}

impl Writer<'_> {
    /// Records a change that this writer has made. The commit writes both.
    ///
    /// The vector stays as it is, see [`raise_vector`](Self::raise_vector).
    ///
    /// # Errors
    /// [`StoreError::Engine`]; the writer cannot commit then.
    pub fn log_change(&mut self, change: &NewChange<'_>) -> Result<(), StoreError> {
        self.log_state()?;
        self.apply(|writer| {
            let View { txn, store, .. } = &mut writer.view;
            writer.log.append(txn, store, change)
        })
    }

    /// Notes that the content is complete up to a change of its server.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn raise_vector(&mut self, csn: PackedCsn) -> Result<(), StoreError> {
        let raised = self.log_state()?.vector.raise(csn);
        self.log.has_changed |= raised;
        self.has_changed_entries |= raised;
        Ok(())
    }

    /// Replaces the vector. The log and the memory of deletions say nothing about the content
    /// before, so they are unusable for consumers of older states.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn reset_vector(&mut self, vector: CsnVector) -> Result<(), StoreError> {
        let state = self.log_state()?;
        state.horizon.raise_all(&vector);
        state.tombstone_horizon.raise_all(&vector);
        state.vector = vector;
        state.is_pending = false;
        self.log.has_changed = true;
        self.has_changed_entries = true;
        Ok(())
    }

    /// Sets if the vector is part of the exported content.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn show_vector(&mut self, shown: bool) -> Result<(), StoreError> {
        let state = self.log_state()?;
        let has_changed = state.is_shown != shown;
        state.is_shown = shown;
        self.log.has_changed |= has_changed;
        Ok(())
    }

    /// Records a bulk load: one record, and a vector that is computed when a server opens the
    /// store.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn log_load(&mut self) -> Result<(), StoreError> {
        let state = self.log_state()?;
        state.newest += 1;
        state.is_pending = true;
        self.log.has_changed = true;
        self.apply(|writer| {
            let View { txn, store, .. } = &mut writer.view;
            writer.log.drop_all(txn, store)
        })
    }

    /// Returns the state of the log with the changes of this writer.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn log_state(&mut self) -> Result<&mut LogState, StoreError> {
        if self.log.state.is_none() {
            let read = LogState::read(&self.view.txn, self.view.store.dbs.meta)?;
            self.log.state = Some(read.unwrap_or_else(LogState::of_new));
        }
        Ok(self.log.state.get_or_insert_with(LogState::of_new))
    }

    /// Writes the state, and drops records that are too old.
    pub(crate) fn flush_log(&mut self) -> Result<(), StoreError> {
        if !self.log.has_changed {
            return Ok(());
        }
        self.apply(|writer| {
            let View { txn, store, .. } = &mut writer.view;
            writer.log.trim(txn, store)?;
            if let Some(state) = &writer.log.state {
                state.write(txn, store.dbs.meta)?;
            }
            writer.log.has_changed = false;
            Ok(())
        })
    }
}

impl LogWriter {
    fn append(
        &mut self,
        txn: &mut WriteTxn<'_>,
        store: &crate::Store,
        change: &NewChange<'_>,
    ) -> Result<(), StoreError> {
        let (dbs, state) = (&store.dbs, self.state.get_or_insert_with(LogState::of_new));
        self.record.clear();
        change.encode(&mut self.record);
        state.newest += 1;
        state.bytes += self.record.len() as u64;
        let position = state.newest.to_be_bytes();
        debug_assert!(matches!(txn.get(dbs.changes, &position), Ok(None)));
        txn.put(dbs.changes, &position, &self.record)?;
        txn.put(dbs.change_csn, &csn_key(change.csn), &position)?;
        match change.kind {
            ChangeKind::Delete => {
                let mut tombstone = change.csn.as_bytes().to_vec();
                tombstone.extend_from_slice(&position);
                tombstone.extend_from_slice(&change.time_us.to_le_bytes());
                tombstone.extend_from_slice(change.dn.as_bytes());
                txn.put(dbs.tombstones, &uuid_key(change.uuid), &tombstone)?;
                txn.put(dbs.tombstones, &tombstone_key(change.csn), &change.uuid)?;
            }
            ChangeKind::Add => forget_tombstone(txn, store, change.uuid)?,
            _ => {}
        }
        self.has_changed = true;
        self.appended += 1;
        self.now_us = self.now_us.max(change.time_us);
        Ok(())
    }

    /// Drops records beyond the retention, twice as many as were appended at most.
    fn trim(&mut self, txn: &mut WriteTxn<'_>, store: &crate::Store) -> Result<(), StoreError> {
        let retention = store.retention.get();
        let Some(state) = &mut self.state else {
            return Ok(());
        };
        for _ in 0..2 * std::mem::take(&mut self.appended) {
            if state.oldest >= state.newest || state.len() <= retention.records_min {
                break;
            }
            let key = state.oldest.to_be_bytes();
            let Some(bytes) = txn.get(store.dbs.changes, &key)? else {
                // A load leaves positions without a record.
                state.oldest += 1;
                continue;
            };
            let record = ChangeRecord::decode(bytes)?;
            let age_us = self.now_us.saturating_sub(record.time_us);
            if state.bytes <= retention.bytes_max && age_us <= retention.time_us_max {
                break;
            }
            let (csn, len) = (record.csn, bytes.len() as u64);
            drop_record(txn, store, &key, csn)?;
            state.horizon.raise(csn);
            state.bytes = state.bytes.saturating_sub(len);
            state.oldest += 1;
        }
        trim_tombstones(txn, store, state, self.now_us, retention.tombstone_us_max)
    }

    /// Drops all records, but not the positions that they had.
    fn drop_all(&mut self, txn: &mut WriteTxn<'_>, store: &crate::Store) -> Result<(), StoreError> {
        let state = self.state.get_or_insert_with(LogState::of_new);
        txn.clear_database(store.dbs.changes)?;
        txn.clear_database(store.dbs.change_csn)?;
        state.oldest = state.newest + 1;
        state.bytes = 0;
        state.horizon.raise_all(&state.vector.clone());
        Ok(())
    }
}

fn drop_record(
    txn: &mut WriteTxn<'_>,
    store: &crate::Store,
    position: &[u8; 8],
    csn: PackedCsn,
) -> Result<(), StoreError> {
    txn.delete(store.dbs.changes, position)?;
    let key = csn_key(csn);
    if txn.get(store.dbs.change_csn, &key)? == Some(position) {
        txn.delete(store.dbs.change_csn, &key)?;
    }
    Ok(())
}

fn forget_tombstone(
    txn: &mut WriteTxn<'_>,
    store: &crate::Store,
    uuid: [u8; 16],
) -> Result<(), StoreError> {
    let key = uuid_key(uuid);
    let Some(tombstone) = txn.get(store.dbs.tombstones, &key)? else {
        return Ok(());
    };
    let csn = tombstone
        .get(..PackedCsn::LEN)
        .and_then(PackedCsn::from_bytes);
    let csn = csn.ok_or(Damage::Changes)?;
    txn.delete(store.dbs.tombstones, &tombstone_key(csn))?;
    txn.delete(store.dbs.tombstones, &key)?;
    Ok(())
}

/// Forgets the oldest deletion of each server if it is too old.
fn trim_tombstones(
    txn: &mut WriteTxn<'_>,
    store: &crate::Store,
    state: &mut LogState,
    now_us: u64,
    age_us_max: u64,
) -> Result<(), StoreError> {
    let servers: Vec<u16> = state.vector.iter().map(|csn| csn.server()).collect();
    for server in servers {
        let [high, low] = server.to_be_bytes();
        let prefix = [BY_CSN, high, low];
        let mut cursor = txn.cursor(store.dbs.tombstones)?;
        let first = cursor.seek_range(&prefix)?;
        let Some((key, uuid)) = first.filter(|(key, _)| key.starts_with(&prefix)) else {
            continue;
        };
        let csn = key.get(3..).and_then(PackedCsn::from_bytes);
        let uuid: Option<[u8; 16]> = uuid.try_into().ok();
        let (csn, uuid) = csn.zip(uuid).ok_or(Damage::Changes)?;
        let tombstone = txn.get(store.dbs.tombstones, &uuid_key(uuid))?;
        let deleted_us =
            tombstone.and_then(|bytes| crate::bytes::u64_at(bytes, PackedCsn::LEN + 8));
        let age_us = now_us.saturating_sub(deleted_us.ok_or(Damage::Changes)?);
        if age_us > age_us_max {
            txn.delete(store.dbs.tombstones, &uuid_key(uuid))?;
            txn.delete(store.dbs.tombstones, &tombstone_key(csn))?;
            state.tombstone_horizon.raise(csn);
        }
    }
    Ok(())
}
