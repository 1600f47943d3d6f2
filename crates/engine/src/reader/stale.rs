//! Slots of processes that died: found by their missing lock, and freed.

use alloc::vec::Vec;
use fulgurite_os::is_locked_by_other;

use super::{LockFile, SlotTable};
use crate::Error;
use crate::boxed_error::BoxedError;

impl LockFile {
    /// Frees the slots of dead processes; returns how many.
    pub(crate) fn clear_stale(&self) -> Result<usize, BoxedError> {
        if self
            .dead_pids(self.pid, |pid| self.is_alive(pid))?
            .is_empty()
        {
            return Ok(0);
        }
        self.with_reader_mutex(|| self.clear_stale_locked())
    }

    /// As [`LockFile::clear_stale`], with the reader mutex held.
    pub(super) fn clear_stale_locked(&self) -> Result<usize, BoxedError> {
        self.free_dead_slots(self.pid, |pid| self.is_alive(pid))
    }

    /// The processes in the table that are dead; changes nothing.
    pub(crate) fn dead_processes(&self) -> Result<Vec<u32>, BoxedError> {
        self.dead_pids(self.pid, |pid| self.is_alive(pid))
    }

    /// Returns true if a process holds the byte of its id locked. Of our own it cannot be told.
    fn is_alive(&self, pid: u32) -> Result<bool, BoxedError> {
        is_locked_by_other(&self.file, u64::from(pid))
            .map_err(Error::io("looking for dead readers"))
    }
}
