//! The state of a node, for people and for checks of health.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use fulgurite_cluster::{Divergence, Epoch, NodeId, Position};

/// The answers of the log to one kind of question since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerFigures {
    /// The kind: `lease`, `append`, `follow` or `other`.
    pub question: &'static str,
    /// Questions with an answer.
    pub answers: u64,
    /// The time until these answers in microseconds, all together.
    pub answered_us: u64,
    /// Questions without an answer.
    pub silences: u64,
}

/// The state of a node, as its thread has told last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriverStatus {
    /// The sequencer, as far as the node knows.
    pub leader: Option<NodeId>,
    /// True if that is this node.
    pub is_leading: bool,
    /// The number of the leadership, while this node leads.
    pub epoch: Option<Epoch>,
    /// The number of the newest leadership that the node knows of.
    pub newest_epoch: Option<Epoch>,
    /// The position that is applied.
    pub position: Position,
    /// The position that would survive a power cut.
    pub durable: Position,
    /// The reason why the node has stopped. It needs a copy of another node.
    pub stopped: Option<Divergence>,
    /// Updates and reads that wait here.
    pub waiting: usize,
    /// The reason why the log has not answered lately.
    pub trouble: Option<String>,
    /// The answers of the log, by the kind of the question.
    pub answers: [AnswerFigures; 4],
    /// The time of the driver's clock at which the log has answered last.
    pub heard_ms: Option<u64>,
    /// The time of the driver's clock at which the thread has told this.
    pub told_ms: u64,
    /// True if the thread has ended.
    pub has_ended: bool,
}

/// The place where the thread leaves its state.
#[derive(Debug, Default)]
pub(crate) struct Board {
    status: Mutex<DriverStatus>,
    /// True if the node has stopped for good, for those who ask often.
    has_stopped: AtomicBool,
}

impl Board {
    pub(crate) fn read(&self) -> DriverStatus {
        let status = self.status.lock();
        status.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn has_stopped(&self) -> bool {
        self.has_stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn write(&self, status: DriverStatus) {
        let has_stopped = status.stopped.is_some();
        self.has_stopped.store(has_stopped, Ordering::Relaxed);
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    pub(crate) fn end(&self) {
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        status.has_ended = true;
        status.is_leading = false;
    }
}
