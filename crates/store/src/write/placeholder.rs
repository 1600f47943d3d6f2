//! Entries that come out of order: placeholders for parents that come later, and given ids.

use super::add::KeySource;
use super::writer::{Writer, name_below};
use crate::error::StoreError;
use crate::ids::EntryId;
use fulgurite_schema::{CheckedEntry, Dn, Entry};

impl Writer<'_> {
    /// Adds a placeholder below `parent` for an entry that comes later. It has a name and an id,
    /// and no attribute.
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_placeholder(&mut self, parent: EntryId, dn: &Dn) -> Result<EntryId, StoreError> {
        self.check_not_poisoned()?;
        let (rdn_normal, rdn) = name_below(dn, parent)?;
        self.check_name(parent, dn, rdn_normal)?;
        let entry = Entry::new(dn.clone());
        let keys = KeySource::Values(&entry);
        self.insert_entry(None, parent, (rdn_normal, rdn), (&entry, keys))
    }

    /// Replaces a placeholder by its entry.
    ///
    /// # Errors
    /// [`StoreError::EntryExists`] if the entry is no placeholder, [`StoreError::NoSuchEntry`],
    /// [`StoreError::EntryTooLarge`].
    pub fn fill_placeholder(
        &mut self,
        id: EntryId,
        entry: &CheckedEntry,
    ) -> Result<(), StoreError> {
        self.check_not_poisoned()?;
        let dn = &entry.entry().dn;
        let held = self.view.record(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        if held.attributes().next().is_some() {
            return Err(StoreError::EntryExists(dn.pretty().to_owned()));
        }
        let parent = held.parent();
        let (rdn_normal, rdn) = name_below(dn, parent)?;
        let (encoded, kept) = self.encode(id, parent, (rdn_normal, rdn), entry)?;
        debug_assert!(kept.is_empty(), "nobody binds as a placeholder");
        self.apply(|writer| writer.replace_record(id, encoded))
    }

    /// Adds an entry under an id that another server gave it. Its parent may come later, but before
    /// the commit.
    ///
    /// # Errors
    /// [`StoreError::EntryExists`] if id or name exist, [`StoreError::OutsideSuffix`],
    /// [`StoreError::EntryTooLarge`]; the store is unchanged then.
    pub fn add_as(
        &mut self,
        id: EntryId,
        parent: EntryId,
        entry: &CheckedEntry,
    ) -> Result<(), StoreError> {
        self.check_not_poisoned()?;
        let entry = entry.entry();
        let (rdn_normal, rdn) = name_below(&entry.dn, parent)?;
        let name = || entry.dn.pretty().to_owned();
        if parent == EntryId::ROOT && !self.view.store.is_top(&entry.dn) {
            return Err(StoreError::OutsideSuffix(name()));
        }
        if id == EntryId::ROOT
            || self.view.record(id)?.is_some()
            || self.view.child(parent, rdn_normal.as_bytes())?.is_some()
        {
            return Err(StoreError::EntryExists(name()));
        }
        let keys = KeySource::Values(entry);
        self.insert_entry(Some(id), parent, (rdn_normal, rdn), (entry, keys))?;
        Ok(())
    }
}
