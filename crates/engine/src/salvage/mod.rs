//! Salvage: what a damaged file still holds, written into a new environment.
//!
//! The damaged file is only read. Its trees are walked as the checker walks them, but a page that is not what its place
//! calls for leaves a hole instead of a finding, and the walk goes on beside it:
//!
//! ```text
//!   1  the newest snapshot      every page that fits its place: number, kind, order, separators
//!   2  pages without an owner   leaves below a damaged branch: neither in a tree nor free, and their keys fit one hole
//!   3  the previous snapshot    what it has for the holes that are left, as old as the commit before
//!   4  what belongs nowhere     leaves that fit no hole, or several: written to a text file for a person to judge
//! ```
//!
//! A record is stored once, by the first of these that has it. What is salvaged is what stands in pages whose structure is
//! sound: the format has no checksums, so a value with a flipped bit cannot be told from a good one. Nothing is
//! guessed: a leaf without an owner goes into a database only if the free list is whole, one hole alone has room for it,
//! and no other such leaf overlaps it.
//!
//! Memory: two bits for each page, a value at a time, and the first and last keys of pages without an owner.

mod accept;
mod holes;
mod leaf;
mod lost;
mod metas;
mod orphans;
mod previous;
mod report;
mod sink;
mod walk;

pub use report::{Basis, Hole, SalvageError, SalvageReport, SalvagedDatabase};

use std::path::Path;

use fulgurite_os::File;

use crate::check::layout::Tiling;
use crate::check::meta::Metas;
use crate::check::pages::Pages;
use crate::check::seen::PageSet;
use crate::check::{Access, CheckError, CheckOptions, Place};
use lost::LostAndFound;
use report::Totals;
use sink::Sink;

/// How often pages without an owner are compared with holes: some seconds of work.
const COMPARISONS_MAX: u64 = 200_000_000;

/// Writes what the environment at `path` still holds into a new one in the directory `output`, which must be there and
/// hold none.
///
/// The environment is read as [`crate::check::check_environment`] does it, also while others use it. Of `options` those
/// about order count: a database whose order is the program's own is written in the order in which its records stand.
/// `progress` is told now and then how many pages of how many have been found a place for.
/// # Errors
/// [`SalvageError`] if the file cannot be read, nothing in it tells what it holds, or the new environment cannot be
/// written. Damage is no error: [`SalvageReport`] tells of it.
pub fn salvage(
    path: &Path,
    output: &Path,
    options: &CheckOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<SalvageReport, SalvageError> {
    let place = Place::find(path);
    let mut report = None;
    let done = place.with_snapshot(|file, metas| {
        let job = Job {
            file,
            metas,
            path: &place.data,
            output,
            options,
        };
        report = Some(job.run(progress));
        Ok(())
    });
    match (done, report) {
        (_, Some(Err(error))) => Err(error),
        (Ok(((), access)), Some(Ok(report))) => Ok(SalvageReport { access, ..report }),
        // The file changed meanwhile: what was salvaged is a mixture.
        (Err(error), _) => Err(SalvageError::Input(error)),
        (Ok(_), None) => Err(SalvageError::Input(CheckError::Overtaken {
            path: path.to_owned(),
        })),
    }
}

/// What is to be done.
struct Job<'j> {
    file: &'j File,
    metas: &'j Metas,
    path: &'j Path,
    output: &'j Path,
    options: &'j CheckOptions,
}

