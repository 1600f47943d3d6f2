//! Transactions: snapshots to read, and the one that writes.

mod commit;
mod cursor_put;
mod edit;
mod free_pages;
mod insert_hint;
mod level;
mod multimap;
mod named;
mod nested;
mod previous;
mod put;
mod put_flags;
mod put_many;
mod read;
mod remove;
mod snapshot;
mod snapshot_cache;
mod trees;
mod write;
mod write_cursor;

pub use edit::Edit;
pub use free_pages::{FreePages, HeldPages};
pub use nested::NestedTxn;
pub use put_flags::{Put, PutFlags, Reservation};
pub use read::{ParkedReader, ReadTxn};
pub use snapshot::{Snapshot, Stat};
pub use write::WriteTxn;
pub use write_cursor::WriteCursor;

pub(crate) use snapshot::Sealed;
