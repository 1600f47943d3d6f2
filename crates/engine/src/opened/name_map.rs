//! Numbers of named databases.

use alloc::boxed::Box;

use core::hash::Hasher;

use rustc_hash::FxHasher;

use crate::hash::{HashTable, TableEntry};

/// A number for each name. The C library shares the compiled code with the engine.
#[derive(Debug, Default)]
pub struct NameMap(HashTable<NumberedName>);

#[derive(Debug)]
struct NumberedName {
    name: Box<[u8]>,
    number: usize,
}

impl TableEntry for NumberedName {
    type Key = [u8];

    fn key(&self) -> &[u8] {
        &self.name
    }

    fn hash(key: &[u8]) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write(key);
        hasher.finish()
    }
}

impl NameMap {
    /// Returns how many names have a number.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if no name has a number.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of a name.
    #[must_use]
    #[inline(never)]
    pub fn get(&self, name: &[u8]) -> Option<usize> {
        Some(self.0.get(name)?.number)
    }

    /// Sets the number of a name.
    #[inline(never)]
    pub fn insert(&mut self, name: &[u8], number: usize) {
        match self.0.get_mut(name) {
            Some(known) => known.number = number,
            None => {
                self.0.insert(NumberedName {
                    name: name.into(),
                    number,
                });
            }
        }
    }

    /// Forgets a name.
    #[inline(never)]
    pub fn remove(&mut self, name: &[u8]) {
        self.0.remove(name);
    }
}
