//! The counters of one connection.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use fulgurite_directory::Connection;

use super::clock::seconds_now;
use super::counter::Counter;
use super::operations::ListedOperations;

/// Numbers of one connection, written by its worker.
#[derive(Debug)]
pub(crate) struct ConnectionCounters {
    /// Facts about the connection, and the name of its identity.
    pub(crate) about: Mutex<(Arc<Connection>, String)>,
    /// Protocol version of the last bind.
    pub(crate) version: AtomicU8,
    pub(crate) started_s: u64,
    /// The time of the last bytes from the client, by the clock of the statistics.
    pub(crate) active: AtomicU64,
    pub(crate) received: Counter,
    pub(crate) completed: Counter,
    pub(crate) executing: AtomicU64,
    pub(crate) pending: AtomicU64,
    pub(crate) reads: Counter,
    /// Number of times that the server had to wait for the client.
    pub(crate) write_waits: Counter,
    /// 1 while the server waits for the client.
    pub(crate) waits_to_write: AtomicU8,
    /// The operations that have begun.
    pub(crate) operations: ListedOperations,
    /// True once an administrator has closed the connection.
    is_unwanted: AtomicBool,
}

impl ConnectionCounters {
    pub(super) fn new(facts: &Arc<Connection>, active: u64) -> ConnectionCounters {
        ConnectionCounters {
            about: Mutex::new((Arc::clone(facts), String::new())),
            version: AtomicU8::new(3),
            started_s: seconds_now(),
            active: AtomicU64::new(active),
            received: Counter::default(),
            completed: Counter::default(),
            executing: AtomicU64::new(0),
            pending: AtomicU64::new(0),
            reads: Counter::default(),
            write_waits: Counter::default(),
            waits_to_write: AtomicU8::new(0),
            operations: ListedOperations::default(),
            is_unwanted: AtomicBool::new(false),
        }
    }

    /// Lets the worker close the connection.
    pub(crate) fn close(&self) {
        self.is_unwanted.store(true, Ordering::Relaxed);
    }

    /// Returns true if the worker must close the connection.
    pub(crate) fn is_unwanted(&self) -> bool {
        self.is_unwanted.load(Ordering::Relaxed)
    }
}
