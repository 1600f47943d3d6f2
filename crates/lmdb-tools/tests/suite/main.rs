//! The tools compared with Debian's lmdb-utils (LMDB 0.9.24): the same words, the same files, the
//! same output.
//!
//! The table in `differences` has every intended difference with its reason.

mod differences;
mod dropping;
mod live;
mod loading;
mod reading;
mod tools;
mod usage;
