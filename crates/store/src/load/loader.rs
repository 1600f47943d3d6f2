//! The loading thread's part: from prepared entries to the trees of the store.

use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::batch::{
    Batch, EncodedEntry, ParentName, PreparationContext, PreparedEntry, above_normal, own_name,
    parent_normal,
};
use super::bulk_add_outcome::BulkAddOutcome;
use super::empty_store::{EmptyStore, EntryWithParent, write_counts};
use super::error::Failure;
use super::loaded_state::LoadedState;
use super::options::LoadProgress;
use super::parents::{Fingerprint, ParentTable};
use super::spool::{Spool, SpoolBlock};
use super::waiting_entry::WaitingEntry;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::index::TypedRecord;
use crate::index::gram_lists as grams;
use crate::record::{self, Record, RecordSource};
use crate::write::{Writer, name_below};
use fulgurite_schema::{CheckedEntry, Dn};

/// Where entries go.
enum Target {
    /// An empty store: everything is sorted, then appended.
    Empty(Box<EmptyStore>),
    /// A store with entries: through the writer, one by one.
    Existing,
}

/// A load in progress.
pub(crate) struct Loader<'s> {
    writer: Writer<'s>,
    target: Target,
    parents: ParentTable,
    spool: Spool,
    loaded: u64,
    /// The state that the entries of an empty store tell.
    state: LoadedState,
}

