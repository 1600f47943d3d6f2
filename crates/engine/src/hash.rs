//! Tables by hash. Their keys are page numbers and names of databases, which no attacker chooses.
//!
//! The entries lie one behind the other in the order of their arrival. A power of two of places
//! holds their numbers. The number of an entry is at the place that its hash names, or at one of
//! the next. No empty place is between, so a search ends at the first empty place.

use alloc::vec::Vec;

use fulgurite_format::Pgno;

/// Places of the smallest table.
const PLACES_MIN: usize = 16;

/// A table with more places becomes small again if it has few entries. To empty it costs a store
/// for each place.
const PLACES_RETAINED_MAX: usize = 1024;

/// The number in an empty place: no entry has it.
const EMPTY: u32 = u32::MAX;

/// Odd, near 2^64 divided by the golden ratio: products of neighbours lie far from each other.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// An entry, which holds its own key.
pub(crate) trait TableEntry {
    /// The key, of which a table has one entry.
    type Key: PartialEq + ?Sized;

    fn key(&self) -> &Self::Key;

    /// Returns a number for a key; the table spreads it.
    fn hash(key: &Self::Key) -> u64;
}

/// Entries by key. No function of it panics.
#[derive(Debug)]
pub(crate) struct HashTable<E> {
    entries: Vec<E>,
    /// The number of an entry, or [`EMPTY`].
    places: Vec<u32>,
    /// The number of low bits that a hash loses to become the number of a place.
    shift: u32,
}

impl<E> Default for HashTable<E> {
    fn default() -> HashTable<E> {
        HashTable {
            entries: Vec::new(),
            places: Vec::new(),
            shift: u64::BITS - 1,
        }
    }
}

impl<E> HashTable<E> {
    /// Returns the number of entries.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if the table has no entry.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the number of entries that there is memory for.
    pub(crate) const fn capacity(&self) -> usize {
        self.places.len() / 2
    }

    /// Returns the entries, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &E> {
        self.entries.iter()
    }

    /// Returns the entries, in no order, to change anything but their keys.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut E> {
        self.entries.iter_mut()
    }

    /// Takes out all entries, in no order, and keeps the memory for as many.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = E> {
        if self.places.len() > PLACES_RETAINED_MAX.max(32 * self.len()) {
            (self.places, self.shift) = (Vec::new(), u64::BITS - 1);
        }
        self.places.fill(EMPTY);
        self.entries.drain(..)
    }

    /// Drops all entries, as [`HashTable::drain`] does.
    pub(crate) fn clear(&mut self) {
        if !self.is_empty() {
            drop(self.drain());
        }
    }

    /// The place behind a place; the first behind the last.
    #[inline(always)]
    const fn next(&self, place: usize) -> usize {
        (place + 1) & self.places.len().wrapping_sub(1)
    }

    /// The index of the entry whose number is at a place; `None` at an empty place.
    #[inline(always)]
    fn index_at(&self, place: usize) -> Option<usize> {
        let number = *self.places.get(place)?;
        (number != EMPTY).then_some(number as usize)
    }

    /// Stores the number of an entry at a place; `None` empties it.
    #[inline(always)]
    fn set_place(&mut self, place: usize, index: Option<usize>) {
        if let Some(number) = self.places.get_mut(place) {
            *number = index.map_or(EMPTY, |index| index as u32);
        }
    }
}

impl<E: TableEntry> HashTable<E> {
    /// The place where the search for a key begins.
    #[inline(always)]
    fn first_place(&self, key: &E::Key) -> usize {
        (E::hash(key).wrapping_mul(SPREAD) >> self.shift) as usize
    }

    /// Returns the index of the entry with a key. The next removal changes indexes.
    #[inline(always)]
    pub(crate) fn find(&self, key: &E::Key) -> Option<usize> {
        let mut place = self.first_place(key);
        loop {
            // The number in an empty place is that of no entry, so one check ends the search.
            let index = *self.places.get(place)? as usize;
            if self.entries.get(index)?.key() == key {
                return Some(index);
            }
            place = self.next(place);
        }
    }

