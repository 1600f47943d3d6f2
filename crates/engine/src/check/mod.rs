//! The structural checker: is every page of a snapshot what it should be, and used exactly once?
//!
//! It reads the data file through its own file descriptor, never the map, so it can look at a file that no engine would
//! open, at a live environment, and at files with duplicates. It shares no code with the transactions it judges beyond
//! the page layout. Memory is bounded: one page per level of a tree, three bits per page of the file, and a thousand
//! findings. So is time: each page is looked at once, whatever the pointers say.
//!
//! ```text
//!   meta page ----> free-list tree ----> records of free pages --+
//!        |                                                       |   each page is claimed once;
//!        +--------> main tree ---> values on overflow runs ------+-> what is claimed twice or never
//!                      |                                         |   is a finding
//!                      +---> named databases ---> sub-databases -+
//!
//!   other meta page ---> the pages that its snapshot does not share with this one
//! ```
//!
//! What is checked is what sections 3 to 9 of the LMDB 0.9 file format promise: page numbers, flags and bounds, the
//! order of keys and separators, levels, counts, duplicates in all their forms, overflow runs and the free list. What
//! cannot be checked, for nothing in the file tells: the bytes of keys and values themselves.
//!
//! | to check | call |
//! | --- | --- |
//! | an environment, also while others write to it | [`check_environment`] |
//! | a data file at rest | [`check_file`] |
//! | a snapshot that a read transaction holds | [`check_snapshot`] |
//! | bytes in memory, many times a second | [`Checker::check_image`] |

mod free;
pub(crate) mod layout;
pub(crate) mod meta;
mod online;
mod options;
pub(crate) mod pages;
mod report;
pub(crate) mod seen;
mod source;
pub(crate) mod tree;
pub(crate) mod value;

pub(crate) use online::Place;
pub use online::{Access, Checked, check_environment};
pub use options::CheckOptions;
pub use report::{CheckError, DatabaseSummary, Fault, Finding, Previous, Report};
pub use source::Source;

use fulgurite_os::{Access as FileAccess, File, FileRole};
use std::path::Path;

use fulgurite_format::TreeRecord;

use layout::Tiling;
use meta::{Metas, Snapshot};
use pages::Pages;
use report::{Name, Reporter};
use seen::Seen;
use tree::Role;

/// Checks the newest snapshot in a data file (the file itself, such as `DIR/data.mdb`).
///
/// Run it on a file at rest. On a live one use [`check_environment`], or [`check_snapshot`] while holding a read
/// transaction: a snapshot that nobody holds may be overwritten under the checker.
///
/// # Errors
/// [`CheckError`] if the file cannot be read or its meta pages describe no snapshot at all. Everything else that is
/// wrong is a [`Finding`] of the report.
pub fn check_file(path: &Path) -> Result<Report, CheckError> {
    Checker::new(CheckOptions::default()).check_file(path)
}

/// Checks the snapshot with transaction id `txnid`, which must be one of the two that the file still describes.
///
/// # Errors
/// As [`check_file`]; [`CheckError::SnapshotGone`] if neither meta page carries that id.
pub fn check_snapshot(path: &Path, txnid: u64) -> Result<Report, CheckError> {
    Checker::new(CheckOptions::default().snapshot(txnid)).check_file(path)
}

/// A checker that keeps its memory from one check to the next.
#[derive(Debug, Default)]
pub struct Checker {
    options: CheckOptions,
    space: Space,
}

impl Checker {
    /// A checker with these options.
    #[must_use]
    pub fn new(options: CheckOptions) -> Self {
        Self {
            options,
            space: Space::default(),
        }
    }

    /// As [`check_file`], with the options of this checker.
    /// # Errors
    /// As [`check_file`].
    pub fn check_file(&mut self, path: &Path) -> Result<Report, CheckError> {
        let file = File::open(FileRole::Checked, path, FileAccess::Read)
            .map_err(CheckError::read(path))?;
        self.check(&file, path)
    }

