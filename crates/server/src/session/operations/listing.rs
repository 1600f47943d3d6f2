//! The operations of a connection for administrators: a list of them, and the end of one.

use std::sync::Arc;

use fulgurite_ldap::Operation;

use super::{CancelOutcome, Operations};
use crate::session::handler::{Handler, RunningSearch as _};
use crate::statistics::{OperationStage, RunningOperation};

/// Operations of one connection that are listed.
const LISTED_MAX: usize = 16;

impl<H: Handler> Operations<'_, H> {
    /// Publishes the operations that have begun, and cancels those that an administrator has ended.
    /// Returns true if there is a response to send.
    pub(in crate::session) fn publish(&mut self) -> bool {
        let Some(meter) = &self.meter else {
            return false;
        };
        let connection = Arc::clone(&meter.connection);
        let ended = connection.operations.take_cancels().into_iter();
        let ended = ended.filter(|id| self.cancel(*id) == CancelOutcome::Done);
        let has_response = ended.count() > 0;
        if self.outstanding() > 0 || connection.operations.has_any() {
            connection.operations.publish(self.listed());
        }
        has_response
    }

    fn listed(&self) -> Vec<RunningOperation> {
        let searches = self.searches.iter().map(|one| (one, OperationStage::Runs));
        let waiting = self.waiting.iter();
        let waiting = waiting.map(|one| (one, OperationStage::WaitsForChanges));
        let searches = searches.chain(waiting).map(|(running, stage)| {
            let work = running.search.work();
            RunningOperation {
                about: running.search.about(),
                entries: work.entries,
                candidates: work.candidates,
                ..RunningOperation::new(running.id, Operation::Search, running.begun.since, stage)
            }
        });
        let updates = self.updates.iter().map(|update| {
            let stage = match update.token.is_queued() {
                true => OperationStage::WaitsForWriter,
                false => OperationStage::Runs,
            };
            (update, stage)
        });
        let hashing = self.hashing.iter().map(|(_, one)| one);
        let bind = self.bind.iter().map(|(_, one)| one);
        let hashing = hashing.chain(bind);
        let hashing = hashing.map(|one| (one, OperationStage::WaitsForPassword));
        let others = updates.chain(hashing).map(|(one, stage)| {
            RunningOperation::new(one.id, one.operation, one.begun.since, stage)
        });
        searches.chain(others).take(LISTED_MAX).collect()
    }
}
