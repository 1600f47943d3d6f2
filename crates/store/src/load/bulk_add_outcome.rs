//! The outcome of one entry of a bulk writer.

use crate::ids::EntryId;

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkAddOutcome {
    /// It was added.
    Added(EntryId),
    /// Its name is taken.
    Exists,
    /// Its parent has not come, or its id is not above the last one: only a writer can take it.
    OutOfOrder,
}
