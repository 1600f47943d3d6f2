//! The outcome of a check: the findings with their pages, and a summary of each database.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use fulgurite_format::TreeRecord;

use crate::maintain::image::meta::Snapshot;
use crate::maintain::image::pages::Pages;

/// A database, as findings name it.
#[derive(Debug, Clone, Copy)]
pub(super) enum DatabaseLabel<'a> {
    File,
    FreeList,
    Main,
    Named(&'a [u8]),
    /// The value trees of the main database, or of a named one.
    Duplicates(Option<&'a [u8]>),
}

impl fmt::Display for DatabaseLabel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseLabel::File => f.write_str("file"),
            DatabaseLabel::FreeList => f.write_str("free list"),
            DatabaseLabel::Main => f.write_str("main"),
            DatabaseLabel::Named(name) => f.write_str(&String::from_utf8_lossy(name)),
            DatabaseLabel::Duplicates(None) => f.write_str("main duplicates"),
            DatabaseLabel::Duplicates(Some(name)) => {
                write!(f, "{} duplicates", String::from_utf8_lossy(name))
            }
        }
    }
}

/// Findings kept; more are only counted.
const FINDINGS_MAX: usize = 1000;

/// Databases for which the reporter knows whether their findings are all about order.
const SUSPECTS_MAX: usize = 100;

/// Unclaimed pages listed one by one.
pub(super) const LOST_MAX: usize = 100;

/// Why a file could not be checked at all.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// Reading failed.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The meta pages describe no snapshot.
    #[error("{} is no usable data file: {reason}", path.display())]
    Meta {
        /// The file.
        path: PathBuf,
        /// The faults of its meta pages.
        reason: String,
    },
    /// Commits overwrote the snapshot during the check: nothing pinned it, or a writer ended its
    /// reader.
    #[error(
        "{} was written to during the check, and no reader slot held the snapshot to the end. Check it again, or at rest",
        path.display()
    )]
    Overtaken {
        /// The file.
        path: PathBuf,
    },
    /// The file no longer describes the snapshot.
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

impl CheckError {
    pub(crate) fn read(path: &Path) -> impl Fn(io::Error) -> CheckError {
        move |source| CheckError::Read {
            path: path.to_owned(),
            source,
        }
    }
}

/// A fault, with its page and database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The database: `free list`, `main`, the name of a named one, or `file`. In a value tree `
    /// duplicates` follows.
    pub database: String,
    /// The page.
    pub pgno: u64,
    /// The fault.
    pub fault: Fault,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, page {}: {}", self.database, self.pgno, self.fault)
    }
}

