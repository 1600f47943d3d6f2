//! Changing an entry's attributes.

use super::bind_state::KeptBindState;
use super::difference::{Difference, KnownChanges};
use super::writer::Writer;
use crate::error::{Damage, StoreError};
use crate::ids::{AttributeId, EntryId};
use crate::record::{self, Record, RecordSource};
use fulgurite_schema::CheckedEntry;

impl Writer<'_> {
    /// Replaces an entry's attributes by those of `new`. The name stays, and the name in `new` is
    /// ignored. Only the indexes of changed attributes are touched.
    ///
    /// An attribute without values in `new` keeps its stored values. So a change of one attribute
    /// of many costs little more than that attribute. An attribute with [overflow
    /// values](crate::Values::are_overflow) cannot be kept this way.
    /// # Errors
    /// [`StoreError::NoSuchEntry`], [`StoreError::EntryTooLarge`], [`StoreError::EntryTooBig`],
    /// [`StoreError::Damaged`] for an attribute that cannot stay; the store is unchanged then.
    pub fn modify(&mut self, id: EntryId, new: &CheckedEntry) -> Result<(), StoreError> {
        self.check_not_poisoned()?;
        self.note_touched(id)?;
        let mut attributes = self.number(new.entry())?;
        let kept = self.kept_bind_state(id, &attributes)?;
        kept.keep(&mut attributes);
        let stays = |(id, values): &(AttributeId, &[Vec<u8>])| values.is_empty().then_some(*id);
        let skipped = attributes.iter().filter_map(stays).collect();
        let mut encoded = std::mem::take(&mut self.record);
        let old = self.view.record(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        record::encode_over(
            &old,
            &RecordSource {
                parent: old.parent(),
                rdn_normal: old.rdn_normal(),
                rdn: old.rdn(),
                attributes,
                overflow: &[],
            },
            &mut encoded,
        )?;
        let store = self.view.store;
        store.check_size(&encoded)?;
        debug_assert!(
            Record::parse(&encoded).is_ok_and(|new| new.parent() == old.parent()),
            "a modification moves no entry"
        );
        let known = KnownChanges {
            skipped,
            ..KnownChanges::default()
        };
        let difference = Difference::between(
            &self.view.indexes,
            &store.schema,
            &self.view.attributes,
            (&old, &Record::parse(&encoded)?),
            &known,
        );
        let may_have_overflow = old.has_overflow();
        self.apply(|writer| {
            writer.record_postings(id, difference);
            writer.put_record_over(id, &encoded, may_have_overflow)?;
            writer.put_kept(id, &kept)?;
            writer.record = encoded;
            writer.flush_if_full()
        })
    }

    /// Encodes the next record of an entry. Its bind state follows with
    /// [`put_kept`](Self::put_kept).
    pub(super) fn encode(
        &mut self,
        id: EntryId,
        parent: EntryId,
        (rdn_normal, rdn): (&str, &str),
        entry: &CheckedEntry,
    ) -> Result<(Vec<u8>, KeptBindState), StoreError> {
        let mut attributes = self.number(entry.entry())?;
        let kept = self.kept_bind_state(id, &attributes)?;
        kept.keep(&mut attributes);
        let mut encoded = std::mem::take(&mut self.record);
        record::encode(
            &RecordSource {
                parent,
                rdn_normal: rdn_normal.as_bytes(),
                rdn: rdn.as_bytes(),
                attributes,
                overflow: &[],
            },
            &mut encoded,
        )?;
        self.view.store.check_size(&encoded)?;
        Ok((encoded, kept))
    }

    /// Replaces a record, and records the difference in the indexes.
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
            &KnownChanges::default(),
        );
        let may_have_overflow = old.has_overflow();
        self.record_postings(id, difference);
        self.put_record_over(id, &encoded, may_have_overflow)?;
        self.record = encoded;
        self.flush_if_full()
    }

    /// Collects the changes of postings.
    pub(super) fn record_postings(&mut self, id: EntryId, difference: Difference) {
        let gone = difference.removed_keys.iter().map(|key| (key, false));
        let come = difference.added_keys.iter().map(|key| (key, true));
        gone.chain(come)
            .for_each(|(key, present)| self.postings.change(key, id, present));
    }
}