    /// Checks the bytes of a data file in memory. Nothing is copied, and nothing is allocated for a page: some ten
    /// thousand small images a second are no trouble.
    /// # Errors
    /// As [`check_file`].
    pub fn check_image(&mut self, image: &[u8]) -> Result<Report, CheckError> {
        self.check(&image, Path::new("(memory)"))
    }

    /// Checks what a source lends; `path` is what errors are to call it.
    /// # Errors
    /// As [`check_file`].
    pub fn check(&mut self, source: &dyn Source, path: &Path) -> Result<Report, CheckError> {
        let metas = Metas::read(source).map_err(CheckError::read(path))?;
        self.check_metas(source, path, &metas, &mut |_, _| ())
    }

    /// Checks a snapshot that these meta pages describe. `progress` is told now and then how many pages of how many
    /// have been accounted for.
    pub(crate) fn check_metas(
        &mut self,
        source: &dyn Source,
        path: &Path,
        metas: &Metas,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Report, CheckError> {
        let (snapshot, other) = choose(metas, self.options.snapshot, path)?;
        let pages = Pages::new(source, snapshot.page_bytes).map_err(CheckError::read(path))?;
        self.space.seen.reset(snapshot.last, pages.file_pages());
        let mut check = Check {
            pages,
            space: &mut self.space,
            options: &self.options,
            txnid: snapshot.txnid,
            reporter: Reporter::default(),
            in_previous: false,
            progress,
        };
        check.metas(metas, &snapshot);
        // The free list comes last: what it names wrongly is its fault and not that of the tree in use.
        check.tree(&snapshot.main, Role::Main, Name::Main);
        check.tree(&snapshot.free, Role::Free, Name::FreeList);
        check.unused_pages();
        let previous = check.previous(other);
        let free_pages = check.space.seen.free_pages();
        Ok(check
            .reporter
            .finish(&snapshot, &pages, free_pages, previous))
    }
}

/// The snapshot to check, by default the newest, and the other one if it is there.
fn choose(
    metas: &Metas,
    txnid: Option<u64>,
    path: &Path,
) -> Result<(Snapshot, Option<Snapshot>), CheckError> {
    let (newest, older) = metas.by_age();
    let Some(newest) = newest else {
        let reasons: Vec<&str> = metas.refusals().map(|(_, reason)| reason).collect();
        return Err(CheckError::Meta {
            path: path.to_owned(),
            reason: reasons.join("; "),
        });
    };
    match (txnid, older) {
        (None, _) => Ok((newest, older)),
        (Some(id), _) if id == newest.txnid => Ok((newest, older)),
        (Some(id), Some(older)) if id == older.txnid => Ok((older, None)),
        (Some(txnid), _) => Err(CheckError::SnapshotGone {
            txnid,
            first: older.unwrap_or(newest).txnid,
            second: newest.txnid,
        }),
    }
}

/// Memory that serves one check after the other.
#[derive(Debug, Default)]
struct Space {
    seen: Seen,
    tiling: Tiling,
    buffers: Vec<Vec<u8>>,
}

impl Space {
    fn take_buffer(&mut self) -> Vec<u8> {
        self.buffers.pop().unwrap_or_default()
    }

    fn give_buffer(&mut self, buffer: Vec<u8>) {
        self.buffers.push(buffer);
    }
}

/// The state of one check.
struct Check<'c> {
    pages: Pages<'c>,
    space: &'c mut Space,
    options: &'c CheckOptions,
    txnid: u64,
    reporter: Reporter,
    /// The snapshot before the newest is being looked at.
    in_previous: bool,
    progress: &'c mut dyn FnMut(u64, u64),
}

/// What became of the wish to look at a page.
enum Claim {
    Fresh,
    /// It has been looked at, as a page of the newest snapshot.
    Shared,
    /// It has been reported as what is no page of this snapshot, or of two places in it.
    Refused,
}

