//! Lookups on one state of the store: a snapshot, or what a writer has done so far.

use std::sync::Arc;

use crate::apart::{self, Block, Blocks, Home, Row};
use crate::attributes::AttributeTable;
use crate::entry_view::EntryView;
use crate::error::{Damage, StoreError};
use crate::hints::Hints;
use crate::ids::{AttributeId, EntryId};
use crate::index::{self, Indexes, KeyRange};
use crate::names::{self, Counts, DEPTH_MAX, DnCache, List};
use crate::record::Record;
use crate::store::Store;
use crate::write::same_as;
use fulgurite::{ParkedReader, ReadTxn, Snapshot, Txnid};
use fulgurite_schema::{AttributeDescription, AttributeIndex, Dn, DnError, Schema};

/// One state of the store. The engine transaction behind it keeps what it shows as long as it lives.
pub struct View<'s, T = ReadTxn<'s>> {
    pub(crate) txn: T,
    pub(crate) store: &'s Store,
    pub(crate) attributes: Arc<AttributeTable>,
    pub(crate) indexes: Arc<Indexes>,
    /// None where what is seen may change: for writers.
    pub(crate) hints: Option<Hints>,
}

/// A view at rest: it keeps its place among the readers but no snapshot.
pub struct ParkedView<'s> {
    reader: ParkedReader<'s>,
    store: &'s Store,
    attributes: Arc<AttributeTable>,
    indexes: Arc<Indexes>,
}

impl<'s> View<'s> {
    /// Moves to the newest committed state; tells whether that is another one. If it is, ids, plans and caches made
    /// before are to be taken as hints from then on.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn refresh(&mut self) -> Result<bool, StoreError> {
        let before = self.txn.id();
        self.txn.refresh()?;
        if self.txn.id() == before {
            return Ok(false);
        }
        self.hints.iter_mut().for_each(Hints::clear);
        self.update_tables()?;
        Ok(true)
    }

    /// Gives up the snapshot in place, keeping the reader's place and what is known of the state, for an operation to come:
    /// nothing can be read until [`View::refresh`].
    pub fn rest(&mut self) {
        self.txn.reset();
    }

    /// Gives up the snapshot, keeping the reader's place for [`ParkedView::resume`].
    #[must_use]
    pub fn park(self) -> ParkedView<'s> {
        ParkedView {
            reader: self.txn.park(),
            store: self.store,
            attributes: self.attributes,
            indexes: self.indexes,
        }
    }

    /// What the store keeps in memory of its state, for the snapshot at hand.
    fn update_tables(&mut self) -> Result<(), StoreError> {
        let known = self
            .store
            .with_tables(self.txn.id(), |attributes, indexes| {
                // Mostly they are the same; counting who has them is what other threads would notice.
                if !Arc::ptr_eq(&self.attributes, attributes) {
                    self.attributes = Arc::clone(attributes);
                }
                if !Arc::ptr_eq(&self.indexes, indexes) {
                    self.indexes = Arc::clone(indexes);
                }
            });
        if known.is_some() {
            return Ok(());
        }
        if !self.store.knows_all(&self.attributes, &self.txn)? {
            self.attributes = self.store.attributes_of(&self.txn)?;
        }
        if self.store.index_generation(&self.txn)? != self.indexes.generation {
            self.indexes = self.store.indexes_of(&self.txn, &self.attributes)?;
        }
        Ok(())
    }
}

impl<'s> ParkedView<'s> {
    /// A view of the newest committed state.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn resume(self) -> Result<View<'s>, StoreError> {
        let txn = self.reader.resume()?;
        let mut view = View {
            txn,
            store: self.store,
            attributes: self.attributes,
            indexes: self.indexes,
            hints: Some(Hints::default()),
        };
        view.update_tables()?;
        Ok(view)
    }
}

impl<T: Snapshot> Blocks for View<'_, T> {
    fn block_from(
        &self,
        entry: EntryId,
        attribute: AttributeId,
        number: u32,
    ) -> Option<(u32, Block<'_>)> {
        let mut cursor = self.txn.cursor(self.store.dbs.values).ok()?;
        let start = apart::of_block(entry, attribute, number);
        let (key, row) = cursor.seek_range(&start).ok()??;
        match apart::parse_key(key)? {
            (of, within, Row::Block(number)) if (of, within) == (entry, attribute) => {
                Some((number, Block::parse(row)?))
            }
            _ => None,
        }
    }
}

