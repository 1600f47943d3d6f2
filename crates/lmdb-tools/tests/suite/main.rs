//! The tools against Debian's lmdb-utils (LMDB 0.9.24): the same words, the same files, the same output.
//!
//! What differs on purpose stands in one table, `differences`, with the reason for each.

mod differences;
mod dropping;
mod live;
mod loading;
mod reading;
mod tools;
mod usage;
