//! The loading thread's part: from checked entries to trees.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::Failure;
use super::chunks::{Scratch, write_chunks};
use super::external::External;
use super::fill::Filled;
use super::names::NameBuffer;
use super::parents::{Fingerprint, Parents};
use super::postings::PostingBuffer;
use super::spool::{Block, Spool};
use crate::apart;
use crate::bytes::{take, u32_at, u64_at};
use crate::entry_view::TypedRecord;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::index::{EmitSource, emit, key};
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
    postings: External<PostingBuffer>,
    children: FxHashMap<EntryId, u64>,
    all_entries: Vec<u8>,
    key: Vec<u8>,
    last: EntryId,
}

/// An entry whose place is known.
struct Placed<'a> {
    name: Fingerprint,
    /// The next one, unless it has one already.
    id: Option<EntryId>,
    parent: EntryId,
    record: &'a mut [u8],
    values: &'a dyn EmitSource,
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
                postings: External::new(dir, memory_bytes / 4 * 3),
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

    /// Takes one entry; `line` names it in errors.
    pub(crate) fn add(&mut self, entry: &CheckedEntry, line: u64) -> Result<(), Failure> {
        let at_line = |source| Failure::Entry { line, source };
        let dn = &entry.entry().dn;
        let name = self.parents.fingerprint(dn.normal());
        if self.parents.has_come(name) {
            return Err(at_line(StoreError::EntryExists(dn.pretty().to_owned())));
        }
        let place = self.place_of(dn).map_err(at_line)?;
        let parent = place.unwrap_or(EntryId::ABOVE);
        let mut record = self.encode(parent, entry).map_err(at_line)?;
        match place {
            Some(parent) => self.insert(
                Placed {
                    name,
                    id: None,
                    parent,
                    record: &mut record,
                    values: entry.entry(),
                },
                line,
            )?,
            None => self.put_aside(dn, name, &record, line)?,
        }
        self.writer.record = record;
        Ok(())
    }

    fn encode(&mut self, parent: EntryId, entry: &CheckedEntry) -> Result<Vec<u8>, StoreError> {
        let (rdn_normal, rdn) = self.name_of(&entry.entry().dn)?;
        let attributes = self.writer.number(entry.entry())?;
        let mut record = std::mem::take(&mut self.writer.record);
        let source = RecordSource {
            parent,
            rdn_normal: rdn_normal.as_bytes(),
            rdn: rdn.as_bytes(),
            attributes,
            apart: &[],
        };
        let table = &self.writer.view.attributes;
        record::encode(&source, |id| table.written(id), &mut record)?;
        self.writer.store().check_size(&record)?;
        Ok(record)
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
            Some((id, _)) if id <= last => return Ok(Filled::OutOfOrder),
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
            name,
            id,
            parent,
            record: &mut record,
            values: entry.entry(),
        };
        let id = self.insert_one(placed, 0)?;
        self.parents.place(name, id);
        self.writer.record = record;
        Ok(Filled::Added(id))
    }

    /// Writes names and indexes, and goes on as a writer in the same transaction.
    pub(super) fn into_writer(mut self) -> Result<Writer<'s>, Failure> {
        if let Target::Fresh(fresh) = std::mem::replace(&mut self.target, Target::Existing) {
            let fresh = *fresh;
            self.write_names(fresh.names)?;
            self.write_postings(fresh.postings)?;
            for (parent, children) in fresh.children {
                let children = i64::try_from(children).map_err(|_| Damage::Counts)?;
                self.writer.gained_children(parent, children);
            }
        }
        Ok(self.writer)
    }

    /// Writes names, indexes and counts and commits. Returns the number of entries.
    pub(crate) fn finish(
        mut self,
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
            progress(super::LoadProgress::Names);
            self.write_names(names)?;
            progress(super::LoadProgress::Indexes);
            self.write_postings(postings)?;
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

    fn name_of<'d>(&self, dn: &'d Dn) -> Result<(&'d str, &'d str), StoreError> {
        let is_top = self.writer.store().is_top(dn);
        // Any parent but ABOVE gives the RDN.
        name_below(
            dn,
            if is_top {
                EntryId::ABOVE
            } else {
                EntryId(u64::MAX)
            },
        )
    }

    /// Inserts an entry, then those that waited for it, then those that waited for them.
    fn insert(&mut self, placed: Placed<'_>, line: u64) -> Result<(), Failure> {
        let name = placed.name;
        let id = self.insert_one(placed, line)?;
        let mut released: Vec<(EntryId, Block)> = Vec::new();
        released.extend(
            self.parents
                .place(name, id)
                .into_iter()
                .map(|block| (id, block)),
        );
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
            let id = self.insert_one(
                Placed {
                    name,
                    id: None,
                    parent,
                    record,
                    values: &values,
                },
                line,
            )?;
            released.extend(
                self.parents
                    .place(name, id)
                    .into_iter()
                    .map(|block| (id, block)),
            );
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
        fresh
            .names
            .buffer
            .push(view.name_key(parent, rdn_normal), id, rdn_normal);
        if parent != EntryId::ABOVE {
            *fresh.children.entry(parent).or_default() += 1;
        }
        let postings = &mut fresh.postings.buffer;
        postings.push(&fresh.all_entries, id);
        emit(
            &indexes,
            &store.schema,
            values,
            &|_| true,
            &mut fresh.key,
            &mut |key| postings.push(key, id),
        );
        fresh.names.relieve()?;
        fresh.postings.relieve()?;
        Ok(id)
    }

    /// Spools an entry that came before its parent.
    fn put_aside(
        &mut self,
        dn: &Dn,
        name: Fingerprint,
        record: &[u8],
        line: u64,
    ) -> Result<(), Failure> {
        let block = Waiting::encode(line, dn, record);
        let block = self.spool.push(&block).map_err(Failure::Temporary)?;
        let parent = self.parents.fingerprint(parent_normal(dn));
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

    fn write_names(&mut self, names: External<NameBuffer>) -> Result<(), Failure> {
        let view = &mut self.writer.view;
        let db = view.store.dbs.names;
        names.finish(&mut |key, list| Ok(view.txn.append(db, key, list)?))
    }

    fn write_postings(&mut self, postings: External<PostingBuffer>) -> Result<(), Failure> {
        let view = &mut self.writer.view;
        let db = view.store.dbs.index;
        let mut scratch = Scratch::default();
        postings.finish(&mut |posting, segments| {
            let written = write_chunks(posting, segments, &mut scratch, &mut |key, chunk| {
                Ok(view.txn.append(db, key, chunk)?)
            });
            Ok(written?)
        })
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
    fn encode(line: u64, dn: &Dn, record: &[u8]) -> Vec<u8> {
        let mut block = line.to_le_bytes().to_vec();
        for text in [dn.normal(), dn.pretty()] {
            block.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
        }
        block.extend_from_slice(dn.normal().as_bytes());
        block.extend_from_slice(dn.pretty().as_bytes());
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

/// Normal form of the name above: a raw comma occurs only between RDNs.
fn parent_normal(dn: &Dn) -> &str {
    dn.normal().split_once(',').map_or("", |(_, above)| above)
}
