//! The state of a node, for probes, figures and people.

use std::sync::atomic::{AtomicBool, Ordering};

use fulgurite_cluster_driver::{DriverStatus, Handle};

use super::update::{ClusterAnswer, ClusterUpdate};

/// The state of a node.
#[derive(Debug)]
pub(crate) struct ClusterState {
    handle: Handle<ClusterUpdate, ClusterAnswer>,
    has_caught_up: AtomicBool,
    wants_copy: AtomicBool,
}

impl ClusterState {
    pub(super) fn new(handle: Handle<ClusterUpdate, ClusterAnswer>) -> ClusterState {
        ClusterState {
            handle,
            has_caught_up: AtomicBool::new(false),
            wants_copy: AtomicBool::new(false),
        }
    }

    /// Returns the state as the driver has told it last.
    pub(crate) fn status(&self) -> DriverStatus {
        self.handle.status()
    }

    /// Returns the time since etcd has answered, in milliseconds.
    pub(crate) fn silence_ms(&self) -> Option<u64> {
        self.handle.silence_ms()
    }

    /// Notes that the node has applied all that was in the log at a time since its start.
    pub(super) fn catches_up(&self) {
        self.has_caught_up.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_caught_up(&self) -> bool {
        self.has_caught_up.load(Ordering::Relaxed)
    }

    /// Notes that the log no longer has what the node needs.
    pub(super) fn needs_copy(&self) {
        self.wants_copy.store(true, Ordering::Relaxed);
    }

    /// Returns true if the node needs a copy of another node before it goes on.
    pub(crate) fn wants_copy(&self) -> bool {
        self.wants_copy.load(Ordering::Relaxed)
    }

    /// Returns the reason why no requests should come. A node without etcd goes on with reads.
    pub(crate) fn is_unready(&self) -> Option<String> {
        let status = self.status();
        if status.has_ended {
            return Some("the thread of the cluster's node has ended".to_owned());
        }
        if let Some(divergence) = status.stopped {
            return Some(format!("the node of the cluster has stopped: {divergence}"));
        }
        if self.wants_copy() {
            return Some("the node of the cluster needs a copy of another node".to_owned());
        }
        (!self.has_caught_up()).then(|| {
            let reason = status.trouble.map(|text| format!(": {text}"));
            let reason = reason.unwrap_or_default();
            format!("the node has not applied the log of the cluster yet{reason}")
        })
    }
}
