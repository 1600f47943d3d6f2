//! Numbers of named databases.

use alloc::boxed::Box;

use crate::hash::FxHashMap;

/// A number for each name. The C library shares the compiled code with the engine.
#[derive(Debug, Default)]
pub struct NameMap(FxHashMap<Box<[u8]>, usize>);

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
        self.0.get(name).copied()
    }

    /// Sets the number of a name.
    #[inline(never)]
    pub fn insert(&mut self, name: &[u8], number: usize) {
        self.0.insert(name.into(), number);
    }

    /// Forgets a name.
    #[inline(never)]
    pub fn remove(&mut self, name: &[u8]) {
        self.0.remove(name);
    }
}
