//! Counters of all threads, and the answers of `stats`.

use std::fmt::Display;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

macro_rules! counters {
    ($($name:ident),* $(,)?) => {
        /// The counters of one thread.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
        }

        /// Sums over all threads.
        #[derive(Debug, Default, Clone, Copy)]
        pub(crate) struct Totals {
            $(pub(crate) $name: u64,)*
        }

        impl Counters {
            fn add_to(&self, totals: &mut Totals) {
                $(totals.$name += self.$name.get();)*
            }

            fn reset(&self) {
                $(self.$name.0.store(0, Ordering::Relaxed);)*
            }
        }
    };
}

counters! {
    gets, get_hits, get_expired_or_missed, sets, touches, touch_hits, delete_hits, delete_misses,
    incr_hits, incr_misses, decr_hits, decr_misses, cas_hits, cas_misses, cas_badval, flushes,
    metas, bytes_read, bytes_written, evictions, reclaimed, commits, failed_commits, auth_commands,
    auth_errors, too_large, idle_kicks,
}

/// A number that one thread counts up.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn up(&self) {
        self.add(1);
    }

    pub(crate) fn add(&self, number: u64) {
        // One thread writes, so no read and write by one instruction is needed.
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(before + number, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The figures of a server.
#[derive(Debug)]
pub(crate) struct Statistics {
    started: Instant,
    threads: Vec<Counters>,
    pub(crate) connections: AtomicU64,
    pub(crate) connections_total: AtomicU64,
    pub(crate) connections_refused: AtomicU64,
}

impl Statistics {
    pub(crate) fn new(threads: usize) -> Statistics {
        Statistics {
            started: Instant::now(),
            threads: std::iter::repeat_with(Counters::default)
                .take(threads)
                .collect(),
            connections: AtomicU64::new(0),
            connections_total: AtomicU64::new(0),
            connections_refused: AtomicU64::new(0),
        }
    }

    /// Returns the counters of a thread.
    pub(crate) fn of(&self, thread: usize) -> Option<&Counters> {
        self.threads.get(thread)
    }

    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for thread in &self.threads {
            thread.add_to(&mut totals);
        }
        totals
    }

    pub(crate) fn reset(&self) {
        for thread in &self.threads {
            thread.reset();
        }
        self.connections_total.store(0, Ordering::Relaxed);
        self.connections_refused.store(0, Ordering::Relaxed);
    }

    pub(crate) fn uptime_s(&self) -> u64 {
        self.started.elapsed().as_secs()
    }
}

/// Writes a line of an answer.
pub(crate) fn line(output: &mut Vec<u8>, name: &str, value: impl Display) {
    // Writing to a vector does not fail.
    let _ = write!(output, "STAT {name} {value}\r\n");
}
