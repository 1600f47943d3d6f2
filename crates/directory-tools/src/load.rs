//! LDIF into a store, all of it or nothing.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulgurite_directory::{
    Author, Clock, Entropy, EntryCompleter, EntryStamps, Importer, SystemClock, SystemEntropy,
};
use fulgurite_ldif::{Action, Attributes, LdifError, Part, Parts, ReaderOptions, Record};
use fulgurite_schema::{AttributeDescription, CheckedEntry, Dn, Entry, Schema};
use fulgurite_store::{
    BulkLoad, LoadBatch, LoadError, LoadOptions, LoadProgress, OpenError, PartReader, Store,
    StoreError, StoreOptions,
};
use thiserror::Error;

use crate::missing_types::builtin_with;
use crate::progress::{Phase, Progress};

/// Bytes of input read at once.
const BUFFER_LEN: usize = 1 << 18;
/// Attribute descriptions that are remembered.
const DESCRIPTIONS_MAX: usize = 200;
/// The name of standard input among files.
pub(crate) const STANDARD_INPUT: &str = "-";
/// The number of an entry's file and its line share one number. The low bits are the line's.
const LINE_BITS: u32 = 40;

/// The input and the destination of a load.
pub struct LoadSettings {
    /// Directory of the store. A store there is extended; otherwise one is made, and removed again
    /// if the load fails.
    pub data: PathBuf,
    /// How the store is made, or opened.
    pub store: StoreOptions,
    /// The schema entries are checked against.
    pub schema: Arc<Schema>,
    /// The LDIF files in their order; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// The author of entries that have none.
    pub author: Author,
    /// Memory and temporary files.
    pub load: LoadOptions,
    /// Time for operational attributes that are made.
    pub clock: Arc<dyn Clock>,
    /// Randomness for entryUUIDs that are made.
    pub entropy: Arc<dyn Entropy>,
}

impl LoadSettings {
    /// Settings with everything but the necessary at its default.
    #[must_use]
    pub fn new(data: PathBuf, store: StoreOptions, schema: Arc<Schema>) -> LoadSettings {
        LoadSettings {
            data,
            store,
            schema,
            files: Vec::new(),
            author: Author::default(),
            load: LoadOptions::default(),
            clock: Arc::new(SystemClock::default()),
            entropy: Arc::new(SystemEntropy),
        }
    }
}

/// The counts of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadSummary {
    /// Entries loaded.
    pub entries: u64,
    /// Bytes of LDIF read.
    pub bytes: u64,
    /// Values left out, because the database computes them from groups.
    pub left_out: u64,
    /// Passwords in clear.
    pub clear_passwords: u64,
}

/// Returns the note about values that the database computes from groups, if some were left out.
#[must_use]
pub fn note_of_left_out(values: u64) -> Option<String> {
    let text = "values of groups left out, because the server computes them from the members";
    (values > 0).then(|| format!("{values} {text}"))
}

