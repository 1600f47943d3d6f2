//! The table of index kinds.

use std::fmt;

use super::definition::KindDefinition;
use super::{equality, presence, substring};

/// One kind of index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexKind {
    /// `eq`: equality, ordering and `initial*`.
    Equality,
    /// `pres`: has the entry a value?
    Presence,
    /// `sub`: substrings anywhere.
    Substring,
}

/// Number of kinds.
pub(crate) const KINDS_LEN: usize = 3;

/// All kinds, in the order in which texts name them. The planner asks the last rows first, as they
/// answer fewer filters and answer them better.
pub(crate) static KINDS: [(IndexKind, KindDefinition); KINDS_LEN] = [
    (IndexKind::Equality, equality::DEFINITION),
    (IndexKind::Presence, presence::DEFINITION),
    (IndexKind::Substring, substring::DEFINITION),
];

impl IndexKind {
    /// Returns all kinds, in the order of the table.
    pub fn all() -> impl Iterator<Item = IndexKind> {
        KINDS.iter().map(|(kind, _)| *kind)
    }

    /// Returns the kind of a word of settings.
    #[must_use]
    pub fn named(word: &str) -> Option<IndexKind> {
        let mut rows = KINDS.iter();
        let row = rows.find(|(_, row)| row.word == word || row.synonyms.contains(&word));
        row.map(|(kind, _)| *kind)
    }

    /// Returns the word of the kind: `eq`, `pres`, `sub`.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.definition().word
    }

    /// Returns the third byte of the keys of this kind.
    pub(crate) fn code(self) -> u8 {
        self.definition().code
    }

    #[inline]
    pub(crate) fn definition(self) -> &'static KindDefinition {
        let (kind, definition) = &KINDS[self as usize];
        debug_assert_eq!(*kind, self, "the table has the order of the enum");
        definition
    }
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
        IndexKind::all().filter(move |kind| self.has(*kind))
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
            assert_eq!(IndexKind::named(row.word), Some(*kind));
            let same = KINDS.iter().filter(|(_, other)| other.code == row.code);
            assert_eq!(same.count(), 1);
        }
    }
}