    /// Returns the index of the entry with a key, or else the place for the number of a new one. A
    /// table without places has none.
    #[inline(always)]
    fn locate(&self, key: &E::Key) -> Result<usize, Option<usize>> {
        let mut place = self.first_place(key);
        while let Some(number) = self.places.get(place) {
            match self.entries.get(*number as usize) {
                None => return Err(Some(place)),
                Some(entry) if entry.key() == key => return Ok(*number as usize),
                Some(_) => place = self.next(place),
            }
        }
        Err(None)
    }

    /// The place with the number of an entry whose key has this first place. Without an entry it is
    /// the empty place for its number.
    fn place_of(&self, first: usize, index: Option<usize>) -> usize {
        let mut place = first;
        while self.index_at(place) != index {
            if self.index_at(place).is_none() {
                break;
            }
            place = self.next(place);
        }
        place
    }

    /// Returns the entry of a key.
    #[inline]
    pub(crate) fn get(&self, key: &E::Key) -> Option<&E> {
        self.entries.get(self.find(key)?)
    }

    /// Returns the entry of a key, for changes.
    #[inline]
    pub(crate) fn get_mut(&mut self, key: &E::Key) -> Option<&mut E> {
        let index = self.find(key)?;
        self.entries.get_mut(index)
    }

    /// Returns the entry with an index, for changes. The newest has the last index.
    #[inline]
    pub(crate) fn at_mut(&mut self, index: usize) -> Option<&mut E> {
        self.entries.get_mut(index)
    }

    /// Returns true if the key has an entry.
    #[inline]
    pub(crate) fn contains(&self, key: &E::Key) -> bool {
        self.find(key).is_some()
    }

    /// Adds an entry. Returns an older one with the same key.
    pub(crate) fn insert(&mut self, entry: E) -> Option<E> {
        self.replace(entry).1
    }

    /// As [`HashTable::insert`], and lends the new entry. It is always there.
    pub(crate) fn replace(&mut self, entry: E) -> (Option<&mut E>, Option<E>) {
        match self.locate(entry.key()) {
            Ok(index) => {
                let known = self.entries.get_mut(index);
                match known {
                    Some(known) => {
                        let old = core::mem::replace(known, entry);
                        (Some(known), Some(old))
                    }
                    None => (None, None),
                }
            }
            Err(place) => (self.add(entry, place), None),
        }
    }

    /// Adds an entry, whose key has none. `place` is for its number, if the table has places.
    #[inline]
    fn add(&mut self, entry: E, mut place: Option<usize>) -> Option<&mut E> {
        debug_assert!(!self.contains(entry.key()), "a key has one entry");
        if self.len() >= self.capacity() {
            self.grow(self.len().saturating_add(1));
            place = None;
        }
        let place = place.unwrap_or_else(|| self.place_of(self.first_place(entry.key()), None));
        self.set_place(place, Some(self.len()));
        self.entries.push(entry);
        self.entries.last_mut()
    }

    /// Takes out the entry of a key.
    pub(crate) fn remove(&mut self, key: &E::Key) -> Option<E> {
        let index = self.find(key)?;
        let gap = self.place_of(self.first_place(key), Some(index));
        self.close(gap);
        let last = self.entries.pop()?;
        let Some(freed) = self.entries.get_mut(index) else {
            return Some(last);
        };
        // The last entry gets the index that is free now.
        let removed = core::mem::replace(freed, last);
        let first = self.first_place(self.entries.get(index)?.key());
        let place = self.place_of(first, Some(self.len()));
        self.set_place(place, Some(index));
        Some(removed)
    }

