//! The children of an entry and its subordinate counts.

use super::state::View;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::names::{self, Counts, NameList};
use fulgurite::Snapshot;

impl<T: Snapshot> View<'_, T> {
    /// Visits the children of an entry, in no particular order. The children of [`EntryId::ROOT`]
    /// are the suffix entries. `visit` returns false to stop.
    /// # Errors
    /// [`StoreError`] if the engine fails or a list is damaged; `visit` ends the walk early by
    /// answering false.
    pub fn for_each_child(
        &self,
        parent: EntryId,
        visit: &mut dyn FnMut(EntryId) -> bool,
    ) -> Result<(), StoreError> {
        let mut cursor = self.txn.cursor(self.store.dbs.names)?;
        let mut row = cursor.seek_range(&parent.key())?;
        while let Some((_, list)) = row.filter(|(key, _)| names::is_child_of(key, parent)) {
            for child in NameList(list) {
                if !visit(child?.0) {
                    return Ok(());
                }
            }
            row = cursor.next()?;
        }
        Ok(())
    }

    /// Appends some children of an entry, at least one list of them, from behind the list `from`.
    /// `left` counts them down. Returns the key of the last list read, or `None` at the end.
    pub(crate) fn some_children(
        &self,
        parent: EntryId,
        from: Option<Vec<u8>>,
        left: &mut usize,
        out: &mut Vec<EntryId>,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let mut cursor = self.txn.cursor(self.store.dbs.names)?;
        let start = from.unwrap_or_else(|| parent.key().to_vec());
        let mut row = cursor.seek_range(&start)?;
        if row.is_some_and(|(key, _)| key == start.as_slice()) {
            row = cursor.next()?;
        }
        while let Some((key, list)) = row.filter(|(key, _)| names::is_child_of(key, parent)) {
            for child in NameList(list) {
                out.push(child?.0);
                *left = left.saturating_sub(1);
            }
            if *left == 0 {
                return Ok(Some(key.to_vec()));
            }
            row = cursor.next()?;
        }
        Ok(None)
    }

    /// Returns the children of an entry in ascending order.
    /// # Errors
    /// [`StoreError`] if the engine fails or a list is damaged.
    pub fn children(&self, parent: EntryId) -> Result<Vec<EntryId>, StoreError> {
        let mut ids = Vec::new();
        self.for_each_child(parent, &mut |id| {
            ids.push(id);
            true
        })?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// Returns true if the entry has children. Cost: one descent.
    /// # Errors
    /// [`StoreError`] if the engine fails or a list is damaged.
    pub fn has_children(&self, id: EntryId) -> Result<bool, StoreError> {
        let row = self
            .txn
            .cursor(self.store.dbs.names)?
            .seek_range(&id.key())?;
        Ok(row.is_some_and(|(key, _)| names::is_child_of(key, id)))
    }

    /// Returns the stored subordinate counts. A writer may have newer ones in memory.
    pub(crate) fn stored_counts(&self, id: EntryId) -> Result<Counts, StoreError> {
        let cache = self.cache.as_ref();
        if let Some(counts) = cache.and_then(|cache| cache.counts(id)) {
            return Ok(counts);
        }
        let counts = match self.txn.get(self.store.dbs.counts, &id.key())? {
            Some(bytes) => Counts::parse(bytes)?,
            None => Counts::default(),
        };
        cache
            .iter()
            .for_each(|cache| cache.remember_counts(id, counts));
        Ok(counts)
    }
}

impl View<'_> {
    /// Returns the number of children of an entry. Cost: one descent.
    /// # Errors
    /// [`StoreError`] if the engine fails or the count is damaged.
    pub fn child_count(&self, id: EntryId) -> Result<u64, StoreError> {
        Ok(self.stored_counts(id)?.children)
    }

    /// Returns the number of entries below an entry, on all levels. Cost: one descent.
    /// # Errors
    /// [`StoreError`] if the engine fails or the count is damaged.
    pub fn descendant_count(&self, id: EntryId) -> Result<u64, StoreError> {
        Ok(self.stored_counts(id)?.descendants)
    }
}
