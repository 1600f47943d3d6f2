//! LDIF into a store, all of it or nothing.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulgurite_directory::{Clock, Entropy, Importer, SystemClock, SystemEntropy};
use fulgurite_ldif::{Action, Attributes, LdifError, Reader, ReaderOptions, Record};
use fulgurite_schema::{AttributeDescription, Dn, Entry, Schema};
use fulgurite_store::{
    LoadError, LoadOptions, LoadProgress, LoadSink, OpenError, Stopped, Store, StoreError,
    StoreOptions, bulk_load, load_new,
};
use thiserror::Error;

use crate::progress::{Phase, Progress};

/// Octets of input read at once.
const BUFFER_LEN: usize = 1 << 18;
/// Which file an entry is from and its line there share one number: the low bits are the line's.
const LINE_BITS: u32 = 40;

/// What to load, and into what.
pub struct LoadSettings {
    /// Directory of the store. A store there is extended; otherwise one is made, and removed again if the load fails.
    pub data: PathBuf,
    /// How the store is made, or opened.
    pub store: StoreOptions,
    /// The schema entries are checked against.
    pub schema: Arc<Schema>,
    /// The LDIF files in their order; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// Name that entries without a creator get as theirs; may be empty.
    pub creator: String,
    /// Number of this server in CSNs that are made.
    pub server_id: u16,
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
            creator: String::new(),
            server_id: 0,
            load: LoadOptions::default(),
            clock: Arc::new(SystemClock::default()),
            entropy: Arc::new(SystemEntropy),
        }
    }
}

/// What a load has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadSummary {
    /// Entries loaded.
    pub entries: u64,
    /// Octets of LDIF read.
    pub bytes: u64,
}

/// Why a load failed. Nothing of it remains.
#[derive(Debug, Error)]
pub enum LoadFailure {
    /// A file cannot be opened.
    #[error("{}: {source}", file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// What the system says.
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
        /// What is wrong with it.
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
    /// The loading thread ended: what it says of it comes in place of this.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// A defect of this program.
    #[error("the load ended unexpectedly; this is a defect, please report it")]
    Internal,
}

/// Loads LDIF files into a store, in one transaction. Children may come before their parents, also across files.
///
/// Operational attributes that entries bring along are kept, missing ones are added; every entry is checked against
/// the schema.
///
/// # Errors
/// [`LoadFailure`], with file and line where a record is at fault. A new store is removed again, an old one unchanged.
pub fn load(
    settings: &LoadSettings,
    report: &mut dyn FnMut(Progress),
) -> Result<LoadSummary, LoadFailure> {
    let mut source = Source::new(settings)?;
    let total = source.bytes_total;
    let counter = std::cell::Cell::new((0, 0));
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
    let count = |bytes| counter.set((counter.get().0, bytes));
    let produce = |sink: &mut LoadSink<'_>| source.produce(sink, &count);
    let (schema, options) = (Arc::clone(&settings.schema), &settings.load);
    let loaded = if Store::exists(&settings.data) {
        let store = Store::open(&settings.data, &settings.store, schema)?;
        bulk_load(&store, options, &mut progress, produce)
    } else {
        let (path, store) = (&settings.data, &settings.store);
        load_new(path, store, schema, options, &mut progress, produce).map(|(_, report)| report)
    };
    match loaded {
        Ok(report) => Ok(LoadSummary {
            entries: report.entries,
            bytes: counter.get().1,
        }),
        Err(error) => Err(failure(error, &settings.files)),
    }
}

/// Reads files and makes checked entries of their records.
struct Source<'s> {
    files: &'s [PathBuf],
    readers: Vec<Reader<Box<dyn BufRead>>>,
    /// Sum of the sizes, if all are known.
    bytes_total: Option<u64>,
    schema: &'s Schema,
    importer: Importer,
    /// Attribute descriptions already resolved: LDIF repeats a few of them without end.
    descriptions: HashMap<String, AttributeDescription>,
}