    /// Empties a place. Numbers behind it move into the gap, unless they are at or behind the first
    /// place of their key.
    fn close(&mut self, mut gap: usize) {
        let mask = self.places.len().wrapping_sub(1);
        let mut place = self.next(gap);
        while let Some(index) = self.index_at(place) {
            let first = self
                .entries
                .get(index)
                .map(|entry| self.first_place(entry.key()));
            let way = place.wrapping_sub(first.unwrap_or(place)) & mask;
            if way >= place.wrapping_sub(gap) & mask {
                self.set_place(gap, Some(index));
                gap = place;
            }
            place = self.next(place);
        }
        self.set_place(gap, None);
    }

    /// Makes room for more entries.
    #[inline]
    pub(crate) fn reserve(&mut self, more: usize) {
        let entries = self.len().saturating_add(more);
        if entries > self.capacity() {
            self.grow(entries);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, entries: usize) {
        let places = entries
            .saturating_mul(2)
            .next_power_of_two()
            .max(PLACES_MIN);
        self.places.clear();
        self.places.resize(places, EMPTY);
        self.shift = u64::BITS - places.trailing_zeros();
        self.entries.reserve(entries.saturating_sub(self.len()));
        for index in 0..self.len() {
            if let Some(entry) = self.entries.get(index) {
                let place = self.place_of(self.first_place(entry.key()), None);
                self.set_place(place, Some(index));
            }
        }
    }
}

/// A set of page numbers.
pub(crate) type PgnoTable = HashTable<Pgno>;

impl TableEntry for Pgno {
    type Key = Pgno;

    #[inline(always)]
    fn key(&self) -> &Pgno {
        self
    }

    #[inline(always)]
    fn hash(key: &Pgno) -> u64 {
        key.0
    }
}

impl PgnoTable {
    /// Adds pages.
    pub(crate) fn extend(&mut self, pages: impl Iterator<Item = Pgno>) {
        for pgno in pages {
            self.insert(pgno);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq)]
    struct Numbered(Pgno, u64);

    impl TableEntry for Numbered {
        type Key = Pgno;

        fn key(&self) -> &Pgno {
            &self.0
        }

        fn hash(key: &Pgno) -> u64 {
            Pgno::hash(key)
        }
    }

    #[test]
    fn it_is_equal_to_a_tree() {
        let mut table = HashTable::<Numbered>::default();
        let mut tree = BTreeMap::new();
        let mut state = 1u64;
        for step in 0..100_000u64 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(step);
            // Long runs of neighbours, so that entries meet; sometimes few, sometimes many.
            let key = Pgno((state >> 40) % (64 + step / 50));
            assert_eq!(
                table.get(&key).map(|entry| entry.1),
                tree.get(&key).copied()
            );
            match state >> 61 {
                0..=2 => {
                    let old = table.insert(Numbered(key, step));
                    assert_eq!(old.map(|entry| entry.1), tree.insert(key, step));
                }
                3..=5 => {
                    let old = table.remove(&key).map(|entry| entry.1);
                    assert_eq!(old, tree.remove(&key));
                }
                6 => {
                    if let Some(entry) = table.get_mut(&key) {
                        entry.1 += 1;
                    }
                    tree.entry(key).and_modify(|value| *value += 1);
                }
                _ if step % 997 == 0 => {
                    let mut all: Vec<_> = table.drain().map(|entry| (entry.0, entry.1)).collect();
                    all.sort_unstable();
                    assert!(all.into_iter().eq(core::mem::take(&mut tree)));
                }
                _ => table.reserve((state >> 50) as usize % 8),
            }
            assert_eq!(table.len(), tree.len());
            assert_eq!(table.contains(&key), tree.contains_key(&key));
            assert_eq!(table.iter().count(), tree.len());
        }
    }

    #[test]
    fn a_large_table_becomes_small_again() {
        let mut pages = PgnoTable::default();
        pages.extend((0..10_000).map(Pgno));
        pages.clear();
        pages.extend((0..10).map(Pgno));
        assert!(pages.capacity() > 10_000);
        pages.clear();
        assert!(pages.is_empty());
        pages.insert(Pgno(7));
        assert!(pages.capacity() < 100);
    }
}
