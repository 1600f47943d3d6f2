//! Misuse, each kind with each function that takes what is misused: a documented code, and no harm.
//!
//! ```text
//!   world     handles, and a table of all calls that take one
//!   matrix    what is no handle, no handle of that kind, or no handle any more
//!   owners    threads, families of transactions, environments that are closed under what lives in them
//!   inside    calls from within the program's own functions that the library calls
//! ```
//!
//! No test here uses memory after it was freed: that handles are never such is what is tested. So
//! this also runs under sanitizers.

#![expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "the tests are C programs in all but their spelling"
)]

mod inside;
mod matrix;
mod owners;
mod world;
