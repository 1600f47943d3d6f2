//! Changing single values of attributes with overflow values.

use super::difference::{Difference, KnownChanges};
use super::value_change::ValueChange;
use super::writer::Writer;
use crate::error::{Damage, StoreError};
use crate::ids::{AttributeId, EntryId};
use crate::overflow_values::{RemovedValue, hash, same_as};
use crate::record::{self, Record, RecordSource};
use fulgurite_schema::CheckedEntry;

/// A [`ValueChange`] that has been applied.
struct AppliedChange {
    id: AttributeId,
    /// The removed values as stored.
    removed: Vec<RemovedValue>,
}

impl Writer<'_> {
    /// As [`modify`](Self::modify), but changes only the named values of the attributes in
    /// `changes`. It ignores the values that `new` has of them. The cost does not grow with the
    /// number of their other values.
    ///
    /// # Errors
    /// As [`modify`](Self::modify), but the size of the entry is not limited.
    /// [`StoreError::Damaged`] also for an attribute without overflow values. A value to be removed
    /// that is not stored is damage too, and then the writer cannot commit any more.
    pub fn modify_values(
        &mut self,
        id: EntryId,
        new: &CheckedEntry,
        changes: &[ValueChange],
    ) -> Result<(), StoreError> {
        self.check_not_poisoned()?;
        self.note_touched_values(id, changes)?;
        let record = self.view.record(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        let (parent, rdn_normal, rdn) = record.place_and_name();
        let lengths = changes
            .iter()
            .map(|change| self.length_after(&record, change));
        let lengths = lengths.collect::<Result<Vec<(AttributeId, u32)>, StoreError>>()?;
        let mut attributes = self.number(new.entry())?;
        let kept = self.kept_bind_state(id, &attributes)?;
        kept.keep(&mut attributes);
        for (id, len) in &lengths {
            match attributes.iter_mut().find(|(number, _)| number == id) {
                _ if *len == 0 => attributes.retain(|(number, _)| number != id),
                Some((_, values)) => *values = &[],
                None => attributes.push((*id, &[])),
            }
        }
        let mut encoded = std::mem::take(&mut self.record);
        let source = RecordSource {
            parent,
            rdn_normal: &rdn_normal,
            rdn: &rdn,
            attributes,
            overflow: &lengths,
        };
        record::encode(&source, &mut encoded)?;
        self.apply(|writer| {
            let changed = changes.iter().zip(&lengths);
            let changed =
                changed.map(|(change, (number, _))| writer.change_rows(id, *number, change));
            let changed = changed.collect::<Result<Vec<AppliedChange>, StoreError>>()?;
            writer.put_kept(id, &kept)?;
            if writer.touched.is_some() {
                let done = changes.iter().zip(&changed).zip(&lengths);
                for ((change, applied), (_, after)) in done {
                    let removed = applied.removed.iter().map(|removed| removed.value.clone());
                    let before = *after as usize + change.removed.len() - change.added.len();
                    let change = ValueChange {
                        removed: removed.collect(),
                        ..change.clone()
                    };
                    writer.note_values(id, change, before);
                }
            }
            writer.replace_around(id, encoded, changes, &changed)
        })
    }

    /// Returns the number of an attribute, and the number of values after the change.
    fn length_after(
        &self,
        record: &Record<'_>,
        change: &ValueChange,
    ) -> Result<(AttributeId, u32), StoreError> {
        let number = self.view.attributes.find(&change.description);
        let number = number.ok_or(Damage::Values)?;
        let values = record.values(number).filter(|values| values.are_overflow());
        let before = values.ok_or(Damage::Values)?.len() + change.added.len();
        let after = before.checked_sub(change.removed.len());
        let after = u32::try_from(after.ok_or(Damage::Values)?);
        let after = after.ok().filter(|after| *after < record::OVERFLOW_BIT);
        Ok((number, after.ok_or(StoreError::EntryTooLarge)?))
    }

    /// Changes the rows of one attribute.
    fn change_rows(
        &mut self,
        id: EntryId,
        number: AttributeId,
        change: &ValueChange,
    ) -> Result<AppliedChange, StoreError> {
        let store = self.view.store;
        let (schema, rows) = (&*store.schema, self.value_rows(id, number));
        let attribute = change.description.attribute;
        let mut removed = Vec::new();
        for value in &change.removed {
            let hash = hash(schema, attribute, value);
            let mut is = same_as(schema, &change.description, value);
            let found = rows.remove(&mut self.view.txn, hash, &mut is)?;
            removed.push(found.ok_or(Damage::Values)?);
        }
        for value in &change.added {
            let hash = hash(schema, attribute, value);
            rows.add(&mut self.view.txn, hash, value)?;
        }
        debug_assert_eq!(
            removed.len(),
            change.removed.len(),
            "every value was removed"
        );
        Ok(AppliedChange {
            id: number,
            removed,
        })
    }

    /// Writes a record whose rows have been changed already, and records the difference in the
    /// indexes.
    fn replace_around(
        &mut self,
        id: EntryId,
        encoded: Vec<u8>,
        changes: &[ValueChange],
        changed: &[AppliedChange],
    ) -> Result<(), StoreError> {
        let store = self.view.store;
        let old = self.view.record(id)?.ok_or(Damage::Record)?;
        let new = self.view.with_overflow(id, Record::parse(&encoded)?);
        debug_assert_eq!(changes.len(), changed.len(), "every change was applied");
        debug_assert_eq!(old.parent(), new.parent(), "a modification moves no entry");
        let mut known = KnownChanges {
            skipped: changed.iter().map(|change| change.id).collect(),
            ..KnownChanges::default()
        };
        for (asked, done) in changes.iter().zip(changed) {
            let attribute = asked.description.attribute;
            for RemovedValue {
                value,
                is_last_of_hash,
            } in &done.removed
            {
                known.removed.push((attribute, value));
                if *is_last_of_hash {
                    known.last_of_hash.push((attribute, value));
                }
            }
            let added = asked
                .added
                .iter()
                .map(|value| (attribute, value.as_slice()));
            known.added.extend(added);
        }
        let difference = Difference::between(
            &self.view.indexes,
            &store.schema,
            &self.view.attributes,
            (&old, &new),
            &known,
        );
        self.record_postings(id, difference);
        // The record may contain all values of another attribute whose values overflow.
        self.put_record_over(id, &encoded, true)?;
        self.record = encoded;
        self.flush_if_full()
    }
}