impl<'s, T: Snapshot> View<'s, T> {
    /// A view of a state, by the transaction that shows it.
    pub(crate) fn new(store: &'s Store, txn: T, state: Txnid) -> Result<View<'s, T>, StoreError> {
        let known = store.with_tables(state, |attributes, indexes| {
            (Arc::clone(attributes), Arc::clone(indexes))
        });
        let (attributes, indexes) = match known {
            Some(known) => known,
            None => {
                let attributes = store.attributes_of(&txn)?;
                let indexes = store.indexes_of(&txn, &attributes)?;
                store.note_tables(state, &attributes, &indexes);
                (attributes, indexes)
            }
        };
        Ok(View {
            txn,
            store,
            attributes,
            indexes,
            hints: None,
        })
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &'s Store {
        self.store
    }

    /// The schema of the store.
    #[must_use]
    pub fn schema(&self) -> &'s Schema {
        &self.store.schema
    }

    /// The attribute descriptions known to this state.
    #[must_use]
    pub fn attributes(&self) -> &AttributeTable {
        &self.attributes
    }

    /// The entry of a number, read in place; `None` when there is none.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or the record is damaged.
    pub fn entry(&self, id: EntryId) -> Result<Option<EntryView<'_>>, StoreError> {
        match self.txn.get(self.store.dbs.entries, &id.key())? {
            Some(bytes) => Ok(Some(self.entry_of(id, bytes)?)),
            None => Ok(None),
        }
    }

    /// The entry of a record of this state.
    pub(crate) fn entry_of<'v>(
        &'v self,
        id: EntryId,
        bytes: &'v [u8],
    ) -> Result<EntryView<'v>, Damage> {
        Ok(EntryView::new(
            id,
            self.at_home(id, Record::parse(bytes)?),
            &self.attributes,
            &self.store.schema,
            self,
        ))
    }

    /// Whether an entry holds a value, in whatever spelling, of exactly this description. Where the values lie apart that
    /// is two descents, however many they are.
    ///
    /// # Errors
    /// [`StoreError::NoSuchEntry`]; otherwise when the engine fails or a record is damaged.
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
        if !values.are_apart() {
            return Ok(values.iter().any(is));
        }
        let hash = apart::hash(schema, description.attribute, value);
        apart::holds(
            &self.txn,
            self.store.dbs.values,
            (id, number),
            hash,
            &mut is,
        )
    }

    /// Appends the name of an entry, as users wrote it, to `out`.
    ///
    /// # Errors
    /// [`StoreError::NoSuchEntry`]; otherwise when the engine fails or a record is damaged.
    pub fn write_dn(
        &self,
        id: EntryId,
        cache: &mut DnCache,
        out: &mut String,
    ) -> Result<(), StoreError> {
        let record = self.record(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        self.write_dn_of(&record, cache, out)
    }

    /// The name of an entry.
    ///
    /// # Errors
    /// As [`write_dn`](Self::write_dn).
    pub fn dn(&self, id: EntryId) -> Result<String, StoreError> {
        let mut out = String::new();
        self.write_dn(id, &mut DnCache::new(), &mut out)?;
        Ok(out)
    }

    /// The name of an entry, resolved.
    ///
    /// # Errors
    /// As [`write_dn`](Self::write_dn).
    pub fn resolved_dn(&self, id: EntryId) -> Result<Dn, StoreError> {
        Dn::parse(&self.store.schema, &self.dn(id)?).map_err(|_: DnError| Damage::Record.into())
    }

    /// The children of an entry, in no particular order; of [`EntryId::ABOVE`], the suffix entries.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or a list is damaged; `visit` ends the walk early by answering false.
    pub fn for_each_child(
        &self,
        parent: EntryId,
        visit: &mut dyn FnMut(EntryId) -> bool,
    ) -> Result<(), StoreError> {
        let mut cursor = self.txn.cursor(self.store.dbs.names)?;
        let mut row = cursor.seek_range(&parent.key())?;
        while let Some((_, list)) = row.filter(|(key, _)| names::is_child_of(key, parent)) {
            for child in List(list) {
                if !visit(child?.0) {
                    return Ok(());
                }
            }
            row = cursor.next()?;
        }
        Ok(())
    }

    /// Some children of an entry, at least one list of them: from after the list `from` on, about `left` of them, which
    /// is counted down. The key of the last list read, unless there are no more.
    pub(crate) fn some_children(
        &self,
        parent: EntryId,
        from: Option<Vec<u8>>,
        left: &mut usize,
        out: &mut Vec<EntryId>,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let mut cursor = self.txn.cursor(self.store.dbs.names)?;
        let start = from.unwrap_or_else(|| parent.key().to_vec());
        let mut row = cursor.seek_range(&start)?;
        if row.is_some_and(|(key, _)| key == start.as_slice()) {
            row = cursor.next()?;
        }
        while let Some((key, list)) = row.filter(|(key, _)| names::is_child_of(key, parent)) {
            for child in List(list) {
                out.push(child?.0);
                *left = left.saturating_sub(1);
            }
            if *left == 0 {
                return Ok(Some(key.to_vec()));
            }
            row = cursor.next()?;
        }
        Ok(None)
    }

    /// The greatest of all values of an attribute, in normal form, as its equality index has it: one descent. `None`
    /// without values, without a complete equality index, or where the greatest value is too long to be in it whole.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails.
    pub fn greatest_value(&self, attribute: AttributeIndex) -> Result<Option<Vec<u8>>, StoreError> {
        let index = self.indexes.of(attribute);
        let Some(index) = index.filter(|index| index.usable && index.equality.is_some()) else {
            return Ok(None);
        };
        let range = KeyRange::at_least(index.id, b"");
        let mut cursor = self.txn.cursor(self.store.dbs.index)?;
        let last = match cursor.seek_range(&range.end)? {
            Some(_) => cursor.prev()?,
            None => cursor.last()?,
        };
        let found = last.filter(|(key, _)| *key >= range.start.as_slice());
        Ok(found.and_then(|(key, _)| index::literal_value(key)))
    }

    /// The children of an entry in ascending order.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or a list is damaged.
    pub fn children(&self, parent: EntryId) -> Result<Vec<EntryId>, StoreError> {
        let mut ids = Vec::new();
        self.for_each_child(parent, &mut |id| {
            ids.push(id);
            true
        })?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// Whether the entry has children. One descent.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or a list is damaged.
    pub fn has_children(&self, id: EntryId) -> Result<bool, StoreError> {
        let row = self
            .txn
            .cursor(self.store.dbs.names)?
            .seek_range(&id.key())?;
        Ok(row.is_some_and(|(key, _)| names::is_child_of(key, id)))
    }

    /// Number of entries in the store.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn entry_count(&self) -> Result<u64, StoreError> {
        let hints = self.hints.as_ref();
        if let Some(total) = hints.and_then(Hints::total) {
            return Ok(total);
        }
        let total = self.txn.stat(self.store.dbs.entries)?.entries;
        hints.iter().for_each(|hints| hints.note_total(total));
        Ok(total)
    }

    /// The id given last among the entries there are; [`EntryId::ABOVE`] when there is none.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or the table is damaged.
    pub fn last_entry_id(&self) -> Result<EntryId, StoreError> {
        match self.txn.cursor(self.store.dbs.entries)?.last()? {
            Some((key, _)) => Ok(EntryId::from_key(key).ok_or(Damage::Record)?),
            None => Ok(EntryId::ABOVE),
        }
    }

    /// The first entry at or after `from`, in order of ids.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or the table is damaged.
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
            Some(bytes) => Ok(Some(self.at_home(id, Record::parse(bytes)?))),
            None => Ok(None),
        }
    }

    /// Whether an entry's record has more than so many octets, or values that lie apart from it.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or the record is damaged.
    pub fn is_larger_than(&self, id: EntryId, octets: usize) -> Result<bool, StoreError> {
        let Some(bytes) = self.txn.get(self.store.dbs.entries, &id.key())? else {
            return Ok(false);
        };
        Ok(bytes.len() > octets || Record::head_of(bytes)?.is_parted())
    }

    /// A record of this state with those of its values that lie apart.
    pub(crate) fn at_home<'v>(&'v self, id: EntryId, record: Record<'v>) -> Record<'v> {
        record.at(Home {
            entry: id,
            blocks: self,
        })
    }

    /// A record of which nothing but the names and the parent is wanted.
    pub(crate) fn record_head(&self, id: EntryId) -> Result<Option<Record<'_>>, StoreError> {
        match self.txn.get(self.store.dbs.entries, &id.key())? {
            Some(bytes) => Ok(Some(Record::head_of(bytes)?)),
            None => Ok(None),
        }
    }

    pub(crate) fn write_dn_of(
        &self,
        record: &Record<'_>,
        cache: &mut DnCache,
        out: &mut String,
    ) -> Result<(), StoreError> {
        let first = record.parent();
        let known = cache.get(first).filter(|_| first != EntryId::ABOVE);
        out.reserve(record.rdn().len() + 1 + known.map_or(0, str::len));
        push_rdn(out, record)?;
        if first == EntryId::ABOVE {
            return Ok(());
        }
        out.push(',');
        if let Some(name) = known {
            out.push_str(name);
            return Ok(());
        }
        let start = out.len();
        let (mut id, mut levels) = (first, 0);
        while id != EntryId::ABOVE {
            levels += 1;
            let record = self.ancestor_record(id, levels)?;
            if levels > 1 {
                out.push(',');
            }
            push_rdn(out, &record)?;
            id = record.parent();
        }
        cache.put(first, out.get(start..).unwrap_or_default());
        Ok(())
    }

    /// Stored subordinate counts: for a writer, without what it has not flushed.
    pub(crate) fn stored_counts(&self, id: EntryId) -> Result<Counts, StoreError> {
        let hints = self.hints.as_ref();
        if let Some(counts) = hints.and_then(|hints| hints.counts(id)) {
            return Ok(counts);
        }
        let counts = match self.txn.get(self.store.dbs.counts, &id.key())? {
            Some(bytes) => Counts::parse(bytes)?,
            None => Counts::default(),
        };
        hints.iter().for_each(|hints| hints.note_counts(id, counts));
        Ok(counts)
    }

    pub(crate) fn ancestor_record(
        &self,
        id: EntryId,
        levels: usize,
    ) -> Result<Record<'_>, StoreError> {
        if levels > DEPTH_MAX {
            return Err(Damage::Parents.into());
        }
        Ok(self.record_head(id)?.ok_or(Damage::Parents)?)
    }
}

