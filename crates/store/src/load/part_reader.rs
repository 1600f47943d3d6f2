//! The reader of a load: from a part of the input to entries.

use super::batch::LoadBatch;

/// Makes entries of the parts of an input. Each preparing thread has its own clone of the reader.
pub trait PartReader<P, E> {
    /// Adds the entries of a part to the batch.
    ///
    /// # Errors
    /// The error ends the load after the entries that were added before it.
    fn read(&mut self, part: P, batch: &mut LoadBatch<'_>) -> Result<(), E>;
}
