//! Entries on their way from the preparing threads to the loading thread.

use std::ops::Range;
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::key_collector::{KeyCollector, SortedKeys};
use super::loaded_state::LoadedState;
use super::parents::{Fingerprint, Fingerprints};
use crate::attributes::AttributeTable;
use crate::error::StoreError;
use crate::ids::{AttributeId, EntryId};
use crate::index::{Indexes, KeyMaker, key};
use crate::overflow_values::{self, hashed};
use crate::record::{self, Record, RecordSource};
use crate::store::Store;
use crate::write::{NumberedAttributes, name_below};
use fulgurite_schema::{CheckedEntry, Dn, Entry};

/// The parts of the store that preparing threads need.
pub(crate) struct PreparationContext<'s> {
    pub(crate) store: &'s Store,
    pub(crate) indexes: Arc<Indexes>,
    pub(crate) fingerprints: Fingerprints,
    /// The attribute numbers given so far. Only the loading thread gives new ones, so that they
    /// follow the order of entries.
    pub(crate) table: ArcSwap<AttributeTable>,
    /// True if the store was empty. Otherwise the loading thread does the work on all entries.
    pub(crate) store_was_empty: bool,
}

/// Entries prepared by one thread, in their order.
pub(crate) struct Batch {
    /// The state that the entries tell.
    pub(super) state: LoadedState,
    pub(crate) entries: Vec<PreparedEntry>,
    /// Names and records.
    pub(crate) text: Vec<u8>,
    /// Keys of the encoded entries, with positions among the entries of the batch.
    pub(crate) postings: SortedKeys,
}

pub(crate) enum PreparedEntry {
    Encoded(EncodedEntry),
    /// An entry for the loading thread, with its line.
    Checked(Box<CheckedEntry>, u64),
}

/// An entry that lacks only its id and its parent's. Ranges are within the text of the batch.
pub(crate) struct EncodedEntry {
    pub(crate) line: u64,
    pub(crate) name: Fingerprint,
    pub(crate) parent: ParentName,
    pub(crate) normal: Range<usize>,
    pub(crate) pretty: Range<usize>,
    pub(crate) record: Result<Range<usize>, StoreError>,
    pub(crate) overflow: Option<Box<OverflowEntry>>,
}

/// The parent's name of an entry.
#[derive(Clone, Copy)]
pub(crate) enum ParentName {
    /// The entry is outside all suffixes.
    OutsideSuffix,
    /// The entry is at the top.
    None,
    /// The name of the parent.
    Entry(Fingerprint),
}

/// An entry with overflow values.
pub(crate) struct OverflowEntry {
    /// The record without these values.
    pub(crate) record: Vec<u8>,
    /// Attributes with the hashes of their values.
    pub(crate) attributes: Vec<(AttributeId, Vec<u64>)>,
}

/// Prepares entries for loading. Each thread has its own batch.
pub struct LoadBatch<'w> {
    context: &'w PreparationContext<'w>,
    table: Arc<AttributeTable>,
    batch: Batch,
    collector: KeyCollector,
    all_entries: Vec<u8>,
    key: Vec<u8>,
    record: Vec<u8>,
}

