//! The operations of a connection that have begun and are not answered yet.

mod binds;
mod connection_delays;
mod gated_reads;
mod held_reads;
mod listing;
mod stopping;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use fulgurite_directory::{BegunRecord, Connection, ExtendedStep, Progress};
use fulgurite_ldap::{LdapResult, Message, MessageId, Operation, Request, ResultCode, encode};

use self::connection_delays::ConnectionDelays;
use self::held_reads::HeldReads;
pub(super) use self::stopping::CancelOutcome;
use super::cancel_token::CancelToken;
use super::class::RequestClass;
use super::handler::{Handler, RunningSearch as _};
use super::job::{CheckId, Job};
use super::last_code::last_code;
use super::limits::SessionLimits;
use super::log::{ConnectionLog, OperationLog, OperationRecord};
use super::output::Output;
use super::quota::{IdentityQuota, IdentityQuotas};
use crate::statistics::{Meter, Outcome};

/// Bytes that one search may produce in one quantum.
const QUANTUM_BYTES_MAX: usize = 64 * 1024;

/// Unsent bytes at which a connection is full that has searches for changes alone. A server may
/// have thousands of such connections, all busy after each change.
const LASTING_OUTPUT_BYTES_MAX: usize = 4 * 1024;

/// The work of one turn in candidates of searches, about a millisecond.
pub(super) const WORK_PER_TURN: usize = 1024;

/// The work of beginning a request, in candidates.
const REQUEST_WORK: usize = 4;

/// Bytes of unanswered updates at which further updates wait.
const UPDATE_BYTES_AHEAD: usize = 1024 * 1024;

/// The operations that have begun, and the responses that they have written.
pub(super) struct Operations<'h, H: Handler> {
    handler: &'h H,
    identity: H::Identity,
    pub(super) output: Output,
    output_bytes_max: usize,
    /// Round robin; the next search to run is in front.
    searches: VecDeque<SearchInProgress<H::Search<'h>>>,
    /// Searches that wait for changes.
    waiting: Vec<SearchInProgress<H::Search<'h>>>,
    /// In the order of their arrival. Responses of one writer keep it.
    updates: VecDeque<PendingOperation>,
    /// Bytes of the requests in `updates`.
    update_bytes: usize,
    /// The bind whose password the hashing pool verifies, or whose answer is held.
    bind: Option<(CheckId, PendingOperation)>,
    /// Extended operations that wait for the hashing pool.
    hashing: Vec<(CheckId, PendingOperation)>,
    /// Reads that wait for a state of a cluster.
    held: HeldReads<BegunOperation>,
    /// True if the handler decides about all reads, not only about those with controls.
    gates_reads: bool,
    checks: u64,
    delays: ConnectionDelays<'h>,
    pub(super) jobs: Vec<Job<H>>,
    log: ConnectionLog<'h>,
    meter: Option<Meter>,
    identities: Option<&'h IdentityQuotas>,
    /// The quota of the connection's identity; `None` if anonymous.
    quota: Option<IdentityQuota>,
    /// The work left in this turn, in candidates.
    pub(super) work_left: usize,
}

struct SearchInProgress<S> {
    id: MessageId,
    search: S,
    begun: BegunOperation,
    /// True if it has waited for changes, so that it ends with the connection.
    is_lasting: bool,
    /// True if its result tells the position in the log of a cluster.
    tells: bool,
}

struct PendingOperation {
    id: MessageId,
    operation: Operation,
    bytes: usize,
    token: CancelToken,
    begun: BegunOperation,
}

/// The arrival of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    /// The time for the log of a request that waits.
    pub(super) logged: Option<Instant>,
    /// The time by the clock of the statistics.
    pub(super) counted: u64,
}

/// The beginning of an operation, for its log line and the statistics.
#[derive(Debug)]
struct BegunOperation {
    /// The time of its arrival by the clock of the statistics.
    since: u64,
    /// Boxed, because there is none without a log.
    record: Option<Box<OperationRecord>>,
    /// The record for a log of the directory.
    logged: Option<Box<BegunRecord>>,
}

impl PendingOperation {
    fn new(id: MessageId, operation: Operation, bytes: usize, begun: BegunOperation) -> Self {
        PendingOperation {
            id,
            operation,
            bytes,
            token: CancelToken::default(),
            begun,
        }
    }
}

