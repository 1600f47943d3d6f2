//! Binds: their passwords go to the hashing pool, and their answers may be held.

use std::time::Duration;

use fulgurite_directory::Connection;
use fulgurite_ldap::{BindRequest, LdapResult, Message, Operation, ResultCode, encode};

use super::connection_delays::address_of;
use super::{BegunOperation, Operations, PendingOperation};
use crate::session::bind_delays::{BindDelays, BindEnd, EndedBind};
use crate::session::cancel_token::CancelToken;
use crate::session::handler::Handler;
use crate::session::job::{CheckId, Job, NO_MESSAGE};
use crate::session::last_code::last_code;
use crate::session::limits::SessionLimits;
use crate::session::log::OperationRecord;

impl<'h, H: Handler> Operations<'h, H> {
    /// Sets the table in which failed binds count.
    pub(in crate::session) fn set_bind_delays(&mut self, table: &'h BindDelays) {
        self.delays.table = Some(table);
    }

    /// Sets the longest delay of further binds.
    pub(in crate::session) fn set_limits(&mut self, limits: &SessionLimits) {
        self.delays.longest = limits.bind_delay_max;
    }

    /// Sets the client that a load balancer has named.
    pub(super) fn set_bind_address(&mut self, connection: &Connection) {
        self.delays.address = address_of(connection);
    }

    /// Begins a bind of `bytes` bytes.
    pub(super) fn begin_bind(
        &mut self,
        message: &Message<'_>,
        request: &BindRequest<'_>,
        bytes: usize,
        begun: BegunOperation,
        cache: &mut H::Cache<'h>,
    ) {
        let mark = self.output.mark();
        let (id, controls, handler) = (message.id, &message.controls, self.handler);
        let out = self.output.append();
        let check = handler.begin_bind(cache, &mut self.identity, id, request, controls, out);
        let bind = PendingOperation::new(id, Operation::Bind, bytes, begun);
        match check {
            None => self.answer_bind(bind, mark),
            Some(check) => self.bind = Some((self.hand_to_hashing(check), bind)),
        }
    }

    /// Continues the operation that waited for the hashing pool.
    pub(in crate::session) fn password_checked(
        &mut self,
        number: CheckId,
        verdict: H::PasswordResult,
    ) {
        let mark = self.output.mark();
        let handler = self.handler;
        if let Some((_, bind)) = self.bind.take_if(|(bind, _)| *bind == number) {
            let out = self.output.append();
            handler.finish_bind(&mut self.identity, bind.id, verdict, out);
            self.answer_bind(bind, mark);
        } else if let Some(pending) = self.take_hashing(number) {
            let step = handler.resume_extended(&mut self.identity, verdict);
            // A resumed operation is never a cancel request.
            let _ = self.continue_extended(step, pending, mark);
        }
    }

    /// Ends a bind whose answer begins at `mark`, or holds the answer for a while.
    fn answer_bind(&mut self, bind: PendingOperation, mark: usize) {
        let delay = self.count_bind(mark);
        if delay.is_zero() {
            return self.end(Operation::Bind, bind.begun, mark);
        }
        self.delays.held = Some(self.output.take_since(mark));
        let number = self.next_check();
        self.bind = Some((number, bind));
        self.jobs.push(Job::HoldBind(number, delay));
    }

    /// Counts a bind whose answer begins at `mark`. Returns the delay of the answer.
    fn count_bind(&self, mark: usize) -> Duration {
        let Some(table) = self.delays.table.filter(|_| !self.delays.longest.is_zero()) else {
            return Duration::ZERO;
        };
        let code = last_code(self.output.since(mark), Operation::Bind);
        let name = self.handler.claimed_name(&self.identity);
        let is = |expected: ResultCode| code == Some(expected.number());
        let end = match name {
            _ if is(ResultCode::InvalidCredentials) => BindEnd::Wrong,
            Some(_) if is(ResultCode::Success) => BindEnd::Right,
            Some(_) => BindEnd::Other,
            // No password was claimed.
            None => return Duration::ZERO,
        };
        let seconds = self.now_for_statistics() / 1_000_000_000;
        let bind = EndedBind {
            address: self.delays.address,
            name,
            end,
            now_s: u32::try_from(seconds).unwrap_or(u32::MAX),
        };
        table.count(&bind, self.delays.longest)
    }

    /// Sends the answer that was held under a number.
    pub(in crate::session) fn release_bind(&mut self, number: CheckId) {
        let Some((_, bind)) = self.bind.take_if(|(bind, _)| *bind == number) else {
            return;
        };
        let mark = self.output.mark();
        let held = self.delays.held.take();
        self.output.append().extend(held.unwrap_or_default());
        self.end(Operation::Bind, bind.begun, mark);
    }

    /// Answers a request whose passwords the hashing pool has refused because its queue is full.
    pub(in crate::session) fn password_unchecked(&mut self, number: CheckId) {
        let bind = self.bind.take_if(|(bind, _)| *bind == number);
        let Some(pending) = bind.map(|(_, bind)| bind).or(self.take_hashing(number)) else {
            return;
        };
        let mark = self.output.mark();
        let result = LdapResult::with_diagnostic(
            ResultCode::Busy,
            "too many passwords wait to be verified; try again",
        );
        encode::result(
            self.output.append(),
            pending.id,
            pending.operation,
            &result,
            &[],
        );
        self.end(pending.operation, pending.begun, mark);
    }

    /// Updates everything that follows the identity, and the record of the bind.
    pub(super) fn bind_has_ended(&mut self, record: Option<&mut Box<OperationRecord>>) {
        self.update_identity();
        if let Some(record) = record {
            record.name_identity(&self.handler.name(&self.identity));
            record.set_reason(self.handler.bind_failure(&self.identity));
        }
        let update = self.handler.after_bind(&mut self.identity);
        self.jobs.extend(update.map(|update| {
            // No operation has this id, so the response finds none.
            Job::Update(NO_MESSAGE, CancelToken::default(), update)
        }));
    }
}
