//! Transactions: snapshots to read, and the one that writes.

mod commit;
mod read;
mod snapshot;
mod trees;
mod write;

pub use read::{ParkedReader, ReadTxn};
pub use snapshot::{Snapshot, Stat};
pub use write::WriteTxn;

pub(crate) use snapshot::Sealed;
