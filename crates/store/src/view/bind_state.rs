//! The bind states of entries.

use std::sync::Arc;

use super::lookup_cache::LookupCache;
use super::state::View;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::idset::IdSet;
use crate::record::Record;
use fulgurite::Snapshot;

impl<T: Snapshot> View<'_, T> {
    /// Returns the bind state of an entry; `None` if no bind has changed a value.
    pub(crate) fn bind_state(&self, id: EntryId) -> Result<Option<Record<'_>>, StoreError> {
        if self.bind_state_count()? == 0 {
            return Ok(None);
        }
        let Some(db) = self.store.dbs.bind_state else {
            return Ok(None);
        };
        let row = self.txn.get(db, &id.key())?;
        Ok(row.map(Record::parse).transpose()?)
    }

    /// Fails if the bind state of an entry cannot be read. Readers of single values take it as
    /// none.
    ///
    /// # Errors
    /// [`StoreError`] if the engine fails or the row is damaged.
    pub fn check_bind_state(&self, id: EntryId) -> Result<(), StoreError> {
        self.bind_state(id).map(drop)
    }

    /// Returns the number of entries with a bind state.
    pub(crate) fn bind_state_count(&self) -> Result<u64, StoreError> {
        let cache = self.cache.as_ref();
        if let Some(count) = cache.and_then(LookupCache::bind_states) {
            return Ok(count);
        }
        let Some(db) = self.store.dbs.bind_state else {
            return Ok(0);
        };
        let count = self.txn.stat(db)?.entries;
        cache
            .iter()
            .for_each(|cache| cache.remember_bind_states(count));
        Ok(count)
    }

    /// Returns the entries with a bind state. A snapshot reads them once, however many items of a
    /// filter ask.
    pub(crate) fn bind_state_ids(&self) -> Result<Arc<IdSet>, StoreError> {
        let cache = self.cache.as_ref();
        if let Some(ids) = cache.and_then(LookupCache::bind_state_ids) {
            return Ok(ids);
        }
        let ids = Arc::new(self.read_bind_state_ids()?);
        cache
            .iter()
            .for_each(|cache| cache.remember_bind_state_ids(&ids));
        Ok(ids)
    }

    fn read_bind_state_ids(&self) -> Result<IdSet, StoreError> {
        let mut ids = IdSet::default();
        let Some(db) = self.store.dbs.bind_state else {
            return Ok(ids);
        };
        let mut cursor = self.txn.cursor(db)?;
        let mut row = cursor.first()?;
        while let Some((key, _)) = row {
            ids.insert(EntryId::from_key(key).ok_or(Damage::Record)?);
            row = cursor.next()?;
        }
        Ok(ids)
    }
}
