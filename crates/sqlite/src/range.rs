//! A range of keys.

use std::ops::Bound;

/// The keys of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) low: Bound<Vec<u8>>,
    pub(crate) high: Bound<Vec<u8>>,
}

impl Range {
    /// All keys.
    pub(crate) const ALL: Range = Range {
        low: Bound::Unbounded,
        high: Bound::Unbounded,
    };

    /// One key.
    pub(crate) fn only(key: Vec<u8>) -> Range {
        Range {
            low: Bound::Included(key.clone()),
            high: Bound::Included(key),
        }
    }
}
