//! Who still reads which snapshot: the lock file, its reader slots and its locks.

mod lock_file;
mod slots;
mod stale;
#[cfg(test)]
mod tests;

pub(crate) use lock_file::{LockFile, LockOpenError, broken};
pub(crate) use slots::Slot;