/// The faults of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A meta page has a wrong field.
    #[error("the meta page is unsound: {0}")]
    Meta(String),
    /// A page number outside `2..=last`.
    #[error("the page is outside 2..={last}")]
    PageOutOfRange {
        /// The last page in use.
        last: u64,
    },
    /// Two places refer to the page.
    #[error("the page is used twice")]
    UsedTwice,
    /// Nothing refers to the page: no tree, no overflow run, not the free list.
    #[error("the page is neither used nor free")]
    Lost,
    /// The file ends before the page does.
    #[error("the page is beyond the end of the file")]
    BeyondFile,
    /// The system could not read it.
    #[error("the page cannot be read: {0}")]
    Unreadable(String),
    /// The page's bytes contradict themselves.
    #[error("the page is malformed: {0}")]
    Malformed(String),
    /// The page is not of the kind that its level needs.
    #[error("the page has flags {flags:#06x} at level {level} of {depth}")]
    WrongKind {
        /// Its flags.
        flags: u16,
        /// Its level in the tree; the root is level 1.
        level: u16,
        /// The tree's depth according to its record.
        depth: u16,
    },
    /// A branch with fewer than two entries.
    #[error("the branch page has {entries} entries")]
    ThinBranch {
        /// The number of its entries.
        entries: usize,
    },
    /// A leaf without entries.
    #[error("the leaf page is empty")]
    EmptyLeaf,
    /// The first key of a branch page must be empty.
    #[error("entry 0 of the branch page carries a key")]
    FirstSeparator,
    /// Keys or separators are not strictly ascending.
    #[error("entry {index} is out of order")]
    OutOfOrder {
        /// Its position on the page.
        index: usize,
    },
    /// A key is outside the range between its separators.
    #[error("the key of entry {index} is outside its separators")]
    OutsideSeparators {
        /// Its position on the page.
        index: usize,
    },
    /// A key has an impossible length.
    #[error("the key of entry {index} has {bytes} bytes")]
    KeySize {
        /// Its position on the page.
        index: usize,
        /// Its size.
        bytes: usize,
    },
    /// A node is larger than a page allows and should use an overflow run.
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
    /// The only value of a key that may have several is longer than a duplicate can be.
    #[error("the value of entry {index} has {bytes} bytes, more than a duplicate may")]
    DuplicateSize {
        /// Its position on the page.
        index: usize,
        /// Its size.
        bytes: usize,
    },
    /// An entry of a value tree has a value.
    #[error("entry {index} of a sub-database has a value")]
    StrayValue {
        /// Its position on the page.
        index: usize,
    },
    /// A database record is not 48 bytes long, or has impossible fields.
    #[error("entry {index} holds an unsound database record: {reason}")]
    Record {
        /// Its position on the page.
        index: usize,
        /// The fault.
        reason: String,
    },
    /// Two items of a sub-page are not strictly ascending.
    #[error("item {item} of the sub-page of entry {index} is out of order")]
    DuplicateOrder {
        /// Its position on the page.
        index: usize,
        /// The item's position in the sub-page.
        item: usize,
    },
    /// A sub-page has impossible contents.
    #[error("entry {index} holds an unsound sub-page: {reason}")]
    SubPage {
        /// Its position on the page.
        index: usize,
        /// The fault.
        reason: String,
    },
    /// An overflow value has an impossible run.
    #[error("entry {index} names an unsound overflow run: {reason}")]
    Overflow {
        /// Its position on the page.
        index: usize,
        /// The fault.
        reason: String,
    },
    /// A record of the free list has an impossible key or value.
    #[error("the free-list record of transaction {txnid} is unsound: {reason}")]
    FreeRecord {
        /// Its key.
        txnid: u64,
        /// The fault.
        reason: String,
    },
    /// A database's record counts something wrongly.
    #[error("the record says {recorded} {what}, there are {counted}")]
    Count {
        /// The counted things.
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

impl Fault {
    /// Returns true if the fault is about order alone. A database with the program's own order
    /// would show it too.
    #[must_use]
    pub const fn is_about_order(&self) -> bool {
        matches!(
            self,
            Fault::OutOfOrder { .. }
                | Fault::OutsideSeparators { .. }
                | Fault::DuplicateOrder { .. }
        )
    }
}

/// The contents of one database.
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

/// The state of the snapshot before the newest, which the other meta page describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviousSnapshot {
    /// It was not looked at.
    Unchecked,
    /// Its meta page describes none.
    None,
    /// The pages that it does not share with the newest one are sound. An environment can be opened
    /// on it ([`crate::OpenOptions::previous_snapshot`]).
    Usable {
        /// Its transaction.
        txnid: u64,
    },
    /// No environment can be opened on it. This is no fault of a copy that the original made while
    /// others wrote.
    Unusable {
        /// Its transaction.
        txnid: u64,
        /// The first finding.
        first: Box<Finding>,
    },
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
    /// The first thousand databases seen: named ones, the main one, the free list.
    pub databases: Vec<DatabaseSummary>,
    /// The first thousand things found wrong, in the order they were met.
    pub findings: Vec<Finding>,
    /// How many there were in all.
    pub findings_total: u64,
    /// Remarks that are no faults, such as databases whose order was not checked.
    pub notes: Vec<String>,
    /// The snapshot before this one.
    pub previous: PreviousSnapshot,
}