/// Why a load failed. Nothing of it remains.
#[derive(Debug, Error)]
pub enum LoadFailure {
    /// A file cannot be opened.
    #[error("{}: {source}", file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file is no LDIF.
    #[error(transparent)]
    Ldif(#[from] LdifError),
    /// A record cannot be loaded.
    #[error("{}, line {line}: {reason}", file.display())]
    Record {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The reason, as a sentence.
        reason: String,
    },
    /// The schema lacks what the server needs.
    #[error(transparent)]
    Schema(#[from] fulgurite_directory::OpenError),
    /// The store cannot be opened or made.
    #[error(transparent)]
    OpenStore(#[from] OpenError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A temporary file failed.
    #[error("temporary file: {0}")]
    Temporary(io::Error),
    /// A defect of this program.
    #[error("the load ended unexpectedly; this is a defect, please report it")]
    Internal,
}

/// Loads LDIF files into a store, in one transaction. Children may come before their parents, also
/// across files.
///
/// Operational attributes that entries bring along are kept, missing ones are added; every entry is
/// checked against the schema.
///
/// # Errors
/// [`LoadFailure`], with file and line where a record is at fault. A new store is removed again, an
/// old one unchanged.
pub fn load(
    settings: &LoadSettings,
    report: &mut dyn FnMut(Progress),
) -> Result<LoadSummary, LoadFailure> {
    let counter = std::cell::Cell::new((0, 0));
    let mut parts = FileParts::new(settings, &counter)?;
    let total = parts.bytes_total;
    let mut progress = |step| {
        let (mut entries, bytes) = counter.get();
        let phase = match step {
            LoadProgress::Entries(count) => {
                entries = count;
                Phase::Reading
            }
            LoadProgress::Names => Phase::Names,
            LoadProgress::Indexes => Phase::Indexes,
            LoadProgress::Commit => Phase::Commit,
        };
        counter.set((entries, bytes));
        report(Progress {
            phase,
            entries,
            bytes,
            bytes_total: total,
        });
    };
    let completer = parts.importer.completer();
    let load = BulkLoad {
        parts: &mut parts,
        reader: RecordReader::new(settings, &completer),
        options: &settings.load,
        progress: &mut progress,
    };
    let schema = Arc::clone(&settings.schema);
    let loaded = if Store::exists(&settings.data) {
        load.into_store(&Store::open(&settings.data, &settings.store, schema)?)
    } else {
        let created = load.into_new_store(&settings.data, &settings.store, schema);
        created.map(|(_, report)| report)
    };
    match loaded {
        Ok(report) => Ok(LoadSummary {
            entries: report.entries,
            bytes: counter.get().1,
            left_out: completer.left_out(),
            clear_passwords: completer.clear_passwords(),
        }),
        Err(error) => Err(failure(error, &settings.files)),
    }
}

/// The parts of all files, in order.
struct FileParts<'c> {
    files: std::vec::IntoIter<Parts<Box<dyn BufRead>>>,
    /// The file that is being read, and its number.
    current: Option<(usize, Parts<Box<dyn BufRead>>)>,
    /// Number of the next file.
    next: usize,
    /// Bytes of the files before the current one.
    bytes_before: u64,
    /// Sum of the sizes, if all are known.
    bytes_total: Option<u64>,
    importer: Importer,
    /// Entries loaded and bytes read.
    counter: &'c std::cell::Cell<(u64, u64)>,
}

/// Some records of a file, and the stamps for their entries.
struct FilePart {
    file: usize,
    part: Part,
    stamps: EntryStamps,
}

impl<'c> FileParts<'c> {
    /// Opens all files, so that a missing one is found before anything is read.
    fn new(
        settings: &LoadSettings,
        counter: &'c std::cell::Cell<(u64, u64)>,
    ) -> Result<FileParts<'c>, LoadFailure> {
        let mut files = Vec::new();
        let mut bytes_total = Some(0);
        for file in &settings.files {
            let (input, len) = open(file)?;
            bytes_total = bytes_total.zip(len).map(|(sum, len)| sum + len);
            files.push(Parts::new(input, reader_options(file)));
        }
        Ok(FileParts {
            files: files.into_iter(),
            current: None,
            next: 0,
            bytes_before: 0,
            bytes_total,
            importer: Importer::new(
                Arc::clone(&settings.schema),
                &settings.author,
                Arc::clone(&settings.clock),
                Arc::clone(&settings.entropy),
            )?,
            counter,
        })
    }

    fn next_part(&mut self) -> Result<Option<FilePart>, LoadFailure> {
        loop {
            let Some((file, parts)) = &mut self.current else {
                let Some(parts) = self.files.next() else {
                    return Ok(None);
                };
                self.current = Some((self.next, parts));
                self.next += 1;
                continue;
            };
            if let Some(part) = parts.next_part()? {
                let stamps = self.importer.stamps(part.records_max());
                let (entries, _) = self.counter.get();
                let bytes = self.bytes_before + parts.bytes_read();
                self.counter.set((entries, bytes));
                let file = *file;
                return Ok(Some(FilePart { file, part, stamps }));
            }
            self.bytes_before += parts.bytes_read();
            self.current = None;
        }
    }
}

impl Iterator for FileParts<'_> {
    type Item = Result<FilePart, LoadFailure>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_part().transpose()
    }
}

pub(crate) fn reader_options(file: &Path) -> ReaderOptions {
    ReaderOptions {
        file: Some(file.display().to_string()),
        ..ReaderOptions::default()
    }
}

/// Makes checked entries of the records of a part.
#[derive(Clone)]
pub(crate) struct RecordReader<'s> {
    files: &'s [PathBuf],
    schema: &'s Schema,
    completer: &'s EntryCompleter,
    descriptions: Descriptions,
}

impl PartReader<FilePart, LoadFailure> for RecordReader<'_> {
    fn read(&mut self, part: FilePart, batch: &mut LoadBatch<'_>) -> Result<(), LoadFailure> {
        let FilePart {
            file,
            mut part,
            mut stamps,
        } = part;
        let name = self.files.get(file).cloned().unwrap_or_default();
        let error = part.take_error();
        let mut reader = part.reader(reader_options(&name));
        while let Some(record) = reader.next_record()? {
            let line = record.line();
            let entry = self.entry(&record, &mut stamps);
            let entry = entry.map_err(|(line, reason)| LoadFailure::Record {
                file: name.clone(),
                line,
                reason,
            })?;
            batch.add(entry, record_position(file, line));
        }
        error.map_or(Ok(()), |error| Err(error.into()))
    }
}

