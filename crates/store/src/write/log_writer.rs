//! The tables of the log in a writer's transaction: appending, and dropping the old end.

use std::sync::atomic::Ordering;

use crate::changes::{
    BY_CSN, ChangeKind, ChangeRecord, LogState, NewChange, PackedCsn, change_key, change_of_key,
    tombstone_key, tombstone_of_key, uuid_key,
};
use crate::error::{Damage, StoreError};
use fulgurite::{Snapshot, WriteTxn};

/// Length of a usual record in bytes.
const RECORD_ROOM: usize = 480;

/// The log in a writer's transaction.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogWriter {
    /// Read at the first change.
    pub(super) state: Option<LogState>,
    pub(crate) has_changed: bool,
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
        state.newest += 1;
        let back = state.chains.append(change.csn, state.newest);
        self.record.clear();
        self.record.reserve(RECORD_ROOM);
        change.encode(back, &mut self.record);
        state.bytes += self.record.len() as u64;
        let position = state.newest.to_be_bytes();
        debug_assert!(matches!(txn.get(dbs.changes, &position), Ok(None)));
        txn.put(dbs.changes, &position, &self.record)?;
        if back.is_none() {
            let key = change_key(change.csn, state.newest);
            txn.put(dbs.change_csn, &key, &[])?;
        }
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
            ChangeKind::Rename => {
                store
                    .newest_rename
                    .fetch_max(state.newest, Ordering::Release);
            }
            _ => {}
        }
        self.has_changed = true;
        self.appended += 1;
        self.appended_bytes += self.record.len() as u64;
        self.now_us = self.now_us.max(change.time_us);
        Ok(())
    }

    /// Adds the greatest number of the states that a deletion ends.
    pub(super) fn limit_deletion(
        txn: &mut WriteTxn<'_>,
        store: &crate::Store,
        (uuid, ends): ([u8; 16], PackedCsn),
    ) -> Result<(), StoreError> {
        let key = uuid_key(uuid);
        let Some(held) = txn.get(store.dbs.tombstones, &key)? else {
            return Ok(());
        };
        let parts = held.split_at_checked(PackedCsn::LEN + 16);
        let (head, dn) = parts.ok_or(Damage::Changes)?;
        let mut row = [head, ends.as_bytes(), dn].concat();
        if let Some(first) = row.get_mut(PackedCsn::LEN) {
            debug_assert_eq!(*first & 0x80, 0, "a deletion is limited once");
            *first |= 0x80;
        }
        txn.put(store.dbs.tombstones, &key, &row)?;
        Ok(())
    }

    /// Drops records beyond the retention, twice as many as were appended at most.
    pub(super) fn trim(
        &mut self,
        txn: &mut WriteTxn<'_>,
        store: &crate::Store,
    ) -> Result<(), StoreError> {
        let retention = store.retention();
        let bytes_max = store.log_bytes_max();
        let Some(state) = &mut self.state else {
            return Ok(());
        };
        // Small records may be old and large ones new, so neither measure alone bounds the log.
        let records = 2 * std::mem::take(&mut self.appended);
        let bytes = 2 * std::mem::take(&mut self.appended_bytes);
        let (mut dropped, mut dropped_bytes) = (0, 0);
        let now_us = self.now_us;
        while dropped < records || dropped_bytes < bytes {
            dropped += 1;
            if state.len() <= retention.records_min {
                break;
            }
            let is_due = |state: &LogState, record: &ChangeRecord<'_>| {
                let age_us = now_us.saturating_sub(record.time_us);
                state.bytes > bytes_max || age_us > retention.time_us_max
            };
            if state.len() <= 1 {
                break;
            }
            let Some(len) = drop_oldest(txn, store, state, is_due)? else {
                break;
            };
            dropped_bytes += len;
        }
        let forgotten_before_us = self.now_us.saturating_sub(retention.tombstone_us_max);
        trim_tombstones(txn, store, state, (forgotten_before_us, records + 1))
    }

    /// Drops the records of before a time, the newest one too, up to a number. At least
    /// `records_min` stay. Returns the number of dropped ones.
    pub(super) fn purge(
        &mut self,
        txn: &mut WriteTxn<'_>,
        store: &crate::Store,
        (before_us, records_max): (u64, u64),
    ) -> Result<u64, StoreError> {
        let records_min = store.retention().records_min;
        let state = self.state.get_or_insert_with(LogState::of_new);
        let mut dropped = 0;
        while dropped < records_max && state.len() > records_min {
            let is_due = |_: &LogState, record: &ChangeRecord<'_>| record.time_us < before_us;
            if drop_oldest(txn, store, state, is_due)?.is_none() {
                break;
            }
            dropped += 1;
        }
        Ok(dropped)
    }

    /// Drops the oldest records, of `bytes` together, to make room for others. The newest records
    /// stay: `records_min` of them, and one at least. Returns the bytes of the dropped ones.
    pub(crate) fn shrink(
        &mut self,
        txn: &mut WriteTxn<'_>,
        store: &crate::Store,
        (bytes, records_min): (u64, u64),
    ) -> Result<u64, StoreError> {
        let state = self.state.get_or_insert_with(LogState::of_new);
        let mut dropped = 0;
        while dropped < bytes && state.len() > records_min.max(1) {
            let Some(len) = drop_oldest(txn, store, state, |_, _| true)? else {
                break;
            };
            dropped += len;
        }
        Ok(dropped)
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
        state.chains.clear();
        state.oldest = state.newest + 1;
        state.bytes = 0;
        state.horizon.raise_all(&state.vector.clone());
        Ok(())
    }
}