impl Check<'_> {
    fn metas(&mut self, metas: &Metas, snapshot: &Snapshot) {
        for (pgno, reason) in metas.refusals() {
            let fault = Fault::Meta(reason.to_owned());
            self.reporter.find(Name::File, pgno, fault);
        }
        for blemish in snapshot.blemishes() {
            self.reporter
                .find(Name::File, snapshot.pgno, Fault::Meta(blemish));
        }
    }

    /// Walks one database and compares what it holds with its record.
    fn tree(&mut self, record: &TreeRecord, role: Role, name: Name<'_>) {
        let counts = tree::walk(self, record, role, name);
        if self.in_previous {
            return;
        }
        self.reporter.database(name, record, &counts);
        if !self.judges_order_of(name) {
            self.reporter.note(format!(
                "{name}: the order of its keys and values was not judged"
            ));
        }
    }

    /// Whether keys are to be in the order that the database's flags name. That of the free list is known.
    fn judges_order_of(&self, name: Name<'_>) -> bool {
        match name {
            Name::File | Name::FreeList | Name::Duplicates(_) => true,
            Name::Main => self.options.judges_order_of("main"),
            Name::Named(name) => self.options.judges_order_of(&String::from_utf8_lossy(name)),
        }
    }

    /// Claims a page for a tree or an overflow run.
    fn claim(&mut self, pgno: u64, database: Name<'_>) -> Claim {
        let seen = &mut self.space.seen;
        if !seen.in_range(pgno) {
            let last = seen.last();
            self.reporter
                .find(database, pgno, Fault::PageOutOfRange { last });
            return Claim::Refused;
        }
        if self.in_previous && seen.is_used(pgno) {
            return Claim::Shared;
        }
        let fresh = match self.in_previous {
            true => seen.previous.add(pgno),
            false => seen.claim(pgno),
        };
        if !fresh {
            self.reporter.find(database, pgno, Fault::UsedTwice);
            return Claim::Refused;
        }
        self.tell();
        Claim::Fresh
    }

    /// Claims a page that the free list names.
    fn claim_free(&mut self, pgno: u64) {
        let seen = &mut self.space.seen;
        if !seen.in_range(pgno) {
            let last = seen.last();
            self.reporter
                .find(Name::FreeList, pgno, Fault::PageOutOfRange { last });
        } else if !seen.claim_free(pgno) {
            self.reporter.find(Name::FreeList, pgno, Fault::UsedTwice);
        } else {
            self.tell();
        }
    }

    fn tell(&mut self) {
        let seen = &self.space.seen;
        if seen.claimed().is_multiple_of(4096) {
            (self.progress)(seen.claimed(), seen.last().saturating_sub(1));
        }
    }

    fn unused_pages(&mut self) {
        let missing = self.space.seen.unclaimed();
        self.reporter
            .add_missed(missing.saturating_sub(report::LOST_MAX as u64));
        for pgno in self.space.seen.first_unclaimed(report::LOST_MAX) {
            self.reporter.find(Name::File, pgno, Fault::Lost);
        }
    }

    /// Looks at what the snapshot before the newest has to itself.
    fn previous(&mut self, other: Option<Snapshot>) -> Previous {
        let Some(other) = other else {
            return match self.options.snapshot {
                None => Previous::None,
                Some(_) => Previous::Unchecked,
            };
        };
        if !self.options.previous {
            return Previous::Unchecked;
        }
        let (txnid, reporter) = (other.txnid, std::mem::take(&mut self.reporter));
        self.space.seen.look_at_previous(other.last);
        self.in_previous = true;
        for blemish in other.blemishes() {
            self.reporter
                .find(Name::File, other.pgno, Fault::Meta(blemish));
        }
        self.tree(&other.main, Role::Main, Name::Main);
        self.tree(&other.free, Role::Free, Name::FreeList);
        self.in_previous = false;
        let found = std::mem::replace(&mut self.reporter, reporter);
        match found.into_first() {
            None => Previous::Usable { txnid },
            Some(first) => Previous::Unusable {
                txnid,
                first: Box::new(first),
            },
        }
    }
}

#[cfg(test)]
mod tests;
