//! Transactions: snapshots to read, and the one that writes.

mod commit;
mod nested;
mod read;
mod snapshot;
mod trees;
mod write;

pub use nested::NestedTxn;
pub use read::{ParkedReader, ReadTxn};
pub use snapshot::{Snapshot, Stat};
pub use write::WriteTxn;

pub(crate) use snapshot::Sealed;
