//! Checkpoints, of an environment that was opened with them.

use fulgurite_format::Txnid;

use super::Environment;
use crate::Error;

impl Environment {
    /// Makes the newest snapshot the checkpoint, and returns its id. A power loss leads back to it,
    /// or to a later one. Two flushes. Other threads read and commit meanwhile. Pages that were
    /// freed before it are reused from now on. See [`crate::OpenOptions::checkpoints`]; in an
    /// environment without them, it makes all commits so far durable.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::ReadersFull`] and the system's. The checkpoint before may
    /// still be the last one then. After a failed flush of the data file all writing fails with
    /// [`Error::FlushFailed`]. The next opening then begins at the last checkpoint.
    pub fn checkpoint(&self) -> Result<Txnid, Error> {
        self.handle.checkpoint().map_err(Error::from)
    }

    /// Returns the snapshot of the last checkpoint; `None` in an environment without checkpoints.
    #[must_use]
    pub fn last_checkpoint(&self) -> Option<Txnid> {
        self.handle.last_checkpoint().map(|meta| meta.txnid)
    }

    /// Returns about how many bytes of pages commits have changed since the last checkpoint; 0
    /// without checkpoints. Costs a look at the free list's record of each commit since.
    ///
    /// # Errors
    /// As [`Environment::read`], and [`Error::Corrupted`].
    pub fn bytes_since_checkpoint(&self) -> Result<u64, Error> {
        let Some(meta) = self.handle.last_checkpoint() else {
            return Ok(0);
        };
        let grown = self.info()?.last_page.saturating_sub(meta.last.0);
        let freed = self.read()?.pages_freed_from(Txnid(meta.txnid.0 + 1))?;
        Ok(grown.max(freed).saturating_mul(meta.page_size() as u64))
    }

    /// Ends an environment with checkpoints as if the process were killed; for tests that simulate
    /// power losses. Other environments are closed as always.
    #[doc(hidden)]
    pub fn close_as_if_killed(self) {
        self.handle.leave();
    }
}
