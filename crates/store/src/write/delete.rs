//! Deleting an entry.

use super::writer::Writer;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::index::{KeyMaker, key};
use crate::overflow_values;

impl Writer<'_> {
    /// Deletes an entry without children.
    ///
    /// # Errors
    /// [`StoreError::NoSuchEntry`], [`StoreError::NotLeaf`]; the store is unchanged then.
    pub fn delete(&mut self, id: EntryId) -> Result<(), StoreError> {
        self.check_not_poisoned()?;
        if self.counts.has_change_of(id) {
            // The counts of its ancestors do not yet reflect its former children, and the way to
            // them is its record.
            self.apply(Self::flush_counts)?;
        }
        debug_assert!(!self.counts.has_change_of(id), "its counts are written");
        self.undo_add(id)
    }

    /// Removes an entry without children that [`add_as`](Self::add_as) has added in this
    /// transaction, because its parent did not come.
    /// # Errors
    /// As [`delete`](Self::delete).
    pub fn undo_add(&mut self, id: EntryId) -> Result<(), StoreError> {
        self.check_not_poisoned()?;
        self.note_touched(id)?;
        let entry = self.view.entry(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        if self.view.has_children(id)? {
            return Err(StoreError::NotLeaf(id));
        }
        let store = self.view.store;
        let indexes = &self.view.indexes;
        let postings = &mut self.postings;
        postings.reserve_entry();
        postings.change(&key::all_entries(), id, false);
        KeyMaker::new(indexes, &store.schema).each_key(&entry, &mut self.key, &mut |key| {
            postings.change(key, id, false);
        });
        let parent = entry.parent().unwrap_or(EntryId::ROOT);
        debug_assert_ne!(id, EntryId::ROOT, "zero is no entry");
        let rdn_normal = entry.rdn_normal().to_vec();
        let has_overflow_values = entry.record().overflow_attributes().next().is_some();
        self.apply(|writer| {
            writer.counts.change(parent, -1, -1);
            writer.remove_name(parent, &rdn_normal, id)?;
            writer.has_changed_entries = true;
            writer.view.txn.delete(store.dbs.entries, &id.key())?;
            writer.clear_bind_state(id)?;
            if has_overflow_values {
                overflow_values::clear_entry(&mut writer.view.txn, store.dbs.values, id)?;
            }
            writer.flush_if_full()
        })
    }
}
