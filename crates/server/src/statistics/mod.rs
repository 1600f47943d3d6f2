//! Counters of the server.
//!
//! ```text
//!   worker 0: Counters   worker 1: Counters ...     each has its own writer and cache lines
//!        \                   /
//!         Statistics::totals                        summed when somebody asks
//! ```
//! Counting costs a worker one load and one store of memory that no other thread writes. A worker
//! reads the clock once a round, and once at the end of a turn that ended operations.

mod certificate;
mod clock;
mod cluster;
mod connection;
mod counter;
mod counters;
mod durations;
mod hashing;
mod meter;
mod operations;
mod results;
mod shared;

pub(crate) use certificate::CertificateEnd;
pub(crate) use clock::seconds_now;
pub(crate) use cluster::{ClusterFigures, ClusterSource};
pub(crate) use connection::ConnectionCounters;
pub(crate) use counter::lock;
pub(crate) use counters::{OPERATIONS, Totals, WorkerStatistics, operation_name};
pub(crate) use durations::{BOUNDS_NS, DurationCounts};
pub(crate) use hashing::HashingStatistics;
pub(crate) use meter::Meter;
pub use meter::SearchWork;
pub(crate) use operations::{OperationStage, RunningOperation};
pub(crate) use results::{Outcome, outcome_names};
pub(crate) use shared::ServerInfo;
pub use shared::Statistics;
