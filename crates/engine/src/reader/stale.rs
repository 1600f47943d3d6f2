//! Slots of processes that died: found by their missing lock, and freed.

use fulgurite_os::is_locked_by_other;

use super::{LockFile, SlotTable};
use crate::Error;

impl LockFile {
    /// Frees the slots of dead processes; returns how many.
    pub(crate) fn clear_stale(&self) -> Result<usize, Error> {
        if self.dead_pids()?.is_empty() {
            return Ok(0);
        }
        self.with_reader_mutex(|| self.clear_stale_locked())
    }

    /// As [`LockFile::clear_stale`], with the reader mutex held: no process can take a dead one's id meanwhile.
    pub(super) fn clear_stale_locked(&self) -> Result<usize, Error> {
        let dead = self.dead_pids()?;
        Ok(self.free_slots_of_processes(&dead))
    }

    /// Process ids in the table whose octet nobody holds locked. Our own is never among them.
    fn dead_pids(&self) -> Result<Vec<u32>, Error> {
        let mut dead = Vec::new();
        for pid in self.slot_pids() {
            if pid == self.pid {
                continue;
            }
            let alive = is_locked_by_other(&self.file, u64::from(pid))
                .map_err(Error::io("looking for dead readers"))?;
            if !alive {
                dead.push(pid);
            }
        }
        Ok(dead)
    }
}
