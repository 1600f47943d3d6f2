//! What a check tells: the findings, each with its place, and a summary of what was seen.

use std::fmt;
use std::io;
use std::path::PathBuf;

use fulgurite_format::TreeRecord;

use super::meta::Snapshot;
use super::pages::Pages;
use super::tree::Counts;

/// Findings beyond this many are counted but not kept.
const FINDINGS_MAX: usize = 1000;

/// Pages that belong to nobody are listed up to this many.
pub(super) const LOST_MAX: usize = 100;

/// Why a file could not be checked at all.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// Reading failed.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The meta pages describe no snapshot.
    #[error("{} is no usable data file: {reason}", path.display())]
    Meta {
        /// The file.
        path: PathBuf,
        /// What is wrong with its meta pages.
        reason: String,
    },
    /// The wanted snapshot is not described any more.
    #[error(
        "the snapshot of transaction {txnid} is not in the file any more; it holds {first} and {second}"
    )]
    SnapshotGone {
        /// The id asked for.
        txnid: u64,
        /// The id in meta page 0.
        first: u64,
        /// The id in meta page 1.
        second: u64,
    },
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The database: `free list`, `main`, the name of a named one, with ` duplicates` added inside a sub-database, or
    /// `file`.
    pub database: String,
    /// The page.
    pub pgno: u64,
    /// What is wrong.
    pub fault: Fault,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, page {}: {}", self.database, self.pgno, self.fault)
    }
}

/// Every way in which a snapshot can be unsound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A meta page differs from what it must be.
    #[error("the meta page is unsound: {0}")]
    Meta(String),
    /// A page number outside `2..=last`.
    #[error("the page lies outside 2..={last}")]
    PageOutOfRange {
        /// The last page in use.
        last: u64,
    },
    /// The page has two owners.
    #[error("the page is used twice")]
    UsedTwice,
    /// The page has no owner: in no tree, no overflow run, and not on the free list.
    #[error("the page is neither used nor free")]
    Lost,
    /// The file ends before the page does.
    #[error("the page lies beyond the end of the file")]
    BeyondFile,
    /// The system could not read it.
    #[error("the page cannot be read: {0}")]
    Unreadable(String),
    /// The page's bytes contradict themselves.
    #[error("the page is malformed: {0}")]
    Malformed(String),
    /// Not the kind of page expected here.
    #[error("the page has flags {flags:#06x} at level {level} of {depth}")]
    WrongKind {
        /// Its flags.
        flags: u16,
        /// Where it was met; the root is level 1.
        level: u16,
        /// The tree's depth according to its record.
        depth: u16,
    },
    /// A branch with fewer than two entries.
    #[error("the branch page has {entries} entries")]
    ThinBranch {
        /// How many.
        entries: usize,
    },
    /// A leaf without entries.
    #[error("the leaf page is empty")]
    EmptyLeaf,
    /// The first key of a branch page should not be stored.
    #[error("entry 0 of the branch page carries a key")]
    FirstSeparator,
    /// Keys or separators not strictly ascending.
    #[error("entry {index} is out of order")]
    OutOfOrder {
        /// Its position on the page.
        index: usize,
    },
    /// A key outside the range its branch pages promise.
    #[error("the key of entry {index} lies outside its separators")]
    OutsideSeparators {
        /// Its position on the page.
        index: usize,
    },
    /// A key that cannot be.
    #[error("the key of entry {index} has {bytes} bytes")]
    KeySize {
        /// Its position on the page.
        index: usize,
        /// Its size.
        bytes: usize,
    },
    /// A node that should have used an overflow run.
    #[error("the node of entry {index} takes {bytes} bytes, more than a page may hold in one node")]
    NodeSize {
        /// Its position on the page.
        index: usize,
        /// Its size.
        bytes: usize,
    },
    /// Node flags that do not exist, or not in this kind of database.
    #[error("entry {index} has node flags {flags:#06x}, which this database cannot have")]
    NodeFlags {
        /// Its position on the page.
        index: usize,
        /// The flags.
        flags: u16,
    },
    /// The only value of a key that could have several: each must fit where keys do.
    #[error("the value of entry {index} has {bytes} bytes, more than a duplicate may")]
    DuplicateSize {
        /// Its position on the page.
        index: usize,
        /// Its size.
        bytes: usize,
    },
    /// A value where keys of a sub-database stand alone.
    #[error("entry {index} of a sub-database has a value")]
    StrayValue {
        /// Its position on the page.
        index: usize,
    },
    /// A database record that is not 48 bytes long, or has impossible fields.
    #[error("entry {index} holds an unsound database record: {reason}")]
    Record {
        /// Its position on the page.
        index: usize,
        /// What is wrong.
        reason: String,
    },
    /// A sub-page that cannot be.
    #[error("entry {index} holds an unsound sub-page: {reason}")]
    SubPage {
        /// Its position on the page.
        index: usize,
        /// What is wrong.
        reason: String,
    },
    /// An overflow value that cannot be.
    #[error("entry {index} names an unsound overflow run: {reason}")]
    Overflow {
        /// Its position on the page.
        index: usize,
        /// What is wrong.
        reason: String,
    },
    /// A record of the free list that cannot be.
    #[error("the free-list record of transaction {txnid} is unsound: {reason}")]
    FreeRecord {
        /// Its key.
        txnid: u64,
        /// What is wrong.
        reason: String,
    },
    /// A database's record counts something wrongly.
    #[error("the record says {recorded} {what}, there are {counted}")]
    Count {
        /// What is counted.
        what: &'static str,
        /// According to the record.
        recorded: u64,
        /// According to the walk.
        counted: u64,
    },
    /// A database's record contradicts itself.
    #[error("the database record is unsound: {0}")]
    TreeRecord(String),
}

