//! The children of an entry and the numbers of its subordinates.

use super::state::View;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::names::{self, Counts, NameList};
use fulgurite::Snapshot;

impl<T: Snapshot> View<'_, T> {
    /// The children of an entry, in no particular order; of [`EntryId::ROOT`], the suffix entries.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or a list is damaged; `visit` ends the walk early by answering false.
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

    /// Some children of an entry, at least one list of them: from after the list `from` on, about `left` of them, which
    /// is counted down. The key of the last list read, unless there are no more.
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

    /// The children of an entry in ascending order.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or a list is damaged.
    pub fn children(&self, parent: EntryId) -> Result<Vec<EntryId>, StoreError> {
        let mut ids = Vec::new();
        self.for_each_child(parent, &mut |id| {
            ids.push(id);
            true
        })?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// Whether the entry has children. One descent.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or a list is damaged.
    pub fn has_children(&self, id: EntryId) -> Result<bool, StoreError> {
        let row = self
            .txn
            .cursor(self.store.dbs.names)?
            .seek_range(&id.key())?;
        Ok(row.is_some_and(|(key, _)| names::is_child_of(key, id)))
    }

    /// Stored subordinate counts: for a writer, without what it has not flushed.
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
    /// Number of children of an entry. One descent.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or the count is damaged.
    pub fn child_count(&self, id: EntryId) -> Result<u64, StoreError> {
        Ok(self.stored_counts(id)?.children)
    }

    /// Number of entries below an entry, on all levels. One descent.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or the count is damaged.
    pub fn descendant_count(&self, id: EntryId) -> Result<u64, StoreError> {
        Ok(self.stored_counts(id)?.descendants)
    }
}
