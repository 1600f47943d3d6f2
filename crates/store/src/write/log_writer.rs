//! The tables of the log in a writer's transaction: appending, and dropping the old end.

use crate::changes::{
    BY_CSN, ChangeKind, ChangeRecord, LogState, NewChange, PackedCsn, change_key, tombstone_key,
    tombstone_of_key, uuid_key,
};
use crate::error::{Damage, StoreError};
use fulgurite::{Snapshot, WriteTxn};

/// The log in a writer's transaction.
#[derive(Default)]
pub(crate) struct LogWriter {
    /// Read at the first change.
    pub(super) state: Option<LogState>,
    pub(super) has_changed: bool,
    appended: u64,
    appended_bytes: u64,
    /// The time of the newest change, in microseconds.
    now_us: u64,
    record: Vec<u8>,
}

impl LogWriter {
    pub(super) fn append(
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
        let key = change_key(change.csn, state.newest);
        let position = state.newest.to_be_bytes();
        debug_assert!(matches!(txn.get(dbs.changes, &position), Ok(None)));
        txn.put(dbs.changes, &position, &self.record)?;
        txn.put(dbs.change_csn, &key, &[])?;
        match change.kind {
            ChangeKind::Delete => {
                forget_tombstone(txn, store, change.uuid)?;
                let mut tombstone = change.csn.as_bytes().to_vec();
                tombstone.extend_from_slice(&position);
                tombstone.extend_from_slice(&change.time_us.to_le_bytes());
                tombstone.extend_from_slice(change.dn.as_bytes());
                txn.put(dbs.tombstones, &uuid_key(change.uuid), &tombstone)?;
                let by_csn = tombstone_key(change.csn, change.uuid);
                txn.put(dbs.tombstones, &by_csn, &[])?;
            }
            ChangeKind::Add => forget_tombstone(txn, store, change.uuid)?,
            _ => {}
        }
        self.has_changed = true;
        self.appended += 1;
        self.appended_bytes += self.record.len() as u64;
        self.now_us = self.now_us.max(change.time_us);
        Ok(())
    }

    /// Drops records beyond the retention, twice as many as were appended at most.
    pub(super) fn trim(
        &mut self,
        txn: &mut WriteTxn<'_>,
        store: &crate::Store,
    ) -> Result<(), StoreError> {
        let retention = store.retention.get();
        let Some(state) = &mut self.state else {
            return Ok(());
        };
        // Small records may be old and large ones new, so neither measure alone bounds the log.
        let records = 2 * std::mem::take(&mut self.appended);
        let bytes = 2 * std::mem::take(&mut self.appended_bytes);
        let (mut dropped, mut dropped_bytes) = (0, 0);
        while dropped < records || dropped_bytes < bytes {
            dropped += 1;
            if state.oldest >= state.newest || state.len() <= retention.records_min {
                break;
            }
            let position = state.oldest;
            let key = position.to_be_bytes();
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
            txn.delete(store.dbs.changes, &key)?;
            txn.delete(store.dbs.change_csn, &change_key(csn, position))?;
            state.horizon.raise(csn);
            state.bytes = state.bytes.saturating_sub(len);
            state.oldest += 1;
            dropped_bytes += len;
        }
        let forgotten_before_us = self.now_us.saturating_sub(retention.tombstone_us_max);
        trim_tombstones(txn, store, state, (forgotten_before_us, records + 1))
    }

    /// Drops all records, but not the positions that they had.
    pub(super) fn drop_all(
        &mut self,
        txn: &mut WriteTxn<'_>,
        store: &crate::Store,
    ) -> Result<(), StoreError> {
        let state = self.state.get_or_insert_with(LogState::of_new);
        txn.clear_database(store.dbs.changes)?;
        txn.clear_database(store.dbs.change_csn)?;
        state.oldest = state.newest + 1;
        state.bytes = 0;
        state.horizon.raise_all(&state.vector.clone());
        Ok(())
    }
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
    txn.delete(store.dbs.tombstones, &tombstone_key(csn, uuid))?;
    txn.delete(store.dbs.tombstones, &key)?;
    Ok(())
}

/// Forgets the oldest deletions of each server from before a time, up to a number.
fn trim_tombstones(
    txn: &mut WriteTxn<'_>,
    store: &crate::Store,
    state: &mut LogState,
    (before_us, count_max): (u64, u64),
) -> Result<(), StoreError> {
    let servers: Vec<u16> = state.vector.iter().map(|csn| csn.server()).collect();
    for server in servers {
        for _ in 0..count_max {
            if !forget_oldest(txn, store, state, (server, before_us))? {
                break;
            }
        }
    }
    Ok(())
}

/// Forgets the oldest deletion of a server if it is from before a time. Returns true if so.
fn forget_oldest(
    txn: &mut WriteTxn<'_>,
    store: &crate::Store,
    state: &mut LogState,
    (server, before_us): (u16, u64),
) -> Result<bool, StoreError> {
    let [high, low] = server.to_be_bytes();
    let prefix = [BY_CSN, high, low];
    let mut cursor = txn.cursor(store.dbs.tombstones)?;
    let first = cursor.seek_range(&prefix)?;
    let Some((key, _)) = first.filter(|(key, _)| key.starts_with(&prefix)) else {
        return Ok(false);
    };
    let (csn, uuid) = tombstone_of_key(key).ok_or(Damage::Changes)?;
    let tombstone = txn.get(store.dbs.tombstones, &uuid_key(uuid))?;
    let deleted_us = tombstone.and_then(|bytes| crate::bytes::u64_at(bytes, PackedCsn::LEN + 8));
    if deleted_us.ok_or(Damage::Changes)? >= before_us {
        return Ok(false);
    }
    txn.delete(store.dbs.tombstones, &uuid_key(uuid))?;
    txn.delete(store.dbs.tombstones, &tombstone_key(csn, uuid))?;
    state.tombstone_horizon.raise(csn);
    Ok(true)
}