/// What one database holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseSummary {
    /// Its name, as in [`Finding::database`].
    pub name: String,
    /// Its persistent flags.
    pub flags: u16,
    /// Levels of its tree.
    pub depth: u16,
    /// Data items, each duplicate counting.
    pub entries: u64,
    /// Branch pages met, those of sub-databases included.
    pub branch_pages: u64,
    /// Leaf pages met, those of sub-databases included.
    pub leaf_pages: u64,
    /// Pages of overflow runs met.
    pub overflow_pages: u64,
}

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The snapshot that was checked.
    pub txnid: u64,
    /// Bytes per page.
    pub page_bytes: usize,
    /// The last page in use.
    pub last_pgno: u64,
    /// Whole pages in the file, which may be fewer.
    pub file_pages: u64,
    /// Pages on the free list.
    pub free_pages: u64,
    /// The first of the databases seen: the free list, named ones, the main one.
    pub databases: Vec<DatabaseSummary>,
    /// The first thousand things found wrong, in the order they were met.
    pub findings: Vec<Finding>,
    /// How many there were in all.
    pub findings_total: u64,
}

impl Report {
    /// Whether nothing at all is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings_total == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "transaction {}: {} pages of {} bytes in use, {} of them free",
            self.txnid,
            self.last_pgno.saturating_add(1),
            self.page_bytes,
            self.free_pages
        )?;
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        match self.findings_total {
            0 => write!(f, "sound"),
            n => write!(f, "{n} finding(s)"),
        }
    }
}

/// Collects findings while the check runs.
#[derive(Debug, Default)]
pub(super) struct Reporter {
    findings: Vec<Finding>,
    total: u64,
    databases: Vec<DatabaseSummary>,
    free_pages: u64,
}

impl Reporter {
    pub(super) fn find(&mut self, database: &str, pgno: u64, fault: Fault) {
        self.total += 1;
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(Finding {
                database: database.to_owned(),
                pgno,
                fault,
            });
        }
    }

    /// Counts findings that are not listed one by one.
    pub(super) fn add_missed(&mut self, more: u64) {
        self.total = self.total.saturating_add(more);
    }

    pub(super) fn free_page(&mut self) {
        self.free_pages += 1;
    }

    pub(super) fn database(&mut self, name: &str, record: &TreeRecord, counts: &Counts) {
        if self.databases.len() < FINDINGS_MAX {
            self.databases.push(DatabaseSummary {
                name: name.to_owned(),
                flags: record.flags.0,
                depth: record.depth,
                entries: counts.entries,
                branch_pages: counts.branch + counts.sub_branch,
                leaf_pages: counts.leaf + counts.sub_leaf,
                overflow_pages: counts.overflow,
            });
        }
    }

    pub(super) fn finish(self, snapshot: &Snapshot, pages: &Pages) -> Report {
        Report {
            txnid: snapshot.txnid,
            page_bytes: snapshot.page_bytes,
            last_pgno: snapshot.last,
            file_pages: pages.file_pages(),
            free_pages: self.free_pages,
            databases: self.databases,
            findings: self.findings,
            findings_total: self.total,
        }
    }
}