impl Report {
    /// Returns true if there are no findings.
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
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        match self.findings_total {
            0 => write!(f, "sound"),
            n => write!(f, "{n} finding(s)"),
        }
    }
}

/// The counts of a walk.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TreeCounts {
    pub(super) branch: u64,
    pub(super) leaf: u64,
    pub(super) overflow: u64,
    pub(super) entries: u64,
    pub(super) sub_branch: u64,
    pub(super) sub_leaf: u64,
}

/// Collects findings while the check runs.
#[derive(Debug, Default)]
pub(super) struct Reporter {
    findings: Vec<Finding>,
    pub(super) total: u64,
    databases: Vec<DatabaseSummary>,
    notes: Vec<String>,
    /// Databases in which something was found, and whether all of it is about their order.
    suspects: Vec<(String, u64, bool)>,
}

impl Reporter {
    #[cold]
    pub(super) fn find(&mut self, database: DatabaseLabel<'_>, pgno: u64, fault: Fault) {
        self.total += 1;
        let database = database.to_string();
        self.suspect(&database, fault.is_about_order());
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(Finding {
                database,
                pgno,
                fault,
            });
        }
    }

    fn suspect(&mut self, database: &str, about_order: bool) {
        let database = database.strip_suffix(" duplicates").unwrap_or(database);
        if let Some((_, count, only_order)) =
            self.suspects.iter_mut().find(|(name, ..)| name == database)
        {
            *count += 1;
            *only_order &= about_order;
        } else if self.suspects.len() < SUSPECTS_MAX {
            self.suspects.push((database.to_owned(), 1, about_order));
        }
    }

    /// Counts findings that are not listed one by one.
    pub(super) fn add_missed(&mut self, more: u64) {
        self.total = self.total.saturating_add(more);
    }

    pub(super) fn note(&mut self, note: String) {
        if self.notes.len() < FINDINGS_MAX {
            self.notes.push(note);
        }
    }

    /// Returns the first finding.
    pub(super) fn into_first(self) -> Option<Finding> {
        self.findings.into_iter().next()
    }

    pub(super) fn database(
        &mut self,
        name: DatabaseLabel<'_>,
        record: &TreeRecord,
        counts: &TreeCounts,
    ) {
        if self.databases.len() < FINDINGS_MAX {
            self.databases.push(DatabaseSummary {
                name: name.to_string(),
                flags: record.flags.0,
                depth: record.depth,
                entries: counts.entries,
                branch_pages: counts.branch + counts.sub_branch,
                leaf_pages: counts.leaf + counts.sub_leaf,
                overflow_pages: counts.overflow,
            });
        }
    }

    /// Adds a note for databases whose findings are all about order: they may have the program's
    /// own order.
    fn hint_at_orders(&mut self) {
        let suspects = std::mem::take(&mut self.suspects);
        for (name, count, _) in suspects.into_iter().filter(|(.., only_order)| *only_order) {
            self.note(format!(
                "{name}: {count} finding(s), all about order: if the program that writes it sets an order of its own \
                 (mdb_set_compare, mdb_set_dupsort), check it with any order allowed"
            ));
        }
    }

    pub(super) fn finish(
        mut self,
        snapshot: &Snapshot,
        pages: &Pages<'_>,
        free_pages: u64,
        previous: PreviousSnapshot,
    ) -> Report {
        self.hint_at_orders();
        Report {
            txnid: snapshot.txnid,
            page_bytes: snapshot.page_bytes,
            last_pgno: snapshot.last,
            file_pages: pages.file_pages(),
            free_pages,
            databases: self.databases,
            findings: self.findings,
            findings_total: self.total,
            notes: self.notes,
            previous,
        }
    }
}
