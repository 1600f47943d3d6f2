//! The checker: one snapshot of a file, from its meta pages to its unclaimed pages.

use std::path::Path;

use fulgurite_os::{Access as FileAccess, File, FileRole};

use super::CheckOptions;
use super::report::{self, CheckError, DatabaseLabel, Fault, PreviousSnapshot, Report, Reporter};
use super::state::{CheckBuffers, CheckState};
use super::tree::check_database;
use crate::maintain::image::meta::{Metas, Snapshot};
use crate::maintain::image::pages::Pages;
use crate::maintain::image::source::Source;
use crate::maintain::walk::TreeRole;

/// Checks the newest snapshot in a data file (the file itself, such as `DIR/data.mdb`).
///
/// Run it on a file at rest. On a live one use [`check_environment`](super::check_environment), or
/// [`check_snapshot`] while holding a read transaction. Writers may overwrite a snapshot that no
/// reader holds.
///
/// # Errors
/// [`CheckError`] if the file cannot be read or its meta pages describe no snapshot at all. Any
/// other fault is a [`Finding`](super::Finding) of the report.
pub fn check_file(path: &Path) -> Result<Report, CheckError> {
    Checker::new(CheckOptions::default()).check_file(path)
}

/// Checks the snapshot with transaction id `txnid`. One of the two meta pages must still describe
/// it.
///
/// # Errors
/// As [`check_file`]; [`CheckError::SnapshotGone`] if neither meta page has that id.
pub fn check_snapshot(path: &Path, txnid: u64) -> Result<Report, CheckError> {
    Checker::new(CheckOptions::default().snapshot(txnid)).check_file(path)
}

/// A checker that reuses its memory for the next check.
#[derive(Debug, Default)]
pub struct Checker {
    options: CheckOptions,
    buffers: CheckBuffers,
}

impl Checker {
    /// Makes a checker with these options.
    #[must_use]
    pub fn new(options: CheckOptions) -> Self {
        Self {
            options,
            buffers: CheckBuffers::default(),
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

    /// Checks the bytes of a data file in memory.
    ///
    /// It copies nothing and allocates nothing per page, so it checks some ten thousand small
    /// images a second.
    /// # Errors
    /// As [`check_file`].
    pub fn check_image(&mut self, image: &[u8]) -> Result<Report, CheckError> {
        self.check(&image, Path::new("(memory)"))
    }

    /// Checks a source. Errors name it `path`.
    /// # Errors
    /// As [`check_file`].
    pub fn check(&mut self, source: &dyn Source, path: &Path) -> Result<Report, CheckError> {
        let metas = Metas::read(source).map_err(CheckError::read(path))?;
        self.check_metas(source, path, &metas, &mut |_, _| ())
    }

    /// Checks a snapshot that these meta pages describe. From time to time it calls `progress` with
    /// the pages accounted for and the number of all pages.
    pub(crate) fn check_metas(
        &mut self,
        source: &dyn Source,
        path: &Path,
        metas: &Metas,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Report, CheckError> {
        let (snapshot, other) = choose(metas, self.options.snapshot, path)?;
        let pages = Pages::new(source, snapshot.page_bytes).map_err(CheckError::read(path))?;
        self.buffers.claims.reset(snapshot.last, pages.file_pages());
        let mut check = CheckState {
            pages,
            buffers: &mut self.buffers,
            options: &self.options,
            txnid: snapshot.txnid,
            reporter: Reporter::default(),
            in_previous: false,
            progress,
        };
        check.metas(metas, &snapshot);
        // The free list comes last. A wrong page in it is a fault of the free list, not of the tree
        // that uses the page.
        check_database(
            &mut check,
            &snapshot.main,
            TreeRole::Main,
            DatabaseLabel::Main,
        );
        check_database(
            &mut check,
            &snapshot.free,
            TreeRole::FreeList,
            DatabaseLabel::FreeList,
        );
        check.unused_pages();
        let previous = check.previous(other);
        let free_pages = check.buffers.claims.free_pages();
        Ok(check
            .reporter
            .finish(&snapshot, &pages, free_pages, previous))
    }
}

/// Returns the snapshot to check, by default the newest, and the other one if there is one.
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

impl CheckState<'_> {
    fn metas(&mut self, metas: &Metas, snapshot: &Snapshot) {
        for (pgno, reason) in metas.refusals() {
            let fault = Fault::Meta(reason.to_owned());
            self.reporter.find(DatabaseLabel::File, pgno, fault);
        }
        for blemish in snapshot.blemishes() {
            self.reporter
                .find(DatabaseLabel::File, snapshot.pgno, Fault::Meta(blemish));
        }
    }

    fn unused_pages(&mut self) {
        let missing = self.buffers.claims.unclaimed();
        self.reporter
            .add_missed(missing.saturating_sub(report::LOST_MAX as u64));
        for pgno in self.buffers.claims.first_unclaimed(report::LOST_MAX) {
            self.reporter.find(DatabaseLabel::File, pgno, Fault::Lost);
        }
    }

    /// Checks the pages that the snapshot before the newest does not share with it.
    fn previous(&mut self, other: Option<Snapshot>) -> PreviousSnapshot {
        let Some(other) = other else {
            return match self.options.snapshot {
                None => PreviousSnapshot::None,
                Some(_) => PreviousSnapshot::Unchecked,
            };
        };
        if !self.options.previous {
            return PreviousSnapshot::Unchecked;
        }
        let (txnid, reporter) = (other.txnid, std::mem::take(&mut self.reporter));
        self.buffers.claims.look_at_previous(other.last);
        self.in_previous = true;
        for blemish in other.blemishes() {
            self.reporter
                .find(DatabaseLabel::File, other.pgno, Fault::Meta(blemish));
        }
        check_database(self, &other.main, TreeRole::Main, DatabaseLabel::Main);
        check_database(
            self,
            &other.free,
            TreeRole::FreeList,
            DatabaseLabel::FreeList,
        );
        self.in_previous = false;
        let found = std::mem::replace(&mut self.reporter, reporter);
        match found.into_first() {
            None => PreviousSnapshot::Usable { txnid },
            Some(first) => PreviousSnapshot::Unusable {
                txnid,
                first: Box::new(first),
            },
        }
    }
}
