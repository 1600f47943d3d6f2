//! The operations of a connection that have begun and are not answered yet.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use fulgurite_directory::Connection;
use fulgurite_ldap::{LdapResult, Message, MessageId, Operation, Request, ResultCode, encode};

use super::class::Class;
use super::log::{ConnectionLog, Record};
use super::output::Output;
use super::{Job, SessionLimits};
use crate::handler::{BindStep, Handler, Progress, RunningSearch as _};

/// Octets one search may produce before the next one has its turn.
const QUANTUM_BYTES_MAX: usize = 64 * 1024;

/// Octets of updates handed to the writer and not answered, at which further ones wait.
const UPDATE_BYTES_AHEAD: usize = 1024 * 1024;

/// Begun operations and what they have written so far.
pub(super) struct Operations<'h, H: Handler> {
    handler: &'h H,
    identity: H::Identity,
    pub(super) output: Output,
    /// Round robin: the next to run is in front.
    searches: VecDeque<Running<H::Search<'h>>>,
    /// In the order they were handed to the writer, which is the order of their answers.
    updates: VecDeque<Unanswered>,
    /// Octets of the requests in `updates`.
    update_bytes: usize,
    bind: Option<Unanswered>,
    pub(super) jobs: Vec<Job<H>>,
    log: Option<ConnectionLog<'h>>,
}

struct Running<S> {
    id: MessageId,
    search: S,
    record: Option<Record>,
}

struct Unanswered {
    id: MessageId,
    bytes: usize,
    record: Option<Record>,
}

impl<'h, H: Handler> Operations<'h, H> {
    pub(super) fn new(
        handler: &'h H,
        limits: &SessionLimits,
        log: Option<ConnectionLog<'h>>,
        connection: Arc<Connection>,
    ) -> Self {
        Operations {
            handler,
            identity: handler.connected(connection),
            output: Output::new(limits.output_bytes_max),
            searches: VecDeque::new(),
            updates: VecDeque::new(),
            update_bytes: 0,
            bind: None,
            jobs: Vec::new(),
            log,
        }
    }

    pub(super) fn is_authenticated(&self) -> bool {
        self.handler.is_authenticated(&self.identity)
    }

    /// The time, if anybody wants to know.
    pub(super) fn now_for_log(&self) -> Option<Instant> {
        self.log.as_ref().map(ConnectionLog::now)
    }

    pub(super) fn outstanding(&self) -> usize {
        self.searches.len() + self.updates.len() + usize::from(self.bind.is_some())
    }

    pub(super) fn searches_running(&self) -> usize {
        self.searches.len()
    }

    pub(super) fn is_binding(&self) -> bool {
        self.bind.is_some()
    }

    pub(super) fn contains(&self, id: MessageId) -> bool {
        self.searches.iter().any(|running| running.id == id)
            || self.updates.iter().any(|update| update.id == id)
            || self.bind.as_ref().is_some_and(|bind| bind.id == id)
    }

    /// Whether a request may begin now: reads after all earlier updates, a bind after everything,
    /// nothing during a bind.
    pub(super) fn may_begin(&self, class: Class, searches_max: usize) -> bool {
        if self.bind.is_some() {
            return false;
        }
        match class {
            Class::Bind => self.outstanding() == 0,
            Class::Search => self.updates.is_empty() && self.searches.len() < searches_max,
            Class::Read => self.updates.is_empty(),
            Class::Update => self.update_bytes < UPDATE_BYTES_AHEAD,
            Class::Unbind | Class::Abandon => true,
        }
    }

    /// Begins a request that [may begin](Self::may_begin); it was decoded from `pdu`.
    pub(super) fn begin(&mut self, message: &Message<'_>, pdu: &[u8], received: Option<Instant>) {
        let Message {
            id,
            request,
            controls,
        } = message;
        let (handler, id) = (self.handler, *id);
        let record = self.log.as_mut().map(|log| log.begin(request, received));
        let mark = self.output.mark();
        match request {
            Request::Search(search) => {
                let search = handler.begin_search(&self.identity, id, search, controls);
                let running = self.advance(Running { id, search, record });
                self.searches.extend(running);
            }
            Request::Compare(compare) => {
                handler.compare(&self.identity, id, compare, controls, self.output.append());
                self.end(record, mark);
            }
            Request::Extended(extended) => {
                handler.extended(&self.identity, id, extended, controls, self.output.append());
                self.end(record, mark);
            }
            Request::Bind(bind) => {
                match handler.begin_bind(
                    &mut self.identity,
                    id,
                    bind,
                    controls,
                    self.output.append(),
                ) {
                    BindStep::Done => self.end(record, mark),
                    BindStep::CheckPassword(check) => {
                        self.bind = Some(Unanswered {
                            id,
                            bytes: pdu.len(),
                            record,
                        });
                        self.jobs.push(Job::CheckPassword(check));
                    }
                }
            }
            Request::Modify(_) | Request::Add(_) | Request::Delete(_) | Request::ModifyDn(_) => {
                self.jobs
                    .push(Job::Update(id, handler.update(&self.identity, pdu)));
                self.update_bytes += pdu.len();
                self.updates.push_back(Unanswered {
                    id,
                    bytes: pdu.len(),
                    record,
                });
            }
            // These have no response and are dealt with where they are taken.
            Request::Unbind | Request::Abandon(_) => {}
        }
    }

