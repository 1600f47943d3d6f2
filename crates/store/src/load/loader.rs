//! The loading thread's part: from checked entries to trees.

use std::path::Path;

use rustc_hash::FxHashMap;

use arc_swap::ArcSwap;

use super::Failure;
use super::batch::{
    Above, Batch, Prepared, Preparing, Ready, above_normal, own_name, parent_normal,
};
use super::external::External;
use super::fill::Filled;
use super::grams;
use super::index::{Postings, write_postings};
use super::names::NameBuffer;
use super::parents::{Fingerprint, Parents};
use super::spool::{Block, Spool};
use crate::apart;
use crate::bytes::{take, u32_at, u64_at};
use crate::entry_view::TypedRecord;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::index::{EmitSource, KeySink, emit_to, key};
use crate::names::{Counts, DEPTH_MAX};
use crate::record::{self, Record, RecordSource};
use crate::write::{Writer, hashed, name_below};
use fulgurite_schema::{CheckedEntry, Dn};

/// One load under way.
pub(crate) struct Loader<'s> {
    writer: Writer<'s>,
    target: Target,
    parents: Parents,
    spool: Spool,
    loaded: u64,
}

/// Where entries go.
enum Target {
    /// An empty store: everything is sorted, then appended.
    Fresh(Box<Fresh>),
    /// A store with entries: through the writer, one by one.
    Existing,
}

struct Fresh {
    names: External<NameBuffer>,
    postings: Postings,
    children: FxHashMap<EntryId, u64>,
    all_entries: Vec<u8>,
    key: Vec<u8>,
    last: EntryId,
}

/// An entry whose place is known.
struct Placed<'a> {
    /// The next one, unless it has one already.
    id: Option<EntryId>,
    parent: EntryId,
    record: &'a mut [u8],
    values: &'a dyn EmitSource,
}

impl Fresh {
    fn add_name(
        &mut self,
        key: [u8; 16],
        id: EntryId,
        parent: EntryId,
        rdn_normal: &[u8],
    ) -> Result<(), Failure> {
        self.names.buffer.push(key, id, rdn_normal);
        if parent != EntryId::ABOVE {
            *self.children.entry(parent).or_default() += 1;
        }
        self.names.relieve()
    }
}

