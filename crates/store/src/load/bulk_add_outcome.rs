//! The outcome of one entry of a bulk writer.

use crate::ids::EntryId;

/// The outcome of adding an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkAddOutcome {
    /// The entry was added.
    Added(EntryId),
    /// Its name is taken.
    Exists,
    /// Its parent is missing, or its id is not above the last one. Only a writer can add it.
    OutOfOrder,
}
