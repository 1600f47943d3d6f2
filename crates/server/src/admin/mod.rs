//! Administration: the server's own entries and its background work.
//!
//! - `monitor`: `cn=Monitor`, the counters of the server as entries
//! - `config_tree`: `cn=config`, the settings in force as entries
//! - `indexing`: builds and drops indexes while the server runs
//! - `purging`: drops old records of logs of changes while nobody writes
//! - `room`: tells when files or disks become full

pub(crate) mod config_tree;
pub(crate) mod indexing;
pub(crate) mod monitor;
pub(crate) mod purging;
pub(crate) mod room;
