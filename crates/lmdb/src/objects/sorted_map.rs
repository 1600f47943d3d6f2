//! A small map: a sorted vector, whose code is a fraction of that of a tree.

use alloc::vec::Vec;
use core::borrow::Borrow;

/// A map for few keys, or for keys that mostly come in ascending order. A search costs as in a
/// tree; an insertion or removal moves the entries behind it.
#[derive(Debug, Clone)]
pub(crate) struct SortedMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> SortedMap<K, V> {
        SortedMap(Vec::new())
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the entry with the lowest key.
    pub(crate) fn first(&self) -> Option<&(K, V)> {
        self.0.first()
    }

    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let (_, value) = self.0.get(self.search(key).ok()?)?;
        Some(value)
    }

    /// Sets the value of a key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        match self.search(&key) {
            Ok(found) => self.0[found].1 = value,
            Err(gap) => self.0.insert(gap, (key, value)),
        }
    }

    /// Removes a key. Returns true if the map had it.
    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        let found = self.search(key);
        if let Ok(index) = found {
            self.0.remove(index);
        }
        found.is_ok()
    }

    /// Keeps those entries for which `stays` is true.
    pub(crate) fn retain(&mut self, mut stays: impl FnMut(&K, &V) -> bool) {
        self.0.retain(|(key, value)| stays(key, value));
    }

    /// Returns the entries in the order of their keys.
    pub(crate) fn entries(&self) -> &[(K, V)] {
        &self.0
    }

    fn search<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|(own, _)| own.borrow().cmp(key))
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
            if step % 3 == 0 {
                assert_eq!(map.remove(&key), tree.remove(&key).is_some());
            } else {
                map.insert(key, step);
                tree.insert(key, step);
            }
            assert_eq!(map.get(&key), tree.get(&key));
            assert_eq!(
                map.first().copied(),
                tree.first_key_value().map(|(k, v)| (*k, *v))
            );
            assert_eq!(map.is_empty(), tree.is_empty());
        }
        map.retain(|key, _| key % 2 == 0);
        tree.retain(|key, _| key % 2 == 0);
        assert!(map.entries().iter().map(|(k, v)| (k, v)).eq(tree.iter()));
    }
}
