//! The limits of a decoder.

use crate::FILTER_DEPTH_CEILING;

/// The limits of a decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How deep `and`, `or` and `not` nest; [`FILTER_DEPTH_CEILING`] at most, whatever is set.
    pub filter_depth_max: u16,
    /// How many parts a filter has in all. A part takes two bytes or more on the wire and far more
    /// in memory. This limit bounds the cost of one request.
    pub filter_parts_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            filter_depth_max: FILTER_DEPTH_CEILING,
            filter_parts_max: 65_536,
        }
    }
}
