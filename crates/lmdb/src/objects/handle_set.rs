//! A set of database handles.

use alloc::vec::Vec;

use crate::types::MDB_dbi;

/// Handles, a bit for each: they are small numbers. An insertion moves nothing, in whatever order
/// a program closes its handles.
#[derive(Debug, Clone, Default)]
pub(crate) struct HandleSet(Vec<u64>);

/// Returns the word of a handle, and its bit there.
const fn place(dbi: MDB_dbi) -> (usize, u64) {
    ((dbi / u64::BITS) as usize, 1 << (dbi % u64::BITS))
}

impl HandleSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn insert(&mut self, dbi: MDB_dbi) {
        let (index, bit) = place(dbi);
        if self.0.len() <= index {
            self.0.resize(index + 1, 0);
        }
        if let Some(word) = self.0.get_mut(index) {
            *word |= bit;
        }
    }

    pub(crate) fn contains(&self, dbi: MDB_dbi) -> bool {
        let (index, bit) = place(dbi);
        self.0.get(index).is_some_and(|word| word & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_was_inserted_and_nothing_else() {
        let mut set = HandleSet::default();
        assert!(set.is_empty() && !set.contains(0));
        for dbi in [200, 63, 64, 0, 200] {
            set.insert(dbi);
        }
        let held: Vec<MDB_dbi> = (0..1000).filter(|dbi| set.contains(*dbi)).collect();
        assert_eq!(held, [0, 63, 64, 200]);
        assert!(!set.is_empty() && !set.contains(MDB_dbi::MAX));
    }
}
