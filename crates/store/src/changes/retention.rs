//! How long the log keeps its records.

use std::sync::atomic::{AtomicU64, Ordering};

/// The size and the age up to which changes are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Bytes of records; older ones go. See also [`Store::limit_log`](crate::Store::limit_log).
    pub bytes_max: u64,
    /// The number of records that stay, however large they are.
    pub records_min: u64,
    /// Age of records in microseconds.
    pub time_us_max: u64,
    /// Age of the memory of deletions in microseconds.
    pub tombstone_us_max: u64,
}

const DAY_US: u64 = 24 * 60 * 60 * 1_000_000;

impl Default for Retention {
    fn default() -> Retention {
        Retention {
            bytes_max: 256 << 20,
            records_min: 0,
            time_us_max: 7 * DAY_US,
            tombstone_us_max: 90 * DAY_US,
        }
    }
}

/// The retention of an open store, which may change at any time.
#[derive(Debug)]
pub(crate) struct SharedRetention {
    bytes_max: AtomicU64,
    records_min: AtomicU64,
    time_us_max: AtomicU64,
    tombstone_us_max: AtomicU64,
}

impl SharedRetention {
    /// Returns the default one, but with another number of bytes if it is given.
    pub(crate) fn of_bytes(bytes_max: Option<u64>) -> SharedRetention {
        let default = Retention::default();
        SharedRetention::new(Retention {
            bytes_max: bytes_max.unwrap_or(default.bytes_max),
            ..default
        })
    }

    fn new(retention: Retention) -> SharedRetention {
        SharedRetention {
            bytes_max: AtomicU64::new(retention.bytes_max),
            records_min: AtomicU64::new(retention.records_min),
            time_us_max: AtomicU64::new(retention.time_us_max),
            tombstone_us_max: AtomicU64::new(retention.tombstone_us_max),
        }
    }

    pub(crate) fn get(&self) -> Retention {
        Retention {
            bytes_max: self.bytes_max.load(Ordering::Relaxed),
            records_min: self.records_min.load(Ordering::Relaxed),
            time_us_max: self.time_us_max.load(Ordering::Relaxed),
            tombstone_us_max: self.tombstone_us_max.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn set(&self, retention: Retention) {
        let Retention {
            bytes_max,
            records_min,
            time_us_max,
            tombstone_us_max,
        } = retention;
        self.bytes_max.store(bytes_max, Ordering::Relaxed);
        self.records_min.store(records_min, Ordering::Relaxed);
        self.time_us_max.store(time_us_max, Ordering::Relaxed);
        self.tombstone_us_max
            .store(tombstone_us_max, Ordering::Relaxed);
    }
}
