//! Administration: the server's own entries and its background work.
//!
//! - `monitor`: `cn=Monitor`, the counters of the server as entries
//! - `clock`: tells of jumps of the clock, and of changes ahead of it
//! - `config_tree`: `cn=config`, the settings in force as entries
//! - `indexing`: builds and drops indexes while the server runs
//! - `purging`: drops old records of logs of changes while nobody writes
//! - `recording`: commits the records of operations that wait in memory
//! - `room`: tells when files or disks become full

pub(crate) mod clock;
pub(crate) mod config_tree;
pub(crate) mod indexing;
pub(crate) mod monitor;
pub(crate) mod purging;
pub(crate) mod recording;
pub(crate) mod room;
