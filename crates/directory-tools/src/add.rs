//! LDIF into stores, entry by entry. Entries that cannot be added are reported and skipped.
//!
//! This is slapadd's behaviour, while [`load`](crate::load) is all or nothing. Children may come
//! before their parents, also in an earlier run. A missing parent gets a placeholder at once, and
//! fills it when it comes.
//!
//! An empty store is filled as by a bulk load, as long as parents come before their children.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;

use fulgurite_directory::{Author, Clock, Entropy, Importer};
use fulgurite_ldif::{Action, LdifError, Reader, ReaderOptions, Record};
use fulgurite_schema::{AttributeDescription, CheckedEntry, Dn, Entry, Schema, ViolationKind};
use fulgurite_store::{
    BulkAddOutcome, BulkWriteError, BulkWriter, EntryId, LoadOptions, NameLookup, Store,
    StoreError, Writer,
};
use thiserror::Error;

/// How to add.
pub struct AddOptions {
    /// The schema that entries are read and checked by.
    pub schema: Arc<Schema>,
    /// The author of entries that have none.
    pub author: Author,
    /// True if the schema has to allow the entries. Undefined attributes and classes are always
    /// refused.
    pub check_schema: bool,
    /// True if a repeated value is an error; otherwise it is kept once.
    pub check_values: bool,
    /// Check everything, add nothing.
    pub dry_run: bool,
    /// Go on after an entry that cannot be added.
    pub continue_on_error: bool,
    /// Records that begin in lines before this one are passed over.
    pub from_line: u64,
    /// Record the newest CSN of each server as `contextCSN` of the suffix entry.
    pub write_context: bool,
    /// Time for operational attributes that are made.
    pub clock: Arc<dyn Clock>,
    /// Randomness for entryUUIDs that are made.
    pub entropy: Arc<dyn Entropy>,
}

/// The outcome of a record.
#[derive(Debug)]
pub enum AddEvent {
    /// An entry was added.
    Added {
        /// Its name.
        dn: String,
        /// Its id; `None` in a dry run.
        id: Option<EntryId>,
    },
    /// A record could not be added.
    Refused(Refusal),
    /// The place of a parent that did not come. It stays, for a later run.
    Missing {
        /// Its name.
        dn: String,
        /// The id that it will have.
        id: EntryId,
    },
}

/// Why a record cannot be added.
#[derive(Debug, Error)]
pub enum Refusal {
    /// It is no LDIF.
    #[error("{0}")]
    Ldif(#[from] LdifError),
    /// It is no entry of this schema: a name, an attribute or a value cannot be read.
    #[error("line {line}: {reason}")]
    Unreadable {
        /// Where the record begins.
        line: u64,
        /// The reason, as a sentence.
        reason: String,
    },
    /// The name is of none of the stores.
    #[error("line {line}: {dn} is below no suffix of the database")]
    NoDatabase {
        /// Where the record begins.
        line: u64,
        /// The name.
        dn: String,
    },
    /// The entry has no object class.
    #[error("line {line}: {dn} has no objectClass")]
    NoObjectClass {
        /// Where the record begins.
        line: u64,
        /// The name.
        dn: String,
    },
    /// The schema does not allow it.
    #[error("line {line}: {dn}: {text}")]
    Schema {
        /// Where the record begins.
        line: u64,
        /// The name.
        dn: String,
        /// The kind of rule that it breaks.
        kind: ViolationKind,
        /// How.
        text: String,
    },
    /// There is an entry of that name.
    #[error("line {line}: {dn} exists already")]
    Exists {
        /// Where the record begins.
        line: u64,
        /// The name.
        dn: String,
    },
    /// The store refuses it.
    #[error("line {line}: {dn}: {source}")]
    Store {
        /// Where the record begins.
        line: u64,
        /// The name.
        dn: String,
        /// Why.
        source: StoreError,
    },
}

/// The counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddSummary {
    /// Entries added.
    pub added: u64,
    /// Records refused.
    pub refused: u64,
    /// Parents that did not come.
    pub missing: u64,
    /// Values left out, because the database computes them from groups.
    pub left_out: u64,
}

impl AddSummary {
    /// Returns true if everything was added.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.refused == 0 && self.missing == 0
    }
}

