//! Values that a record leaves to another database, and how a reader reaches them.

use crate::ids::{AttributeId, EntryId};

/// A state of the store that holds the blocks of overflow values.
pub(crate) trait OverflowSource {
    /// Returns the first block of an attribute at or after a block number: its number and its
    /// elements. `None` after the last block, and for damaged blocks: the reader then finds fewer
    /// values than the record announces.
    fn block_from(
        &self,
        entry: EntryId,
        attribute: AttributeId,
        number: u32,
    ) -> Option<(u32, &[u8])>;
}

/// The entry of a record, and the state of the store in which it is read.
#[derive(Clone, Copy)]
pub(crate) struct OverflowLocation<'a> {
    pub(crate) entry: EntryId,
    pub(crate) source: &'a dyn OverflowSource,
}

impl std::fmt::Debug for OverflowLocation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OverflowLocation")
            .field(&self.entry)
            .finish()
    }
}