impl<'s> Loader<'s> {
    pub(crate) fn new(
        writer: Writer<'s>,
        dir: &Path,
        memory_bytes: usize,
    ) -> Result<Loader<'s>, Failure> {
        let target = match writer.entry_count()? {
            0 => Target::Empty(Box::new(EmptyStore::new(dir, memory_bytes))),
            _ => Target::Existing,
        };
        let state = LoadedState::of_none(writer.store().schema());
        Ok(Loader {
            state,
            writer,
            target,
            parents: ParentTable::new(),
            spool: Spool::new(dir),
            loaded: 0,
        })
    }

    /// Returns the parts of the store that preparing threads need.
    pub(crate) fn preparation_context(&self) -> PreparationContext<'s> {
        let view = &self.writer.view;
        PreparationContext {
            store: view.store,
            indexes: Arc::clone(&view.indexes),
            fingerprints: self.parents.fingerprints().clone(),
            table: ArcSwap::new(Arc::clone(&view.attributes)),
            store_was_empty: self.is_empty_store(),
        }
    }

    /// Returns the number of entries loaded so far.
    pub(crate) fn loaded(&self) -> u64 {
        self.loaded
    }

    /// Takes prepared entries, in their order.
    pub(crate) fn add_batch(
        &mut self,
        batch: Batch,
        context: &PreparationContext<'_>,
    ) -> Result<(), Failure> {
        let Batch {
            state,
            entries,
            mut text,
            postings,
        } = batch;
        self.state.join(&state);
        let before = self.last();
        let mut ids = Vec::with_capacity(entries.len());
        for entry in entries {
            ids.push(match entry {
                PreparedEntry::Checked(entry, line) => self.add(&entry, line)?,
                PreparedEntry::Encoded(entry) => self.add_encoded(entry, &mut text)?,
            });
        }
        if !Arc::ptr_eq(&context.table.load(), &self.writer.view.attributes) {
            let table = Arc::clone(&self.writer.view.attributes);
            context.table.store(table);
        }
        if let Target::Empty(fresh) = &mut self.target {
            let first = EntryId(before.0 + 1);
            let expected = (first.0..).map(|id| Some(EntryId(id)));
            if ids.iter().copied().eq(expected.take(ids.len())) {
                fresh.postings.external.buffer.add(first, postings);
            } else {
                fresh.postings.external.buffer.add_by_ids(&postings, &ids);
            }
            fresh.postings.external.spill_if_over_budget()?;
        }
        Ok(())
    }

    /// Takes an entry that lacks its id and its parent's. Returns its id, unless it has to wait for
    /// its parent.
    fn add_encoded(
        &mut self,
        entry: EncodedEntry,
        text: &mut [u8],
    ) -> Result<Option<EntryId>, Failure> {
        let line = entry.line;
        let at_line = |source| Failure::Entry { line, source };
        let names = |text: &[u8]| {
            let name = |range| Some(std::str::from_utf8(text.get(range)?).ok()?.to_owned());
            let both = name(entry.normal.clone()).zip(name(entry.pretty.clone()));
            both.unwrap_or_default()
        };
        if self.parents.is_known(entry.name) {
            return Err(at_line(StoreError::EntryExists(names(text).1)));
        }
        let parent = match entry.parent {
            ParentName::OutsideSuffix => {
                return Err(at_line(StoreError::OutsideSuffix(names(text).1)));
            }
            ParentName::None => Some(EntryId::ROOT),
            ParentName::Entry(name) => self.parents.id_of(name),
        };
        let record = entry.record.map_err(at_line)?;
        let Some(parent) = parent else {
            let (normal, pretty) = names(text);
            let record = text.get(record).unwrap_or_default();
            self.spool_entry((&normal, &pretty), entry.name, record, line)?;
            return Ok(None);
        };
        let Target::Empty(target) = &mut self.target else {
            return Err(Damage::Record.into());
        };
        self.loaded += 1;
        let record = text.get_mut(record).unwrap_or_default();
        let view = &mut self.writer.view;
        let id = target.insert_encoded(view, parent, record, entry.overflow)?;
        self.insert_waiting(entry.name, id)?;
        Ok(Some(id))
    }

    /// Loads one entry; `line` identifies it in errors. Returns its id, unless it has to wait for
    /// its parent.
    pub(crate) fn add(
        &mut self,
        entry: &CheckedEntry,
        line: u64,
    ) -> Result<Option<EntryId>, Failure> {
        let at_line = |source| Failure::Entry { line, source };
        let dn = &entry.entry().dn;
        let name = self.parents.fingerprint(dn.normal());
        if self.parents.is_known(name) {
            return Err(at_line(StoreError::EntryExists(dn.pretty().to_owned())));
        }
        let place = self.parent_of(dn).map_err(at_line)?;
        let parent = place.unwrap_or(EntryId::ROOT);
        let mut record = self.encode(parent, entry).map_err(at_line)?;
        let id = match place {
            Some(parent) => {
                let placed = EntryWithParent {
                    id: None,
                    parent,
                    record: &mut record,
                    values: entry.entry(),
                };
                let id = self.insert_one(placed, line)?;
                self.insert_waiting(name, id)?;
                Some(id)
            }
            None => {
                self.spool_entry((dn.normal(), dn.pretty()), name, &record, line)?;
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
            overflow: &[],
        };
        record::encode(&source, &mut record)?;
        self.writer.store().check_size(&record)?;
        Ok(record)
    }

    /// Returns the last id if the store was empty.
    fn last(&self) -> EntryId {
        match &self.target {
            Target::Empty(fresh) => fresh.last,
            Target::Existing => EntryId(0),
        }
    }

    /// Returns true while the store is loaded as an empty one.
    pub(super) fn is_empty_store(&self) -> bool {
        matches!(self.target, Target::Empty(_))
    }

    /// Loads one entry at once. Without `place` its parent must be known. With an id and a parent,
    /// the parent may come later. It refuses an entry without a known parent or with a known name.
    /// It also refuses an id that is not above the last one.
    pub(super) fn fill(
        &mut self,
        entry: &CheckedEntry,
        place: Option<(EntryId, EntryId)>,
    ) -> Result<BulkAddOutcome, Failure> {
        let dn = &entry.entry().dn;
        let name = self.parents.fingerprint(dn.normal());
        if self.parents.is_known(name) {
            return Ok(BulkAddOutcome::Exists);
        }
        let last = match &self.target {
            Target::Empty(fresh) => fresh.last,
            Target::Existing => return Ok(BulkAddOutcome::OutOfOrder),
        };
        let (id, parent) = match place {
            Some((id, _)) if id <= last || id.0 >= grams::IDS_MAX => {
                return Ok(BulkAddOutcome::OutOfOrder);
            }
            Some((_, EntryId::ROOT)) if !self.writer.store().is_top(dn) => {
                return Err(StoreError::OutsideSuffix(dn.pretty().to_owned()).into());
            }
            Some((id, parent)) => (Some(id), parent),
            None => match self.parent_of(dn)? {
                Some(parent) => (None, parent),
                None => return Ok(BulkAddOutcome::OutOfOrder),
            },
        };
        let mut record = self.encode(parent, entry)?;
        let placed = EntryWithParent {
            id,
            parent,
            record: &mut record,
            values: entry.entry(),
        };
        let id = self.insert_one(placed, 0)?;
        self.state.note(entry.entry());
        self.parents.place(name, id);
        self.writer.record = record;
        if let Target::Empty(fresh) = &mut self.target {
            fresh.postings.external.spill_if_over_budget()?;
        }
        Ok(BulkAddOutcome::Added(id))
    }

    /// Returns the entry above a name, if it has come.
    pub(super) fn above(&self, dn: &Dn) -> Option<EntryId> {
        self.parents
            .id_of(self.parents.fingerprint(parent_normal(dn)))
    }

    /// Writes names and indexes, and continues as a writer in the same transaction. The vector
    /// stays open.
    pub(super) fn into_writer(mut self) -> Result<Writer<'s>, Failure> {
        self.write_trees()?;
        self.writer.log_load()?;
        Ok(self.writer)
    }

    /// Does the same, and the vector follows from the entries.
    pub(super) fn into_settled_writer(mut self) -> Result<Writer<'s>, Failure> {
        self.write_trees()?;
        self.log_empty_store()?;
        Ok(self.writer)
    }

    fn write_trees(&mut self) -> Result<(), Failure> {
        if let Target::Empty(fresh) = std::mem::replace(&mut self.target, Target::Existing) {
            let view = &mut self.writer.view;
            let children = fresh.write_trees(view, 1, &mut |_| {})?;
            for (parent, children) in children {
                let children = i64::try_from(children).map_err(|_| Damage::Counts)?;
                self.writer.add_children(parent, children);
            }
        }
        Ok(())
    }

    /// Writes names, indexes and counts, and commits; `threads` threads sort. Returns the number of
    /// entries.
    pub(crate) fn finish(
        mut self,
        threads: usize,
        progress: &mut dyn FnMut(LoadProgress),
    ) -> Result<u64, Failure> {
        self.check_none_waits()?;
        if let Target::Empty(fresh) = std::mem::replace(&mut self.target, Target::Existing) {
            let view = &mut self.writer.view;
            let children = fresh.write_trees(view, threads, progress)?;
            write_counts(view, children)?;
            self.log_empty_store()?;
        } else {
            self.writer.log_load()?;
        }
        progress(LoadProgress::Commit);
        self.writer.commit()?;
        Ok(self.loaded)
    }

    /// Records the load of a store that was empty. Its vector follows from the loaded entries, so
    /// the first start has nothing to compute.
    fn log_empty_store(&mut self) -> Result<(), StoreError> {
        self.writer.log_load()?;
        let Some(entries) = self.state.vector() else {
            return Ok(());
        };
        let mut vector = entries.clone();
        // Deletions of a store that is empty again have left no other trace.
        vector.raise_all(&self.writer.log_state()?.vector);
        self.writer.reset_vector(vector)
    }

    /// Returns the parent's id: [`EntryId::ROOT`] for a suffix entry, `None` if the parent has not
    /// come yet.
    fn parent_of(&self, dn: &Dn) -> Result<Option<EntryId>, StoreError> {
        let suffixes = self.writer.store().suffixes();
        if !suffixes.iter().any(|suffix| dn.is_within(suffix)) {
            return Err(StoreError::OutsideSuffix(dn.pretty().to_owned()));
        }
        let place = if self.writer.store().is_top(dn) {
            Some(EntryId::ROOT)
        } else {
            let parent = parent_normal(dn);
            match self.target {
                Target::Empty(_) => self.parents.id_of(self.parents.fingerprint(parent)),
                Target::Existing => self.writer.find_normal(parent)?.entry(),
            }
        };
        if let (Target::Existing, Some(parent)) = (&self.target, place) {
            self.writer
                .check_name(parent, dn, name_below(dn, parent)?.0)?;
        }
        Ok(place)
    }

    /// Notes an entry's id, and inserts the entries that waited for it, and those that waited for
    /// them.
    fn insert_waiting(&mut self, name: Fingerprint, id: EntryId) -> Result<(), Failure> {
        let waiting = self.parents.place(name, id).into_iter();
        let mut released: Vec<(EntryId, SpoolBlock)> = waiting.map(|block| (id, block)).collect();
        while let Some((parent, block)) = released.pop() {
            let mut block = self.spool.read(block).map_err(Failure::Temporary)?;
            let waiting = WaitingEntry::parse(&block).ok_or(Damage::Record)?;
            let (name, line, head_len) = (
                self.parents.fingerprint(waiting.name),
                waiting.line,
                waiting.head_len,
            );
            let values = block.get(head_len..).unwrap_or_default().to_vec();
            let record = block.get_mut(head_len..).unwrap_or_default();
            let table = Arc::clone(&self.writer.view.attributes);
            let values = TypedRecord {
                record: Record::parse(&values)?,
                table: &table,
            };
            let placed = EntryWithParent {
                id: None,
                parent,
                record,
                values: &values,
            };
            let id = self.insert_one(placed, line)?;
            if let Target::Empty(fresh) = &mut self.target {
                fresh.postings.spill_amid_batch()?;
            }
            let waiting = self.parents.place(name, id).into_iter();
            released.extend(waiting.map(|block| (id, block)));
        }
        Ok(())
    }

    fn insert_one(&mut self, entry: EntryWithParent<'_>, line: u64) -> Result<EntryId, Failure> {
        record::set_parent(entry.record, entry.parent);
        self.loaded += 1;
        if let Target::Empty(target) = &mut self.target {
            return target.insert(&mut self.writer.view, entry);
        }
        let EntryWithParent {
            parent,
            record,
            values,
            ..
        } = entry;
        let rdn_normal = Record::parse(record)?.rdn_normal();
        let rdn_normal = std::str::from_utf8(rdn_normal).map_err(|_| Damage::Record)?;
        let inserted = self
            .writer
            .insert_record(parent, rdn_normal, record, values);
        inserted.map_err(|source| Failure::Entry { line, source })
    }

    /// Spools an entry that comes before its parent.
    fn spool_entry(
        &mut self,
        (normal, pretty): (&str, &str),
        name: Fingerprint,
        record: &[u8],
        line: u64,
    ) -> Result<(), Failure> {
        let block = WaitingEntry::encode(line, normal, pretty, record);
        let block = self.spool.push(&block).map_err(Failure::Temporary)?;
        let parent = self.parents.fingerprint(above_normal(normal));
        self.parents.wait(name, parent, block);
        Ok(())
    }

    /// Fails with the first entry whose parent is missing. An entry whose parent waits too is not
    /// the cause.
    fn check_none_waits(&self) -> Result<(), Failure> {
        let mut first: Option<(u64, String)> = None;
        let mut count = 0_u64;
        for (parent, blocks) in self.parents.waiting() {
            count += blocks.len() as u64;
            if self.parents.is_known(parent) {
                continue;
            }
            for block in blocks {
                let block = self.spool.read(*block).map_err(Failure::Temporary)?;
                let waiting = WaitingEntry::parse(&block).ok_or(Damage::Record)?;
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
}
