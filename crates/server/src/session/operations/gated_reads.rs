//! Reads that the handler decides about, and those that wait for a state.

use fulgurite_ldap::{LdapResult, Limits, Message, ResultCode, encode};

use super::held_reads::HeldRead;
use super::{BegunOperation, Operations};
use crate::session::handler::{Handler, ReadGate, StateWish};
use crate::session::job::{CheckId, Job};

impl<'h, H: Handler> Operations<'h, H> {
    /// Begins a read, holds it or refuses it, as the handler decides.
    pub(super) fn begin_gated_read(
        &mut self,
        message: &Message<'_>,
        pdu: &[u8],
        begun: BegunOperation,
        cache: &mut H::Cache<'h>,
    ) {
        match self.handler.gate_read(message) {
            ReadGate::Open => self.begin_read(message, (begun, false), cache),
            ReadGate::Tells => self.begin_read(message, (begun, true), cache),
            ReadGate::Waits(wish) => self.hold_read(message, pdu, wish, begun),
            ReadGate::Refused(result) => {
                let (id, operation) = (message.id, message.request.operation());
                let mark = self.output.mark();
                encode::result(self.output.append(), id, operation, &result, &[]);
                self.end(operation, begun, mark);
            }
        }
    }

    /// Lets a read wait for a state.
    fn hold_read(
        &mut self,
        message: &Message<'_>,
        pdu: &[u8],
        wish: StateWish,
        begun: BegunOperation,
    ) {
        let number = self.next_check();
        self.jobs.push(Job::AwaitState(number, wish));
        self.held.push(HeldRead {
            number,
            id: message.id,
            operation: message.request.operation(),
            pdu: pdu.into(),
            tells: wish.tells,
            begun,
        });
    }

    /// Notes the end of the wait of a read. It begins in the next turn.
    pub(in crate::session) fn state_reached(
        &mut self,
        number: CheckId,
        reached: Result<(), LdapResult>,
    ) {
        self.held.reach(number, reached);
    }

    /// Begins the reads whose state is here, and answers those that are refused. Returns true if
    /// there were any.
    pub(in crate::session) fn begin_held(
        &mut self,
        limits: &Limits,
        cache: &mut H::Cache<'h>,
    ) -> bool {
        let mut has_begun = false;
        while let Some((read, reached)) = self.held.take_reached() {
            has_begun = true;
            // It was decoded before with the same limits, or with those before a reload.
            let message = Message::decode(&read.pdu, limits).map_err(|error| {
                LdapResult::with_diagnostic(ResultCode::ProtocolError, error.to_string())
            });
            match reached.and(message) {
                Ok(message) => self.begin_read(&message, (read.begun, read.tells), cache),
                Err(result) => {
                    let mark = self.output.mark();
                    let out = self.output.append();
                    encode::result(out, read.id, read.operation, &result, &[]);
                    self.end(read.operation, read.begun, mark);
                }
            }
        }
        has_begun
    }
}
