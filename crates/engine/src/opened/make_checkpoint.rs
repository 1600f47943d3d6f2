//! Making a checkpoint of an open environment, and closing one in order. See
//! [`super::checkpoints`].

use fulgurite_format::{Meta, Txnid};
use fulgurite_os::platform::sync::PoisonError;

use super::checkpoint_file::Checkpoint;
use super::checkpoints::{Checkpoints, take_slot};
use super::shared::{ATTEMPTS, Shared};
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::reader::{LockFile, Slot, SlotTable as _};

impl Shared {
    /// Makes the newest snapshot the checkpoint, and returns it. Commits go on meanwhile.
    /// # Errors
    /// The system's. If the flush failed, all later writing fails with [`Error::FlushFailed`].
    /// Without checkpoints the flush is all that is done.
    pub(super) fn checkpoint(&self) -> Result<Txnid, BoxedError> {
        let (Some(checkpoints), Some(lock)) = (&self.checkpoints, &self.lock) else {
            let newest = self.published_meta()?.txnid;
            self.flush(true)?;
            return Ok(newest);
        };
        let one_at_a_time = checkpoints.one_at_a_time.lock();
        let _one_at_a_time = one_at_a_time.unwrap_or_else(PoisonError::into_inner);
        let slot = take_slot(lock)?;
        let made = self.make_checkpoint(checkpoints, lock, slot);
        match made {
            // It is unknown which checkpoint is on the disk, so the pages of both stay.
            Err(_) => lock.give_back(slot),
            Ok((_, unused)) => lock.give_back(unused),
        }
        made.map(|(id, _)| id)
    }

    /// Makes the snapshot that `slot` pins from now on the checkpoint. Returns the slot that is not
    /// needed any more.
    fn make_checkpoint(
        &self,
        checkpoints: &Checkpoints,
        lock: &LockFile,
        slot: Slot,
    ) -> Result<(Txnid, Slot), BoxedError> {
        let meta = self.pin_newest(lock, slot)?;
        if checkpoints.last().txnid == meta.txnid {
            return Ok((meta.txnid, slot));
        }
        let mapping = self.mapping();
        let checkpoint = Checkpoint::of(meta, |root| mapping.run(root, mapping.page_size()))?;
        // Everything that the snapshot reaches was written before it was published.
        self.flush(true)?;
        let unused = checkpoints.describe(checkpoint, slot);
        let unused = unused.map_err(Error::io("writing the description of the checkpoint"))?;
        Ok((meta.txnid, unused))
    }

    /// Pins the newest snapshot, and returns its meta page.
    fn pin_newest(&self, lock: &LockFile, slot: Slot) -> Result<Meta, BoxedError> {
        for _ in 0..ATTEMPTS {
            let id = lock.pin(slot);
            if let Some(meta) = lock.read_settled(id, || self.mapping().meta_of(id))? {
                return Ok(meta);
            }
        }
        Err(Error::LockBroken.into())
    }

    /// Closes an environment with checkpoints in order: afterwards it is one without them.
    pub(super) fn close_checkpoints(&self) {
        let Some(checkpoints) = &self.checkpoints else {
            return;
        };
        let is_sound = self.is_of_this_process() && self.check_writable().is_ok();
        if is_sound && checkpoints.closes_in_order() && self.flush(true).is_ok() {
            checkpoints.close();
        }
    }
}
