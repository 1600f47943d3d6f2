//! A small map: a sorted vector, whose code is a fraction of that of a tree.

use alloc::vec::Vec;

/// A map for keys that mostly come in ascending order. A search costs as in a tree; an insertion
/// moves the entries behind it.
#[derive(Debug, Clone)]
pub(crate) struct SortedMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> SortedMap<K, V> {
        SortedMap(Vec::new())
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        let (_, value) = self.0.get(self.search(key).ok()?)?;
        Some(value)
    }

    /// Sets the value of a key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        match self.search(&key) {
            Ok(found) => {
                if let Some(entry) = self.0.get_mut(found) {
                    entry.1 = value;
                }
            }
            Err(gap) => self.0.insert(gap, (key, value)),
        }
    }

    /// Keeps those entries for which `stays` is true.
    pub(crate) fn retain(&mut self, mut stays: impl FnMut(&K, &V) -> bool) {
        self.0.retain(|(key, value)| stays(key, value));
    }

    /// Returns the entries in the order of their keys.
    pub(crate) fn entries(&self) -> &[(K, V)] {
        &self.0
    }

    fn search(&self, key: &K) -> Result<usize, usize> {
        self.0.binary_search_by(|(own, _)| own.cmp(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_is_equal_to_a_tree() {
        let mut map = SortedMap::default();
        let mut tree = BTreeMap::new();
        for step in 0..2000u32 {
            let key = step.wrapping_mul(2_654_435_761) >> 25;
            assert_eq!(map.get(&key), tree.get(&key));
            map.insert(key, step);
            tree.insert(key, step);
            assert_eq!(map.get(&key), tree.get(&key));
        }
        map.retain(|key, _| key % 2 == 0);
        tree.retain(|key, _| key % 2 == 0);
        assert!(map.entries().iter().map(|(k, v)| (k, v)).eq(tree.iter()));
    }
}
