//! Entries and their records by id.

use super::entry::EntryView;
use super::lookup_cache::LookupCache;
use super::state::View;
use crate::error::{Damage, StoreError};
use crate::ids::{AttributeId, EntryId};
use crate::overflow_values::{self, Block, RowKind, ValueRows, same_as};
use crate::record::{OverflowLocation, OverflowSource, Record};
use fulgurite::Snapshot;
use fulgurite_schema::AttributeDescription;

impl<T: Snapshot> View<'_, T> {
    /// Returns the entry of an id, read in place; `None` if there is none.
    /// # Errors
    /// [`StoreError`] if the engine fails or the record is damaged.
    pub fn entry(&self, id: EntryId) -> Result<Option<EntryView<'_>>, StoreError> {
        match self.txn.get(self.store.dbs.entries, &id.key())? {
            Some(bytes) => Ok(Some(self.entry_of(id, bytes)?)),
            None => Ok(None),
        }
    }

    /// Returns the entry of a record of this state.
    pub(crate) fn entry_of<'v>(
        &'v self,
        id: EntryId,
        bytes: &'v [u8],
    ) -> Result<EntryView<'v>, Damage> {
        Ok(EntryView::new(
            id,
            self.with_overflow(id, Record::parse(bytes)?),
            &self.attributes,
            &self.store.schema,
            self,
        ))
    }

    /// Returns true if an entry has a value, in any spelling, of exactly this description. Among
    /// overflow values this takes two descents, however many they are.
    /// # Errors
    /// [`StoreError::NoSuchEntry`]; otherwise if the engine fails or a record is damaged.
    pub fn holds_value(
        &self,
        id: EntryId,
        description: &AttributeDescription,
        value: &[u8],
    ) -> Result<bool, StoreError> {
        let record = self.record(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        let Some(number) = self.attributes.find(description) else {
            return Ok(false);
        };
        let Some(values) = record.values(number) else {
            return Ok(false);
        };
        let schema = self.schema();
        let mut is = same_as(schema, description, value);
        if !values.are_overflow() {
            return Ok(values.iter().any(is));
        }
        let hash = overflow_values::hash(schema, description.attribute, value);
        let rows = ValueRows {
            db: self.store.dbs.values,
            entry: id,
            attribute: number,
        };
        rows.holds(&self.txn, hash, &mut is)
    }

    /// Returns the number of entries in the store.
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn entry_count(&self) -> Result<u64, StoreError> {
        let cache = self.cache.as_ref();
        if let Some(total) = cache.and_then(LookupCache::total) {
            return Ok(total);
        }
        let total = self.txn.stat(self.store.dbs.entries)?.entries;
        cache.iter().for_each(|cache| cache.remember_total(total));
        Ok(total)
    }

    /// Returns the highest id of an entry; [`EntryId::ROOT`] if there is none.
    /// # Errors
    /// [`StoreError`] if the engine fails or the table is damaged.
    pub fn last_entry_id(&self) -> Result<EntryId, StoreError> {
        match self.txn.cursor(self.store.dbs.entries)?.last()? {
            Some((key, _)) => Ok(EntryId::from_key(key).ok_or(Damage::Record)?),
            None => Ok(EntryId::ROOT),
        }
    }

    /// Returns the first entry at or after `from`, in order of ids.
    /// # Errors
    /// [`StoreError`] if the engine fails or the table is damaged.
    pub fn next_entry_id(&self, from: EntryId) -> Result<Option<EntryId>, StoreError> {
        match self
            .txn
            .cursor(self.store.dbs.entries)?
            .seek_range(&from.key())?
        {
            Some((key, _)) => Ok(Some(EntryId::from_key(key).ok_or(Damage::Record)?)),
            None => Ok(None),
        }
    }

    pub(crate) fn record(&self, id: EntryId) -> Result<Option<Record<'_>>, StoreError> {
        match self.txn.get(self.store.dbs.entries, &id.key())? {
            Some(bytes) => Ok(Some(self.with_overflow(id, Record::parse(bytes)?))),
            None => Ok(None),
        }
    }

    /// Returns true if an entry's record is longer than `bytes_max`, or has overflow values.
    /// # Errors
    /// [`StoreError`] if the engine fails or the record is damaged.
    pub fn is_larger_than(&self, id: EntryId, bytes_max: usize) -> Result<bool, StoreError> {
        let Some(bytes) = self.txn.get(self.store.dbs.entries, &id.key())? else {
            return Ok(false);
        };
        Ok(bytes.len() > bytes_max || Record::parse_names(bytes)?.has_overflow())
    }

    /// Returns a record of this state with access to its overflow values.
    pub(crate) fn with_overflow<'v>(&'v self, id: EntryId, record: Record<'v>) -> Record<'v> {
        record.with_overflow(OverflowLocation {
            entry: id,
            source: self,
        })
    }

    /// Returns a record of which only the names and the parent are readable.
    pub(crate) fn record_names(&self, id: EntryId) -> Result<Option<Record<'_>>, StoreError> {
        match self.txn.get(self.store.dbs.entries, &id.key())? {
            Some(bytes) => Ok(Some(Record::parse_names(bytes)?)),
            None => Ok(None),
        }
    }
}

impl<T: Snapshot> OverflowSource for View<'_, T> {
    fn block_from(
        &self,
        entry: EntryId,
        attribute: AttributeId,
        number: u32,
    ) -> Option<(u32, &[u8])> {
        let mut cursor = self.txn.cursor(self.store.dbs.values).ok()?;
        let start = overflow_values::of_block(entry, attribute, number);
        let (key, row) = cursor.seek_range(&start).ok()??;
        match overflow_values::parse_key(key)? {
            (of, within, RowKind::Block(number)) if (of, within) == (entry, attribute) => {
                Some((number, Block::parse(row)?.elements))
            }
            _ => None,
        }
    }
}
