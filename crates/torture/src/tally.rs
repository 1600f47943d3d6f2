//! Counts by key, which all runs print and compare.

use std::borrow::Borrow;
use std::collections::BTreeMap;

/// The number of occurrences of each key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally<K> {
    counts: BTreeMap<K, u64>,
}

impl<K> Default for Tally<K> {
    fn default() -> Tally<K> {
        Tally {
            counts: BTreeMap::new(),
        }
    }
}

impl<K: Ord> Tally<K> {
    /// Counts one occurrence.
    pub fn note(&mut self, key: K) {
        self.add(key, 1);
    }

    /// Counts several occurrences.
    pub fn add(&mut self, key: K, count: u64) {
        *self.counts.entry(key).or_default() += count;
    }

    /// Adds the counts of another tally.
    pub fn merge(&mut self, other: &Tally<K>)
    where
        K: Clone,
    {
        for (key, count) in &other.counts {
            self.add(key.clone(), *count);
        }
    }

    /// Returns the count of a key.
    #[must_use]
    pub fn of<Q: Ord + ?Sized>(&self, key: &Q) -> u64
    where
        K: Borrow<Q>,
    {
        self.counts.get(key).copied().unwrap_or_default()
    }

    /// Returns the sum of the counts of chosen keys.
    pub fn sum(&self, mut is_chosen: impl FnMut(&K) -> bool) -> u64 {
        let chosen = self.counts.iter().filter(|(key, _)| is_chosen(key));
        chosen.map(|(_, count)| count).sum()
    }

    /// Returns the sum of all counts.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Iterates over keys and counts, in the order of keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, u64)> {
        self.counts.iter().map(|(key, count)| (key, *count))
    }

    /// Returns true if nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn counts_add_up() {
        let mut one = Tally::default();
        one.note("crash");
        one.add("clean", 4);
        let mut both = one.clone();
        both.merge(&one);
        assert_eq!(
            (both.of("crash"), both.of("clean"), both.of("hang")),
            (2, 8, 0)
        );
        assert_eq!((both.total(), both.sum(|key| *key != "clean")), (10, 2));
        assert!(!both.is_empty() && Tally::<u8>::default().is_empty());
        assert_eq!(
            both.iter().collect::<Vec<_>>(),
            [(&"clean", 8), (&"crash", 2)]
        );
    }
}
