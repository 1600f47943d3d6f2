//! The state of a node, for probes, figures and people.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fulgurite_cluster::Position;
use fulgurite_cluster_driver::{DriverStatus, Freshness, Handle};

use super::member_space::MemberSpace;
use super::read_settings::ReadSettings;
use super::update::{ClusterAnswer, ClusterUpdate};
use crate::statistics::{ClusterFigures, lock};

/// The state of a node.
#[derive(Debug)]
pub(crate) struct ClusterState {
    handle: Handle<ClusterUpdate, ClusterAnswer>,
    node: u64,
    reads: ReadSettings,
    has_caught_up: AtomicBool,
    wants_copy: AtomicBool,
    /// The room of etcd's members that answer.
    space: Mutex<Vec<MemberSpace>>,
    /// The end of the node's certificates in seconds since 1970; 0 until it is known.
    certificate_end_s: AtomicU64,
}

impl ClusterState {
    pub(super) fn new(
        handle: Handle<ClusterUpdate, ClusterAnswer>,
        node: u64,
        reads: ReadSettings,
    ) -> ClusterState {
        ClusterState {
            handle,
            node,
            reads,
            has_caught_up: AtomicBool::new(false),
            wants_copy: AtomicBool::new(false),
            space: Mutex::default(),
            certificate_end_s: AtomicU64::new(0),
        }
    }

    /// Returns the state as the driver has told it last.
    pub(crate) fn status(&self) -> DriverStatus {
        self.handle.status()
    }

    pub(super) fn set_space(&self, space: Vec<MemberSpace>) {
        *lock(&self.space) = space;
    }

    /// Returns the room of etcd's members that answer.
    pub(crate) fn space(&self) -> Vec<MemberSpace> {
        lock(&self.space).clone()
    }

    pub(super) fn set_certificate_end_s(&self, end_s: u64) {
        self.certificate_end_s.store(end_s, Ordering::Relaxed);
    }

    /// Returns the end of the node's certificates in seconds since 1970.
    pub(crate) fn certificate_end_s(&self) -> Option<u64> {
        let end_s = self.certificate_end_s.load(Ordering::Relaxed);
        (end_s > 0).then_some(end_s)
    }

    /// Returns the settings of reads.
    pub(super) fn reads(&self) -> &ReadSettings {
        &self.reads
    }

    /// Returns the position that is applied.
    pub(super) fn position(&self) -> Position {
        self.handle.position()
    }

    /// Returns true if the node has stopped for good.
    pub(super) fn has_stopped(&self) -> bool {
        self.handle.has_stopped()
    }

    /// Waits for a state without a thread.
    pub(super) fn submit_read(
        &self,
        freshness: Freshness,
        then: impl FnOnce(Option<Position>) + Send + 'static,
    ) {
        self.handle.submit_read(freshness, then);
    }

    /// Returns the time since etcd has answered, in milliseconds.
    pub(crate) fn silence_ms(&self) -> Option<u64> {
        self.handle.silence_ms()
    }

    /// Returns the figures for people.
    pub(crate) fn figures(&self) -> ClusterFigures {
        let status = self.status();
        ClusterFigures {
            cluster: self.reads.cluster.clone(),
            node: self.node,
            leader: status.leader.map(|node| node.0),
            epoch: status.epoch.map(|epoch| epoch.0),
            position: status.position.0,
            durable: status.durable.0,
            waiting: status.waiting,
            silence_ms: self.silence_ms(),
            trouble: status.trouble,
            unready: self.is_unready(),
        }
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
