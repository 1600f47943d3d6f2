//! Parts of a transaction that can be undone alone.

use std::sync::Arc;

use super::log_writer::LogWriter;
use super::pending_counts::PendingCounts;
use super::writer::Writer;
use crate::attributes::AttributeTable;
use crate::error::StoreError;
use crate::index::PendingPostings;

/// The state of a writer where a part of its transaction begins.
#[derive(Debug)]
#[must_use = "a part is kept or undone"]
pub struct Savepoint {
    attributes: Arc<AttributeTable>,
    log: LogWriter,
    has_changed_entries: bool,
    changes: u64,
}

impl Writer<'_> {
    /// Begins a part. It ends before the part that it is in, by [`keep`](Self::keep) or by
    /// [`undo`](Self::undo).
    ///
    /// # Errors
    /// [`StoreError::Poisoned`], [`StoreError::Engine`].
    pub fn savepoint(&mut self) -> Result<Savepoint, StoreError> {
        self.flush()?;
        self.view.txn.begin_nested()?;
        Ok(Savepoint {
            attributes: Arc::clone(&self.view.attributes),
            log: self.log.clone(),
            has_changed_entries: self.has_changed_entries,
            changes: self.changes,
        })
    }

    /// Ends a part, and keeps its changes.
    ///
    /// # Errors
    /// [`StoreError::Poisoned`], [`StoreError::Engine`].
    pub fn keep(&mut self, savepoint: Savepoint) -> Result<(), StoreError> {
        debug_assert!(savepoint.changes <= self.changes, "a part adds changes");
        self.check_not_poisoned()?;
        Ok(self.view.txn.commit_nested()?)
    }

    /// Ends a part, and undoes its changes. An id that it gave is not given again.
    pub fn undo(&mut self, savepoint: Savepoint) {
        self.view.txn.abort_nested();
        self.postings = PendingPostings::default();
        self.counts = PendingCounts::default();
        self.view.attributes = savepoint.attributes;
        self.log = savepoint.log;
        self.has_changed_entries = savepoint.has_changed_entries;
        self.changes = savepoint.changes;
        self.heal();
    }
}