impl<'s> Source<'s> {
    /// Opens all files, so that a missing one is found before anything is read.
    fn new(settings: &'s LoadSettings) -> Result<Source<'s>, LoadFailure> {
        let mut readers = Vec::new();
        let mut bytes_total = Some(0);
        for file in &settings.files {
            let (input, len) = open(file)?;
            bytes_total = bytes_total.zip(len).map(|(sum, len)| sum + len);
            let options = ReaderOptions {
                file: Some(file.display().to_string()),
                ..ReaderOptions::default()
            };
            readers.push(Reader::with_options(input, options));
        }
        Ok(Source {
            files: &settings.files,
            readers,
            bytes_total,
            schema: &settings.schema,
            importer: Importer::new(
                Arc::clone(&settings.schema),
                &settings.creator,
                settings.server_id,
                Arc::clone(&settings.clock),
                Arc::clone(&settings.entropy),
            )?,
            descriptions: HashMap::new(),
        })
    }

    fn produce(&mut self, sink: &mut LoadSink<'_>, count: &dyn Fn(u64)) -> Result<(), LoadFailure> {
        let mut before = 0;
        for (number, mut reader) in std::mem::take(&mut self.readers).into_iter().enumerate() {
            while let Some(record) = reader.next_record()? {
                let line = record.line();
                let entry = self.entry(&record).map_err(|(line, reason)| {
                    let file = self.files.get(number).cloned().unwrap_or_default();
                    LoadFailure::Record { file, line, reason }
                })?;
                sink.add(entry, place(number, line))?;
                count(before + reader.bytes_read());
            }
            before += reader.bytes_read();
        }
        Ok(())
    }

    /// A checked entry, or the line and the reason why the record makes none.
    fn entry(
        &mut self,
        record: &Record<'_>,
    ) -> Result<fulgurite_schema::CheckedEntry, (u64, String)> {
        let Action::Content(attributes) = record.action() else {
            let reason = "a change record; only entries can be loaded";
            return Err((record.line(), reason.to_owned()));
        };
        let named = |reason: String| (record.line(), format!("{}: {reason}", record.dn()));
        let dn = Dn::parse(self.schema, record.dn()).map_err(|error| named(error.to_string()))?;
        let mut entry = Entry::new(dn);
        self.collect(attributes, &mut entry)
            .map_err(|(line, reason)| (line, format!("{}: {reason}", record.dn())))?;
        self.importer
            .complete(entry)
            .map_err(|violation| named(violation.to_string()))
    }

    fn collect(
        &mut self,
        attributes: Attributes<'_>,
        entry: &mut Entry,
    ) -> Result<(), (u64, String)> {
        for attribute in attributes {
            let description = match self.descriptions.get(attribute.description) {
                Some(description) => description,
                None => {
                    let name = attribute.description;
                    let described = self.schema.describe(name.as_bytes());
                    let described =
                        described.map_err(|error| (attribute.line, error.to_string()))?;
                    self.descriptions
                        .entry(name.to_owned())
                        .or_insert(described)
                }
            };
            entry.push(description, attribute.value.to_vec());
        }
        Ok(())
    }
}

/// A file or standard input, with its size where it has one.
fn open(file: &Path) -> Result<(Box<dyn BufRead>, Option<u64>), LoadFailure> {
    if file.as_os_str() == "-" {
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

fn place(file: usize, line: u64) -> u64 {
    (file as u64) << LINE_BITS | line
}

/// Gives the store's errors their file and line back.
fn failure(error: LoadError<LoadFailure>, files: &[PathBuf]) -> LoadFailure {
    let record = |place: u64, reason| {
        let number = usize::try_from(place >> LINE_BITS).unwrap_or(usize::MAX);
        LoadFailure::Record {
            file: files.get(number).cloned().unwrap_or_default(),
            line: place & ((1 << LINE_BITS) - 1),
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
