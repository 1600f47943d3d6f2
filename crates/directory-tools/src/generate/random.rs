//! Numbers that look random and are the same everywhere.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// SplitMix64 with the choices that a generated directory needs.
#[derive(Clone, Debug)]
pub(super) struct Random(SplitMix64);

impl Random {
    /// Returns the sequence of one thing (`number`) of one kind within the directory of `seed`.
    pub(super) fn of(seed: u64, kind: u64, number: u64) -> Self {
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ kind.rotate_left(48);
        let start = Self::new(mixed).next() ^ number;
        Self::new(Self::new(start).next())
    }

    fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `bound`; 0 if that is 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns one of the words.
    pub(super) fn pick(&mut self, words: &[&'static str]) -> &'static str {
        words
            .get(self.below(words.len() as u64) as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Returns true once in `many` times.
    pub(super) fn once_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// A generated directory depends on its seed alone, in all releases.
    #[test]
    fn the_sequence_stays_as_it_is() {
        let mut random = Random::of(7, 2, 1000);
        assert_eq!(random.next(), 3_476_420_896_431_159_531);
        assert_eq!(random.next(), 15_462_260_895_538_527_283);
    }
}