impl Job<'_> {
    fn run(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<SalvageReport, SalvageError> {
        let input = |error| SalvageError::Input(CheckError::read(self.path)(error));
        let metas::Plan {
            basis,
            page_bytes,
            newest,
            previous,
            notes,
        } = metas::plan(self.file, self.metas).map_err(input)?;
        let pages = Pages::new(self.file, page_bytes).map_err(input)?;
        let environment = sink::make(self.output, pages.file_pages() * page_bytes as u64)?;
        let last = newest.map_or(pages.file_pages().saturating_sub(1), |newest| newest.last);
        let mut salvage = Salvage {
            pages,
            last,
            claimed: PageSet::default(),
            free: PageSet::default(),
            free_is_whole: newest.is_some(),
            stage: Stage::Newest,
            budget: 8 * pages.file_pages() + 10_000,
            comparisons: COMPARISONS_MAX,
            last_key: Vec::new(),
            misplaced: Vec::new(),
            filter: None,
            previous_used: PageSet::default(),
            unwanted: 0,
            main_entries: 0,
            main_recorded: newest.map_or(0, |newest| newest.main.entries),
            free_records: 0,
            free_entries: newest.map_or(0, |newest| newest.free.entries),
            txnid: newest.map_or(u64::MAX, |newest| newest.txnid),
            tiling: Tiling::default(),
            buffers: Vec::new(),
            sink: Sink::new(&environment, self.options)?,
            holes: holes::Holes::default(),
            lost: LostAndFound::new(self.output),
            totals: Totals::default(),
            previous,
            progress,
        };
        salvage.claimed.reset(pages.file_pages());
        salvage.free.reset(pages.file_pages());
        if let Some(newest) = newest {
            salvage.trees(&newest)?;
            salvage.attribute_orphans()?;
            salvage.fill_from_previous()?;
        }
        salvage.write_lost_pages()?;
        let (mut totals, lost) = (salvage.totals, salvage.lost.finish()?);
        totals.notes.extend(notes);
        let databases = salvage.sink.finish()?;
        Ok(SalvageReport {
            basis,
            txnid: newest.map(|newest| newest.txnid),
            page_bytes,
            access: Access::NoLockFile,
            output: self.output.to_owned(),
            databases,
            holes_total: salvage.holes.total(),
            holes: salvage.holes.into_reported(),
            pages_lost: totals.pages_lost,
            refused: totals.refused,
            lost_pages: lost.pages,
            lost_records: lost.records,
            lost_file: lost.path,
            notes: totals.notes,
        })
    }
}

/// Which of the sources is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Newest,
    Orphans,
    Previous,
}

/// The state of one salvage.
struct Salvage<'s, 'e> {
    pages: Pages<'s>,
    last: u64,
    /// Pages that have found their place.
    claimed: PageSet,
    free: PageSet,
    /// Every record of the free list could be read: what is neither claimed nor free lies below damage.
    free_is_whole: bool,
    stage: Stage,
    /// Pages of the previous snapshot that may still be looked at; bounds what a hostile file costs.
    budget: u64,
    /// How many more times a page without an owner may be compared with a hole.
    comparisons: u64,
    /// The last key that a leaf gave.
    last_key: Vec<u8>,
    /// Pages that did not fit where they were met first.
    misplaced: Vec<walk::Misplaced>,
    /// What is wanted of the previous snapshot.
    filter: Option<holes::Filter>,
    /// Leaves of the previous snapshot that gave all they have.
    previous_used: PageSet,
    /// Records of the previous snapshot that lie in no hole.
    unwanted: u64,
    /// Records of the main database that were seen, and how many it says it has.
    main_entries: u64,
    main_recorded: u64,
    /// Records of the free list that could be read, and how many it says it has.
    free_records: u64,
    free_entries: u64,
    txnid: u64,
    tiling: Tiling,
    buffers: Vec<Vec<u8>>,
    sink: Sink<'e>,
    holes: holes::Holes,
    lost: LostAndFound,
    totals: Totals,
    previous: Option<crate::check::meta::Snapshot>,
    progress: &'s mut dyn FnMut(u64, u64),
}

impl Salvage<'_, '_> {
    /// Lends the bytes of a page to `work`.
    fn with_page<T>(
        &mut self,
        pgno: u64,
        work: impl FnOnce(&mut Self, &[u8]) -> T,
    ) -> Result<T, String> {
        let mut buffer = self.buffers.pop().unwrap_or_default();
        let pages = self.pages;
        let done = match pages.page(pgno, &mut buffer) {
            Ok(bytes) => Ok(work(self, bytes)),
            Err(fault) => Err(fault.to_string()),
        };
        self.buffers.push(buffer);
        done
    }

    fn in_range(&self, pgno: u64) -> bool {
        (2..=self.last).contains(&pgno)
    }

    fn claim(&mut self, pgno: u64) {
        self.claimed.add(pgno);
        let done = self.claimed.len() + self.free.len();
        if done.is_multiple_of(4096) {
            (self.progress)(done, self.last.saturating_sub(1));
        }
    }
}