impl<'s> Loader<'s> {
    pub(crate) fn new(
        writer: Writer<'s>,
        dir: &Path,
        memory_bytes: usize,
    ) -> Result<Loader<'s>, Failure> {
        let target = if writer.entry_count()? == 0 {
            Target::Fresh(Box::new(Fresh {
                names: External::new(dir, memory_bytes / 4),
                postings: Postings::new(dir, memory_bytes / 4 * 3),
                children: FxHashMap::default(),
                all_entries: key::all_entries(),
                key: Vec::new(),
                last: EntryId(0),
            }))
        } else {
            Target::Existing
        };
        Ok(Loader {
            writer,
            target,
            parents: Parents::new(),
            spool: Spool::new(dir),
            loaded: 0,
        })
    }

    /// What preparing threads have to know.
    pub(crate) fn preparing(&self) -> Preparing<'s> {
        let view = &self.writer.view;
        Preparing {
            store: view.store,
            indexes: std::sync::Arc::clone(&view.indexes),
            fingerprints: self.parents.fingerprints().clone(),
            table: ArcSwap::new(std::sync::Arc::clone(&view.attributes)),
            is_fresh: self.is_fresh(),
        }
    }

    /// Entries taken so far.
    pub(crate) fn loaded(&self) -> u64 {
        self.loaded
    }

    /// Takes prepared entries, in their order.
    pub(crate) fn add_batch(
        &mut self,
        batch: Batch,
        preparing: &Preparing<'_>,
    ) -> Result<(), Failure> {
        let Batch {
            entries,
            mut text,
            postings,
        } = batch;
        let before = self.last();
        let mut ids = Vec::with_capacity(entries.len());
        for entry in entries {
            ids.push(match entry {
                Prepared::Whole(entry, line) => self.add(&entry, line)?,
                Prepared::Ready(ready) => self.add_ready(ready, &mut text)?,
            });
        }
        if !std::sync::Arc::ptr_eq(&preparing.table.load(), &self.writer.view.attributes) {
            let table = std::sync::Arc::clone(&self.writer.view.attributes);
            preparing.table.store(table);
        }
        if let Target::Fresh(fresh) = &mut self.target {
            let first = EntryId(before.0 + 1);
            let expected = (first.0..).map(|id| Some(EntryId(id)));
            if ids.iter().copied().eq(expected.take(ids.len())) {
                fresh.postings.external.buffer.add(first, postings);
            } else {
                fresh.postings.external.buffer.scatter(&postings, &ids);
            }
            fresh.postings.external.relieve()?;
        }
        Ok(())
    }

    /// Takes an entry that lacks its place only. Its id, unless it has to wait for its parent.
    fn add_ready(&mut self, ready: Ready, text: &mut [u8]) -> Result<Option<EntryId>, Failure> {
        let line = ready.line;
        let at_line = |source| Failure::Entry { line, source };
        let names = |text: &[u8]| {
            let name = |range| Some(std::str::from_utf8(text.get(range)?).ok()?.to_owned());
            let both = name(ready.normal.clone()).zip(name(ready.pretty.clone()));
            both.unwrap_or_default()
        };
        if self.parents.has_come(ready.name) {
            return Err(at_line(StoreError::EntryExists(names(text).1)));
        }
        let parent = match ready.above {
            Above::Nowhere => return Err(at_line(StoreError::OutsideSuffix(names(text).1))),
            Above::Nothing => Some(EntryId::ABOVE),
            Above::Entry(name) => self.parents.placed(name),
        };
        let record = ready.record.map_err(at_line)?;
        let Some(parent) = parent else {
            let (normal, pretty) = names(text);
            let record = text.get(record).unwrap_or_default();
            self.put_aside((&normal, &pretty), ready.name, record, line)?;
            return Ok(None);
        };
        let Target::Fresh(fresh) = &mut self.target else {
            return Err(Damage::Record.into());
        };
        let id = EntryId(fresh.last.0 + 1);
        fresh.last = id;
        self.loaded += 1;
        let view = &mut self.writer.view;
        let (store, txn) = (view.store, &mut view.txn);
        let record = text.get_mut(record).unwrap_or_default();
        record::set_parent(record, parent);
        match ready.large {
            None => txn.append(store.dbs.entries, &id.key(), record)?,
            Some(mut large) => {
                record::set_parent(&mut large.record, parent);
                txn.append(store.dbs.entries, &id.key(), &large.record)?;
                let whole = Record::parse(record)?;
                for (number, hashes) in large.attributes {
                    let values = whole.values(number).ok_or(Damage::Record)?;
                    let values = hashes.into_iter().zip(values);
                    apart::rows(id, number, values, &mut |key, row| {
                        Ok(txn.append(store.dbs.values, key, row)?)
                    })?;
                }
            }
        }
        let rdn_normal = Record::head_of(record)?.rdn_normal();
        fresh.add_name(view.name_key(parent, rdn_normal), id, parent, rdn_normal)?;
        self.release(ready.name, id)?;
        Ok(Some(id))
    }

    /// Takes one entry; `line` names it in errors. Its id, unless it has to wait for its parent.
    pub(crate) fn add(
        &mut self,
        entry: &CheckedEntry,
        line: u64,
    ) -> Result<Option<EntryId>, Failure> {
        let at_line = |source| Failure::Entry { line, source };
        let dn = &entry.entry().dn;
        let name = self.parents.fingerprint(dn.normal());
        if self.parents.has_come(name) {
            return Err(at_line(StoreError::EntryExists(dn.pretty().to_owned())));
        }
        let place = self.place_of(dn).map_err(at_line)?;
        let parent = place.unwrap_or(EntryId::ABOVE);
        let mut record = self.encode(parent, entry).map_err(at_line)?;
        let id = match place {
            Some(parent) => {
                let placed = Placed {
                    id: None,
                    parent,
                    record: &mut record,
                    values: entry.entry(),
                };
                let id = self.insert_one(placed, line)?;
                self.release(name, id)?;
                Some(id)
            }
            None => {
                self.put_aside((dn.normal(), dn.pretty()), name, &record, line)?;
                None
            }
        };
        self.writer.record = record;
        Ok(id)
    }

    fn encode(&mut self, parent: EntryId, entry: &CheckedEntry) -> Result<Vec<u8>, StoreError> {
        let (rdn_normal, rdn) = own_name(self.writer.store(), &entry.entry().dn)?;
        let attributes = self.writer.number(entry.entry())?;
        let mut record = std::mem::take(&mut self.writer.record);
        let source = RecordSource {
            parent,
            rdn_normal: rdn_normal.as_bytes(),
            rdn: rdn.as_bytes(),
            attributes,
            apart: &[],
        };
        record::encode(&source, &mut record)?;
        self.writer.store().check_size(&record)?;
        Ok(record)
    }

    /// The id given last, where the store was empty.
    fn last(&self) -> EntryId {
        match &self.target {
            Target::Fresh(fresh) => fresh.last,
            Target::Existing => EntryId(0),
        }
    }

    /// Whether the store is still being filled as an empty one.
    pub(super) fn is_fresh(&self) -> bool {
        matches!(self.target, Target::Fresh(_))
    }

    /// Takes one entry at once, below a parent that is known or, with an id of its own, may come later. An entry without
    /// a place, with a name that has come, or with an id that is not above the last one is not taken.
    pub(super) fn fill(
        &mut self,
        entry: &CheckedEntry,
        place: Option<(EntryId, EntryId)>,
    ) -> Result<Filled, Failure> {
        let dn = &entry.entry().dn;
        let name = self.parents.fingerprint(dn.normal());
        if self.parents.has_come(name) {
            return Ok(Filled::Exists);
        }
        let last = match &self.target {
            Target::Fresh(fresh) => fresh.last,
            Target::Existing => return Ok(Filled::OutOfOrder),
        };
        let (id, parent) = match place {
            Some((id, _)) if id <= last || id.0 >= grams::IDS_MAX => {
                return Ok(Filled::OutOfOrder);
            }
            Some((_, EntryId::ABOVE)) if !self.writer.store().is_top(dn) => {
                return Err(StoreError::OutsideSuffix(dn.pretty().to_owned()).into());
            }
            Some((id, parent)) => (Some(id), parent),
            None => match self.place_of(dn)? {
                Some(parent) => (None, parent),
                None => return Ok(Filled::OutOfOrder),
            },
        };
        let mut record = self.encode(parent, entry)?;
        let placed = Placed {
            id,
            parent,
            record: &mut record,
            values: entry.entry(),
        };
        let id = self.insert_one(placed, 0)?;
        self.parents.place(name, id);
        self.writer.record = record;
        if let Target::Fresh(fresh) = &mut self.target {
            fresh.postings.external.relieve()?;
        }
        Ok(Filled::Added(id))
    }

    /// Writes names and indexes, and goes on as a writer in the same transaction.
    pub(super) fn into_writer(mut self) -> Result<Writer<'s>, Failure> {
        if let Target::Fresh(fresh) = std::mem::replace(&mut self.target, Target::Existing) {
            let fresh = *fresh;
            self.write_trees(fresh.names, fresh.postings, 1, &mut |_| {})?;
            for (parent, children) in fresh.children {
                let children = i64::try_from(children).map_err(|_| Damage::Counts)?;
                self.writer.gained_children(parent, children);
            }
        }
        Ok(self.writer)
    }

    /// Writes names, indexes and counts and commits; so many threads sort. Returns the number of entries.
    pub(crate) fn finish(
        mut self,
        threads: usize,
        progress: &mut dyn FnMut(super::LoadProgress),
    ) -> Result<u64, Failure> {
        self.check_none_waits()?;
        if let Target::Fresh(fresh) = std::mem::replace(&mut self.target, Target::Existing) {
            let Fresh {
                names,
                postings,
                children,
                ..
            } = *fresh;
            self.write_trees(names, postings, threads, progress)?;
            self.write_counts(children)?;
        }
        progress(super::LoadProgress::Commit);
        self.writer.commit()?;
        Ok(self.loaded)
    }

    /// The parent's id, [`EntryId::ABOVE`] for a suffix entry, `None` if the parent has not come yet.
    fn place_of(&self, dn: &Dn) -> Result<Option<EntryId>, StoreError> {
        let suffixes = self.writer.store().suffixes();
        if !suffixes.iter().any(|suffix| dn.is_within(suffix)) {
            return Err(StoreError::OutsideSuffix(dn.pretty().to_owned()));
        }
        let place = if self.writer.store().is_top(dn) {
            Some(EntryId::ABOVE)
        } else {
            let parent = parent_normal(dn);
            match self.target {
                Target::Fresh(_) => self.parents.placed(self.parents.fingerprint(parent)),
                Target::Existing => self.writer.find_normal(parent)?.entry(),
            }
        };
        if let (Target::Existing, Some(parent)) = (&self.target, place) {
            self.writer
                .check_place(parent, dn, name_below(dn, parent)?.0)?;
        }
        Ok(place)
    }

    /// Notes an entry's id, and inserts those that waited for it, then those that waited for them.
    fn release(&mut self, name: Fingerprint, id: EntryId) -> Result<(), Failure> {
        let waiting = self.parents.place(name, id).into_iter();
        let mut released: Vec<(EntryId, Block)> = waiting.map(|block| (id, block)).collect();
        while let Some((parent, block)) = released.pop() {
            let mut block = self.spool.read(block).map_err(Failure::Temporary)?;
            let waiting = Waiting::parse(&block).ok_or(Damage::Record)?;
            let (name, line, head_len) = (
                self.parents.fingerprint(waiting.name),
                waiting.line,
                waiting.head_len,
            );
            let values = block.get(head_len..).unwrap_or_default().to_vec();
            let record = block.get_mut(head_len..).unwrap_or_default();
            let table = std::sync::Arc::clone(&self.writer.view.attributes);
            let values = TypedRecord {
                record: Record::parse(&values)?,
                table: &table,
            };
            let placed = Placed {
                id: None,
                parent,
                record,
                values: &values,
            };
            let id = self.insert_one(placed, line)?;
            if let Target::Fresh(fresh) = &mut self.target {
                fresh.postings.relieve_amid_batch()?;
            }
            let waiting = self.parents.place(name, id).into_iter();
            released.extend(waiting.map(|block| (id, block)));
        }
        Ok(())
    }

    fn insert_one(&mut self, placed: Placed<'_>, line: u64) -> Result<EntryId, Failure> {
        let Placed {
            id,
            parent,
            record,
            values,
            ..
        } = placed;
        record::set_parent(record, parent);
        self.loaded += 1;
        let Target::Fresh(fresh) = &mut self.target else {
            let rdn_normal = Record::parse(record)?.rdn_normal();
            let rdn_normal = std::str::from_utf8(rdn_normal).map_err(|_| Damage::Record)?;
            let inserted = self
                .writer
                .insert_record(parent, rdn_normal, record, values);
            return inserted.map_err(|source| Failure::Entry { line, source });
        };
        let id = id.unwrap_or(EntryId(fresh.last.0 + 1));
        fresh.last = id;
        let indexes = std::sync::Arc::clone(&self.writer.view.indexes);
        let view = &mut self.writer.view;
        let store = view.store;
        let whole = Record::parse(record)?;
        match apart::split(&whole, store.inline_values_max)? {
            None => view.txn.append(store.dbs.entries, &id.key(), record)?,
            Some(large) => {
                let (txn, db) = (&mut view.txn, store.dbs.values);
                txn.append(store.dbs.entries, &id.key(), &large.record)?;
                for number in large.attributes {
                    let values = hashed(&store.schema, &view.attributes, &whole, number)?;
                    apart::rows(id, number, values, &mut |key, row| {
                        Ok(txn.append(db, key, row)?)
                    })?;
                }
            }
        }
        let rdn_normal = whole.rdn_normal();
        fresh.add_name(view.name_key(parent, rdn_normal), id, parent, rdn_normal)?;
        let postings = &mut fresh.postings.external.buffer;
        let mut keys = postings.entry(id);
        keys.key(&fresh.all_entries);
        emit_to(
            &indexes,
            &store.schema,
            values,
            &|_| true,
            &mut fresh.key,
            &mut keys,
        );
        Ok(id)
    }

    /// Spools an entry that came before its parent.
    fn put_aside(
        &mut self,
        (normal, pretty): (&str, &str),
        name: Fingerprint,
        record: &[u8],
        line: u64,
    ) -> Result<(), Failure> {
        let block = Waiting::encode(line, normal, pretty, record);
        let block = self.spool.push(&block).map_err(Failure::Temporary)?;
        let parent = self.parents.fingerprint(above_normal(normal));
        self.parents.wait(name, parent, block);
        Ok(())
    }

    /// Fails with the first entry whose parent never came. Entries whose parent waits itself are not at fault.
    fn check_none_waits(&self) -> Result<(), Failure> {
        let mut first: Option<(u64, String)> = None;
        let mut count = 0_u64;
        for (parent, blocks) in self.parents.waiting() {
            count += blocks.len() as u64;
            if self.parents.has_come(parent) {
                continue;
            }
            for block in blocks {
                let block = self.spool.read(*block).map_err(Failure::Temporary)?;
                let waiting = Waiting::parse(&block).ok_or(Damage::Record)?;
                if first.as_ref().is_none_or(|(line, _)| waiting.line < *line) {
                    first = Some((waiting.line, waiting.dn.to_owned()));
                }
            }
        }
        match first {
            Some((line, dn)) => Err(Failure::MissingParent {
                dn,
                line,
                others: count.saturating_sub(1),
            }),
            None => Ok(()),
        }
    }

    /// Writes the names, while threads begin to make what the index tree is to have, and then that.
    fn write_trees(
        &mut self,
        names: External<NameBuffer>,
        postings: Postings,
        threads: usize,
        progress: &mut dyn FnMut(super::LoadProgress),
    ) -> Result<(), Failure> {
        let view = &mut self.writer.view;
        let dbs = view.store.dbs;
        let mut names = Some(names);
        write_postings(
            postings,
            threads,
            &mut view.txn,
            &mut |txn| {
                progress(super::LoadProgress::Names);
                if let Some(names) = names.take() {
                    names.finish(&mut |key, list| Ok(txn.append(dbs.names, key, list)?))?;
                }
                progress(super::LoadProgress::Indexes);
                Ok(())
            },
            &mut |txn, key, chunk| Ok(txn.append(dbs.index, key, chunk)?),
        )
    }

    fn write_counts(&mut self, children: FxHashMap<EntryId, u64>) -> Result<(), Failure> {
        let view = &mut self.writer.view;
        let mut counts: FxHashMap<EntryId, Counts> = FxHashMap::default();
        for (id, children) in children {
            counts.entry(id).or_default().children += children;
            let mut above = id;
            for _ in 0..DEPTH_MAX {
                counts.entry(above).or_default().descendants += children;
                above = view.record(above)?.ok_or(Damage::Parents)?.parent();
                if above == EntryId::ABOVE {
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
}

/// A spooled entry: line u64 | length of normal name u32 | length of name u32 | normal name | name | record.
struct Waiting<'a> {
    line: u64,
    name: &'a str,
    dn: &'a str,
    head_len: usize,
}

impl<'a> Waiting<'a> {
    fn encode(line: u64, normal: &str, pretty: &str, record: &[u8]) -> Vec<u8> {
        let mut block = line.to_le_bytes().to_vec();
        for text in [normal, pretty] {
            block.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
        }
        block.extend_from_slice(normal.as_bytes());
        block.extend_from_slice(pretty.as_bytes());
        block.extend_from_slice(record);
        block
    }

    fn parse(block: &'a [u8]) -> Option<Waiting<'a>> {
        let mut rest = block;
        let head = take(&mut rest, 16)?;
        let name = std::str::from_utf8(take(&mut rest, u32_at(head, 8)? as usize)?).ok()?;
        let dn = std::str::from_utf8(take(&mut rest, u32_at(head, 12)? as usize)?).ok()?;
        Some(Waiting {
            line: u64_at(head, 0)?,
            name,
            dn,
            head_len: block.len() - rest.len(),
        })
    }
}
