//! Types in place of the standard library's: no more of each than the engine uses.
#![cfg_attr(feature = "std", allow(dead_code, reason = "only tests use all of it"))]

pub mod io;
mod once;
pub mod path;
pub mod sync;
#[cfg(test)]
mod tests;
pub mod thread;
pub mod time;
