//! `liblmdb.so`: the engine behind the C interface that programs use today.
//!
//! ```text
//!   C program --> mdb_txn_begin, mdb_get, ...
//!                   |  api       the functions of the interface, one Rust function for each
//!                   |  objects   the values behind handles, and their life
//!                   |  ffi       arguments become typed values; errors and panics become codes
//!                   |  slab      the memory of handles; checks any pointer
//!                   |  types     types, flags and codes of C (`types`, `codes`)
//!                   v
//!                 fulgurite      the engine, which knows neither pointers nor codes
//! ```
//!
//! Each part uses the parts below it. The functions, numbers and layouts are those of LMDB 0.9.36,
//! so that compiled programs run with this library instead of LMDB. Misuse that crashes LMDB, or
//! corrupts data, returns a code here. This crate stores nothing, compares nothing and locks
//! nothing itself: the engine does.
//!
//! `api/extra.rs` and `api/long_readers.rs` have the functions that LMDB does not have, under names
//! with `fulgurite_`.
//!
//! `cargo xtask header` generates `include/lmdb.h` from the comments here. They address C
//! programmers.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
    not(feature = "std"),
    allow(
        dead_code,
        reason = "where panics end the process, no call looks for its assert function"
    )
)]

extern crate alloc;

mod api;
mod codes;
mod ffi;
mod objects;
mod slab;
mod types;

// Public items of these modules are the interface, and have the names of C.
pub use api::*;
pub use codes::*;
pub use types::*;
