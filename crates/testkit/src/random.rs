//! Numbers that look random and can be replayed from a printed seed.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// The seed of a test: the environment variable `FULGURITE_TEST_SEED` if set. Otherwise long runs
/// use a fresh one, and ordinary runs `default`, so that they are the same every time. It is
/// printed, and shown when the test fails.
///
/// # Panics
/// If the variable is set to something that is no number.
#[must_use]
pub fn seed(test: &str, default: u64) -> u64 {
    let seed = match std::env::var("FULGURITE_TEST_SEED") {
        Ok(text) => text
            .parse()
            .expect("FULGURITE_TEST_SEED must be a decimal number"),
        Err(_) if long() => fresh(),
        Err(_) => default,
    };
    println!("{test}: replay with FULGURITE_TEST_SEED={seed}");
    seed
}

/// `quick` ordinarily, `long` when `FULGURITE_TEST_LONG` is set to anything but 0.
pub fn quick_or_long<T>(quick: T, long_: T) -> T {
    if long() { long_ } else { quick }
}

fn long() -> bool {
    std::env::var("FULGURITE_TEST_LONG").is_ok_and(|v| !v.is_empty() && v != "0")
}

fn fresh() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |d| d.as_nanos() as u64)
}

/// SplitMix64 with the choices that tests make. It is the same on every machine.
#[derive(Debug, Clone)]
pub struct Random(SplitMix64);

impl Random {
    /// A generator whose whole sequence follows from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..bound` (0 if `bound` is 0).
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 {
            0
        } else {
            (self.bits() % bound as u64) as usize
        }
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True `percent` times of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// `len` bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(len + 8);
        while out.len() < len {
            out.extend_from_slice(&self.bits().to_le_bytes());
        }
        out.truncate(len);
        out
    }

    /// One of `items`.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_follows_from_the_seed() {
        let (mut a, mut b) = (Random::new(7), Random::new(7));
        assert_eq!(a.bytes(33), b.bytes(33));
        assert_ne!(Random::new(8).bits(), Random::new(7).bits());
        // Printed seeds and kept histories depend on the sequence.
        let mut random = Random::new(1_477_776_061_723_855_037);
        assert_eq!(random.bits(), 1_985_237_415_132_408_290);
        assert_eq!(random.bits(), 2_979_275_885_539_914_483);
    }

    #[test]
    fn ranges_include_their_ends() {
        let mut r = Random::new(1);
        let seen: std::collections::BTreeSet<_> = (0..200).map(|_| r.between(3, 5)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4, 5]);
    }
}