/// Why adding ended. All additions are undone.
#[derive(Debug, Error)]
pub enum AddError {
    /// The schema lacks what the server needs.
    #[error(transparent)]
    Schema(#[from] fulgurite_directory::OpenError),
    /// A store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A temporary file failed.
    #[error("temporary file: {0}")]
    Temporary(std::io::Error),
    /// The input cannot be read on.
    #[error(transparent)]
    Input(LdifError),
}

impl From<BulkWriteError> for AddError {
    fn from(error: BulkWriteError) -> AddError {
        match error {
            BulkWriteError::Store(error) => AddError::Store(error),
            BulkWriteError::Temporary(error) => AddError::Temporary(error),
        }
    }
}

/// Adds the entries of `input` to the stores, each to the one with the most specific suffix.
/// Everything becomes visible at the end, in one transaction for each store. This includes entries
/// before a record that could not be added.
///
/// The writers of the stores are held until the end: a server that has them open waits with its
/// updates.
///
/// # Errors
/// [`AddError`]. Records that cannot be added are passed to `report` instead.
pub fn add(
    stores: &[Arc<Store>],
    input: impl BufRead,
    options: &AddOptions,
    report: &mut dyn FnMut(AddEvent),
) -> Result<AddSummary, AddError> {
    let importer = Importer::new(
        Arc::clone(&options.schema),
        &options.author,
        Arc::clone(&options.clock),
        Arc::clone(&options.entropy),
    )?;
    let targets = stores
        .iter()
        .map(|store| StoreTarget::new(store, options.dry_run));
    let mut adder = Adder {
        options,
        importer,
        targets: targets.collect::<Result<_, _>>()?,
        summary: AddSummary::default(),
    };
    let mut reader = Reader::with_options(input, ReaderOptions::default());
    while adder.next(&mut reader, report)? {}
    adder.finish(report)
}

/// A store with its writer.
struct StoreTarget<'s> {
    store: &'s Store,
    sink: Sink<'s>,
    /// Places that wait for their entries, by id.
    waiting: BTreeMap<EntryId, String>,
    /// The newest CSN of each server.
    newest: BTreeMap<Vec<u8>, Vec<u8>>,
    /// True if the writer has added entries. The bulk writer logs the state of its entries itself.
    has_single_entries: bool,
}