/// Drops the oldest record if it is due. Returns its bytes; `None` if it stays.
///
/// A damaged record goes at once. The horizon is then the committed vector, so that consumers from
/// before read the entries again.
fn drop_oldest(
    txn: &mut WriteTxn<'_>,
    store: &crate::Store,
    state: &mut LogState,
    is_due: impl FnOnce(&LogState, &ChangeRecord<'_>) -> bool,
) -> Result<Option<u64>, StoreError> {
    let position = state.oldest;
    if position > state.newest {
        return Ok(None);
    }
    let key = position.to_be_bytes();
    let bytes = match txn.get(store.dbs.changes, &key) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            // A load leaves positions without a record.
            state.oldest += 1;
            return Ok(Some(0));
        }
        // A repair of the file is needed to drop more. Changes go on.
        Err(fulgurite::Error::Corrupted { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let len = bytes.len() as u64;
    let row = match ChangeRecord::decode(bytes) {
        Some(record) if !is_due(state, &record) => return Ok(None),
        Some(record) => {
            state.horizon.raise(record.csn);
            let is_chained = record.back.is_some();
            (!is_chained).then(|| change_key(record.csn, position))
        }
        None => {
            let committed = LogState::read(txn, store.dbs.meta)?;
            let committed = committed.unwrap_or_else(|| state.clone());
            state.horizon.raise_all(&committed.vector);
            row_of(txn, store, position)?
        }
    };
    txn.delete(store.dbs.changes, &key)?;
    if let Some(row) = row {
        txn.delete(store.dbs.change_csn, &row)?;
    }
    state.bytes = state.bytes.saturating_sub(len);
    state.oldest += 1;
    Ok(Some(len))
}

/// Returns the key of a record in no chain by its position. It looks at all of these records.
#[cold]
fn row_of(
    txn: &WriteTxn<'_>,
    store: &crate::Store,
    position: u64,
) -> Result<Option<[u8; 10 + PackedCsn::LEN]>, StoreError> {
    let mut cursor = txn.cursor(store.dbs.change_csn)?;
    let mut row = cursor.first()?;
    while let Some((key, _)) = row {
        if let Some((_, at)) = change_of_key(key)
            && at == position
        {
            return Ok(key.try_into().ok());
        }
        row = cursor.next()?;
    }
    Ok(None)
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
    // A damaged one has left its other row, which goes when it is old.
    if let Some(csn) = csn {
        txn.delete(store.dbs.tombstones, &tombstone_key(csn, uuid))?;
    }
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
    let Some((csn, uuid)) = tombstone_of_key(key) else {
        // Nobody knows which deletion it was.
        let key = key.to_vec();
        txn.delete(store.dbs.tombstones, &key)?;
        state.tombstone_horizon.raise_all(&state.vector);
        return Ok(true);
    };
    let tombstone = txn.get(store.dbs.tombstones, &uuid_key(uuid))?;
    let deleted_us = tombstone.and_then(|bytes| crate::bytes::u64_at(bytes, PackedCsn::LEN + 8));
    // Without a time, it is older than any.
    if deleted_us.is_some_and(|deleted_us| deleted_us >= before_us) {
        return Ok(false);
    }
    txn.delete(store.dbs.tombstones, &uuid_key(uuid))?;
    txn.delete(store.dbs.tombstones, &tombstone_key(csn, uuid))?;
    state.tombstone_horizon.raise(csn);
    Ok(true)
}
