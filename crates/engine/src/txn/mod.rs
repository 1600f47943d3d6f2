//! Transactions: snapshots to read, and the one that writes.

mod commit;
mod cursor_put;
mod edit;
mod group;
mod kept;
mod named;
mod near;
mod nested;
mod previous;
mod put;
mod put_flags;
mod put_many;
mod read;
mod remove;
mod snapshot;
mod trees;
mod write;

pub use edit::Edit;
pub use nested::NestedTxn;
pub use put_flags::{Put, PutFlags, Room};
pub use read::{ParkedReader, ReadTxn};
pub use snapshot::{Snapshot, Stat};
pub use write::WriteTxn;

pub(crate) use group::Group;
pub(crate) use snapshot::Sealed;
