//! Drivers in one process: on a log without a cluster, and on a real etcd.
//!
//! ```text
//!   clients: threads --> three drivers, each with the model of a store --> etcd: three processes
//!                          |  pauses, crashes                               |  stops, kills
//!                          '------------> Checker: what clients and nodes have seen
//! ```
//! Without etcd, a test that needs it says SKIPPED and passes.

#![forbid(unsafe_code)]

mod alone;
mod chaos;
mod content;
mod shared;
mod steps;
mod world;
