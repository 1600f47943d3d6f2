//! The operations of a connection that have begun and are not answered yet.

use std::collections::VecDeque;
use std::time::Instant;

use fulgurite_ldap::{LdapResult, Message, MessageId, Operation, ResultCode, encode};

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
    pub(super) fn new(handler: &'h H, limits: &SessionLimits, log: Option<ConnectionLog<'h>>) -> Self {
        Operations {
            handler,
            identity: H::Identity::default(),
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

    /// Begins a request of `bytes` octets.
    pub(super) fn begin(
        &mut self,
        message: &Message<'_>,
        class: Class,
        bytes: usize,
        received: Option<Instant>,
        now: Instant,
    ) {
        let record = self
            .log
            .as_mut()
            .map(|log| log.begin(&message.request, received));
        let id = message.id;
        match class {
            Class::Search => {
                let search = self.handler.begin_search(&self.identity, message);
                let running = Running { id, search, record };
                if let Some(running) = self.advance(running, now) {
                    self.searches.push_back(running);
                }
            }
            Class::Read => {
                let mark = self.output.mark();
                self.handler
                    .answer(&self.identity, message, self.output.append());
                self.end(record, mark);
            }
            Class::Update => {
                let update = self.handler.update(&self.identity, message);
                self.update_bytes += bytes;
                self.updates.push_back(Unanswered { id, bytes, record });
                self.jobs.push(Job::Update(id, update));
            }
            Class::Bind => self.begin_bind(message, bytes, record),
            Class::Unbind | Class::Abandon => {}
        }
    }

    /// Notes a request without a response in the log.
    pub(super) fn note(&mut self, message: &Message<'_>) {
        if let Some(log) = &mut self.log {
            log.unanswered(&message.request);
        }
    }

    fn begin_bind(&mut self, message: &Message<'_>, bytes: usize, record: Option<Record>) {
        let mark = self.output.mark();
        let step = self
            .handler
            .begin_bind(&mut self.identity, message, self.output.append());
        match step {
            BindStep::Done => self.end(record, mark),
            BindStep::CheckPassword(check) => {
                let id = message.id;
                self.bind = Some(Unanswered { id, bytes, record });
                self.jobs.push(Job::CheckPassword(check));
            }
        }
    }

    /// Gives every running search one quantum, as long as there is room for what they write; tells
    /// whether one of them has ended.
    pub(super) fn run_searches(&mut self, now: Instant) -> bool {
        let running = self.searches.len();
        for _ in 0..running {
            if self.output.is_full() {
                break;
            }
            let Some(running) = self.searches.pop_front() else {
                break;
            };
            if let Some(running) = self.advance(running, now) {
                self.searches.push_back(running);
            }
        }
        self.searches.len() < running
    }

    /// One quantum of one search; gives it back if it is not done.
    fn advance(
        &mut self,
        mut running: Running<H::Search<'h>>,
        now: Instant,
    ) -> Option<Running<H::Search<'h>>> {
        let mark = self.output.mark();
        let room = self.output.room().min(QUANTUM_BYTES_MAX);
        match running.search.advance(self.output.append(), room, now) {
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
