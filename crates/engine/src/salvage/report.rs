//! What a salvage tells: per database what was saved, and which ranges of keys are missing.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::check::{Access, CheckError};
use crate::{Error, OpenError};

/// Holes beyond this many are counted but not kept for the report.
pub(super) const HOLES_MAX: usize = 10_000;

/// Notes beyond this many are dropped.
const NOTES_MAX: usize = 1000;

/// Why nothing could be salvaged, or not all that could be read.
#[derive(Debug, thiserror::Error)]
pub enum SalvageError {
    /// The damaged file cannot be read at all.
    #[error(transparent)]
    Input(#[from] CheckError),
    /// The output is there already.
    #[error("{} holds an environment; salvage writes to a new one only", .0.display())]
    OutputExists(PathBuf),
    /// The output cannot be made.
    #[error("cannot make {}: {source}", path.display())]
    Output {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The new environment cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The new environment cannot be written to.
    #[error("cannot write the new environment: {0}")]
    Write(#[from] Error),
}

/// What a salvage went by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// The newest snapshot.
    Newest,
    /// The only snapshot whose meta page can be read, which may be the one before the newest.
    OnlyOne,
    /// A meta page whose mark or version was overwritten, but whose numbers lead to trees.
    Mended,
    /// No meta page is left: all leaves of the file stand in the file of lost pages, and the new environment is empty.
    Scan,
}

/// What became of one database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SalvagedDatabase {
    /// Its name; `None` for the main one.
    pub name: Option<Vec<u8>>,
    /// Its persistent flags.
    pub flags: u16,
    /// Records its own record counts, each duplicate one; a number that may be damaged too.
    pub expected: u64,
    /// Records salvaged from the newest snapshot.
    pub newest: u64,
    /// Records from leaves that no readable branch leads to, but which fit one hole alone.
    pub orphans: u64,
    /// Records from the previous snapshot, for ranges that the newest has lost. Some may have been changed or deleted
    /// by the last commit.
    pub previous: u64,
}

impl SalvagedDatabase {
    /// All records salvaged.
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
    /// It is about the values of this key: then the bounds are values.
    pub key: Option<Vec<u8>>,
    /// Where it begins, inclusive; `None` is the database's beginning.
    pub low: Option<Vec<u8>>,
    /// Where it ends, exclusive; `None` is the database's end. The same as `low` for a single key.
    pub high: Option<Vec<u8>>,
    /// The page at fault.
    pub page: u64,
    /// What is wrong with it.
    pub reason: String,
    /// Records that the damaged page itself still gave.
    pub kept: u64,
    /// Records from leaves without an owner that fit.
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

/// A key for people: as text if it is some, else in hexadecimal.
fn shown(key: &[u8]) -> String {
    use fmt::Write as _;
    if !key.is_empty() && key.iter().all(|octet| (b' '..=b'~').contains(octet)) {
        return format!("'{}'", key.escape_ascii());
    }
    key.iter().fold("0x".to_owned(), |mut out, octet| {
        // Writing to a string cannot fail.
        let _ = write!(out, "{octet:02x}");
        out
    })
}

/// The outcome of a salvage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvageReport {
    /// What it went by.
    pub basis: Basis,
    /// The transaction whose snapshot was salvaged.
    pub txnid: Option<u64>,
    /// Bytes per page of the damaged file.
    pub page_bytes: usize,
    /// What kept writers from overwriting what was read.
    pub access: Access,
    /// Where the new environment is.
    pub output: PathBuf,
    /// The main database and each named one.
    pub databases: Vec<SalvagedDatabase>,
    /// The first ten thousand ranges in which something is missing or came from elsewhere.
    pub holes: Vec<Hole>,
    /// How many there are in all.
    pub holes_total: u64,
    /// Pages met at their place that were damaged.
    pub pages_lost: u64,
    /// Records that the new environment cannot take, such as values without octets among duplicates; they stand in the
    /// file of lost pages.
    pub refused: u64,
    /// Leaves that belong nowhere.
    pub lost_pages: u64,
    /// Records on them.
    pub lost_records: u64,
    /// The text file with these and the refused records, in the format of `mdb_dump`, if there are any.
    pub lost_file: Option<PathBuf>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

impl SalvageReport {
    /// Whether everything that the file ever said it held is in the new environment.
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
