//! The pages that a check has claimed, and for what.

use crate::maintain::page_set::PageSet;

/// The claim on each page within `2..=last`.
#[derive(Debug, Default)]
pub(super) struct PageClaims {
    last: u64,
    /// Pages of trees and overflow runs.
    used: PageSet,
    /// Pages that the free list names.
    free: PageSet,
    /// Pages of the previous snapshot that the newest does not have.
    pub(super) previous: PageSet,
}

impl PageClaims {
    pub(super) fn reset(&mut self, last: u64, file_pages: u64) {
        let pages = file_pages.min(last.saturating_add(1));
        self.last = last;
        self.used.reset(pages);
        self.free.reset(pages);
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Switches to the snapshot before the newest, which ends with page `last`.
    pub(super) fn look_at_previous(&mut self, last: u64) {
        self.previous.reset(0);
        self.last = last;
    }

    pub(super) fn free_pages(&self) -> u64 {
        self.free.len()
    }

    pub(super) fn in_range(&self, pgno: u64) -> bool {
        (2..=self.last).contains(&pgno)
    }

    /// Returns true if a tree of the newest snapshot has the page.
    pub(super) fn is_used(&self, pgno: u64) -> bool {
        self.used.contains(pgno)
    }

    /// Marks a page as used. Returns false if it was claimed before.
    pub(super) fn claim(&mut self, pgno: u64) -> bool {
        debug_assert!(self.in_range(pgno), "page {pgno} is outside the snapshot");
        !self.free.contains(pgno) && self.used.add(pgno)
    }

    /// Marks a page as free. Returns false if it was claimed before.
    pub(super) fn claim_free(&mut self, pgno: u64) -> bool {
        debug_assert!(self.in_range(pgno), "page {pgno} is outside the snapshot");
        !self.used.contains(pgno) && self.free.add(pgno)
    }

    /// Returns the number of claimed pages.
    pub(super) fn claimed(&self) -> u64 {
        self.used.len() + self.free.len()
    }

    /// Returns the number of pages in the range that nothing claimed.
    pub(super) fn unclaimed(&self) -> u64 {
        self.last.saturating_sub(1).saturating_sub(self.claimed())
    }

    /// Returns the first `limit` of them. It ends after `limit` misses, so the claimed pages bound
    /// its cost.
    pub(super) fn first_unclaimed(&self, limit: usize) -> Vec<u64> {
        (2..=self.last)
            .filter(|pgno| !self.used.contains(*pgno) && !self.free.contains(*pgno))
            .take(limit.min(self.unclaimed() as usize))
            .collect()
    }
}
