//! The reader slots that this thread owns: found without a lock, given up when the thread ends.

use alloc::vec::Vec;
use core::cell::RefCell;
use fulgurite_os::platform::thread_local;

use super::counted::{Strong, Watch};
use super::registry::RegisteredEnvironment;
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::reader::{LockFile, Slot, SlotTable};

thread_local! {
    static SLOTS: RefCell<ThreadSlots> = const { RefCell::new(ThreadSlots(Vec::new())) };
}

/// A slot this thread has in an environment, through one handle of it.
struct ThreadSlot {
    handle: u64,
    shared: Watch<RegisteredEnvironment>,
    slot: Slot,
}

struct ThreadSlots(Vec<ThreadSlot>);

impl Drop for ThreadSlots {
    fn drop(&mut self) {
        for bound in &self.0 {
            // Environments closed before the thread ended have freed the slot; in a forked child it
            // is the parent's.
            if let Some(shared) = bound.shared.owner()
                && shared.is_of_this_process()
                && let Some(lock) = &shared.lock
            {
                lock.leave(bound.slot, bound.handle);
            }
        }
    }
}

/// This thread's slot: the one it has, else a new one that it keeps until it ends.
pub(super) fn take_slot(
    shared: &Strong<RegisteredEnvironment>,
    lock: &LockFile,
    handle: u64,
) -> Result<Slot, BoxedError> {
    let known = SLOTS.try_with(|slots| {
        let slots = slots.try_borrow().ok()?;
        let found = slots.0.iter().find(|bound| bound.handle == handle);
        found.map(|bound| bound.slot)
    });
    match known {
        Ok(Some(slot)) if lock.claim_bound(slot, handle) => Ok(slot),
        Ok(Some(_)) => Err(Error::ReaderBusy.into()),
        Ok(None) => bind(shared, lock, handle),
        // The thread is ending and has given its slots up.
        Err(_) => lock.take_slot_once(),
    }
}

#[cold]
fn bind(
    shared: &Strong<RegisteredEnvironment>,
    lock: &LockFile,
    handle: u64,
) -> Result<Slot, BoxedError> {
    let slot = lock.take_slot_bound(handle)?;
    let noted = SLOTS.try_with(|slots| {
        let mut slots = slots.try_borrow_mut().ok()?;
        slots.0.retain(|bound| bound.shared.is_owned());
        slots.0.push(ThreadSlot {
            handle,
            shared: shared.watch(),
            slot,
        });
        Some(())
    });
    if let Ok(Some(())) = noted {
        return Ok(slot);
    }
    // Nobody would give the slot up.
    lock.leave(slot, handle);
    Err(Error::ReaderBusy.into())
}
