//! The purge of a log of changes by its age, for a database that nobody writes to.

use std::sync::Arc;
use std::time::Duration;

use fulgurite_store::{LogPurged, Store, StoreError};

use crate::core::clock::Clock;
use crate::directory::Directory;

/// A log whose old records go at an interval (slapd's directive `logpurge`).
pub struct LogPurge {
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    every: Duration,
}

impl LogPurge {
    /// Returns the store that has the log.
    #[must_use]
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Returns the time between two purges.
    #[must_use]
    pub fn every(&self) -> Duration {
        self.every
    }

    /// Drops records that are too old, `records_max` at most, in one commit.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn run(&self, records_max: u64) -> Result<LogPurged, StoreError> {
        self.store.purge_log(self.clock.now().0, records_max)
    }
}

impl Directory {
    /// Returns the logs whose records go at an interval.
    #[must_use]
    pub fn log_purges(&self) -> Vec<LogPurge> {
        let databases = self.databases().iter();
        let purges = databases.filter_map(|database| {
            let log = self.features_of(database).access_log.as_ref()?;
            Some(LogPurge {
                store: database.shared_store(),
                clock: Arc::clone(&self.core().clock),
                every: Duration::from_micros(log.purge?.every_us),
            })
        });
        purges.collect()
    }
}

impl std::fmt::Debug for LogPurge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogPurge")
            .field("store", &self.store)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}
