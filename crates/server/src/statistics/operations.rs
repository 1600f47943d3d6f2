//! The operations of a connection that had begun at the last look, and those to cancel.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use fulgurite_ldap::{MessageId, Operation};

use super::counter::lock;

/// An operation that has begun and is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunningOperation {
    pub(crate) id: MessageId,
    pub(crate) operation: Operation,
    /// The time of its arrival by the clock of the statistics.
    pub(crate) since: u64,
    pub(crate) stage: OperationStage,
    /// The filter of a search, without values.
    pub(crate) about: String,
    /// Entries that a search has returned, and those that it has looked at.
    pub(crate) entries: u64,
    pub(crate) candidates: u64,
}

/// The state of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationStage {
    Runs,
    WaitsForChanges,
    WaitsForWriter,
    WaitsForPassword,
}

/// The operations of a connection. Its worker writes them now and then, and not with each request.
#[derive(Debug, Default)]
pub(crate) struct ListedOperations {
    listed: Mutex<Vec<RunningOperation>>,
    /// True if the list is not empty.
    has_any: AtomicBool,
    cancels: Mutex<Vec<MessageId>>,
    has_cancels: AtomicBool,
}

impl RunningOperation {
    pub(crate) fn new(
        id: MessageId,
        operation: Operation,
        since: u64,
        stage: OperationStage,
    ) -> RunningOperation {
        RunningOperation {
            id,
            operation,
            since,
            stage,
            about: String::new(),
            entries: 0,
            candidates: 0,
        }
    }
}

impl OperationStage {
    /// Returns the state in words.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            OperationStage::Runs => "runs",
            OperationStage::WaitsForChanges => "waits for changes",
            OperationStage::WaitsForWriter => "waits for the writer",
            OperationStage::WaitsForPassword => "waits for a password check",
        }
    }
}

impl ListedOperations {
    /// Replaces the list.
    pub(crate) fn publish(&self, operations: Vec<RunningOperation>) {
        self.has_any
            .store(!operations.is_empty(), Ordering::Relaxed);
        *lock(&self.listed) = operations;
    }

    /// Returns true if the list is not empty.
    pub(crate) fn has_any(&self) -> bool {
        self.has_any.load(Ordering::Relaxed)
    }

    /// Returns the list.
    pub(crate) fn list(&self) -> Vec<RunningOperation> {
        match self.has_any() {
            true => lock(&self.listed).clone(),
            false => Vec::new(),
        }
    }

    /// Asks for the end of an operation. Returns false if it is not in the list.
    pub(crate) fn cancel(&self, id: MessageId, is_trial: bool) -> bool {
        let is_listed = self.list().iter().any(|operation| operation.id == id);
        if is_listed && !is_trial {
            lock(&self.cancels).push(id);
            self.has_cancels.store(true, Ordering::Release);
        }
        is_listed
    }

    /// Takes the operations that are to end.
    pub(crate) fn take_cancels(&self) -> Vec<MessageId> {
        match self.has_cancels.swap(false, Ordering::Acquire) {
            true => std::mem::take(&mut *lock(&self.cancels)),
            false => Vec::new(),
        }
    }
}