impl<'h, H: Handler> Operations<'h, H> {
    pub(super) fn new(
        handler: &'h H,
        limits: &SessionLimits,
        log: ConnectionLog<'h>,
        connection: Arc<Connection>,
    ) -> Self {
        Operations {
            delays: ConnectionDelays::new(limits, &connection),
            handler,
            identity: handler.connected(connection),
            output: Output::new(limits.output_bytes_max),
            output_bytes_max: limits.output_bytes_max,
            searches: VecDeque::new(),
            waiting: Vec::new(),
            updates: VecDeque::new(),
            update_bytes: 0,
            bind: None,
            hashing: Vec::new(),
            held: HeldReads::new(),
            gates_reads: handler.gates_reads(),
            checks: 0,
            jobs: Vec::new(),
            log,
            meter: None,
            identities: None,
            quota: None,
            work_left: WORK_PER_TURN,
        }
    }

    /// Sets the table of quotas in which the connection's identity counts.
    pub(super) fn set_identities(&mut self, identities: &'h IdentityQuotas) {
        self.identities = Some(identities);
    }

    /// Updates quota and meter after the identity has changed.
    fn update_identity(&mut self) {
        let key = self.handler.identity_key(&self.identity);
        let identities = self.identities.filter(|_| !key.is_empty());
        self.quota = identities.map(|identities| identities.quota(&key));
        if let Some(meter) = &self.meter {
            meter.bound(self.handler.name(&self.identity));
        }
    }

    /// Returns true if the connection's identity has used its quota. `waiting` is the number of
    /// requests of this connection that have not begun.
    pub(super) fn is_identity_full(&self, waiting: usize) -> bool {
        let outstanding = self.outstanding() + waiting;
        self.quota
            .as_ref()
            .is_some_and(|quota| quota.is_full(outstanding))
    }

    pub(super) fn set_meter(&mut self, meter: Meter) {
        self.meter = Some(meter);
    }

    /// Reports the number of operations to quota and meter; `waiting` more have not begun.
    pub(super) fn report_outstanding(&mut self, waiting: usize) {
        let outstanding = self.outstanding() + waiting;
        if let Some(quota) = &mut self.quota {
            quota.report(outstanding);
        }
        if let Some(meter) = &self.meter {
            meter.outstanding(self.outstanding(), waiting);
        }
    }

    pub(super) fn is_authenticated(&self) -> bool {
        self.handler.is_authenticated(&self.identity)
    }

    /// Sets the log of further operations.
    pub(super) fn set_log(&mut self, sink: Option<&'h dyn OperationLog>) {
        self.log.set_sink(sink);
    }

    /// Returns the number of the connection.
    pub(super) fn connection(&self) -> u64 {
        self.log.connection()
    }

    /// Returns the time if there is a log.
    pub(super) fn now_for_log(&self) -> Option<Instant> {
        self.log.now()
    }

    /// Returns the time of the bytes that have come last, by the clock of the statistics.
    pub(super) fn now_for_statistics(&self) -> u64 {
        self.meter.as_ref().map_or(0, Meter::round)
    }

    pub(super) fn outstanding(&self) -> usize {
        self.searches.len()
            + self.waiting.len()
            + self.updates.len()
            + self.hashing.len()
            + self.held.len()
            + usize::from(self.bind.is_some())
    }

    pub(super) fn searches_running(&self) -> usize {
        self.searches.len()
    }

    pub(super) fn is_binding(&self) -> bool {
        self.bind.is_some()
    }

    pub(super) fn contains(&self, id: MessageId) -> bool {
        self.searches.iter().any(|running| running.id == id)
            || self.waiting.iter().any(|waiting| waiting.id == id)
            || self.updates.iter().any(|update| update.id == id)
            || self.hashing.iter().any(|(_, waiting)| waiting.id == id)
            || self.held.contains(id)
            || self.bind.as_ref().is_some_and(|(_, bind)| bind.id == id)
    }

