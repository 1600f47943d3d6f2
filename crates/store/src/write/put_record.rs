//! Writing a record and the rows of its overflow values.

use std::collections::BTreeSet;

use super::writer::Writer;
use crate::error::StoreError;
use crate::ids::{AttributeId, EntryId};
use crate::overflow_values::{self, ValueRows, hashed};
use crate::record::Record;

impl Writer<'_> {
    /// Writes the record of a new entry, which contains all values. Those of large attributes
    /// become overflow values.
    pub(super) fn put_record(&mut self, id: EntryId, encoded: &[u8]) -> Result<(), StoreError> {
        debug_assert!(matches!(self.view.record(id), Ok(None)), "the entry is new");
        self.put_record_over(id, encoded, false)
    }

    /// As [`put_record`](Self::put_record), in place of another record. The other record may have
    /// overflow values only if `may_have_overflow`. Rows of equal values stay. The rows of
    /// attributes that the new record announces as overflow values are up to date already.
    pub(super) fn put_record_over(
        &mut self,
        id: EntryId,
        encoded: &[u8],
        may_have_overflow: bool,
    ) -> Result<(), StoreError> {
        let store = self.view.store;
        self.has_changed_entries = true;
        let new = Record::parse(encoded)?;
        debug_assert!(
            may_have_overflow || !new.has_overflow(),
            "the record of a new entry has all values"
        );
        let large = overflow_values::split(&new, store.inline_values_max)?;
        let (mut stale, mut kept) = (BTreeSet::new(), BTreeSet::new());
        if may_have_overflow && let Some(old) = self.view.record(id)? {
            let is_announced = |number: &AttributeId| {
                let values = new.values(*number);
                values.is_some_and(|values| values.are_overflow())
            };
            for number in old.overflow_attributes().filter(|n| !is_announced(n)) {
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
        // Rows of an attribute are either kept or cleared and written again.
        debug_assert!(kept.is_disjoint(&stale));
        for number in stale {
            self.value_rows(id, number).clear(&mut self.view.txn)?;
        }
        let Some(large) = large else {
            return Ok(self.view.txn.put(store.dbs.entries, &id.key(), encoded)?);
        };
        debug_assert!(
            Record::parse(&large.record).is_ok_and(|record| record.has_overflow()),
            "the split record announces its overflow values"
        );
        for number in large.attributes {
            if !kept.contains(&number) {
                let rows = self.value_rows(id, number);
                let values = hashed(&store.schema, &self.view.attributes, &new, number)?;
                rows.rewrite(&mut self.view.txn, values)?;
            }
        }
        Ok(self
            .view
            .txn
            .put(store.dbs.entries, &id.key(), &large.record)?)
    }

    /// Returns the rows of the overflow values of an attribute.
    pub(super) fn value_rows(&self, entry: EntryId, attribute: AttributeId) -> ValueRows {
        let db = self.view.store.dbs.values;
        ValueRows {
            db,
            entry,
            attribute,
        }
    }
}
