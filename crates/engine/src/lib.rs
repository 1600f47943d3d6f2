//! Fulgurite's engine: an embedded, transactional key/value store on one memory map, with LMDB's
//! files.
//!
//! ```text
//!            Environment ---- read() ---> ReadTxn  --\
//!             |      |                                 >-- Snapshot: get, range, cursor, stat
//!             |      '------- write() --> WriteTxn --/     WriteTxn: put, delete, commit
//!             |
//!   maintain                                          check, salvage, copy, shrink
//!   environment                                       the public handle; group commit
//!   txn                                               snapshots, the one writer, commit
//!   range  cursor                                     iterators, moves between records
//!   space                                             the writer's pages, the free list
//!   env                                               files, map, options; what handles share
//!   value  tree  reader                               values, B+trees, the lock file's protocol
//!   format, os                                        bytes as checked views, system calls
//! ```
//!
//! A commit never changes a page that a snapshot can see. It writes changed pages elsewhere, then
//! one of two meta pages, which alone records where the trees begin. So readers need no locks, and
//! a crash needs no recovery. Pages that no snapshot can see are used again instead of being
//! compacted.
//!
//! The files and the protocol between processes are those of LMDB 0.9. Programs with the original
//! library may have the same environment open at the same time.
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
//! # What there is, and what it is called in C
//!
//! | here | in LMDB's interface | |
//! | --- | --- | --- |
//! | [`Environment::options`], [`OpenOptions::open`] | `mdb_env_create`, `mdb_env_set_*`, `mdb_env_open` | options are values, flags are methods |
//! | [`Environment::read`], [`ReadTxn::refresh`] | `mdb_txn_begin` with `MDB_RDONLY`, `mdb_txn_renew` | any number, on any thread |
//! | [`Environment::write`], [`WriteTxn::commit`], [`WriteTxn::abort`] | `mdb_txn_begin`, `mdb_txn_commit`, `mdb_txn_abort` | dropping aborts |
//! | [`WriteTxn::nested`] | `mdb_txn_begin` with a parent | the parent is borrowed meanwhile, so it cannot be used |
//! | [`WriteTxn::create_database`], [`Snapshot::open_database`] | `mdb_dbi_open` | a [`Database`] is a name; nothing to close |
//! | [`WriteTxn::create_multimap`], [`Multimap`] | `MDB_DUPSORT`, `MDB_DUPFIXED`, `MDB_INTEGERDUP`, `MDB_REVERSEDUP` | sets of pairs, with operations of such |
//! | [`KeyOrder`], [`CustomOrder`] | `MDB_REVERSEKEY`, `MDB_INTEGERKEY`, `mdb_set_compare`, `mdb_set_dupsort` | |
//! | [`Snapshot::get`], [`Snapshot::get_many`] | `mdb_get`, - | values are lent from the map, not copied |
//! | [`Snapshot::range`], [`Snapshot::prefix`], [`Snapshot::values`] | `mdb_cursor_get` in a loop | iterators from both ends |
//! | [`Snapshot::count_range`], [`Snapshot::estimate_range`] | - | exact by leaf, about by two searches |
//! | [`WriteTxn::put`], [`WriteTxn::insert`], [`WriteTxn::append`], [`WriteTxn::put_with`] | `mdb_put`, `MDB_NOOVERWRITE`, `MDB_APPEND` | |
//! | [`WriteTxn::reserve`] | `MDB_RESERVE` | |
//! | [`WriteTxn::delete`], [`WriteTxn::delete_pair`], [`WriteTxn::clear_database`], [`WriteTxn::drop_database`] | `mdb_del`, `mdb_drop` | |
//! | [`Snapshot::cursor`], [`Cursor::go`] | `mdb_cursor_open`, `mdb_cursor_get` | every [`Move`] |
//! | [`WriteTxn::cursor_mut`], [`WriteCursor`] | `mdb_cursor_put`, `mdb_cursor_del` | several at once: [`WriteTxn::open_cursor`] |
//! | [`Snapshot::stat`], [`Environment::info`], [`Environment::readers`] | `mdb_stat`, `mdb_env_info`, `mdb_reader_list` | |
//! | [`Environment::copy_to_path`], [`Environment::copy_to`] | `mdb_env_copy2`, `mdb_env_copyfd2` | while others write |
//! | [`ReadTxn::reached_pages`] | - | for backups: what a snapshot consists of |
//! | [`Environment::compact_step`] | - | a shorter file, while others read and write |
//! | [`check::check_environment`], [`check::check_file`] | - | the whole file against every rule of its format |
//! | [`salvage::salvage`] | - | what a damaged file still holds, into a new one |
//!
//! Part of a change can be tried, and undone with all that it did:
//!
//! ```
//! # use fulgurite::{Database, Environment, Error, Snapshot, WriteTxn};
//! fn rename(txn: &mut WriteTxn<'_>, db: Database, from: &[u8], to: &[u8]) -> Result<bool, Error> {
//!     let mut attempt = txn.nested()?;
//!     let Some(value) = attempt.get(db, from)?.map(<[u8]>::to_vec) else {
//!         return Ok(false);
//!     };
//!     attempt.delete(db, from)?;
//!     if !attempt.insert(db, to, &value)? {
//!         return Ok(false); // `to` is taken; dropping the attempt brings `from` back
//!     }
//!     attempt.commit()?;
//!     Ok(true)
//! }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let environment = Environment::options().open(directory.path())?;
//! # let mut txn = environment.write()?;
//! # let db = Database::MAIN;
//! # txn.put(db, b"a", b"1")?;
//! # txn.put(db, b"b", b"2")?;
//! assert!(!rename(&mut txn, db, b"a", b"b")?);
//! assert_eq!(txn.get(db, b"a")?, Some(&b"1"[..]));
//! assert!(rename(&mut txn, db, b"a", b"c")?);
//! assert_eq!(txn.get(db, b"c")?, Some(&b"1"[..]));
//! # Ok(())
//! # }
//! ```
//!
//! Ranges, and many keys at once:
//!
//! ```
//! # use fulgurite::{Environment, KeyOrder, Snapshot};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let environment = Environment::options().open(directory.path())?;
//! # let mut txn = environment.write()?;
//! let days = txn.create_database("days", KeyOrder::Lexical)?;
//! for day in ["2024-02-28", "2024-02-29", "2024-03-01", "2025-01-01"] {
//!     txn.put(days, day.as_bytes(), b"sunny")?;
//! }
//! assert_eq!(txn.prefix(days, b"2024-02")?.count(), 2);
//! assert_eq!(txn.count_range(days, "2024-02-29".."2025")?, 2);
//! let (last, _) = txn.range(days, .."2025")?.next_back().expect("a day")?;
//! assert_eq!(last, b"2024-03-01");
//!
//! let mut weather = Vec::new();
//! txn.get_many(days, &["2024-03-01", "2024-03-02"], &mut weather)?;
//! assert_eq!(weather, [Some(&b"sunny"[..]), None]);
//! # Ok(())
//! # }
//! ```
//!
//! This crate knows nothing of the meaning of keys and values. It has no cache and no background
//! threads. Its settings are LMDB's, and the defaults the safe ones.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
    not(feature = "std"),
    allow(
        dead_code,
        reason = "group commit, check and salvage use parts of every module"
    )
)]