    /// Returns true if a request may begin now. A bind waits for all operations, and all requests
    /// wait for a bind. Others begin while there is room.
    pub(super) fn may_begin(&self, class: RequestClass, searches_max: usize) -> bool {
        if self.bind.is_some() {
            return false;
        }
        match class {
            RequestClass::Bind => self.outstanding() == 0,
            RequestClass::Search => self.searches.len() + self.held.len() < searches_max,
            RequestClass::Update => self.update_bytes < UPDATE_BYTES_AHEAD,
            RequestClass::Read
            | RequestClass::Unbind
            | RequestClass::Abandon
            | RequestClass::Cancel
            | RequestClass::StartTls => true,
        }
    }

    /// Begins a request that [may begin](Self::may_begin) with its PDU. For a cancel request,
    /// returns the operation to cancel and does not answer yet.
    pub(super) fn begin(
        &mut self,
        message: &Message<'_>,
        pdu: &[u8],
        arrival: Arrival,
        cache: &mut H::Cache<'h>,
    ) -> Option<MessageId> {
        let Message {
            id,
            request,
            controls,
        } = message;
        let (handler, id, bytes) = (self.handler, *id, pdu.len());
        self.work_left = self.work_left.saturating_sub(REQUEST_WORK);
        let record = self.log.begin(message, arrival.logged);
        let since = arrival.counted;
        let begun = BegunOperation {
            since,
            record,
            logged: handler.begin_record(&self.identity, message),
        };
        let operation = request.operation();
        if let Some(meter) = &self.meter {
            meter.initiated(operation);
            meter.executing(self.outstanding() + 1);
        }
        let mark = self.output.mark();
        if operation != Operation::Bind && handler.is_binding(&self.identity) {
            let result = operations_error("SASL bind in progress");
            encode::result(self.output.append(), id, operation, &result, &[]);
            self.end(operation, begun, mark);
            return None;
        }
        match request {
            Request::Search(_) | Request::Compare(_) => {
                if self.gates_reads || !controls.is_empty() {
                    self.begin_gated_read(message, pdu, begun, cache);
                } else {
                    self.begin_read(message, (begun, false), cache);
                }
            }
            Request::Extended(extended) => {
                let step = handler.extended(&mut self.identity, id, extended, controls);
                let begun = PendingOperation::new(id, Operation::Extended, bytes, begun);
                return self.continue_extended(step, begun, mark);
            }
            Request::Bind(bind) => self.begin_bind(message, bind, bytes, begun, cache),
            Request::Modify(_) | Request::Add(_) | Request::Delete(_) | Request::ModifyDn(_) => {
                self.begin_update(message, bytes, begun);
            }
            // These have no response; `Session::take` handles them.
            Request::Unbind | Request::Abandon(_) => {}
        }
        None
    }

    /// Begins a search or a compare. Its result may tell the position of the state.
    fn begin_read(
        &mut self,
        message: &Message<'_>,
        (begun, tells): (BegunOperation, bool),
        cache: &mut H::Cache<'h>,
    ) {
        let (handler, id, controls) = (self.handler, message.id, &message.controls);
        match &message.request {
            Request::Search(search) => {
                let search = handler.begin_search(cache, &self.identity, id, search, controls);
                let running = SearchInProgress {
                    id,
                    search,
                    begun,
                    is_lasting: false,
                    tells,
                };
                let running = self.advance(running, cache);
                self.searches.extend(running);
            }
            Request::Compare(compare) => {
                let mark = self.output.mark();
                let out = self.output.append();
                handler.compare(cache, &self.identity, id, compare, controls, out);
                if tells {
                    handler.tell_position(out, mark);
                }
                self.end(Operation::Compare, begun, mark);
            }
            _ => unreachable!("a read is a search or a compare"),
        }
    }

    /// Begins an update, which goes to the writer unless it waits for the end of its transaction.
    fn begin_update(&mut self, message: &Message<'_>, bytes: usize, begun: BegunOperation) {
        let mark = self.output.mark();
        let operation = message.request.operation();
        let out = self.output.append();
        match self.handler.update(&mut self.identity, message, out) {
            Some(update) => {
                let pending = PendingOperation::new(message.id, operation, bytes, begun);
                self.hand_to_writer(update, pending);
            }
            None => self.end(operation, begun, mark),
        }
    }

