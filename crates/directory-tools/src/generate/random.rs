//! Numbers that look random and are the same everywhere.

/// SplitMix64 (Steele, Lea, Flood 2014): one multiplication chain per number. Not for secrets.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Returns the sequence of one thing (`number`) of one kind within the directory of `seed`.
    pub(super) fn of(seed: u64, kind: u64, number: u64) -> Self {
        let mut mixed = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ kind.rotate_left(48));
        let start = mixed.next() ^ number;
        Self(Self(start).next())
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
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
