//! Who still reads which snapshot: the lock file, its reader slots and its locks.

mod lock_file;
#[cfg(test)]
mod models;
mod ownership;
mod slots;
mod stale;
mod table;
#[cfg(test)]
mod tests;
mod writer_mark;

pub(crate) use lock_file::{LockFile, LockOpenError, broken};
use ownership::{Holder, Ownership};
pub(crate) use table::{Slot, SlotTable, may_be_reused};
pub(crate) use writer_mark::WriterMark;
