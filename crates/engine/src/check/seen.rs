//! Which pages have been claimed: a bit for each page of the file. Beyond the file's end, where free pages may lie that
//! were never written, the bits are sparse, so that a lying last page number costs no memory.

use rustc_hash::FxHashMap;

/// Pages per chunk of the sparse part. Small, because a hostile free list can name pages far apart.
const CHUNK_PAGES: u64 = 512;

type Chunk = [u64; (CHUNK_PAGES / 64) as usize];

/// A set of pages.
#[derive(Debug, Default)]
pub(crate) struct PageSet {
    /// One bit for each page that the file has.
    dense: Vec<u64>,
    sparse: FxHashMap<u64, Box<Chunk>>,
    members: u64,
}

impl PageSet {
    /// Empties the set, and makes room for the pages of a file of so many.
    pub(crate) fn reset(&mut self, file_pages: u64) {
        self.dense.clear();
        self.dense.resize(file_pages.div_ceil(64) as usize, 0);
        self.sparse.clear();
        self.members = 0;
    }

    /// Adds a page; false if it was there before.
    pub(crate) fn add(&mut self, pgno: u64) -> bool {
        let bit = 1 << (pgno % 64);
        let word = match self.dense.get_mut((pgno / 64) as usize) {
            Some(word) => word,
            None => {
                let chunk = self
                    .sparse
                    .entry(pgno / CHUNK_PAGES)
                    .or_insert_with(|| Box::new([0; 8]));
                &mut chunk[((pgno % CHUNK_PAGES) / 64) as usize]
            }
        };
        let fresh = *word & bit == 0;
        *word |= bit;
        self.members += u64::from(fresh);
        fresh
    }

    pub(crate) fn has(&self, pgno: u64) -> bool {
        let word = match self.dense.get((pgno / 64) as usize) {
            Some(word) => *word,
            None => self
                .sparse
                .get(&(pgno / CHUNK_PAGES))
                .map_or(0, |chunk| chunk[((pgno % CHUNK_PAGES) / 64) as usize]),
        };
        word & (1 << (pgno % 64)) != 0
    }

    pub(crate) fn len(&self) -> u64 {
        self.members
    }
}

/// What each page within `2..=last` was found to be.
#[derive(Debug, Default)]
pub(super) struct Seen {
    last: u64,
    /// Pages of trees and overflow runs.
    used: PageSet,
    /// Pages that the free list names.
    free: PageSet,
    /// Pages of the previous snapshot that the newest does not have.
    pub(super) previous: PageSet,
}

impl Seen {
    pub(super) fn reset(&mut self, last: u64, file_pages: u64) {
        let pages = file_pages.min(last.saturating_add(1));
        self.last = last;
        self.used.reset(pages);
        self.free.reset(pages);
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// From now on the snapshot before the newest is looked at, which ends with page `last`.
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

    /// Whether a tree of the newest snapshot has the page.
    pub(super) fn is_used(&self, pgno: u64) -> bool {
        self.used.has(pgno)
    }

    /// Marks a page as used; false if it was claimed before.
    pub(super) fn claim(&mut self, pgno: u64) -> bool {
        !self.free.has(pgno) && self.used.add(pgno)
    }

    /// Marks a page as free; false if it was claimed before.
    pub(super) fn claim_free(&mut self, pgno: u64) -> bool {
        !self.used.has(pgno) && self.free.add(pgno)
    }

    /// How many pages were claimed.
    pub(super) fn claimed(&self) -> u64 {
        self.used.len() + self.free.len()
    }

    /// How many pages of the range nobody claimed.
    pub(super) fn unclaimed(&self) -> u64 {
        self.last.saturating_sub(1).saturating_sub(self.claimed())
    }

    /// The first `limit` of them. Ends after `limit` misses, so its cost is bounded by the pages claimed.
    pub(super) fn first_unclaimed(&self, limit: usize) -> Vec<u64> {
        (2..=self.last)
            .filter(|pgno| !self.used.has(*pgno) && !self.free.has(*pgno))
            .take(limit.min(self.unclaimed() as usize))
            .collect()
    }
}
