//! The table of index kinds.

use std::fmt;

use super::definition::KindDefinition;
use super::{approximate, equality, presence, substring};
use fulgurite_policy::IndexKind;

/// Number of kinds.
pub(crate) const KINDS_LEN: usize = IndexKind::ALL.len();

/// All kinds, in the order in which texts name them. A new row comes last, because stores record
/// the rules of an index in this order. The planner asks the last rows first, as they answer fewer
/// filters and answer them better.
pub(crate) static KINDS: [(IndexKind, KindDefinition); KINDS_LEN] = [
    (IndexKind::Equality, equality::DEFINITION),
    (IndexKind::Presence, presence::DEFINITION),
    (IndexKind::Substring, substring::DEFINITION),
    (IndexKind::Approximate, approximate::DEFINITION),
];

/// Returns the row of a kind.
#[inline]
pub(crate) fn definition_of(kind: IndexKind) -> &'static KindDefinition {
    let (row, definition) = &KINDS[kind as usize];
    debug_assert_eq!(*row, kind, "the table has the order of the enum");
    definition
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexKinds(u8);

impl IndexKinds {
    /// Makes a set of some kinds.
    #[must_use]
    pub fn of(kinds: &[IndexKind]) -> IndexKinds {
        let mut set = IndexKinds::default();
        kinds.iter().for_each(|kind| set.set(*kind, true));
        set
    }

    /// Returns true if a kind is in the set.
    #[must_use]
    #[inline]
    pub fn has(self, kind: IndexKind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }

    /// Returns true if no kind is in the set.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds or removes a kind.
    pub fn set(&mut self, kind: IndexKind, on: bool) {
        let bit = 1 << kind as u8;
        self.0 = if on { self.0 | bit } else { self.0 & !bit };
    }

    /// Adds the kinds of `other`.
    pub(crate) fn merge(&mut self, other: IndexKinds) {
        self.0 |= other.0;
    }

    /// Returns the kinds of the set, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = IndexKind> {
        IndexKind::ALL
            .into_iter()
            .filter(move |kind| self.has(*kind))
    }
}

impl fmt::Display for IndexKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.iter().map(IndexKind::word).collect();
        f.write_str(&words.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_order_of_the_enum_and_unique_codes() {
        for (position, (kind, row)) in KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, position);
            assert_eq!(IndexKind::ALL[position], *kind);
            let same = KINDS.iter().filter(|(_, other)| other.code == row.code);
            assert_eq!(same.count(), 1);
        }
    }
}
