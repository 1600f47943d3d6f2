//! The log of changes, as a writer's operations use it.

use super::log_writer::LogWriter;
use super::writer::Writer;
use crate::changes::{CsnVector, LogState, NewChange, PackedCsn};
use crate::error::StoreError;
use crate::store::Store;
use crate::view::View;
use fulgurite::Snapshot as _;

/// Bytes of records that are dropped at least to make room.
const DROPPED_MIN: u64 = 64 << 10;

/// The update for which a full store makes room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoomFor {
    /// An update that stores this number of bytes at least.
    Storing(u64),
    /// A deletion, which may take more of the log.
    Deletion,
}

/// The outcome of a purge of old records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPurged {
    /// No more records are due. This number has been dropped.
    Done(u64),
    /// More may be due. This number has been dropped.
    More(u64),
    /// Another writer uses the store, and records are due.
    Busy,
}

impl Store {
    /// Drops the oldest records of the log, to make room for other data in a full store. Returns
    /// false if that cannot help. Either the log has no more to give, or the update is too large.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn make_room(&self, purpose: RoomFor) -> Result<bool, StoreError> {
        let records_min = match purpose {
            RoomFor::Storing(bytes) if bytes > self.room_without_log()? => return Ok(false),
            RoomFor::Storing(_) => self.retention().records_min,
            RoomFor::Deletion => 0,
        };
        let mut dropped = 0;
        // The pages that a commit frees are in use again two commits later.
        for _ in 0..2 {
            let mut writer = self.write()?;
            writer.use_reserve();
            let bytes = (writer.log_state()?.bytes / 4).max(DROPPED_MIN);
            dropped += writer.apply(|writer| {
                let View { txn, store, .. } = &mut writer.view;
                writer.log.shrink(txn, store, (bytes, records_min))
            })?;
            if dropped == 0 {
                return Ok(false);
            }
            writer.log.has_changed = true;
            writer.commit()?;
        }
        Ok(true)
    }

    /// Drops records that are older than the log keeps them, though nobody writes: `records_max` of
    /// them at most. It does not wait for another writer.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn purge_log(&self, now_us: u64, records_max: u64) -> Result<LogPurged, StoreError> {
        let before_us = now_us.saturating_sub(self.retention().time_us_max);
        if !self.has_record_before(before_us)? {
            return Ok(LogPurged::Done(0));
        }
        let Some(mut writer) = self.try_write()? else {
            return Ok(LogPurged::Busy);
        };
        writer.use_reserve();
        writer.log_state()?;
        let dropped = writer.apply(|writer| {
            let View { txn, store, .. } = &mut writer.view;
            writer.log.purge(txn, store, (before_us, records_max))
        })?;
        if dropped > 0 {
            writer.log.has_changed = true;
            writer.commit()?;
        }
        Ok(match dropped < records_max {
            true => LogPurged::Done(dropped),
            false => LogPurged::More(dropped),
        })
    }

    /// Returns true if the oldest record of the log is from before a time, or damaged.
    fn has_record_before(&self, before_us: u64) -> Result<bool, StoreError> {
        let view = self.snapshot()?;
        let state = view.changes()?;
        if state.len() <= self.retention().records_min {
            return Ok(false);
        }
        let oldest = view.change(state.oldest)?;
        Ok(oldest.is_none_or(|record| record.time_us < before_us))
    }

    /// Returns the bytes that new data finds at most, if the log gives all that it has.
    fn room_without_log(&self) -> Result<u64, StoreError> {
        let txn = self.env.read()?;
        let info = self.env.info()?;
        let mut pages = txn.free_pages()?.total();
        for table in [self.dbs.changes, self.dbs.change_csn] {
            let stat = txn.stat(table)?;
            pages += stat.branch_pages + stat.leaf_pages + stat.overflow_pages;
        }
        let page_size = info.page_size as u64;
        let used = (info.last_page + 1).saturating_mul(page_size);
        let growth = self.env.map_bytes_max().saturating_sub(used);
        Ok(growth.saturating_add(pages.saturating_mul(page_size)))
    }
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

    /// Notes that a deletion, logged by this writer, ends the entry's states up to `ends` alone.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn limit_deletion(&mut self, uuid: [u8; 16], ends: PackedCsn) -> Result<(), StoreError> {
        self.apply(|writer| {
            let View { txn, store, .. } = &mut writer.view;
            LogWriter::limit_deletion(txn, store, (uuid, ends))
        })
    }

    /// Notes that the content is complete up to a change of its server.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn raise_vector(&mut self, csn: PackedCsn) -> Result<(), StoreError> {
        let raised = self.log_state_mut()?.vector.raise(csn);
        self.log.has_changed |= raised;
        self.has_changed_entries |= raised;
        Ok(())
    }

    /// Replaces the vector. The log and the memory of deletions say nothing about the content
    /// before. So consumers of older states cannot use them.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn reset_vector(&mut self, vector: CsnVector) -> Result<(), StoreError> {
        let state = self.log_state_mut()?;
        state.horizon.raise_all(&vector);
        state.tombstone_horizon.raise_all(&vector);
        state.vector = vector;
        state.is_pending = false;
        self.log.has_changed = true;
        self.has_changed_entries = true;
        Ok(())
    }

    /// Puts a state in place of a newer one. No consumer can go on from a state before, so the log
    /// loses its records.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn rewind_vector(&mut self, vector: CsnVector) -> Result<(), StoreError> {
        self.reset_vector(vector)?;
        self.apply(|writer| {
            let View { txn, store, .. } = &mut writer.view;
            writer.log.drop_all(txn, store)
        })?;
        let state = self.log_state_mut()?;
        state.horizon = state.vector.clone();
        state.tombstone_horizon = state.vector.clone();
        Ok(())
    }

    /// Sets if the vector is part of the exported content.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn show_vector(&mut self, shown: bool) -> Result<(), StoreError> {
        let state = self.log_state_mut()?;
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
        let state = self.log_state_mut()?;
        state.newest += 1;
        state.is_pending = true;
        self.log.has_changed = true;
        self.apply(|writer| {
            let View { txn, store, .. } = &mut writer.view;
            writer.log.drop_all(txn, store)
        })
    }

    /// Ends a bulk load whose state comes later, by [`raise_vector`](Self::raise_vector). The log
    /// has no record of the loaded entries, whose numbers are up to `loaded`.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn expect_vector(&mut self, loaded: &CsnVector) -> Result<(), StoreError> {
        let state = self.log_state_mut()?;
        state.is_pending = false;
        state.horizon.raise_all(loaded);
        self.log.has_changed = true;
        Ok(())
    }

    /// Notes that neither the log nor the memory of deletions has anything up to a change.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn raise_horizons(&mut self, csn: PackedCsn) -> Result<(), StoreError> {
        let state = self.log_state_mut()?;
        state.horizon.raise(csn);
        state.tombstone_horizon.raise(csn);
        self.log.has_changed = true;
        Ok(())
    }

    /// Returns the state of the log with the changes of this writer.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn log_state(&mut self) -> Result<&LogState, StoreError> {
        self.log_state_mut().map(|state| &*state)
    }

    fn log_state_mut(&mut self) -> Result<&mut LogState, StoreError> {
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
