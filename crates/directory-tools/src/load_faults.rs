//! All records of a load that are wrong, after the load has failed at one of them.
//!
//! ```text
//!   load --fails--> the files once more, from the begin: each record is made, none is stored
//! ```

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulgurite_directory::Importer;
use fulgurite_ldif::Reader;
use fulgurite_store::StoreError;

use crate::load::{LoadFailure, LoadSettings, RecordReader, STANDARD_INPUT, open, reader_options};

/// Names that are remembered, to find those that come twice: 64 MiB of them.
const NAMES_MAX: usize = 1 << 22;

/// Records that make no entries, in the order of the files.
#[derive(Debug, Default)]
pub struct LoadFaults {
    /// The first ones, each with file, line and reason.
    pub shown: Vec<String>,
    /// The number of the others.
    pub others: u64,
    /// True if an input could not be read a second time, so that there may be more.
    pub is_partial: bool,
}

impl fmt::Display for LoadFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = self.shown.len() as u64 + self.others;
        let verb = if records == 1 {
            "record is"
        } else {
            "records are"
        };
        write!(f, "{records} {verb} wrong, and nothing is loaded")?;
        if self.others > 0 {
            write!(f, "; {} of them are not shown", self.others)?;
        }
        if self.is_partial {
            f.write_str("; standard input can be read only once, so there may be more")?;
        }
        Ok(())
    }
}

/// Looks for all wrong records of a load that has failed. At most `shown_max` are returned as text,
/// and the others are counted. `None` if no record is the reason of the failure.
///
/// # Errors
/// [`LoadFailure`], if a file cannot be read any more.
pub fn load_faults(
    settings: &LoadSettings,
    failure: &LoadFailure,
    shown_max: usize,
) -> Result<Option<LoadFaults>, LoadFailure> {
    let Some((file, line)) = place_of(failure) else {
        return Ok(None);
    };
    let mut survey = Survey {
        first: Some((file.to_owned(), line, failure.to_string())),
        faults: LoadFaults::default(),
        shown_max,
        names: HashSet::default(),
        hasher: RandomState::new(),
    };
    for file in &settings.files {
        if file.as_os_str() == STANDARD_INPUT {
            survey.faults.is_partial = true;
        } else {
            survey.read(settings, file)?;
        }
        survey.take_first_in(file);
    }
    Ok(Some(survey.faults))
}

/// Returns the file and the line of the wrong record.
fn place_of(failure: &LoadFailure) -> Option<(&Path, u64)> {
    match failure {
        LoadFailure::Record { file, line, .. } => Some((file, *line)),
        LoadFailure::Ldif(error) if error.is_recoverable() => {
            Some((Path::new(error.file.as_deref()?), error.line))
        }
        _ => None,
    }
}

/// The search for wrong records.
struct Survey {
    /// The record at which the load has failed, with its text, until it is listed. A record may be
    /// wrong by the stored entries alone.
    first: Option<(PathBuf, u64, String)>,
    faults: LoadFaults,
    shown_max: usize,
    /// Hashes of the names before.
    names: HashSet<u64>,
    hasher: RandomState,
}

impl Survey {
    fn read(&mut self, settings: &LoadSettings, file: &Path) -> Result<(), LoadFailure> {
        let mut importer = Importer::new(
            Arc::clone(&settings.schema),
            &settings.author,
            Arc::clone(&settings.clock),
            Arc::clone(&settings.entropy),
        )?;
        let completer = importer.completer();
        let mut records = RecordReader::new(settings, &completer);
        let (input, _) = open(file)?;
        let mut reader = Reader::with_options(input, reader_options(file));
        loop {
            let record = match reader.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(()),
                Err(error) if error.is_recoverable() => {
                    self.note(file, error.line, error.to_string());
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let begin = record.line();
            let wrong = match records.entry(&record, &mut importer.stamps(1)) {
                Err(wrong) => wrong,
                Ok(entry) if self.is_known(entry.entry().dn.normal()) => {
                    let dn = entry.entry().dn.pretty().to_owned();
                    (begin, StoreError::EntryExists(dn).to_string())
                }
                Ok(_) => {
                    self.take_first_at(file, begin);
                    continue;
                }
            };
            let (line, reason) = wrong;
            let text = format!("{}, line {line}: {reason}", file.display());
            self.note(file, line, text);
        }
    }

    /// Returns true for a name that came before.
    fn is_known(&mut self, name: &str) -> bool {
        let hash = self.hasher.hash_one(name);
        self.names.contains(&hash) || self.names.len() < NAMES_MAX && !self.names.insert(hash)
    }

    /// Notes a wrong record.
    fn note(&mut self, file: &Path, line: u64, text: String) {
        self.first
            .take_if(|(first, at, _)| first == file && *at == line);
        if self.faults.shown.len() < self.shown_max {
            self.faults.shown.push(text);
        } else {
            self.faults.others += 1;
        }
    }

    /// Notes the record at which the load has failed, if it begins at this line.
    fn take_first_at(&mut self, file: &Path, line: u64) {
        let first = self
            .first
            .take_if(|(first, at, _)| first == file && *at == line);
        if let Some((file, line, text)) = first {
            self.note(&file, line, text);
        }
    }

    /// Notes it at the end of its file.
    fn take_first_in(&mut self, file: &Path) {
        if let Some((file, line, text)) = self.first.take_if(|(first, ..)| first == file) {
            self.note(&file, line, text);
        }
    }
}
