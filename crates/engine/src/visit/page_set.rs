//! Sets of page numbers, sparse: a lying page number costs no more memory than an honest one.

use std::collections::BTreeMap;

use fulgurite_format::Pgno;

/// Pages per chunk. Small, because hostile numbers lie far apart.
const CHUNK_PAGES: u64 = 512;

type Chunk = [u64; (CHUNK_PAGES / 64) as usize];

/// A set of page numbers: a bit per page, in chunks of pages that are near each other.
#[derive(Debug, Default)]
pub(super) struct PageSet {
    chunks: BTreeMap<u64, Chunk>,
    len: u64,
}

impl PageSet {
    /// Adds a page; `false` if it was there.
    pub(super) fn insert(&mut self, pgno: Pgno) -> bool {
        let chunk = self.chunks.entry(pgno.0 / CHUNK_PAGES).or_default();
        let (word, bit) = place(pgno);
        let Some(word) = chunk.get_mut(word) else {
            return false;
        };
        let is_new = *word & bit == 0;
        *word |= bit;
        self.len += u64::from(is_new);
        is_new
    }

    pub(super) fn contains(&self, pgno: Pgno) -> bool {
        let (word, bit) = place(pgno);
        let chunk = self.chunks.get(&(pgno.0 / CHUNK_PAGES));
        chunk.is_some_and(|chunk| chunk.get(word).is_some_and(|word| word & bit != 0))
    }

    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// The pages, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = Pgno> {
        self.chunks.iter().flat_map(|(chunk, words)| {
            let first = chunk * CHUNK_PAGES;
            words.iter().zip(0u64..).flat_map(move |(word, index)| {
                let bits = (0..64).filter(move |bit| word >> bit & 1 != 0);
                bits.map(move |bit| Pgno(first + index * 64 + bit))
            })
        })
    }
}

/// The word of a page in its chunk, and its bit there.
const fn place(pgno: Pgno) -> (usize, u64) {
    ((pgno.0 % CHUNK_PAGES / 64) as usize, 1 << (pgno.0 % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_held_once_and_in_order() {
        let mut set = PageSet::default();
        let numbers = [700, 2, 63, 64, 511, 512, 1 << 40];
        for number in numbers {
            assert!(set.insert(Pgno(number)), "{number}");
            assert!(!set.insert(Pgno(number)), "{number}");
        }
        let mut sorted = numbers;
        sorted.sort_unstable();
        assert_eq!(set.iter().collect::<Vec<_>>(), sorted.map(Pgno));
        assert_eq!(set.len(), 7);
        assert!(set.contains(Pgno(512)) && !set.contains(Pgno(513)));
    }
}
