//! Which pages have been claimed: a sparse set of bits, so that a lying last page number costs no memory.

use std::collections::HashMap;

/// Pages per chunk of the set. Small, because a hostile free list can name pages far apart.
const CHUNK_PAGES: u64 = 512;

type Chunk = [u64; (CHUNK_PAGES / 64) as usize];

/// The set of claimed pages within `2..=last`.
#[derive(Debug)]
pub(super) struct Seen {
    last: u64,
    claimed: u64,
    chunks: HashMap<u64, Box<Chunk>>,
}

impl Seen {
    pub(super) fn new(last: u64) -> Self {
        Self {
            last,
            claimed: 0,
            chunks: HashMap::new(),
        }
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    pub(super) fn in_range(&self, pgno: u64) -> bool {
        (2..=self.last).contains(&pgno)
    }

    /// Marks a page; false if it was marked before.
    pub(super) fn claim(&mut self, pgno: u64) -> bool {
        let chunk = self
            .chunks
            .entry(pgno / CHUNK_PAGES)
            .or_insert_with(|| Box::new([0; 8]));
        let (word, bit) = position(pgno);
        let fresh = chunk[word] & bit == 0;
        chunk[word] |= bit;
        self.claimed += u64::from(fresh);
        fresh
    }

    fn contains(&self, pgno: u64) -> bool {
        let (word, bit) = position(pgno);
        self.chunks
            .get(&(pgno / CHUNK_PAGES))
            .is_some_and(|chunk| chunk[word] & bit != 0)
    }

    /// How many pages of the range nobody claimed.
    pub(super) fn unclaimed(&self) -> u64 {
        self.last.saturating_sub(1).saturating_sub(self.claimed)
    }

    /// The first `limit` of them. Ends after `limit` misses, so its cost is bounded by the pages claimed.
    pub(super) fn first_unclaimed(&self, limit: usize) -> Vec<u64> {
        (2..=self.last)
            .filter(|pgno| !self.contains(*pgno))
            .take(limit.min(self.unclaimed() as usize))
            .collect()
    }
}

fn position(pgno: u64) -> (usize, u64) {
    (((pgno % CHUNK_PAGES) / 64) as usize, 1 << (pgno % 64))
}
