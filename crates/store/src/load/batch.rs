//! Entries on their way from the threads that prepare them to the one that loads them.

use std::ops::Range;
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::gather::{Gathering, Sorted};
use super::parents::{Fingerprint, Fingerprints};
use crate::apart;
use crate::attributes::AttributeTable;
use crate::error::StoreError;
use crate::ids::{AttributeId, EntryId};
use crate::index::{Indexes, emit_to, key};
use crate::record::{self, Record, RecordSource};
use crate::store::Store;
use crate::write::{Numbered, hashed, name_below};
use fulgurite_schema::{CheckedEntry, Dn, Entry};

/// What preparing threads have to know of a load.
pub(crate) struct Preparing<'s> {
    pub(crate) store: &'s Store,
    pub(crate) indexes: Arc<Indexes>,
    pub(crate) fingerprints: Fingerprints,
    /// The numbers given so far. Only the loading thread gives new ones, so that they follow the order of entries.
    pub(crate) table: ArcSwap<AttributeTable>,
    /// Whether the store was empty; entries of other loads are left to the loading thread.
    pub(crate) is_fresh: bool,
}

/// Entries prepared by one thread, in their order.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) entries: Vec<Prepared>,
    /// Names and records.
    pub(crate) text: Vec<u8>,
    /// Keys of those that are ready; places are positions among the entries.
    pub(crate) postings: Sorted,
}

pub(crate) enum Prepared {
    Ready(Ready),
    /// Left to the loading thread, with its line.
    Whole(Box<CheckedEntry>, u64),
}

/// An entry that lacks its id and its parent's only. Ranges are within the text of the batch.
pub(crate) struct Ready {
    pub(crate) line: u64,
    pub(crate) name: Fingerprint,
    pub(crate) above: Above,
    pub(crate) normal: Range<usize>,
    pub(crate) pretty: Range<usize>,
    pub(crate) record: Result<Range<usize>, StoreError>,
    pub(crate) large: Option<Box<Large>>,
}

/// Where an entry belongs.
#[derive(Clone, Copy)]
pub(crate) enum Above {
    /// Below no suffix.
    Nowhere,
    /// It is a suffix.
    Nothing,
    /// The parent's name.
    Entry(Fingerprint),
}

/// An entry with values that lie apart.
pub(crate) struct Large {
    /// What remains of its record.
    pub(crate) record: Vec<u8>,
    /// Attributes with the hashes of their values.
    pub(crate) attributes: Vec<(AttributeId, Vec<u64>)>,
}

/// Prepares entries for loading; each thread has one of its own.
pub struct LoadBatch<'w> {
    preparing: &'w Preparing<'w>,
    table: Arc<AttributeTable>,
    batch: Batch,
    gathering: Gathering,
    all_entries: Vec<u8>,
    key: Vec<u8>,
    record: Vec<u8>,
}

