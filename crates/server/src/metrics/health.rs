//! The health of a server: the probes ask it, and others set it.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use fulgurite_store::Store;

use crate::cluster::ClusterState;
use crate::statistics::{Statistics, lock};

/// The time after which an event loop counts as stuck. The longest turn takes milliseconds.
const STUCK: Duration = Duration::from_secs(30);

/// A database of the newest generation.
#[derive(Clone, Debug)]
pub(crate) struct ServedDatabase {
    /// Its first suffix.
    pub(crate) suffix: String,
    pub(crate) store: Arc<Store>,
    /// True if other servers' updates come into it.
    pub(crate) is_copy: bool,
}

/// The state of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Opening = 0,
    Serving = 1,
    Stopping = 2,
}

/// The state of a server, and what it serves.
#[derive(Debug, Default)]
pub(crate) struct Health {
    phase: AtomicU8,
    databases: ArcSwap<Vec<ServedDatabase>>,
    /// The databases that lack room, each with a sentence.
    shortages: Mutex<Vec<String>>,
    /// The node of a cluster that the server is.
    node: OnceLock<Arc<ClusterState>>,
}

impl Health {
    /// Sets the databases of the newest generation.
    pub(crate) fn set_databases(&self, databases: Vec<ServedDatabase>) {
        self.databases.store(Arc::new(databases));
    }

    /// Sets the state of the node of a cluster.
    pub(crate) fn set_node(&self, node: Arc<ClusterState>) {
        // A server becomes a node once.
        let _ = self.node.set(node);
    }

    /// Returns the state of the node of a cluster; `None` for a server that is alone.
    pub(crate) fn node(&self) -> Option<&Arc<ClusterState>> {
        self.node.get()
    }

    /// Returns the databases of the newest generation.
    pub(crate) fn databases(&self) -> Arc<Vec<ServedDatabase>> {
        self.databases.load_full()
    }

    /// Records that the server answers requests.
    pub(crate) fn serves(&self) {
        self.phase.store(Phase::Serving as u8, Ordering::Relaxed);
    }

    /// Records that the server finishes what it has begun, and ends.
    pub(crate) fn stops(&self) {
        self.phase.store(Phase::Stopping as u8, Ordering::Relaxed);
    }

    /// Sets the sentences about databases without room.
    pub(crate) fn set_shortages(&self, shortages: Vec<String>) {
        *lock(&self.shortages) = shortages;
    }

    /// Returns the reason why the process should be started again.
    pub(super) fn is_stuck(&self, statistics: &Statistics) -> Option<String> {
        let busy = statistics.workers_busy_for();
        (busy > STUCK).then(|| {
            let seconds = busy.as_secs();
            format!("an event loop has looked for no events for {seconds} seconds")
        })
    }

    /// Returns the reason why no requests should come.
    pub(super) fn is_unready(&self, statistics: &Statistics) -> Option<String> {
        let phase = self.phase.load(Ordering::Relaxed);
        if phase == Phase::Opening as u8 {
            return Some("the stores are being opened".to_owned());
        }
        if phase == Phase::Stopping as u8 {
            return Some("the server is stopping".to_owned());
        }
        let incomplete = self.databases().iter().find_map(|database| {
            (database.is_copy && !is_complete(&database.store))
                .then(|| format!("the copy of {} is not complete yet", database.suffix))
        });
        let full = || lock(&self.shortages).first().cloned();
        let of_node = || self.node()?.is_unready();
        incomplete
            .or_else(of_node)
            .or_else(full)
            .or_else(|| self.is_stuck(statistics))
    }
}

/// Returns true if a copy has a state: a first refresh records it in its end.
pub(super) fn is_complete(store: &Store) -> bool {
    let changes = store.snapshot().and_then(|view| view.changes());
    // A store that cannot be read is a matter for its readers.
    changes.is_ok_and(|changes| !changes.vector.is_empty())
}
