//! Loading into an empty store: records are appended, names and postings are sorted first.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::batch::OverflowEntry;
use super::error::Failure;
use super::external_sort::ExternalSort;
use super::name_buffer::NameBuffer;
use super::options::LoadProgress;
use super::posting_writer::{Postings, write_postings};
use crate::error::Damage;
use crate::ids::EntryId;
use crate::index::{KeyMaker, KeySink, ValueSource, key};
use crate::names::{Counts, DEPTH_MAX};
use crate::overflow_values::{self, hashed};
use crate::record::{self, Record};
use crate::view::View;
use fulgurite::WriteTxn;

/// The transaction of a load.
pub(super) type LoadView<'s> = View<'s, WriteTxn<'s>>;

/// The names, postings and counts of a store that was empty when the load began.
pub(super) struct EmptyStore {
    names: ExternalSort<NameBuffer>,
    pub(super) postings: Postings,
    children: FxHashMap<EntryId, u64>,
    all_entries: Vec<u8>,
    key: Vec<u8>,
    /// The id given last. Ids ascend, so that records can be appended.
    pub(super) last: EntryId,
}

/// An entry whose parent is known.
pub(super) struct EntryWithParent<'a> {
    /// The entry's id; `None` for the next free one.
    pub(super) id: Option<EntryId>,
    pub(super) parent: EntryId,
    pub(super) record: &'a mut [u8],
    pub(super) values: &'a dyn ValueSource,
}

impl EmptyStore {
    pub(super) fn new(dir: &Path, memory_bytes: usize) -> EmptyStore {
        EmptyStore {
            names: ExternalSort::new(dir, memory_bytes / 4),
            postings: Postings::new(dir, memory_bytes / 4 * 3),
            children: FxHashMap::default(),
            all_entries: key::all_entries(),
            key: Vec::new(),
            last: EntryId(0),
        }
    }

    /// Appends an entry, its name and its postings.
    pub(super) fn insert(
        &mut self,
        view: &mut LoadView<'_>,
        entry: EntryWithParent<'_>,
    ) -> Result<EntryId, Failure> {
        let EntryWithParent {
            id,
            parent,
            record,
            values,
        } = entry;
        let id = id.unwrap_or(EntryId(self.last.0 + 1));
        debug_assert!(id > self.last, "ids ascend");
        self.last = id;
        let store = view.store;
        let whole = Record::parse(record)?;
        match overflow_values::split(&whole, store.inline_values_max)? {
            None => view.txn.append(store.dbs.entries, &id.key(), record)?,
            Some(split) => {
                let (txn, db) = (&mut view.txn, store.dbs.values);
                txn.append(store.dbs.entries, &id.key(), &split.record)?;
                for number in split.attributes {
                    let values = hashed(&store.schema, &view.attributes, &whole, number)?;
                    overflow_values::each_row(id, number, values, &mut |key, row| {
                        Ok(txn.append(db, key, row)?)
                    })?;
                }
            }
        }
        self.add_name(view, parent, whole.rdn_normal(), id)?;
        let mut keys = self.postings.external.buffer.entry(id);
        keys.key(&self.all_entries);
        let maker = KeyMaker::new(&view.indexes, &store.schema);
        maker.emit(values, &|_| true, &mut self.key, &mut keys);
        Ok(id)
    }

    /// Appends an entry whose postings come with its batch, under the next id.
    pub(super) fn insert_encoded(
        &mut self,
        view: &mut LoadView<'_>,
        parent: EntryId,
        record: &mut [u8],
        overflow: Option<Box<OverflowEntry>>,
    ) -> Result<EntryId, Failure> {
        let id = EntryId(self.last.0 + 1);
        self.last = id;
        let (store, txn) = (view.store, &mut view.txn);
        record::set_parent(record, parent);
        match overflow {
            None => txn.append(store.dbs.entries, &id.key(), record)?,
            Some(mut overflow) => {
                record::set_parent(&mut overflow.record, parent);
                txn.append(store.dbs.entries, &id.key(), &overflow.record)?;
                let whole = Record::parse(record)?;
                for (number, hashes) in overflow.attributes {
                    let values = whole.values(number).ok_or(Damage::Record)?;
                    let values = hashes.into_iter().zip(values);
                    overflow_values::each_row(id, number, values, &mut |key, row| {
                        Ok(txn.append(store.dbs.values, key, row)?)
                    })?;
                }
            }
        }
        let rdn_normal = Record::parse_names(record)?.rdn_normal();
        self.add_name(view, parent, rdn_normal, id)?;
        Ok(id)
    }

    fn add_name(
        &mut self,
        view: &LoadView<'_>,
        parent: EntryId,
        rdn_normal: &[u8],
        id: EntryId,
    ) -> Result<(), Failure> {
        let key = view.name_key(parent, rdn_normal);
        self.names.buffer.push(key, id, rdn_normal);
        if parent != EntryId::ROOT {
            *self.children.entry(parent).or_default() += 1;
        }
        self.names.spill_if_over_budget()
    }

    /// Writes the names, while threads begin to make the chunks of the index tree, and then the
    /// chunks. Returns the numbers of children by parent.
    pub(super) fn write_trees(
        self,
        view: &mut LoadView<'_>,
        threads: usize,
        progress: &mut dyn FnMut(LoadProgress),
    ) -> Result<FxHashMap<EntryId, u64>, Failure> {
        let dbs = view.store.dbs;
        let mut names = Some(self.names);
        write_postings(
            self.postings,
            threads,
            &mut view.txn,
            &mut |txn| {
                progress(LoadProgress::Names);
                if let Some(names) = names.take() {
                    names.finish(&mut |key, list| Ok(txn.append(dbs.names, key, list)?))?;
                }
                progress(LoadProgress::Indexes);
                Ok(())
            },
            &mut |txn, key, chunk| Ok(txn.append(dbs.index, key, chunk)?),
        )?;
        Ok(self.children)
    }
}

/// Writes the subordinate counts of all parents and their ancestors.
pub(super) fn write_counts(
    view: &mut LoadView<'_>,
    children: FxHashMap<EntryId, u64>,
) -> Result<(), Failure> {
    let mut counts: FxHashMap<EntryId, Counts> = FxHashMap::default();
    for (id, children) in children {
        counts.entry(id).or_default().children += children;
        let mut above = id;
        for _ in 0..DEPTH_MAX {
            counts.entry(above).or_default().descendants += children;
            above = view.record(above)?.ok_or(Damage::Parents)?.parent();
            if above == EntryId::ROOT {
                break;
            }
        }
    }
    let mut counts: Vec<(EntryId, Counts)> = counts.into_iter().collect();
    counts.sort_unstable_by_key(|(id, _)| *id);
    for (id, counts) in counts {
        view.txn
            .append(view.store.dbs.counts, &id.key(), &counts.bytes())?;
    }
    Ok(())
}