    /// Does the next step of an extended operation.
    fn continue_extended(
        &mut self,
        step: ExtendedStep<H::PasswordCheck, H::Update>,
        pending: PendingOperation,
        mark: usize,
    ) -> Option<MessageId> {
        match step {
            ExtendedStep::Done(reply) => {
                reply.encode(pending.id, self.output.append());
                self.end(pending.operation, pending.begun, mark);
            }
            ExtendedStep::Passwords(check) => {
                let number = self.hand_to_hashing(check);
                self.hashing.push((number, pending));
            }
            ExtendedStep::Update(update) => self.hand_to_writer(update, pending),
            ExtendedStep::Cancel(target) => return Some(target),
        }
        None
    }

    fn next_check(&mut self) -> CheckId {
        self.checks += 1;
        CheckId(self.checks)
    }

    fn hand_to_hashing(&mut self, check: H::PasswordCheck) -> CheckId {
        let number = self.next_check();
        self.jobs.push(Job::CheckPassword(number, check));
        number
    }

    fn hand_to_writer(&mut self, update: H::Update, begun: PendingOperation) {
        let token = begun.token.clone();
        self.jobs.push(Job::Update(begun.id, token, update));
        self.update_bytes += begun.bytes;
        self.updates.push_back(begun);
    }

    /// Answers a StartTLS request. Returns true if TLS begins after the response. `alone` is true
    /// if nothing else is outstanding and no bytes follow the request, which would arrive
    /// unprotected.
    pub(super) fn start_tls(&mut self, message: &Message<'_>, alone: bool) -> bool {
        let Request::Extended(request) = &message.request else {
            return false;
        };
        let begun = BegunOperation {
            since: self.now_for_statistics(),
            record: self.log.begin(message, None),
            logged: None,
        };
        if let Some(meter) = &self.meter {
            meter.initiated(Operation::Extended);
        }
        let mark = self.output.mark();
        let allowed = if self.handler.is_binding(&self.identity) {
            Err(operations_error("SASL bind in progress"))
        } else if alone {
            let handler = self.handler;
            handler.start_tls(&mut self.identity, request, &message.controls)
        } else {
            Err(operations_error(
                "cannot start TLS when operations are outstanding",
            ))
        };
        let result = allowed
            .as_ref()
            .err()
            .cloned()
            .unwrap_or_else(LdapResult::success);
        let out = self.output.append();
        encode::extended_result(out, message.id, &result, None, None, &[]);
        self.end(Operation::Extended, begun, mark);
        allowed.is_ok()
    }

    /// Updates identity and meter after TLS has begun to protect the connection.
    pub(super) fn secured(&mut self, connection: Arc<Connection>) {
        if let Some(meter) = &self.meter {
            meter.secured(Arc::clone(&connection));
        }
        self.set_bind_address(&connection);
        self.handler.secured(&mut self.identity, connection);
    }

    /// Logs and counts a request that has no response. An abandon that stops nothing is in no log
    /// of the directory.
    pub(super) fn log_unanswered(&mut self, message: &Message<'_>) {
        self.log.unanswered(message);
        let has_effect = match message.request {
            Request::Abandon(target) => self.contains(target),
            _ => true,
        };
        if has_effect {
            self.handler.record_unanswered(&self.identity, message);
        }
        if let Some(meter) = &self.meter {
            let operation = message.request.operation();
            meter.initiated(operation);
            meter.completed(operation, meter.round(), Outcome::Unanswered);
        }
    }

    /// Gives each running search a quantum, while there is work left in the turn and room in the
    /// output. The next turn continues with the next search. Returns true if a search has ended.
    pub(super) fn run_searches(&mut self, cache: &mut H::Cache<'h>) -> bool {
        self.bound_output();
        let running = self.searches.len();
        for _ in 0..running {
            if self.output.is_full() || self.work_left == 0 {
                break;
            }
            let Some(running) = self.searches.pop_front() else {
                break;
            };
            if let Some(running) = self.advance(running, cache) {
                self.searches.push_back(running);
            }
        }
        self.searches.len() < running
    }

