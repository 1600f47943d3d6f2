//! Which data files this process has open.
//!
//! Record locks belong to the process: a second handle on a file would take the "nobody else" lock, reset the table
//! of live readers, and by closing drop the locks of the first. So a second opening is refused.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fulgurite_os::FileIdentity;

static OPEN: Mutex<Option<HashSet<FileIdentity>>> = Mutex::new(None);

static OPENING: Mutex<()> = Mutex::new(());

/// Held while an environment is being opened, so that two threads cannot open the same one at once.
pub(super) fn opening() -> MutexGuard<'static, ()> {
    OPENING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this process has the file open.
pub(super) fn is_open(identity: FileIdentity) -> bool {
    let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.as_ref().is_some_and(|open| open.contains(&identity))
}

/// A data file's entry in the registry, taken out when dropped.
#[derive(Debug)]
pub(crate) struct Registration(FileIdentity);

impl Registration {
    /// Enters a file; `None` if this process has it open already.
    pub(crate) fn enter(identity: FileIdentity) -> Option<Registration> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.get_or_insert_default()
            .insert(identity)
            .then_some(Registration(identity))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = open.as_mut() {
            open.remove(&self.0);
        }
    }
}
