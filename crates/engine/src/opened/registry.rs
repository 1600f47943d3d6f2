//! The environments that this process has open, by the identity of their files.
//!
//! Record locks belong to the process. Opening a lock file again would take the lock of a sole
//! process and reset the table of live readers. Closing it would drop the locks of the first. So a
//! second opening shares the state of the first.

use alloc::vec::Vec;
use core::ops::Deref;
use fulgurite_os::platform::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use fulgurite_os::{FileIdentity, fork_generation};

use super::counted::{Strong, Watch};
use super::shared::Shared;
use crate::buffer_pool;

static OPEN: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// Told of every entry that leaves.
static CLOSED: Condvar = Condvar::new();

static OPENING: Mutex<()> = Mutex::new(());

#[derive(Debug)]
struct Entry {
    data: FileIdentity,
    /// The lock file is entered too: another process may put another data file next to it.
    lock: Option<FileIdentity>,
    /// Entries made before a fork are the parent's.
    generation: u32,
    shared: Watch<RegisteredEnvironment>,
}

/// The use that this process makes of a file.
pub(super) enum FileUse {
    /// Nothing.
    Unknown,
    /// It is the data file of an open environment.
    Data(Strong<RegisteredEnvironment>),
    /// It is the lock file of one.
    Lock,
}

/// Held while an environment is being opened, so that two threads cannot open the same one at once.
pub(super) fn opening() -> MutexGuard<'static, ()> {
    OPENING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks a file up. Waits for a thread that is just closing the environment it belongs to.
pub(super) fn look_up(identity: FileIdentity) -> FileUse {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let ours = |entry: &&Entry| entry.generation == fork_generation();
        let is_it = |entry: &&Entry| entry.data == identity || entry.lock == Some(identity);
        let Some(entry) = open.iter().filter(ours).find(is_it) else {
            return FileUse::Unknown;
        };
        if let Some(shared) = entry.shared.owner() {
            return if entry.data == identity {
                FileUse::Data(shared)
            } else {
                FileUse::Lock
            };
        }
        open = CLOSED.wait(open).unwrap_or_else(PoisonError::into_inner);
    }
}

/// The shared state of an open environment, with its entry in the registry.
#[derive(Debug)]
pub(super) struct RegisteredEnvironment {
    pub(super) shared: Shared,
    /// Dropped last: the lock file's descriptor must be closed before another handle opens the
    /// environment.
    #[expect(dead_code, reason = "held for its drop")]
    pub(super) registration: Registration,
}

impl Deref for RegisteredEnvironment {
    type Target = Shared;

    #[inline(always)]
    fn deref(&self) -> &Shared {
        &self.shared
    }
}

/// The entry of an environment in the registry, taken out when dropped.
#[derive(Debug)]
pub(super) struct Registration {
    data: FileIdentity,
    generation: u32,
}

impl Registration {
    /// Enters an environment whose files are not in the registry, see [`look_up`].
    pub(super) fn enter(
        data: FileIdentity,
        lock: Option<FileIdentity>,
        shared: Watch<RegisteredEnvironment>,
    ) -> Registration {
        let generation = fork_generation();
        OPEN.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Entry {
                data,
                lock,
                generation,
                shared,
            });
        Registration { data, generation }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|entry| entry.data != self.data || entry.generation != self.generation);
        let is_last = !open
            .iter()
            .any(|entry| entry.generation == fork_generation());
        drop(open);
        if is_last {
            buffer_pool::clear();
        }
        CLOSED.notify_all();
    }
}
