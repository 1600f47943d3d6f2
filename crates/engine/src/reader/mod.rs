//! The readers of snapshots: the lock file, its reader slots and its locks.

mod govern;
mod list;
mod lock_file;
#[cfg(test)]
mod models;
mod ownership;
mod policy;
mod slot_cache;
mod slots;
mod stale;
mod stamp;
mod table;
#[cfg(test)]
mod tests;
mod writer_mark;

pub(crate) use govern::{Governor, GrowthDecision};
pub(crate) use lock_file::{LockFile, LockOpenError, broken};
use ownership::{Ownership, SlotOwner};
pub use policy::ReaderPolicy;
pub(crate) use slot_cache::ReaderSlotCache;
pub(crate) use stamp::EndMark;
pub(crate) use table::{Slot, SlotTable, may_be_reused};
pub(crate) use writer_mark::WriterMark;
