//! The state of one salvage, shared by its stages.

use super::holes::{Holes, KeyFilter};
use super::lost_pages::LostPagesFile;
use super::page_check::DamagedTree;
use super::report::Totals;
use super::source_stage::Stage;
use super::writer::RecordWriter;
use crate::maintain::image::layout::Tiling;
use crate::maintain::image::meta::Snapshot;
use crate::maintain::image::pages::Pages;
use crate::maintain::page_set::PageSet;

/// A page that did not fit the position it was met at.
#[derive(Debug, Clone)]
pub(super) struct MisplacedPage {
    pub(super) hole: Option<usize>,
    pub(super) tree: DamagedTree,
    pub(super) pgno: u64,
    pub(super) level: u16,
}

/// How the walk treats a damaged page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DamagePolicy {
    /// The page leaves a hole, and its sound parts are stored.
    Hole,
    /// The page is skipped, because the position is doubtful or only a second source.
    Skip,
}

/// The state of one salvage.
pub(super) struct Salvage<'s, 'e> {
    pub(super) pages: Pages<'s>,
    pub(super) last: u64,
    /// Pages that have a place.
    pub(super) claimed: PageSet,
    pub(super) free: PageSet,
    /// True if every record of the free list was read. Then a page neither claimed nor free is
    /// below damage.
    pub(super) free_is_whole: bool,
    pub(super) stage: Stage,
    /// Pages of the previous snapshot that may still be read. This bounds the cost of a hostile
    /// file.
    pub(super) budget: u64,
    /// Comparisons left of orphans with holes.
    pub(super) comparisons: u64,
    /// The last key of the last leaf.
    pub(super) last_key: Vec<u8>,
    /// Pages that did not fit their first position.
    pub(super) misplaced: Vec<MisplacedPage>,
    /// The wanted records of the previous snapshot.
    pub(super) filter: Option<KeyFilter>,
    /// Leaves of the previous snapshot that were stored completely.
    pub(super) previous_used: PageSet,
    /// Records of the previous snapshot outside all holes.
    pub(super) unwanted: u64,
    /// Records seen of the main database, and the count in its record.
    pub(super) main_entries: u64,
    pub(super) main_recorded: u64,
    /// Records read of the free list, and the count in its record.
    pub(super) free_records: u64,
    pub(super) free_entries: u64,
    pub(super) txnid: u64,
    pub(super) tiling: Tiling,
    pub(super) buffers: Vec<Vec<u8>>,
    pub(super) writer: RecordWriter<'e>,
    pub(super) holes: Holes,
    pub(super) lost: LostPagesFile,
    pub(super) totals: Totals,
    pub(super) previous: Option<Snapshot>,
    pub(super) progress: &'s mut dyn FnMut(u64, u64),
}

impl Salvage<'_, '_> {
    /// Lends the bytes of a page to `work`.
    pub(super) fn with_page<T>(
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

    pub(super) fn in_range(&self, pgno: u64) -> bool {
        (2..=self.last).contains(&pgno)
    }

    pub(super) fn claim(&mut self, pgno: u64) {
        debug_assert!(self.in_range(pgno), "page {pgno} is outside the snapshot");
        self.claimed.add(pgno);
        let done = self.claimed.len() + self.free.len();
        if done.is_multiple_of(4096) {
            (self.progress)(done, self.last.saturating_sub(1));
        }
    }
}