impl<'s> RecordReader<'s> {
    pub(crate) fn new(
        settings: &'s LoadSettings,
        completer: &'s EntryCompleter,
    ) -> RecordReader<'s> {
        RecordReader {
            files: &settings.files,
            schema: &settings.schema,
            completer,
            descriptions: Descriptions::default(),
        }
    }

    /// Returns a checked entry, or the line and the reason why the record makes none.
    pub(crate) fn entry(
        &mut self,
        record: &Record<'_>,
        stamps: &mut EntryStamps,
    ) -> Result<CheckedEntry, (u64, String)> {
        let Action::Content(attributes) = record.action() else {
            let reason = "a change record; only entries can be loaded";
            return Err((record.line(), reason.to_owned()));
        };
        let named = |reason: String| (record.line(), format!("{}: {reason}", record.dn()));
        let dn = Dn::parse(self.schema, record.dn()).map_err(|error| named(error.to_string()))?;
        let mut entry = Entry::new(dn);
        self.collect(attributes, &mut entry)
            .map_err(|(line, reason)| (line, format!("{}: {reason}", record.dn())))?;
        self.completer
            .complete(entry, stamps)
            .map_err(|violation| named(violation.to_string()))
    }

    fn collect(
        &mut self,
        attributes: Attributes<'_>,
        entry: &mut Entry,
    ) -> Result<(), (u64, String)> {
        for attribute in attributes {
            let description = self.descriptions.of(self.schema, attribute.description);
            let description = description.map_err(|reason| (attribute.line, reason))?;
            entry.push(description, attribute.value.to_vec());
        }
        Ok(())
    }
}

/// Returns an error about a description, with the built-in schema file that defines the type.
fn with_hint(schema: &Schema, description: &str, reason: &str) -> String {
    let name = description.split(';').next().unwrap_or(description);
    let unread = schema.attribute(name).is_none().then(|| builtin_with(name));
    match unread.flatten() {
        Some(part) => {
            let name = part.name();
            format!("{reason}; {name}.schema defines it and is built in: --schema {name}.schema")
        }
        None => reason.to_owned(),
    }
}

/// Attribute descriptions already resolved. Entries repeat a few of them without end, and mostly in
/// the same order.
#[derive(Clone, Default)]
struct Descriptions {
    known: Vec<(Box<str>, AttributeDescription)>,
    last: usize,
}

impl Descriptions {
    fn of(&mut self, schema: &Schema, name: &str) -> Result<&AttributeDescription, String> {
        let is = |at: &usize| {
            self.known
                .get(*at)
                .is_some_and(|(known, _)| **known == *name)
        };
        let near = [self.last, self.last + 1, 0].into_iter().find(is);
        self.last = match near.or_else(|| (0..self.known.len()).find(is)) {
            Some(at) => at,
            None => {
                let described = schema.describe(name.as_bytes());
                let described =
                    described.map_err(|error| with_hint(schema, name, &error.to_string()))?;
                // Input that names ever new options must not be remembered without end.
                self.known.truncate(DESCRIPTIONS_MAX - 1);
                self.known.push((name.into(), described));
                self.known.len() - 1
            }
        };
        let found = self.known.get(self.last);
        found
            .map(|(_, description)| description)
            .ok_or_else(|| format!("{name}: not resolved"))
    }
}

/// Returns a file or standard input, with its size where it has one.
pub(crate) fn open(file: &Path) -> Result<(Box<dyn BufRead>, Option<u64>), LoadFailure> {
    if file.as_os_str() == STANDARD_INPUT {
        return Ok((
            Box::new(BufReader::with_capacity(BUFFER_LEN, io::stdin())),
            None,
        ));
    }
    let failed = |source| LoadFailure::Open {
        file: file.to_owned(),
        source,
    };
    let input = File::open(file).map_err(failed)?;
    let metadata = input.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
    }
    let len = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(BufReader::with_capacity(BUFFER_LEN, input)), len))
}

/// Packs a file's number and a line into one number.
fn record_position(file: usize, line: u64) -> u64 {
    (file as u64) << LINE_BITS | line
}

/// Gives the store's errors their file and line back.
fn failure(error: LoadError<LoadFailure>, files: &[PathBuf]) -> LoadFailure {
    let record = |position: u64, reason| {
        let number = usize::try_from(position >> LINE_BITS).unwrap_or(usize::MAX);
        LoadFailure::Record {
            file: files.get(number).cloned().unwrap_or_default(),
            line: position & ((1 << LINE_BITS) - 1),
            reason,
        }
    };
    match error {
        LoadError::Source(failure) => failure,
        LoadError::Entry { line, source } => record(line, source.to_string()),
        LoadError::MissingParent { dn, line, others } => {
            let more = match others {
                0 => String::new(),
                others => format!(" ({others} more entries lack their parents too)"),
            };
            record(line, format!("{dn}: the parent entry does not exist{more}"))
        }
        LoadError::Store(error) => LoadFailure::Store(error),
        LoadError::Create(error) => LoadFailure::OpenStore(error),
        LoadError::Temporary(error) => LoadFailure::Temporary(error),
        LoadError::Internal => LoadFailure::Internal,
    }
}
