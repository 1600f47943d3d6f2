//! Sets of page numbers: dense for the pages of a file, sparse beyond them.
//!
//! A page number from a damaged file costs no more memory than a valid one.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Pages per chunk of the sparse part. Small, because numbers from a hostile file are scattered.
const CHUNK_PAGES: u64 = 512;

type Chunk = [u64; (CHUNK_PAGES / 64) as usize];

/// A set of page numbers.
#[derive(Debug, Default)]
pub(crate) struct PageSet {
    /// One bit for each page below the limit given to [`PageSet::reset`].
    dense: Vec<u64>,
    /// Chunks of all other pages, by the number of their first page divided by [`CHUNK_PAGES`].
    sparse: BTreeMap<u64, Box<Chunk>>,
    len: u64,
}

impl PageSet {
    /// Empties the set, and gives the dense part room for `dense_pages` pages.
    pub(crate) fn reset(&mut self, dense_pages: u64) {
        self.dense.clear();
        self.dense.resize(dense_pages.div_ceil(64) as usize, 0);
        self.sparse.clear();
        self.len = 0;
    }

    /// Adds a page. Returns false if the set had it.
    pub(crate) fn add(&mut self, pgno: u64) -> bool {
        let bit = 1 << (pgno % 64);
        let word = match self.dense.get_mut((pgno / 64) as usize) {
            Some(word) => word,
            None => {
                let chunk = self.sparse.entry(pgno / CHUNK_PAGES).or_default();
                &mut chunk[word_in_chunk(pgno)]
            }
        };
        let is_new = *word & bit == 0;
        *word |= bit;
        self.len += u64::from(is_new);
        is_new
    }

    /// Returns true if the set has a page.
    pub(crate) fn contains(&self, pgno: u64) -> bool {
        let word = match self.dense.get((pgno / 64) as usize) {
            Some(word) => *word,
            None => self
                .sparse
                .get(&(pgno / CHUNK_PAGES))
                .map_or(0, |chunk| chunk[word_in_chunk(pgno)]),
        };
        word & (1 << (pgno % 64)) != 0
    }

    /// Returns the number of pages.
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Iterates over the pages in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        let dense = self.dense.iter().zip(0u64..);
        let dense = dense.map(|(word, index)| (*word, index * 64));
        let sparse = self.sparse.iter().flat_map(|(chunk, words)| {
            let first = chunk * CHUNK_PAGES;
            let words = words.iter().zip(0u64..);
            words.map(move |(word, index)| (*word, first + index * 64))
        });
        dense.chain(sparse).flat_map(|(word, first)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 != 0);
            bits.map(move |bit| first + bit)
        })
    }
}

/// Returns the index of a page's word in its chunk.
const fn word_in_chunk(pgno: u64) -> usize {
    (pgno % CHUNK_PAGES / 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_kept_once_and_in_order_in_both_parts() {
        for dense_pages in [0, 100] {
            let mut set = PageSet::default();
            set.reset(dense_pages);
            let numbers = [700, 2, 63, 64, 511, 512, 1 << 40];
            for number in numbers {
                assert!(set.add(number), "{number}");
                assert!(!set.add(number), "{number}");
            }
            let mut sorted = numbers;
            sorted.sort_unstable();
            assert_eq!(set.iter().collect::<Vec<_>>(), sorted);
            assert_eq!(set.len(), 7);
            assert!(set.contains(512) && !set.contains(513));
        }
    }
}