impl View<'_> {
    /// Names found so far in this state; to be [given back](Self::keep_names), by who has refreshed the view meanwhile
    /// cleared first.
    #[must_use]
    pub fn take_names(&self) -> DnCache {
        self.hints
            .as_ref()
            .map(Hints::take_names)
            .unwrap_or_default()
    }

    /// Keeps names of this state for who asks next.
    pub fn keep_names(&self, names: DnCache) {
        if let Some(hints) = &self.hints {
            hints.put_names(names);
        }
    }

    /// A number for the state that is seen: two views of a store with the same number see the same.
    #[must_use]
    pub fn state(&self) -> u64 {
        self.txn.id().0
    }

    /// Number of children of an entry. One descent.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or the count is damaged.
    pub fn child_count(&self, id: EntryId) -> Result<u64, StoreError> {
        Ok(self.stored_counts(id)?.children)
    }

    /// Number of entries below an entry, on all levels. One descent.
    ///
    /// # Errors
    /// [`StoreError`] when the engine fails or the count is damaged.
    pub fn descendant_count(&self, id: EntryId) -> Result<u64, StoreError> {
        Ok(self.stored_counts(id)?.descendants)
    }
}

impl<T: Snapshot> std::fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View")
            .field("store", self.store)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ParkedView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParkedView")
            .field("store", self.store)
            .finish_non_exhaustive()
    }
}

fn push_rdn(out: &mut String, record: &Record<'_>) -> Result<(), Damage> {
    out.push_str(std::str::from_utf8(record.rdn()).map_err(|_| Damage::Record)?);
    Ok(())
}
