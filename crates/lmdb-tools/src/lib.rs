//! The five tools of LMDB: `mdb_stat`, `mdb_copy`, `mdb_dump`, `mdb_load` and `mdb_drop`.
//!
//! ```text
//!    words -> getopt -> stat | copy | dump | load | drop  -> engine
//!                        |             |      |
//!                       spans        header                the texts they write and read
//!                        '-------------+------'
//!                                   failure                errors, in the original's words
//! ```
//!
//! Their options, texts and exit codes are those of LMDB 0.9.36, so scripts need not know which
//! tool they call. Where the original's tools do harm, ours do not. The man pages list each such
//! case under DIFFERENCES.
//!
//! This crate is not a library. Its functions are the programs' `main`.

#![forbid(unsafe_code)]

mod command;
mod copy;
mod drop;
mod dump;
mod failure;
mod header;
mod load;
mod spans;
mod stat;

pub use copy::main as copy;
pub use drop::main as drop;
pub use dump::main as dump;
pub use load::{main as load, text as load_text};
pub use stat::main as stat;
