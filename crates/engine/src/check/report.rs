//! What a check tells: the findings, each with its place, and a summary of what was seen.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use fulgurite_format::TreeRecord;

use super::meta::Snapshot;
use super::pages::Pages;
use super::tree::Counts;

/// A database as findings name it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Name<'a> {
    File,
    FreeList,
    Main,
    Named(&'a [u8]),
    /// The values of a key of the main database, or of a named one, that have a tree of their own.
    Duplicates(Option<&'a [u8]>),
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::File => f.write_str("file"),
            Name::FreeList => f.write_str("free list"),
            Name::Main => f.write_str("main"),
            Name::Named(name) => f.write_str(&String::from_utf8_lossy(name)),
            Name::Duplicates(None) => f.write_str("main duplicates"),
            Name::Duplicates(Some(name)) => {
                write!(f, "{} duplicates", String::from_utf8_lossy(name))
            }
        }
    }
}

/// Findings beyond this many are counted but not kept.
const FINDINGS_MAX: usize = 1000;

/// Databases for which the kind of their findings is kept.
const SUSPECTS_MAX: usize = 100;

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
    /// Commits overwrote the snapshot while it was looked at: nothing pinned it, or a writer ended the reader that did.
    #[error(
        "{} was written to while it was checked, and no reader slot held the snapshot to the end; check it again, or at rest",
        path.display()
    )]
    Overtaken {
        /// The file.
        path: PathBuf,
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

impl CheckError {
    pub(crate) fn read(path: &Path) -> impl Fn(io::Error) -> CheckError {
        move |source| CheckError::Read {
            path: path.to_owned(),
            source,
        }
    }
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
    /// Two items of a sub-page not strictly ascending.
    #[error("item {item} of the sub-page of entry {index} is out of order")]
    DuplicateOrder {
        /// Its position on the page.
        index: usize,
        /// The item's position in the sub-page.
        item: usize,
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

impl Fault {
    /// Whether it is about order alone, which a database with an order of the program's own would show as well.
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

/// What can be said of the snapshot before the newest, which the other meta page describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Previous {
    /// It was not looked at.
    Unchecked,
    /// Its meta page describes none.
    None,
    /// The pages that it does not share with the newest one were looked at, and are sound: an environment can be opened
    /// on it ([`crate::OpenOptions::previous_snapshot`]).
    Usable {
        /// Its transaction.
        txnid: u64,
    },
    /// It cannot be gone back to. No fault of the file where it is a copy made by the original while others wrote.
    Unusable {
        /// Its transaction.
        txnid: u64,
        /// What was met first.
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
    /// What is no fault and yet worth knowing, such as databases whose order was not judged.
    pub notes: Vec<String>,
    /// The snapshot before this one.
    pub previous: Previous,
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
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
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
    pub(super) total: u64,
    databases: Vec<DatabaseSummary>,
    notes: Vec<String>,
    /// Databases in which something was found, and whether all of it is about their order.
    suspects: Vec<(String, u64, bool)>,
}

impl Reporter {
    #[cold]
    pub(super) fn find(&mut self, database: Name<'_>, pgno: u64, fault: Fault) {
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

    /// What was found first.
    pub(super) fn into_first(self) -> Option<Finding> {
        self.findings.into_iter().next()
    }

    pub(super) fn database(&mut self, name: Name<'_>, record: &TreeRecord, counts: &Counts) {
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

    /// Whoever sees order broken and nothing else may have a database before him that has another order.
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
        previous: Previous,
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
