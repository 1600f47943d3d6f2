//! `liblmdb.so`: the engine behind the C interface that programs use today.
//!
//! ```text
//!   C program --> mdb_txn_begin, mdb_get, ...   one function here per function of the interface
//!                   |  edge      pointers become references, errors and panics become codes
//!                   |  handles   numbers become databases
//!                   v
//!                 fulgurite      the engine, which knows neither pointers nor codes
//! ```
//!
//! The functions, numbers and layouts are those of LMDB 0.9.36, so that compiled programs run with this library in
//! the place of the original. Where the original crashes or corrupts, these functions answer with a code. What this
//! crate is not: it stores nothing, compares nothing and locks nothing by itself.
//!
//! What the engine can do beyond LMDB is in `extra`, under names of its own.
//!
//! A text of each function is generated into `include/lmdb.h` from the comments here: they are written for C, up to
//! the part on safety.

#![allow(
    clippy::missing_safety_doc,
    reason = "argued once, in the module `edge`"
)]

mod changes;
mod codes;
mod compare;
mod cursor;
mod dbi;
mod edge;
mod ending;
mod env;
mod extra;
mod facts;
mod handles;
mod items;
mod long_readers;
mod midl;
mod moves;
mod reader;
mod settings;
mod slab;
mod spare;
mod transaction;
mod txn;
mod types;
mod version;

// What is `pub` in these modules is the interface, and has the names of C.
pub use changes::*;
pub use codes::*;
pub use compare::*;
pub use cursor::*;
pub use dbi::*;
pub use env::*;
pub use extra::*;
pub use facts::*;
pub use items::*;
pub use long_readers::*;
pub use midl::*;
pub use moves::*;
pub use reader::*;
pub use settings::*;
pub use txn::*;
pub use types::*;
pub use version::*;
