//! One chunk as a bitmap in memory. Sets are combined in this form.

use super::position::CHUNK_IDS;

const WORDS: usize = CHUNK_IDS / 64;

/// 2^13 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bitmap {
    words: [u64; WORDS],
}

impl Bitmap {
    pub(crate) const fn new() -> Bitmap {
        Bitmap { words: [0; WORDS] }
    }

    pub(crate) fn clear(&mut self) {
        self.words = [0; WORDS];
    }

    pub(crate) fn words(&self) -> &[u64; WORDS] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64; WORDS] {
        &mut self.words
    }

    /// Adds a position. Returns false if it is outside the chunk.
    pub(crate) fn insert(&mut self, low: u16) -> bool {
        match self.words.get_mut(usize::from(low) / 64) {
            Some(word) => *word |= 1 << (low % 64),
            None => return false,
        }
        true
    }

    pub(crate) fn remove(&mut self, low: u16) {
        debug_assert!(usize::from(low) < CHUNK_IDS, "a position is in its chunk");
        if let Some(word) = self.words.get_mut(usize::from(low) / 64) {
            *word &= !(1 << (low % 64));
        }
    }

    /// Adds `first..=last`. Returns false if they are out of order or outside the chunk.
    pub(crate) fn insert_run(&mut self, first: usize, last: usize) -> bool {
        if first > last || last >= CHUNK_IDS {
            return false;
        }
        for (index, word) in self
            .words
            .iter_mut()
            .enumerate()
            .take(last / 64 + 1)
            .skip(first / 64)
        {
            let from = if index == first / 64 {
                u64::MAX << (first % 64)
            } else {
                u64::MAX
            };
            let to = if index == last / 64 {
                u64::MAX >> (63 - last % 64)
            } else {
                u64::MAX
            };
            *word |= from & to;
        }
        debug_assert!(self.next_gap(first) > last, "the whole run is set");
        true
    }

    pub(crate) fn or(&mut self, other: &Bitmap) {
        self.words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(a, b)| *a |= b);
        debug_assert!(self.len() >= other.len(), "a union has both sets");
    }

    pub(crate) fn and(&mut self, other: &Bitmap) {
        self.words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(a, b)| *a &= b);
        debug_assert!(self.len() <= other.len(), "an intersection is in both sets");
    }

    pub(crate) fn and_not(&mut self, other: &Bitmap) {
        self.words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(a, b)| *a &= !b);
        debug_assert!(
            self.iter()
                .all(|low| other.next(usize::from(low)) != Some(low)),
            "a difference has no id of the other set"
        );
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Returns the number of positions that are set.
    pub(crate) fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Returns the number of runs of neighbours.
    pub(crate) fn runs(&self) -> usize {
        let mut before = 0;
        let mut runs = 0;
        for &word in &self.words {
            runs += (word & !((word << 1) | before)).count_ones() as usize;
            before = word >> 63;
        }
        debug_assert!(runs <= self.len(), "a run has at least one id");
        runs
    }

    /// Returns the first position at or after `from`.
    pub(crate) fn next(&self, from: usize) -> Option<u16> {
        let mut index = from / 64;
        let mut word = self.words.get(index)? & (u64::MAX << (from % 64));
        while word == 0 {
            index += 1;
            word = *self.words.get(index)?;
        }
        u16::try_from(index * 64 + word.trailing_zeros() as usize).ok()
    }

    /// Returns the first position at or after `from` that is not set, or the end of the chunk.
    pub(crate) fn next_gap(&self, from: usize) -> usize {
        let mut index = from / 64;
        let Some(first) = self.words.get(index) else {
            return CHUNK_IDS;
        };
        let mut word = !first & (u64::MAX << (from % 64));
        while word == 0 {
            index += 1;
            match self.words.get(index) {
                Some(next) => word = !next,
                None => return CHUNK_IDS,
            }
        }
        index * 64 + word.trailing_zeros() as usize
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        let mut from = 0;
        std::iter::from_fn(move || {
            let low = self.next(from)?;
            from = usize::from(low) + 1;
            Some(low)
        })
    }
}
