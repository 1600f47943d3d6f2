//! Models, fixtures and spawned peers for tests.
//!
//! Nothing in here knows our engine or our server. A reference must not share code with the code
//! under test. Only test programs depend on this crate.
//!
//! ```text
//!                     fixtures   files made by real LMDB, and damaged ones
//!                     listing    how a database's content is written down, to compare
//!     a test  ---->   model      an ordered map per database
//!                     random     numbers that can be replayed from a printed seed
//!                     peer       a process on the real liblmdb, or on ours, driven line by line
//!                     native     programs in C, and the real libraries
//!                     etcd       processes of etcd, which stop, end and begin again
//!                     wire       a connection that can be cut
//!                     process    programs with a time limit
//!                     scratch    directories that vanish
//! ```

#![forbid(unsafe_code)]

mod etcd;
mod fixtures;
mod listing;
mod model;
mod native;
mod peer;
mod process;
mod random;
mod scratch;
mod wire;

pub use etcd::{Etcd, has_etcd};
pub use fixtures::{Case, Fixture, base, corrupt_cases, fixture, sound_fixtures};
pub use listing::{Crc32, DatabaseLines, Listing, hex, list_line, list_word, unhex};
pub use model::{Model, Order};
pub use native::{reference_libraries, torture_program, walker_program};
pub use peer::{Peer, PeerError, Reply, c_peer, python_peer};
pub use process::{Ended, Octets, Outcome, require_tool, run_bounded, run_fed};
pub use random::{Random, quick_or_long, seed};
pub use scratch::{Scratch, target_dir};
pub use wire::Wire;

/// The first steps in the README, compiled and run so that they stay true.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
