//! Fulgurite's engine: an embedded, transactional key/value store on one memory map, with LMDB's files.
//!
//! ```text
//!            Environment ---- read() ---> ReadTxn  --\
//!             |      |                                 >-- Snapshot: get, cursor, stat
//!             |      '------- write() --> WriteTxn --/     WriteTxn: put, delete, commit
//!             |
//!   env    ->   txn    ->  cursor  ->  tree  ->  value     the path of a read, and of a write
//!             reader       space                           who pins which snapshot; which pages are free
//!                               format, os
//! ```
//!
//! A commit never changes a page that any snapshot can see: it writes changed pages elsewhere and then one of two
//! meta pages, which alone says where the trees begin. So readers need no locks, a crash needs no recovery, and pages
//! that nobody can see any more are used again instead of being compacted.
//!
//! The files and the protocol between processes are those of LMDB 0.9: programs with the original library may have
//! the same environment open at the same time.
//!
//! ```
//! use fulgurite::{Environment, KeyOrder, Snapshot};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path();
//! let environment = Environment::options().open(path)?;
//!
//! let mut txn = environment.write()?;
//! let stones = txn.create_database("stones", KeyOrder::Lexical)?;
//! txn.put(stones, b"fulgurite", b"what lightning leaves in the sand")?;
//! txn.commit()?;
//!
//! let txn = environment.read()?;
//! assert_eq!(txn.get(stones, b"fulgurite")?, Some(&b"what lightning leaves in the sand"[..]));
//! # Ok(())
//! # }
//! ```
//!
//! What this crate is not: it knows nothing of what keys and values mean, has no cache, no background threads and no
//! settings that make it faster.

pub mod check;
mod codes;
mod copy;
mod cursor;
mod env;
mod error;
mod multimap;
mod order;
mod range;
mod reader;
mod space;
mod tree;
mod txn;
mod value;

pub use codes::code_text;
pub use cursor::{Cursor, CursorId, Move, Place, PlacedCursor, Record, Stride, WriteCursor};
pub use env::{
    Database, Durability, Environment, Info, OpenError, OpenOptions, Reader, SlotPolicy,
};
pub use error::Error;
pub use fulgurite_format::{DatabaseFlags, Malformed, Pgno, Txnid};
pub use fulgurite_os::{DiskObserver, DiskStep};
pub use multimap::{Multimap, ValueKind};
pub use order::{CustomOrder, KeyOrder};
pub use range::{FirstValues, KeyRange, Keys, Records, Values};
pub use txn::{NestedTxn, ParkedReader, Put, PutFlags, ReadTxn, Room, Snapshot, Stat, WriteTxn};
