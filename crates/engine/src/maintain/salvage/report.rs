//! The report of a salvage: per database the saved records, and the missing ranges of keys.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::maintain::check::{Access, CheckError};
use crate::{Error, OpenError};

/// Holes kept for the report; more are only counted.
pub(super) const HOLES_MAX: usize = 10_000;

/// Notes kept; more are dropped.
const NOTES_MAX: usize = 1000;

/// Why nothing was salvaged, or not everything that could be read.
#[derive(Debug, thiserror::Error)]
pub enum SalvageError {
    /// The damaged file cannot be read at all.
    #[error(transparent)]
    Input(#[from] CheckError),
    /// The output exists already.
    #[error("{} holds an environment; salvage writes to a new one only", .0.display())]
    OutputExists(PathBuf),
    /// The output cannot be made.
    #[error("cannot make {}: {source}", path.display())]
    Output {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The new environment cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The new environment cannot be written to.
    #[error("cannot write the new environment: {0}")]
    Write(#[from] Error),
}

/// The snapshot on which a salvage is based.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// The newest snapshot.
    Newest,
    /// The only snapshot with a readable meta page. It may be the one before the newest.
    OnlyOne,
    /// A meta page with an overwritten mark or version, whose numbers lead to trees.
    Mended,
    /// No meta page is left. All leaves are in the file of lost pages, and the new environment is
    /// empty.
    Scan,
}

/// The outcome for one database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SalvagedDatabase {
    /// Its name; `None` for the main one.
    pub name: Option<Vec<u8>>,
    /// Its persistent flags.
    pub flags: u16,
    /// Records that its tree record counts, each duplicate one. The count may be damaged too.
    pub expected: u64,
    /// Records salvaged from the newest snapshot.
    pub newest: u64,
    /// Records from leaves that no readable branch leads to, and that fit exactly one hole.
    pub orphans: u64,
    /// Records from the previous snapshot, for ranges that the newest has lost. The last commit may
    /// have changed or deleted some.
    pub previous: u64,
}

impl SalvagedDatabase {
    /// Returns the number of all records salvaged.
    #[must_use]
    pub fn salvaged(&self) -> u64 {
        self.newest + self.orphans + self.previous
    }
}

/// A range of keys that the newest snapshot has lost, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hole {
    /// The database; `None` for the main one.
    pub database: Option<Vec<u8>>,
    /// The key, if the range is one of its values. Then the bounds are values.
    pub key: Option<Vec<u8>>,
    /// The lower bound, inclusive; `None` is the database's beginning.
    pub low: Option<Vec<u8>>,
    /// The upper bound, exclusive; `None` is the database's end. It equals `low` for a single key.
    pub high: Option<Vec<u8>>,
    /// The faulty page.
    pub page: u64,
    /// The fault.
    pub reason: String,
    /// Records from the damaged page itself.
    pub kept: u64,
    /// Records from orphans that fit.
    pub from_orphans: u64,
    /// Records from the previous snapshot.
    pub from_previous: u64,
}

impl fmt::Display for Hole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.database.as_deref().map_or_else(
            || "main".to_owned(),
            |name| format!("'{}'", name.escape_ascii()),
        );
        write!(f, "{name}: ")?;
        let what = match &self.key {
            Some(key) => format!("values of key {}", shown(key)),
            None => "keys".to_owned(),
        };
        match (&self.low, &self.high) {
            (Some(low), Some(high)) if low == high && self.key.is_none() => {
                write!(f, "key {}", shown(low))?;
            }
            (None, None) => write!(f, "all {what}")?,
            (Some(low), None) => write!(f, "{what} from {} on", shown(low))?,
            (None, Some(high)) => write!(f, "{what} below {}", shown(high))?,
            (Some(low), Some(high)) => {
                write!(f, "{what} from {} to below {}", shown(low), shown(high))?;
            }
        }
        write!(f, ": page {}: {}", self.page, self.reason)?;
        let sources = [
            (self.kept, "the page itself"),
            (self.from_orphans, "pages without an owner"),
            (self.from_previous, "the previous snapshot"),
        ];
        for (count, source) in sources.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, "; {count} record(s) from {source}")?;
        }
        Ok(())
    }
}

/// Formats a key: as text if it is printable, else in hexadecimal.
fn shown(key: &[u8]) -> String {
    if !key.is_empty() && key.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return format!("'{}'", key.escape_ascii());
    }
    format!("0x{}", hex::encode(key))
}

/// The outcome of a salvage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvageReport {
    /// The snapshot it is based on.
    pub basis: Basis,
    /// The transaction whose snapshot was salvaged.
    pub txnid: Option<u64>,
    /// Bytes per page of the damaged file.
    pub page_bytes: usize,
    /// How the snapshot was protected from writers.
    pub access: Access,
    /// The directory of the new environment.
    pub output: PathBuf,
    /// The main database and each named one.
    pub databases: Vec<SalvagedDatabase>,
    /// The first ten thousand ranges in which records are missing or come from another source.
    pub holes: Vec<Hole>,
    /// The number of all holes.
    pub holes_total: u64,
    /// Damaged pages of the trees.
    pub pages_lost: u64,
    /// Records that the new environment cannot take, such as empty values among duplicates. They
    /// are in the file of lost pages.
    pub refused: u64,
    /// Leaves that fit nowhere.
    pub lost_pages: u64,
    /// Their records.
    pub lost_records: u64,
    /// The text file with these and the refused records, in the format of `mdb_dump`, if there are
    /// any.
    pub lost_file: Option<PathBuf>,
    /// Further remarks.
    pub notes: Vec<String>,
}

impl SalvageReport {
    /// Returns true if everything that the file recorded is in the new environment.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.basis == Basis::Newest
            && self.holes_total == 0
            && self.refused == 0
            && self.lost_pages == 0
    }
}

/// Counts that belong to no database.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) pages_lost: u64,
    pub(super) refused: u64,
    pub(super) notes: Vec<String>,
}

impl Totals {
    pub(super) fn note(&mut self, note: String) {
        if self.notes.len() < NOTES_MAX {
            self.notes.push(note);
        }
    }
}
