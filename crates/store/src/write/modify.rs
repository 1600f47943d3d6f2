//! Changing an entry's attributes.

use super::difference::{Difference, Shift};
use super::writer::Writer;
use crate::error::{Damage, StoreError};
use crate::ids::{AttributeId, EntryId};
use crate::record::{self, Record, RecordSource};
use fulgurite_schema::CheckedEntry;

impl Writer<'_> {
    /// Replaces an entry's attributes by those of `new`. Its name stays; the name in `new` is not looked at. Only the
    /// indexes of attributes that differ are touched.
    ///
    /// An attribute without values stays as it is in the store, and is not looked at: a change of one attribute of many
    /// costs little more than that one. Those whose values [lie apart](crate::Values::are_apart) cannot stay so.
    ///
    /// # Errors
    /// [`StoreError::NoSuchEntry`], [`StoreError::EntryTooLarge`], [`StoreError::EntryTooBig`], [`StoreError::Damaged`] for an
    /// attribute that cannot stay; the store is unchanged then.
    pub fn modify(&mut self, id: EntryId, new: &CheckedEntry) -> Result<(), StoreError> {
        self.refuse_poisoned()?;
        let attributes = self.number(new.entry())?;
        let stays = |(id, values): &(AttributeId, &[Vec<u8>])| values.is_empty().then_some(*id);
        let settled = attributes.iter().filter_map(stays).collect();
        let mut encoded = std::mem::take(&mut self.record);
        let old = self.view.record(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        record::encode_over(
            &old,
            &RecordSource {
                parent: old.parent(),
                rdn_normal: old.rdn_normal(),
                rdn: old.rdn(),
                attributes,
                apart: &[],
            },
            &mut encoded,
        )?;
        let store = self.view.store;
        store.check_size(&encoded)?;
        let shift = Shift {
            settled,
            ..Shift::default()
        };
        let difference = Difference::between(
            &self.view.indexes,
            &store.schema,
            &self.view.attributes,
            (&old, &Record::parse(&encoded)?),
            &shift,
        );
        let may_be_parted = old.is_parted();
        self.apply(|writer| {
            writer.enter(id, difference);
            writer.put_record_over(id, &encoded, may_be_parted)?;
            writer.record = encoded;
            writer.relieve()
        })
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
        let may_be_parted = old.is_parted();
        self.enter(id, difference);
        self.put_record_over(id, &encoded, may_be_parted)?;
        self.record = encoded;
        self.relieve()
    }

    /// Collects what a change of an entry means for the indexes.
    pub(super) fn enter(&mut self, id: EntryId, difference: Difference) {
        let gone = difference.gone.iter().map(|key| (key, false));
        let come = difference.come.iter().map(|key| (key, true));
        gone.chain(come)
            .for_each(|(key, present)| self.postings.change(key, id, present));
    }
}