    /// Lets the output be small while all searches wait for changes, or send some.
    fn bound_output(&mut self) {
        let has_any = self.searches.len() + self.waiting.len() > 0;
        let is_lasting = has_any && self.searches.iter().all(|running| running.is_lasting);
        let bytes_max = match is_lasting {
            true => self.output_bytes_max.min(LASTING_OUTPUT_BYTES_MAX),
            false => self.output_bytes_max,
        };
        self.output.set_full_at(bytes_max);
    }

    /// Runs one quantum of one search. Returns the search if it is not done.
    fn advance(
        &mut self,
        mut running: SearchInProgress<H::Search<'h>>,
        cache: &mut H::Cache<'h>,
    ) -> Option<SearchInProgress<H::Search<'h>>> {
        let mark = self.output.mark();
        let room = self.output.room().min(QUANTUM_BYTES_MAX);
        let search = &mut running.search;
        match search.advance(self.output.append(), room, &mut self.work_left) {
            Progress::More => {
                if let Some(record) = &mut running.begun.record {
                    record.count_entries(self.output.since(mark));
                }
                Some(running)
            }
            Progress::Waiting => {
                if let Some(record) = &mut running.begun.record {
                    record.count_entries(self.output.since(mark));
                }
                running.is_lasting = true;
                self.waiting.push(running);
                None
            }
            Progress::Done => {
                if let Some(meter) = &self.meter {
                    meter.searched(running.search.work());
                }
                let code = running.search.code();
                if let Some(logged) = &mut running.begun.logged {
                    logged.set_entries(running.search.work().entries);
                }
                running.search.release(cache);
                if running.tells {
                    self.handler.tell_position(self.output.append(), mark);
                }
                self.end_with(code, Operation::Search, running.begun, mark);
                None
            }
        }
    }

    /// Drops bytes that have been sent.
    pub(super) fn sent(&mut self, count: usize) {
        self.output.consume(count);
        if self.searches.is_empty() {
            self.output.release();
        }
    }

    /// Lets the searches go on that wait for changes.
    pub(super) fn wake_searches(&mut self) {
        self.searches.extend(self.waiting.drain(..));
    }

    /// Returns true if a search waits for changes.
    pub(super) fn has_waiting_searches(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Parks all running searches, so that they pin nothing in the store.
    pub(super) fn park(&mut self) {
        for running in &mut self.searches {
            running.search.park();
        }
    }

    /// Sends the writer's response to an update.
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
        self.end(update.operation, update.begun, mark);
    }

    fn take_hashing(&mut self, number: CheckId) -> Option<PendingOperation> {
        let at = self.hashing.iter().position(|(of, _)| *of == number)?;
        Some(self.hashing.remove(at).1)
    }

    /// Answers a request that does not begin.
    pub(super) fn refuse(&mut self, id: MessageId, operation: Operation, result: &LdapResult) {
        encode::result(self.output.append(), id, operation, result, &[]);
        self.log.refused(id, operation, result);
        if let Some(meter) = &self.meter {
            let outcome = Outcome::Code(result.code.number());
            meter.completed(operation, meter.round(), outcome);
            meter.wrote_result();
        }
    }

    /// Counts and logs an operation that has been answered; its responses begin at `mark`.
    fn end(&mut self, operation: Operation, begun: BegunOperation, mark: usize) {
        self.end_with(None, operation, begun, mark);
    }

    /// Does the same with the result code, if it is known without the responses.
    fn end_with(
        &mut self,
        code: Option<ResultCode>,
        operation: Operation,
        begun: BegunOperation,
        mark: usize,
    ) {
        let BegunOperation {
            since,
            mut record,
            logged,
        } = begun;
        if let Some(meter) = &self.meter {
            let code = code.map(ResultCode::number);
            let code = code.or_else(|| last_code(self.output.since(mark), operation));
            let code = code.unwrap_or(ResultCode::Other.number());
            meter.completed(operation, since, Outcome::Code(code));
            meter.wrote_result();
        }
        if operation == Operation::Bind {
            self.bind_has_ended(record.as_mut());
        }
        if let Some(record) = &mut record {
            self.log.end(record, self.output.since(mark));
        }
        if let Some(logged) = logged {
            self.handler.end_record(*logged, self.output.since(mark));
        }
    }
}

fn operations_error(text: &str) -> LdapResult {
    LdapResult::with_diagnostic(ResultCode::OperationsError, text)
}
