//! The table of index kinds.

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