/// Where entries go.
#[allow(clippy::large_enum_variant, reason = "there is one for each database")]
enum Sink<'s> {
    /// Nowhere: a dry run.
    Nowhere,
    /// An empty store, in order.
    BulkWriter(BulkWriter<'s>),
    Writer(Writer<'s>),
}

impl<'s> Sink<'s> {
    fn new(store: &'s Store, dry_run: bool) -> Result<Sink<'s>, AddError> {
        if dry_run {
            return Ok(Sink::Nowhere);
        }
        Ok(match store.bulk_writer(&LoadOptions::default())? {
            Some(bulk_writer) => Sink::BulkWriter(bulk_writer),
            None => Sink::Writer(store.write()?),
        })
    }

    /// Returns the writer, which goes on where the bulk_writer was; none in a dry run.
    fn writer(&mut self) -> Result<Option<&mut Writer<'s>>, AddError> {
        if let Sink::BulkWriter(_) = self
            && let Sink::BulkWriter(bulk_writer) = std::mem::replace(self, Sink::Nowhere)
        {
            *self = Sink::Writer(bulk_writer.into_settled_writer()?);
        }
        Ok(match self {
            Sink::Writer(writer) => Some(writer),
            Sink::Nowhere | Sink::BulkWriter(_) => None,
        })
    }
}

impl<'s> StoreTarget<'s> {
    fn new(store: &'s Store, dry_run: bool) -> Result<StoreTarget<'s>, AddError> {
        Ok(StoreTarget {
            store,
            sink: Sink::new(store, dry_run)?,
            waiting: BTreeMap::new(),
            newest: BTreeMap::new(),
            has_single_entries: false,
        })
    }

    /// Adds an entry where it belongs, making places for the parents that it lacks.
    fn add(&mut self, entry: &CheckedEntry) -> Result<Option<EntryId>, AddError> {
        let dn = &entry.entry().dn;
        if let Sink::BulkWriter(bulk_writer) = &mut self.sink {
            match bulk_writer.add(entry)? {
                BulkAddOutcome::Added(id) => return Ok(Some(id)),
                BulkAddOutcome::Exists => {
                    return Err(StoreError::EntryExists(dn.pretty().to_owned()).into());
                }
                BulkAddOutcome::OutOfOrder => {}
            }
        }
        let Some(writer) = self.sink.writer()? else {
            return Ok(None);
        };
        self.has_single_entries = true;
        let id = match writer.find(dn)? {
            NameLookup::Entry(id) => {
                writer.fill_placeholder(id, entry)?;
                self.waiting.remove(&id);
                id
            }
            NameLookup::Missing { deepest } => {
                let parent = make_places(writer, dn, deepest, &mut self.waiting)?;
                writer.add(parent, entry)?
            }
        };
        Ok(Some(id))
    }
}

/// Makes places for all missing ancestors of a name; the id of its parent.
fn make_places(
    writer: &mut Writer<'_>,
    dn: &Dn,
    deepest: Option<(EntryId, usize)>,
    waiting: &mut BTreeMap<EntryId, String>,
) -> Result<EntryId, StoreError> {
    let suffixes = writer.store().suffixes();
    let suffix = suffixes.iter().find(|suffix| dn.is_within(suffix));
    let suffix = suffix.ok_or_else(|| StoreError::OutsideSuffix(dn.pretty().to_owned()))?;
    // From the lowest ancestor that is there, or from above the suffix.
    let (mut parent, depth) = deepest.unwrap_or((EntryId::ROOT, suffix.depth().saturating_sub(1)));
    let mut names = Vec::new();
    let mut above = dn.parent();
    while let Some(name) = above.filter(|name| name.depth() > depth) {
        above = name.parent();
        names.push(name);
    }
    for name in names.into_iter().rev() {
        parent = writer.add_placeholder(parent, &name)?;
        waiting.insert(parent, name.pretty().to_owned());
    }
    Ok(parent)
}

/// Why a record was not added.
enum RecordError {
    /// It is refused; others may be added.
    Refused(Refusal),
    /// Nothing more can be.
    End(AddError),
}

impl From<Refusal> for RecordError {
    fn from(refusal: Refusal) -> RecordError {
        RecordError::Refused(refusal)
    }
}

/// The state of a run.
struct Adder<'a> {
    options: &'a AddOptions,
    importer: Importer,
    targets: Vec<StoreTarget<'a>>,
    summary: AddSummary,
}

impl Adder<'_> {
    /// Processes one record. Returns true if there may be more.
    fn next(
        &mut self,
        reader: &mut Reader<impl BufRead>,
        report: &mut dyn FnMut(AddEvent),
    ) -> Result<bool, AddError> {
        let outcome = match reader.next_record() {
            Ok(None) => return Ok(false),
            Ok(Some(record)) if record.line() < self.options.from_line => return Ok(true),
            Ok(Some(record)) => self.add_record(&record),
            Err(error) if !error.is_recoverable() => return Err(AddError::Input(error)),
            Err(error) if error.line < self.options.from_line => return Ok(true),
            Err(error) => Err(Refusal::Ldif(error).into()),
        };
        match outcome {
            Ok(event) => {
                self.summary.added += 1;
                report(event);
                Ok(true)
            }
            Err(RecordError::End(error)) => Err(error),
            Err(RecordError::Refused(refusal)) => {
                self.summary.refused += 1;
                report(AddEvent::Refused(refusal));
                Ok(self.options.continue_on_error)
            }
        }
    }

    fn add_record(&mut self, record: &Record<'_>) -> Result<AddEvent, RecordError> {
        let line = record.line();
        let schema = Arc::clone(&self.options.schema);
        let mut entry = read_entry(&schema, record)?;
        if !self.options.check_values {
            entry.drop_repeated_values(&schema);
        }
        let dn = entry.dn.pretty().to_owned();
        let depths = self.targets.iter().enumerate().filter_map(|(at, target)| {
            let suffixes = target.store.suffixes().iter();
            let suffix = suffixes.filter(|suffix| entry.dn.is_within(suffix));
            Some((suffix.map(Dn::depth).max()?, at))
        });
        let Some(target) = depths.max().and_then(|(_, at)| self.targets.get_mut(at)) else {
            return Err(Refusal::NoDatabase { line, dn }.into());
        };
        let entry = if self.options.check_schema {
            if entry.values(schema.object_class_attribute()).is_empty() {
                return Err(Refusal::NoObjectClass { line, dn }.into());
            }
            let completed = self.importer.complete(entry);
            completed.map_err(|violation| Refusal::Schema {
                line,
                dn: dn.clone(),
                kind: violation.kind,
                text: violation.text,
            })?
        } else {
            self.importer.complete_on_trust(entry)
        };
        let id = target.add(&entry).map_err(|error| match error {
            // After these the transaction can only be dropped.
            AddError::Store(
                StoreError::Engine(_) | StoreError::Damaged(_) | StoreError::Poisoned,
            ) => RecordError::End(error),
            AddError::Store(StoreError::EntryExists(_)) => {
                let dn = dn.clone();
                Refusal::Exists { line, dn }.into()
            }
            AddError::Store(source) => {
                let dn = dn.clone();
                Refusal::Store { line, dn, source }.into()
            }
            error => RecordError::End(error),
        })?;
        if self.options.write_context {
            note_csn(&schema, entry.entry(), &mut target.newest);
        }
        Ok(AddEvent::Added { dn, id })
    }

    fn finish(mut self, report: &mut dyn FnMut(AddEvent)) -> Result<AddSummary, AddError> {
        for mut target in self.targets {
            for (id, dn) in target.waiting {
                self.summary.missing += 1;
                report(AddEvent::Missing { dn, id });
            }
            target.sink.writer()?;
            if let Sink::Writer(mut writer) = target.sink {
                let has_context = !target.newest.is_empty();
                if has_context {
                    write_context(&mut writer, target.newest)?;
                }
                if has_context || target.has_single_entries {
                    writer.log_load()?;
                }
                writer.commit()?;
            }
        }
        self.summary.left_out = self.importer.left_out();
        Ok(self.summary)
    }
}

