//! Changing single values of attributes that have many.

use std::collections::BTreeSet;

use super::Writer;
use super::difference::{Difference, Shift};
use crate::apart;
use crate::error::{Damage, StoreError};
use crate::ids::{AttributeId, EntryId};
use crate::record::{self, Record, RecordSource};
use fulgurite_schema::{AttributeDescription, CheckedEntry, Schema};

/// What goes and what comes of an attribute whose values [lie apart](crate::Values::are_apart).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueChange {
    /// The attribute.
    pub description: AttributeDescription,
    /// Values that it has, in any spelling. They go first.
    pub removed: Vec<Vec<u8>>,
    /// Values that it has not, in their order.
    pub added: Vec<Vec<u8>>,
}

/// A [`ValueChange`] that has been done.
struct Changed {
    id: AttributeId,
    /// Values as they were stored, and whether no other has their hash.
    removed: Vec<(Vec<u8>, bool)>,
}

impl Writer<'_> {
    /// As [`modify`](Self::modify), but of the attributes in `changes` only the values that are named there are touched;
    /// what `new` has of them is not looked at. The cost does not grow with the number of their other values.
    ///
    /// # Errors
    /// As [`modify`](Self::modify), but no bound of the size of entries is looked at; [`StoreError::Damaged`] also for an attribute that does not lie apart, and where a
    /// value to be removed is not there: then the writer cannot commit any more.
    pub fn modify_values(
        &mut self,
        id: EntryId,
        new: &CheckedEntry,
        changes: &[ValueChange],
    ) -> Result<(), StoreError> {
        self.refuse_poisoned()?;
        let record = self.view.record(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        let (parent, rdn_normal, rdn) = record.place_and_name();
        let lengths = changes
            .iter()
            .map(|change| self.length_after(&record, change));
        let lengths = lengths.collect::<Result<Vec<(AttributeId, u32)>, StoreError>>()?;
        let mut attributes = self.number(new.entry())?;
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
            apart: &lengths,
        };
        record::encode(&source, &mut encoded)?;
        self.apply(|writer| {
            let changed = changes.iter().zip(&lengths);
            let changed =
                changed.map(|(change, (number, _))| writer.change_rows(id, *number, change));
            let changed = changed.collect::<Result<Vec<Changed>, StoreError>>()?;
            writer.replace_around(id, encoded, changes, &changed)
        })
    }

    /// The number of an attribute, and how many values it will have.
    fn length_after(
        &self,
        record: &Record<'_>,
        change: &ValueChange,
    ) -> Result<(AttributeId, u32), StoreError> {
        let number = self.view.attributes.find(&change.description);
        let number = number.ok_or(Damage::Values)?;
        let values = record.values(number).filter(|values| values.are_apart());
        let before = values.ok_or(Damage::Values)?.len() + change.added.len();
        let after = before.checked_sub(change.removed.len());
        let after = u32::try_from(after.ok_or(Damage::Values)?);
        let after = after.ok().filter(|after| *after < record::APART);
        Ok((number, after.ok_or(StoreError::EntryTooLarge)?))
    }

    /// Changes the rows of one attribute.
    fn change_rows(
        &mut self,
        id: EntryId,
        number: AttributeId,
        change: &ValueChange,
    ) -> Result<Changed, StoreError> {
        let store = self.view.store;
        let (schema, db) = (&*store.schema, store.dbs.values);
        let attribute = change.description.attribute;
        let mut removed = Vec::new();
        for value in &change.removed {
            let hash = apart::hash(schema, attribute, value);
            let mut is = same_as(schema, &change.description, value);
            let txn = &mut self.view.txn;
            let found = apart::remove(txn, db, (id, number), hash, &mut is)?;
            removed.push(found.ok_or(Damage::Values)?);
        }
        for value in &change.added {
            let hash = apart::hash(schema, attribute, value);
            apart::add(&mut self.view.txn, db, id, number, (hash, value))?;
        }
        Ok(Changed {
            id: number,
            removed,
        })
    }

    /// Writes a record whose rows have been changed already, and the difference to the indexes.
    fn replace_around(
        &mut self,
        id: EntryId,
        encoded: Vec<u8>,
        changes: &[ValueChange],
        changed: &[Changed],
    ) -> Result<(), StoreError> {
        let store = self.view.store;
        let old = self.view.record(id)?.ok_or(Damage::Record)?;
        let new = self.view.at_home(id, Record::parse(&encoded)?);
        let mut shift = Shift {
            settled: changed.iter().map(|change| change.id).collect(),
            ..Shift::default()
        };
        for (asked, done) in changes.iter().zip(changed) {
            let attribute = asked.description.attribute;
            for (value, alone) in &done.removed {
                shift.removed.push((attribute, value));
                if *alone {
                    shift.alone.push((attribute, value));
                }
            }
            let added = asked
                .added
                .iter()
                .map(|value| (attribute, value.as_slice()));
            shift.added.extend(added);
        }
        let difference = Difference::between(
            &self.view.indexes,
            &store.schema,
            &self.view.attributes,
            (&old, &new),
            &shift,
        );
        self.enter(id, difference);
        self.has_changed_entries = true;
        self.view.txn.put(store.dbs.entries, &id.key(), &encoded)?;
        self.record = encoded;
        self.relieve()
    }

    /// Writes the record of a new entry, which holds all values itself: those of its large attributes apart.
    pub(super) fn put_record(&mut self, id: EntryId, encoded: &[u8]) -> Result<(), StoreError> {
        self.put_record_over(id, encoded, false)
    }

    /// As [`put_record`](Self::put_record), in the place of another one, some of whose values lie apart if it
    /// `may_be_parted`. Rows stay where the values are the same.
    pub(super) fn put_record_over(
        &mut self,
        id: EntryId,
        encoded: &[u8],
        may_be_parted: bool,
    ) -> Result<(), StoreError> {
        let store = self.view.store;
        self.has_changed_entries = true;
        let new = Record::parse(encoded)?;
        let large = apart::split(&new, store.inline_values_max)?;
        let (mut stale, mut kept) = (BTreeSet::new(), BTreeSet::new());
        if may_be_parted && let Some(old) = self.view.record(id)? {
            for number in old.apart() {
                let is_large = large
                    .as_ref()
                    .is_some_and(|large| large.attributes.contains(&number));
                let same = old.values(number).zip(new.values(number));
                if is_large && same.is_some_and(|(old, new)| old.same(&new)) {
                    kept.insert(number);
                } else {
                    stale.insert(number);
                }
            }
        }
        for number in stale {
            apart::clear(&mut self.view.txn, store.dbs.values, id, number)?;
        }
        let Some(large) = large else {
            return Ok(self.view.txn.put(store.dbs.entries, &id.key(), encoded)?);
        };
        for number in large.attributes {
            if !kept.contains(&number) {
                let (txn, table) = (&mut self.view.txn, &self.view.attributes);
                let values = hashed(&store.schema, table, &new, number)?;
                apart::rewrite(txn, store.dbs.values, id, number, values)?;
            }
        }
        Ok(self
            .view
            .txn
            .put(store.dbs.entries, &id.key(), &large.record)?)
    }
}

/// The values of one attribute of a record with their hashes.
pub(crate) fn hashed<'r>(
    schema: &'r Schema,
    table: &crate::AttributeTable,
    record: &Record<'r>,
    number: AttributeId,
) -> Result<impl Iterator<Item = (u64, &'r [u8])> + use<'r>, Damage> {
    let info = table.get(number).ok_or(Damage::Attribute)?;
    let attribute = info.description.attribute;
    let values = record.values(number).ok_or(Damage::Record)?;
    Ok(values
        .into_iter()
        .map(move |value| (apart::hash(schema, attribute, value), value)))
}

/// Whether another value is the same under the attribute's equality rule.
pub(crate) fn same_as<'v>(
    schema: &'v Schema,
    description: &AttributeDescription,
    value: &'v [u8],
) -> impl FnMut(&[u8]) -> bool + use<'v> {
    let attribute = description.attribute;
    let normal = schema.normal_value(attribute, value);
    move |held| match &normal {
        Some(normal) => schema.normal_value(attribute, held).as_ref() == Some(normal),
        None => held == value,
    }
}