impl<'w> LoadBatch<'w> {
    pub(crate) fn new(context: &'w PreparationContext<'w>) -> LoadBatch<'w> {
        LoadBatch {
            context,
            table: context.table.load_full(),
            batch: Batch::of_none(context, 0, 0),
            collector: KeyCollector::default(),
            all_entries: key::all_entries(),
            key: Vec::new(),
            record: Vec::new(),
        }
    }

    /// Adds one entry; `line` identifies it in errors. Parents may come after their children.
    pub fn add(&mut self, entry: CheckedEntry, line: u64) {
        self.batch.state.note(entry.entry());
        let position = KeyCollector::position_of(self.batch.entries.len() as u64);
        let mut attributes = None;
        if self.context.store_was_empty {
            attributes = numbered(&self.table, entry.entry());
            if attributes.is_none() {
                // The loading thread may have given numbers meanwhile.
                self.table = self.context.table.load_full();
                attributes = numbered(&self.table, entry.entry());
            }
        }
        let prepared = match (position, attributes) {
            (Some(position), Some(attributes)) => {
                PreparedEntry::Encoded(self.prepare(entry.entry(), attributes, line, position))
            }
            _ => PreparedEntry::Checked(Box::new(entry), line),
        };
        self.batch.entries.push(prepared);
    }

    /// Returns the added entries, and starts again.
    pub(crate) fn take(&mut self) -> Batch {
        let (entries, text) = (self.batch.entries.len(), self.batch.text.len());
        let next = Batch::of_none(self.context, entries, text);
        let mut batch = std::mem::replace(&mut self.batch, next);
        batch.postings = self.collector.take_sorted();
        self.table = self.context.table.load_full();
        batch
    }

    fn prepare(
        &mut self,
        entry: &Entry,
        attributes: NumberedAttributes<'_>,
        line: u64,
        position: u32,
    ) -> EncodedEntry {
        let (context, dn) = (self.context, &entry.dn);
        let mut large = None;
        let encoded = self.encode(entry, attributes, &mut large);
        if encoded.is_ok() {
            let Self {
                collector,
                key,
                all_entries,
                ..
            } = self;
            collector.push(all_entries, position);
            let schema = context.store.schema();
            let maker = KeyMaker::new(&context.indexes, schema);
            maker.emit(entry, &|_| true, key, &mut collector.at(position));
        }
        EncodedEntry {
            line,
            name: context.fingerprints.of(dn.normal()),
            parent: parent_name(context, dn),
            normal: self.push_text(dn.normal().as_bytes()),
            pretty: self.push_text(dn.pretty().as_bytes()),
            record: encoded.map(|()| {
                let record = std::mem::take(&mut self.record);
                let range = self.push_text(&record);
                self.record = record;
                range
            }),
            overflow: large,
        }
    }

    fn push_text(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.batch.text.len();
        self.batch.text.extend_from_slice(bytes);
        start..self.batch.text.len()
    }

    /// Encodes the record into `self.record`.
    fn encode(
        &mut self,
        entry: &Entry,
        attributes: NumberedAttributes<'_>,
        large: &mut Option<Box<OverflowEntry>>,
    ) -> Result<(), StoreError> {
        let store = self.context.store;
        let (rdn_normal, rdn) = own_name(store, &entry.dn)?;
        let source = RecordSource {
            parent: EntryId::ROOT,
            rdn_normal: rdn_normal.as_bytes(),
            rdn: rdn.as_bytes(),
            attributes,
            overflow: &[],
        };
        record::encode(&source, &mut self.record)?;
        store.check_size(&self.record)?;
        let most = entry.attributes.iter().map(|a| a.values.len()).max();
        if most.is_some_and(|most| most > store.inline_values_max) {
            *large = OverflowEntry::of(store, &self.table, &self.record)?;
        }
        Ok(())
    }
}

impl Batch {
    /// Returns a batch with room for entries and for bytes of text.
    fn of_none(context: &PreparationContext<'_>, entries: usize, text: usize) -> Batch {
        Batch {
            state: LoadedState::of_none(context.store.schema()),
            entries: Vec::with_capacity(entries),
            text: Vec::with_capacity(text),
            postings: SortedKeys::default(),
        }
    }
}

impl OverflowEntry {
    fn of(
        store: &Store,
        table: &AttributeTable,
        record: &[u8],
    ) -> Result<Option<Box<OverflowEntry>>, StoreError> {
        let whole = Record::parse(record)?;
        let Some(large) = overflow_values::split(&whole, store.inline_values_max)? else {
            return Ok(None);
        };
        let mut attributes = Vec::with_capacity(large.attributes.len());
        for number in large.attributes {
            let values = hashed(store.schema(), table, &whole, number)?;
            attributes.push((number, values.map(|(hash, _)| hash).collect()));
        }
        Ok(Some(Box::new(OverflowEntry {
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

/// Returns the entry's attributes by number, if all have one.
fn numbered<'e>(table: &AttributeTable, entry: &'e Entry) -> Option<NumberedAttributes<'e>> {
    let number = |attribute: &'e fulgurite_schema::Attribute| {
        let id = table.find(&attribute.description)?;
        Some((id, attribute.values.as_slice()))
    };
    entry.attributes.iter().map(number).collect()
}

fn parent_name(context: &PreparationContext<'_>, dn: &Dn) -> ParentName {
    let store = context.store;
    if !store.suffixes().iter().any(|suffix| dn.is_within(suffix)) {
        ParentName::OutsideSuffix
    } else if store.is_top(dn) {
        ParentName::None
    } else {
        ParentName::Entry(context.fingerprints.of(parent_normal(dn)))
    }
}

/// Returns the RDN of an entry in normal form and as written; at the top, the whole name.
pub(super) fn own_name<'d>(store: &Store, dn: &'d Dn) -> Result<(&'d str, &'d str), StoreError> {
    // With any parent except ROOT the result is the RDN.
    name_below(
        dn,
        if store.is_top(dn) {
            EntryId::ROOT
        } else {
            EntryId(u64::MAX)
        },
    )
}

/// Returns the normal form of the parent's name. An unescaped comma occurs only between RDNs.
pub(super) fn parent_normal(dn: &Dn) -> &str {
    above_normal(dn.normal())
}

pub(super) fn above_normal(normal: &str) -> &str {
    normal.split_once(',').map_or("", |(_, above)| above)
}