/// Returns the entry of a record, resolved but not checked.
fn read_entry(schema: &Schema, record: &Record<'_>) -> Result<Entry, Refusal> {
    let unreadable = |reason| Refusal::Unreadable {
        line: record.line(),
        reason,
    };
    // slapadd adds what a change record would have added, too.
    let (Action::Content(attributes) | Action::Add(attributes)) = record.action() else {
        let reason = "a change record; only entries can be added".to_owned();
        return Err(unreadable(reason));
    };
    let dn = Dn::parse(schema, record.dn())
        .map_err(|_| unreadable(format!("entry has invalid DN \"{}\"", record.dn())))?;
    let mut entry = Entry::new(dn);
    let mut last: Option<(&str, AttributeDescription)> = None;
    for attribute in attributes {
        let description = match last.take() {
            Some((name, description)) if name == attribute.description => description,
            _ => schema
                .describe(attribute.description.as_bytes())
                .map_err(|error| unreadable(undefined(attribute.description, &error)))?,
        };
        entry.push(&description, attribute.value.to_vec());
        last = Some((attribute.description, description));
    }
    Ok(entry)
}

/// Returns the reason against an attribute description, with the name once.
fn undefined(name: &str, error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let reason = text.strip_prefix(name).unwrap_or(&text);
    format!("str2ad({name}): {}", reason.trim_start_matches(": "))
}

/// Remembers the entry's CSN if it is its server's newest.
fn note_csn(schema: &Schema, entry: &Entry, newest: &mut BTreeMap<Vec<u8>, Vec<u8>>) {
    let Some(attribute) = schema.attribute("entryCSN") else {
        return;
    };
    for csn in entry.values(attribute.index) {
        let server = csn.split(|byte| *byte == b'#').nth(2).unwrap_or_default();
        let held = newest.entry(server.to_vec()).or_default();
        if *csn > *held {
            held.clone_from(csn);
        }
    }
}

/// Writes contextCSN into the suffix entry, keeping what other servers' numbers it has.
fn write_context(
    writer: &mut Writer<'_>,
    mut newest: BTreeMap<Vec<u8>, Vec<u8>>,
) -> Result<(), StoreError> {
    let schema = Arc::clone(writer.store().schema());
    let description = schema.describe(b"contextCSN").ok();
    let (Some(suffix), Some(description)) = (writer.store().suffixes().first(), description) else {
        return Ok(());
    };
    let Some(id) = writer.find(suffix)?.entry() else {
        return Ok(());
    };
    let Some(mut entry) = writer
        .entry(id)?
        .map(|entry| entry.to_entry())
        .transpose()?
    else {
        return Ok(());
    };
    if entry.attributes.is_empty() {
        return Ok(());
    }
    let held = entry.attribute(&description);
    let mut held = held.map_or_else(Vec::new, |held| held.values.clone());
    let changes = writer.log_state()?;
    if changes.is_shown {
        held.extend(changes.vector.iter().map(|csn| csn.text().into_bytes()));
    }
    for csn in &held {
        let server = csn.split(|byte| *byte == b'#').nth(2).unwrap_or_default();
        let slot = newest.entry(server.to_vec()).or_default();
        if *csn > *slot {
            slot.clone_from(csn);
        }
    }
    entry.set(&description, newest.into_values().collect());
    writer.modify(id, &CheckedEntry::on_trust(entry, &schema))
}
