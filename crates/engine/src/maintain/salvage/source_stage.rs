//! The sources of a salvage, in the order in which they are read.

/// The current source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Newest,
    Orphans,
    Previous,
}