extern crate alloc;

mod boxed_error;
mod buffer_pool;
mod codes;
mod cursor;
mod environment;
mod error;

mod hash;
mod maintain;
mod memory;
mod opened;
mod order;
mod range;
mod reader;
mod reader_info;
#[cfg(doc)]
pub mod ruled_out;
mod space;
mod tree;
mod txn;
mod value;

pub use codes::code_text;
pub use cursor::{
    Cursor, CursorId, CursorPosition, FastStep, Move, PositionedCursor, Record, StepUnit,
};
pub use environment::{Environment, Info};
pub use error::Error;
pub use fulgurite_format::{DatabaseFlags, Malformed, Pgno, Txnid};
#[cfg(feature = "faults")]
pub use fulgurite_os::seam;
pub use fulgurite_os::{DiskObserver, set_bus_guard, thread_word};
#[doc(hidden)]
pub use fulgurite_os::{fd, joined, number_text, platform};
pub use maintain::{CompactReport, CompactStep, Compaction, ReachedPages};
#[cfg(feature = "std")]
pub use maintain::{check, salvage};
#[cfg(feature = "std")]
pub use opened::CheckpointProblem;
#[doc(hidden)]
pub use opened::NameMap;
pub use opened::{Database, Durability, FlushTimes, Multimap, OpenError, OpenOptions, SlotPolicy};
pub use order::{CustomOrder, KeyOrder, ValueKind};
pub use range::{FirstValues, KeyRange, Keys, Records, Values};
pub use reader::ReaderPolicy;
pub use reader_info::{LongReader, Reader};
#[doc(hidden)]
pub use space::sort_numbers;
pub use txn::{
    Edit, FreePages, HeldPages, NestedTxn, ParkedReader, Put, PutFlags, ReadTxn, Reservation,
    Snapshot, Stat, WriteCursor, WriteTxn,
};
