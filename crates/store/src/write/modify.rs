//! Changing an entry's attributes.

use super::Writer;
use super::difference::{Difference, Shift};
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::record::{self, Record, RecordSource};
use fulgurite_schema::CheckedEntry;

impl Writer<'_> {
    /// Replaces an entry's attributes by those of `new`. Its name stays; the name in `new` is not looked at. Only the
    /// indexes of attributes that differ are touched.
    ///
    /// # Errors
    /// [`StoreError::NoSuchEntry`], [`StoreError::EntryTooLarge`], [`StoreError::EntryTooBig`]; the store is unchanged then.
    pub fn modify(&mut self, id: EntryId, new: &CheckedEntry) -> Result<(), StoreError> {
        self.refuse_poisoned()?;
        let record = self.view.record(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        let (parent, rdn_normal, rdn) = record.place_and_name();
        let encoded = self.encode(parent, &rdn_normal, &rdn, new)?;
        self.apply(|writer| writer.replace_record(id, encoded))
    }

    pub(super) fn encode(
        &mut self,
        parent: EntryId,
        rdn_normal: &[u8],
        rdn: &[u8],
        entry: &CheckedEntry,
    ) -> Result<Vec<u8>, StoreError> {
        let attributes = self.number(entry.entry())?;
        let mut encoded = std::mem::take(&mut self.record);
        record::encode(
            &RecordSource {
                parent,
                rdn_normal,
                rdn,
                attributes,
                apart: &[],
            },
            |id| self.view.attributes.written(id),
            &mut encoded,
        )?;
        self.view.store.check_size(&encoded)?;
        Ok(encoded)
    }

    /// Writes a record in the place of another, and the difference between them to the indexes.
    pub(super) fn replace_record(
        &mut self,
        id: EntryId,
        encoded: Vec<u8>,
    ) -> Result<(), StoreError> {
        let store = self.view.store;
        let old = self.view.record(id)?.ok_or(Damage::Record)?;
        let new = Record::parse(&encoded)?;
        let difference = Difference::between(
            &self.view.indexes,
            &store.schema,
            &self.view.attributes,
            (&old, &new),
            &Shift::default(),
        );
        self.enter(id, &difference);
        self.put_record(id, &encoded)?;
        self.record = encoded;
        self.relieve()
    }

    /// Collects what a change of an entry means for the indexes.
    pub(super) fn enter(&mut self, id: EntryId, difference: &Difference) {
        let gone = difference.gone.iter().map(|key| (key, false));
        let come = difference.come.iter().map(|key| (key, true));
        gone.chain(come)
            .for_each(|(key, present)| self.postings.change(key, id, present));
    }
}
