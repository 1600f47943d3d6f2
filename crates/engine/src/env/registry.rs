//! Which data and lock files this process has open.
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

/// The entries of an environment's files in the registry, taken out when dropped.
#[derive(Debug)]
pub(crate) struct Registration([Option<FileIdentity>; 2]);

impl Registration {
    /// Enters files; `None` if this process has one of them open already.
    pub(crate) fn enter(files: [Option<FileIdentity>; 2]) -> Option<Registration> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.get_or_insert_default();
        if files.iter().flatten().any(|file| open.contains(file)) {
            return None;
        }
        open.extend(files.iter().flatten());
        Some(Registration(files))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = open.as_mut() {
            for file in self.0.iter().flatten() {
                open.remove(file);
            }
        }
    }
}
