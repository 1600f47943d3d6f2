//! The searches that follow the log of changes, as people see them.
//!
//! Each has separate numbers, so that a search never waits for those who look.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The searches of a store, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct LogReaders {
    next: AtomicU64,
    all: Mutex<BTreeMap<u64, Arc<Progress>>>,
}

#[derive(Debug)]
struct Progress {
    name: String,
    position: AtomicU64,
    entries: AtomicU64,
    is_refreshing: AtomicBool,
}

/// A search that follows the log. It is shown until it is dropped.
#[derive(Debug)]
pub struct LogReader {
    readers: Arc<LogReaders>,
    number: u64,
    progress: Arc<Progress>,
}

/// The progress of a search that follows the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogReaderFigures {
    /// The consumer.
    pub name: String,
    /// The position up to which it has been told.
    pub position: u64,
    /// Entries that it has been told.
    pub entries: u64,
    /// True until it knows what it did not know at its beginning.
    pub is_refreshing: bool,
}

impl LogReaders {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Progress>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(self: &Arc<Self>, name: String) -> LogReader {
        let progress = Arc::new(Progress {
            name,
            position: AtomicU64::new(0),
            entries: AtomicU64::new(0),
            is_refreshing: AtomicBool::new(true),
        });
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().insert(number, Arc::clone(&progress));
        LogReader {
            readers: Arc::clone(self),
            number,
            progress,
        }
    }

    pub(crate) fn figures(&self) -> Vec<LogReaderFigures> {
        let all = self.lock();
        all.values().map(|progress| progress.figures()).collect()
    }
}

impl Progress {
    fn figures(&self) -> LogReaderFigures {
        LogReaderFigures {
            name: self.name.clone(),
            position: self.position.load(Ordering::Relaxed),
            entries: self.entries.load(Ordering::Relaxed),
            is_refreshing: self.is_refreshing.load(Ordering::Relaxed),
        }
    }
}

impl LogReader {
    /// Notes how many entries the consumer has been told.
    pub fn told(&self, entries: u64) {
        self.progress.entries.store(entries, Ordering::Relaxed);
    }

    /// Notes the position up to which the consumer has been told.
    pub fn reach(&self, position: u64, is_refreshing: bool) {
        let progress = &self.progress;
        progress.position.store(position, Ordering::Relaxed);
        progress
            .is_refreshing
            .store(is_refreshing, Ordering::Relaxed);
    }
}

impl Drop for LogReader {
    fn drop(&mut self) {
        self.readers.lock().remove(&self.number);
    }
}
