//! The structural checker: is every page of a snapshot what it should be, and used exactly once?
//!
//! It reads the data file through its own file descriptor, never the map, so it can look at a file that no engine would
//! open, at a live environment, and at files with duplicates. It shares no code with the transactions it judges beyond
//! the page layout. Memory is bounded: one page per level of a tree, one bit per page in use, and a thousand findings.
//!
//! ```text
//!   meta page ----> free-list tree ----> records of free pages --+
//!        |                                                       |   each page is claimed once;
//!        +--------> main tree ---> values on overflow runs ------+-> what is claimed twice or never
//!                      |                                         |   is a finding
//!                      +---> named databases ---> sub-databases -+
//! ```
//!
//! What is checked is what sections 3 to 9 of the LMDB 0.9 file format promise: page numbers, flags and bounds, the
//! order of keys and separators, levels, counts, duplicates in all their forms, overflow runs and the free list.

mod free;
mod layout;
mod meta;
mod pages;
mod report;
mod seen;
mod tree;
mod value;

pub use report::{CheckError, DatabaseSummary, Fault, Finding, Report};

use std::path::Path;

use fulgurite_format::TreeRecord;
use fulgurite_os::{Access, File, FileRole};
use pages::Pages;
use report::Reporter;
use seen::Seen;
use tree::Role;

/// Checks the newest snapshot in a data file (the file itself, such as `DIR/data.mdb`).
///
/// Run it on a file at rest, or on a live one while holding a read transaction through
/// [`check_snapshot`]: a snapshot that nobody holds may be overwritten under the checker.
///
/// # Errors
/// [`CheckError`] if the file cannot be read or its meta pages describe no snapshot at all. Everything else that is
/// wrong is a [`Finding`] of the report.
pub fn check_file(path: &Path) -> Result<Report, CheckError> {
    check(path, None)
}

/// Checks the snapshot with transaction id `txnid`, which must be one of the two that the file still describes.
///
/// # Errors
/// As [`check_file`]; [`CheckError::SnapshotGone`] if neither meta page carries that id.
pub fn check_snapshot(path: &Path, txnid: u64) -> Result<Report, CheckError> {
    check(path, Some(txnid))
}

fn check(path: &Path, txnid: Option<u64>) -> Result<Report, CheckError> {
    let file =
        File::open(FileRole::Checked, path, Access::Read).map_err(|source| CheckError::Read {
            path: path.to_owned(),
            source,
        })?;
    let mut reporter = Reporter::default();
    let snapshot = meta::choose(&file, path, txnid, &mut reporter)?;
    let pages = Pages::new(file, &snapshot);
    let mut check = Check {
        pages,
        seen: Seen::new(snapshot.last),
        txnid: snapshot.txnid,
        reporter,
    };
    check.tree(&snapshot.free, Role::Free, "free list");
    check.tree(&snapshot.main, Role::Main, "main");
    check.unused_pages();
    Ok(check.reporter.finish(&snapshot, &check.pages))
}

/// The state of one check.
struct Check {
    pages: Pages,
    seen: Seen,
    txnid: u64,
    reporter: Reporter,
}

impl Check {
    /// Walks one database and compares what it holds with its record.
    fn tree(&mut self, record: &TreeRecord, role: Role, name: &str) {
        let counts = tree::walk(self, record, role, name);
        self.reporter.database(name, record, &counts);
    }

    /// Claims a page for a tree, an overflow run or the free list.
    fn claim(&mut self, pgno: u64, database: &str) -> bool {
        if !self.seen.in_range(pgno) {
            self.reporter.find(
                database,
                pgno,
                Fault::PageOutOfRange {
                    last: self.seen.last(),
                },
            );
            return false;
        }
        if !self.seen.claim(pgno) {
            self.reporter.find(database, pgno, Fault::UsedTwice);
            return false;
        }
        true
    }

    fn unused_pages(&mut self) {
        let missing = self.seen.unclaimed();
        self.reporter
            .add_missed(missing.saturating_sub(report::LOST_MAX as u64));
        for pgno in self.seen.first_unclaimed(report::LOST_MAX) {
            self.reporter.find("file", pgno, Fault::Lost);
        }
    }
}

#[cfg(test)]
mod tests;