impl<'w> LoadBatch<'w> {
    pub(crate) fn new(preparing: &'w Preparing<'w>) -> LoadBatch<'w> {
        LoadBatch {
            preparing,
            table: preparing.table.load_full(),
            batch: Batch::default(),
            gathering: Gathering::default(),
            all_entries: key::all_entries(),
            key: Vec::new(),
            record: Vec::new(),
        }
    }

    /// Takes one entry; `line` names it in errors. Parents may come after their children.
    pub fn add(&mut self, entry: CheckedEntry, line: u64) {
        let place = Gathering::has_room(self.batch.entries.len() as u64);
        let mut attributes = None;
        if self.preparing.is_fresh {
            attributes = numbered(&self.table, entry.entry());
            if attributes.is_none() {
                // They may have got their numbers meanwhile.
                self.table = self.preparing.table.load_full();
                attributes = numbered(&self.table, entry.entry());
            }
        }
        let prepared = match (place, attributes) {
            (Some(place), Some(attributes)) => {
                Prepared::Ready(self.prepare(entry.entry(), attributes, line, place))
            }
            _ => Prepared::Whole(Box::new(entry), line),
        };
        self.batch.entries.push(prepared);
    }

    /// What has been added, and a new start.
    pub(crate) fn take(&mut self) -> Batch {
        let next = Batch {
            entries: Vec::with_capacity(self.batch.entries.len()),
            text: Vec::with_capacity(self.batch.text.len()),
            postings: Sorted::default(),
        };
        let mut batch = std::mem::replace(&mut self.batch, next);
        batch.postings = self.gathering.take_sorted();
        self.table = self.preparing.table.load_full();
        batch
    }

    fn prepare(&mut self, entry: &Entry, attributes: Numbered<'_>, line: u64, place: u32) -> Ready {
        let (preparing, dn) = (self.preparing, &entry.dn);
        let above = above(preparing, dn);
        let mut large = None;
        let encoded = self.encode(entry, attributes, &mut large);
        if encoded.is_ok() {
            let Self {
                gathering,
                key,
                all_entries,
                ..
            } = self;
            gathering.push(all_entries, place);
            let schema = preparing.store.schema();
            emit_to(
                &preparing.indexes,
                schema,
                entry,
                &|_| true,
                key,
                &mut gathering.at(place),
            );
        }
        Ready {
            line,
            name: preparing.fingerprints.of(dn.normal()),
            above,
            normal: self.keep(dn.normal().as_bytes()),
            pretty: self.keep(dn.pretty().as_bytes()),
            record: encoded.map(|()| {
                let record = std::mem::take(&mut self.record);
                let range = self.keep(&record);
                self.record = record;
                range
            }),
            large,
        }
    }

    fn keep(&mut self, octets: &[u8]) -> Range<usize> {
        let start = self.batch.text.len();
        self.batch.text.extend_from_slice(octets);
        start..self.batch.text.len()
    }

    /// Encodes the record into `self.record`.
    fn encode(
        &mut self,
        entry: &Entry,
        attributes: Numbered<'_>,
        large: &mut Option<Box<Large>>,
    ) -> Result<(), StoreError> {
        let store = self.preparing.store;
        let (rdn_normal, rdn) = own_name(store, &entry.dn)?;
        let source = RecordSource {
            parent: EntryId::ABOVE,
            rdn_normal: rdn_normal.as_bytes(),
            rdn: rdn.as_bytes(),
            attributes,
            apart: &[],
        };
        record::encode(&source, &mut self.record)?;
        store.check_size(&self.record)?;
        let most = entry.attributes.iter().map(|a| a.values.len()).max();
        if most.is_some_and(|most| most > store.inline_values_max) {
            *large = Large::of(store, &self.table, &self.record)?;
        }
        Ok(())
    }
}

impl Large {
    fn of(
        store: &Store,
        table: &AttributeTable,
        record: &[u8],
    ) -> Result<Option<Box<Large>>, StoreError> {
        let whole = Record::parse(record)?;
        let Some(large) = apart::split(&whole, store.inline_values_max)? else {
            return Ok(None);
        };
        let mut attributes = Vec::with_capacity(large.attributes.len());
        for number in large.attributes {
            let values = hashed(store.schema(), table, &whole, number)?;
            attributes.push((number, values.map(|(hash, _)| hash).collect()));
        }
        Ok(Some(Box::new(Large {
            record: large.record,
            attributes,
        })))
    }
}

impl std::fmt::Debug for LoadBatch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadBatch")
            .field("entries", &self.batch.entries.len())
            .finish_non_exhaustive()
    }
}

/// The entry's attributes by number, if all have one.
fn numbered<'e>(table: &AttributeTable, entry: &'e Entry) -> Option<Numbered<'e>> {
    let number = |attribute: &'e fulgurite_schema::Attribute| {
        let id = table.find(&attribute.description)?;
        Some((id, attribute.values.as_slice()))
    };
    entry.attributes.iter().map(number).collect()
}

fn above(preparing: &Preparing<'_>, dn: &Dn) -> Above {
    let store = preparing.store;
    if !store.suffixes().iter().any(|suffix| dn.is_within(suffix)) {
        Above::Nowhere
    } else if store.is_top(dn) {
        Above::Nothing
    } else {
        Above::Entry(preparing.fingerprints.of(parent_normal(dn)))
    }
}

/// An entry's own part of its name, in normal form and as it was written; all of it at the top.
pub(super) fn own_name<'d>(store: &Store, dn: &'d Dn) -> Result<(&'d str, &'d str), StoreError> {
    // Any parent but ABOVE gives the RDN.
    name_below(
        dn,
        if store.is_top(dn) {
            EntryId::ABOVE
        } else {
            EntryId(u64::MAX)
        },
    )
}

/// Normal form of the name above: a raw comma occurs only between RDNs.
pub(super) fn parent_normal(dn: &Dn) -> &str {
    above_normal(dn.normal())
}

pub(super) fn above_normal(normal: &str) -> &str {
    normal.split_once(',').map_or("", |(_, above)| above)
}
