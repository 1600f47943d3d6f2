//! Adding an entry.

use std::sync::Arc;

use super::writer::{Writer, name_below};
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::index::{KeyMaker, ValueSource};
use crate::record::{self, RecordSource};
use fulgurite_schema::{CheckedEntry, Dn, Entry};

/// The values of which the index keys of a new entry are made.
#[derive(Clone, Copy)]
pub(super) enum KeySource<'e> {
    Values(&'e dyn ValueSource),
    /// Another thread may make the keys.
    Shared(&'e Arc<CheckedEntry>),
}

impl Writer<'_> {
    /// Adds an entry below `parent`; a top entry goes below [`EntryId::ROOT`].
    /// # Errors
    /// [`StoreError::EntryExists`], [`StoreError::NoSuchParent`], [`StoreError::OutsideSuffix`] for
    /// a name that is no suffix, [`StoreError::EntryTooLarge`], [`StoreError::EntryTooBig`]; the
    /// store is unchanged then.
    pub fn add(&mut self, parent: EntryId, entry: &CheckedEntry) -> Result<EntryId, StoreError> {
        self.add_with_keys(parent, entry.entry(), KeySource::Values(entry.entry()))
    }

    /// As [`add`](Self::add), for an entry that another thread may read. In a transaction with
    /// hundreds of them it makes their index keys meanwhile.
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_shared(
        &mut self,
        parent: EntryId,
        entry: &Arc<CheckedEntry>,
    ) -> Result<EntryId, StoreError> {
        self.add_with_keys(parent, entry.entry(), KeySource::Shared(entry))
    }

    fn add_with_keys(
        &mut self,
        parent: EntryId,
        entry: &Entry,
        keys: KeySource<'_>,
    ) -> Result<EntryId, StoreError> {
        self.check_not_poisoned()?;
        let (rdn_normal, rdn) = name_below(&entry.dn, parent)?;
        self.check_name(parent, &entry.dn, rdn_normal)?;
        let id = self.insert_entry(None, parent, (rdn_normal, rdn), (entry, keys))?;
        self.note_added(id);
        debug_assert_ne!(id, parent, "no entry is its own parent");
        Ok(id)
    }

    /// Inserts an entry whose name has been checked, under a free id, or else the next one.
    pub(super) fn insert_entry(
        &mut self,
        id: Option<EntryId>,
        parent: EntryId,
        (rdn_normal, rdn): (&str, &str),
        (entry, keys): (&Entry, KeySource<'_>),
    ) -> Result<EntryId, StoreError> {
        let attributes = self.number(entry)?;
        let mut encoded = std::mem::take(&mut self.record);
        let source = RecordSource {
            parent,
            rdn_normal: rdn_normal.as_bytes(),
            rdn: rdn.as_bytes(),
            attributes,
            overflow: &[],
        };
        record::encode(&source, &mut encoded)?;
        self.view.store.check_size(&encoded)?;
        let id = id.map_or_else(|| self.next_id(), Ok)?;
        self.insert_record_as(id, parent, rdn_normal, &encoded, keys)?;
        self.record = encoded;
        Ok(id)
    }

    /// Inserts a record whose name has been checked.
    pub(crate) fn insert_record(
        &mut self,
        parent: EntryId,
        rdn_normal: &str,
        record: &[u8],
        entry: &dyn ValueSource,
    ) -> Result<EntryId, StoreError> {
        let id = self.next_id()?;
        let keys = KeySource::Values(entry);
        self.insert_record_as(id, parent, rdn_normal, record, keys)?;
        Ok(id)
    }

    /// As [`insert_record`](Self::insert_record), under a free id.
    fn insert_record_as(
        &mut self,
        id: EntryId,
        parent: EntryId,
        rdn_normal: &str,
        record: &[u8],
        keys: KeySource<'_>,
    ) -> Result<(), StoreError> {
        debug_assert_ne!(id, EntryId::ROOT, "zero is no entry");
        debug_assert!(matches!(self.view.record(id), Ok(None)), "the id is free");
        self.apply(|writer| {
            let store = writer.view.store;
            writer.put_record(id, record)?;
            writer.insert_name(parent, rdn_normal.as_bytes(), id)?;
            writer.counts.change(parent, 1, 1);
            let (postings, indexes) = (&mut writer.postings, &writer.view.indexes);
            match keys {
                KeySource::Values(entry) => {
                    let keys = KeyMaker::new(indexes, &store.schema);
                    postings.add_entry(keys, id, entry, &mut writer.key);
                }
                KeySource::Shared(entry) => {
                    let (entry, source) = ((entry, record.len()), (indexes, &store.schema));
                    postings.add_shared(source, id, entry, &mut writer.key);
                }
            }
            writer.flush_if_full()
        })
    }

    /// Checks that an entry of this name may be added below `parent`.
    pub(crate) fn check_name(
        &self,
        parent: EntryId,
        dn: &Dn,
        rdn_normal: &str,
    ) -> Result<(), StoreError> {
        let name = || dn.pretty().to_owned();
        if parent == EntryId::ROOT && !self.view.store.is_top(dn) {
            return Err(StoreError::OutsideSuffix(name()));
        }
        if parent != EntryId::ROOT && self.view.record(parent)?.is_none() {
            return Err(StoreError::NoSuchParent(name()));
        }
        if self.view.child(parent, rdn_normal.as_bytes())?.is_some() {
            return Err(StoreError::EntryExists(name()));
        }
        Ok(())
    }
}