    /// Takes note that TLS protects the connection now.
    pub(super) fn secured(&mut self, connection: Arc<Connection>) {
        self.handler.secured(&mut self.identity, connection);
    }

    /// Notes a request without a response in the log.
    pub(super) fn note(&mut self, message: &Message<'_>) {
        if let Some(log) = &mut self.log {
            log.unanswered(&message.request);
        }
    }

    /// Gives every running search one quantum, as long as there is room for what they write; tells
    /// whether one of them has ended.
    pub(super) fn run_searches(&mut self) -> bool {
        let running = self.searches.len();
        for _ in 0..running {
            if self.output.is_full() {
                break;
            }
            let Some(running) = self.searches.pop_front() else {
                break;
            };
            if let Some(running) = self.advance(running) {
                self.searches.push_back(running);
            }
        }
        self.searches.len() < running
    }

    /// One quantum of one search; gives it back if it is not done.
    fn advance(&mut self, mut running: Running<H::Search<'h>>) -> Option<Running<H::Search<'h>>> {
        let mark = self.output.mark();
        let room = self.output.room().min(QUANTUM_BYTES_MAX);
        match running.search.advance(self.output.append(), room) {
            Progress::More => {
                if let Some(record) = &mut running.record {
                    record.count_entries(self.output.since(mark));
                }
                Some(running)
            }
            Progress::Done => {
                self.end(running.record, mark);
                None
            }
        }
    }

    /// Stops a search; other operations cannot be stopped (RFC 4511 section 4.11).
    pub(super) fn abandon(&mut self, id: MessageId) {
        let Some(index) = self.searches.iter().position(|running| running.id == id) else {
            return;
        };
        if let (Some(log), Some(running)) = (&self.log, self.searches.remove(index))
            && let Some(record) = &running.record
        {
            log.abandoned(record);
        }
    }

    /// Stops all searches: nobody is there to read them.
    pub(super) fn abandon_searches(&mut self) {
        while let Some(running) = self.searches.front() {
            self.abandon(running.id);
        }
    }

    /// Lets go of what running searches pin.
    pub(super) fn park(&mut self) {
        for running in &mut self.searches {
            running.search.park();
        }
    }

    /// Passes on the writer's response to an update.
    pub(super) fn updated(&mut self, id: MessageId, response: &[u8]) {
        let Some(index) = self.updates.iter().position(|update| update.id == id) else {
            return;
        };
        let Some(update) = self.updates.remove(index) else {
            return;
        };
        self.update_bytes -= update.bytes;
        let mark = self.output.mark();
        self.output.append().extend_from_slice(response);
        self.end(update.record, mark);
    }

    /// Ends the bind that waited for a password to be verified.
    pub(super) fn password_checked(&mut self, verdict: H::PasswordVerdict) {
        let Some(bind) = self.bind.take() else { return };
        let mark = self.output.mark();
        self.handler
            .finish_bind(&mut self.identity, verdict, self.output.append());
        self.end(bind.record, mark);
    }

    /// Answers a bind whose password nobody has time to verify.
    pub(super) fn password_unchecked(&mut self) {
        let Some(bind) = self.bind.take() else { return };
        let mark = self.output.mark();
        let result = LdapResult::with_diagnostic(
            ResultCode::Busy,
            "too many passwords wait to be verified; try again",
        );
        encode::result(self.output.append(), bind.id, Operation::Bind, &result, &[]);
        self.end(bind.record, mark);
    }

    /// Answers a request that does not begin at all.
    pub(super) fn refuse(&mut self, id: MessageId, operation: Operation, result: &LdapResult) {
        encode::result(self.output.append(), id, operation, result, &[]);
        if let Some(log) = &mut self.log {
            log.refused(id, operation, result);
        }
    }

    fn end(&self, record: Option<Record>, mark: usize) {
        if let (Some(log), Some(record)) = (&self.log, record) {
            log.end(record, self.output.since(mark));
        }
    }
}
