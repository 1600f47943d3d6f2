//! The early end of operations: abandons, cancels, and the end of their connection.

use fulgurite_ldap::{LdapResult, MessageId, Operation, ResultCode, encode};

use super::{BegunOperation, Operations, PendingOperation};
use crate::session::handler::Handler;
use crate::statistics::Outcome;

/// The outcome of a cancel request (RFC 3909 section 2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum CancelOutcome {
    /// The operation is stopped and answered.
    Done,
    /// There is no such operation outstanding.
    Unknown,
    /// The writer has begun it.
    TooLate,
    /// Binds and cancels cannot be cancelled.
    Cannot,
}

impl<'h, H: Handler> Operations<'h, H> {
    /// Stops an operation without a response, if possible (RFC 4511 section 4.11).
    pub(in crate::session) fn abandon(&mut self, id: MessageId) {
        let Ok((operation, begun)) = self.stop(id) else {
            return;
        };
        if let Some(record) = &begun.record {
            self.log.abandoned(record);
        }
        if let Some(meter) = &self.meter {
            meter.completed(operation, begun.since, Outcome::Abandoned);
        }
    }

    /// Stops an operation and answers it, if possible (RFC 3909).
    pub(in crate::session) fn cancel(&mut self, id: MessageId) -> CancelOutcome {
        match self.stop(id) {
            Ok((operation, begun)) => {
                let mark = self.output.mark();
                self.answer_cancelled(id, operation);
                self.end(operation, begun, mark);
                CancelOutcome::Done
            }
            Err(why) => why,
        }
    }

    /// Removes an operation. It is a read, a password modify in the hashing pool, or an update that
    /// has not begun.
    fn stop(&mut self, id: MessageId) -> Result<(Operation, BegunOperation), CancelOutcome> {
        let running = self.searches.iter().position(|running| running.id == id);
        if let Some(running) = running.and_then(|index| self.searches.remove(index)) {
            return Ok((Operation::Search, running.begun));
        }
        if let Some(index) = self.waiting.iter().position(|waiting| waiting.id == id) {
            return Ok((Operation::Search, self.waiting.remove(index).begun));
        }
        if let Some(index) = self
            .hashing
            .iter()
            .position(|(_, pending)| pending.id == id)
        {
            let (_, pending) = self.hashing.remove(index);
            return Ok((pending.operation, pending.begun));
        }
        if let Some((operation, begun)) = self.held.remove(id) {
            return Ok((operation, begun));
        }
        if let Some(index) = self.updates.iter().position(|update| update.id == id) {
            let taken_back = |update: &PendingOperation| update.token.withdraw();
            if !self.updates.get(index).is_some_and(taken_back) {
                return Err(CancelOutcome::TooLate);
            }
            let update = self.updates.remove(index).ok_or(CancelOutcome::Unknown)?;
            self.update_bytes -= update.bytes;
            return Ok((update.operation, update.begun));
        }
        Err(if self.contains(id) {
            CancelOutcome::Cannot
        } else {
            CancelOutcome::Unknown
        })
    }

    /// Answers an operation that was cancelled.
    pub(in crate::session) fn answer_cancelled(&mut self, id: MessageId, operation: Operation) {
        let result = LdapResult::new(ResultCode::Canceled);
        encode::result(self.output.append(), id, operation, &result, &[]);
    }

    /// Answers a cancel request.
    pub(in crate::session) fn answer_cancel(&mut self, id: MessageId, outcome: CancelOutcome) {
        let (code, text) = match outcome {
            CancelOutcome::Done => (ResultCode::Success, ""),
            CancelOutcome::Unknown => (ResultCode::NoSuchOperation, "message ID not found"),
            CancelOutcome::TooLate => (ResultCode::TooLate, "too late to cancel"),
            CancelOutcome::Cannot => (ResultCode::CannotCancel, "the operation cannot be canceled"),
        };
        let result = LdapResult::with_diagnostic(code, text);
        self.refuse(id, Operation::Extended, &result);
    }

    /// Stops all searches without responses.
    pub(in crate::session) fn abandon_searches(&mut self) {
        self.wake_searches();
        while let Some(running) = self.searches.front() {
            self.abandon(running.id);
        }
        while let Some(id) = self.held.first() {
            self.abandon(id);
        }
    }

    /// Ends the searches that wait for changes, without responses.
    pub(in crate::session) fn abandon_waiting(&mut self) {
        while let Some(waiting) = self.waiting.first() {
            self.abandon(waiting.id);
        }
    }
}
