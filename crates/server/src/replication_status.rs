//! The states of all consumers, for cn=Monitor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fulgurite_replica::ConsumerStatus;

/// The state of one consumer.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionStatus {
    /// The URL of the provider.
    pub(crate) provider: String,
    /// The local end of the connection; empty without one.
    pub(crate) connection: String,
    /// The state of the machine.
    pub(crate) consumer: ConsumerStatus,
    /// Changes stored since the start.
    pub(crate) applied: u64,
    /// Conflicts that the merge has reported since the start.
    pub(crate) conflicts: u64,
    /// Entries in the quarantine.
    pub(crate) quarantined: u64,
}

/// The states by the folder of the store and the number of the consumer.
#[derive(Debug, Default)]
pub(crate) struct ReplicationStatus(Mutex<States>);

type States = BTreeMap<(PathBuf, u16), SessionStatus>;

impl ReplicationStatus {
    fn lock(&self) -> MutexGuard<'_, States> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, store: &Path, rid: u16, status: SessionStatus) {
        self.lock().insert((store.to_owned(), rid), status);
    }

    pub(crate) fn forget(&self, store: &Path, rid: u16) {
        self.lock().remove(&(store.to_owned(), rid));
    }

    /// Returns the consumers of a store with their numbers.
    pub(crate) fn of(&self, store: &Path) -> Vec<(u16, SessionStatus)> {
        let all = self.lock();
        let own = all.iter().filter(|((path, _), _)| path == store);
        own.map(|((_, rid), status)| (*rid, status.clone()))
            .collect()
    }
}
