//! The state machine of one connection: bytes in, bytes out.
//!
//! ```text
//!   receive(bytes)                                             unsent() -> bytes, sent(count)
//!        |                                                          ^
//!        v                        turn()                            |
//!     Input --cut--> PDU --open--> may it begin? --yes--> decode --> Operations --> Output
//!                                        | no               ^         |   ^
//!                                        v                  |         v   | updated, password_checked
//!                                     waiting --------------'      take_jobs()
//! ```
//!
//! The operations of a connection run concurrently within its limits, and responses may overtake
//! each other. A search does not wait for the update before it and does not see its changes. A
//! client that wants to read its own writes waits for their responses first (RFC 4511 section 3.1).
//! Updates of one database are applied in the order of their arrival.
//!
//! A bind is a barrier. It abandons running searches (RFC 4511 section 4.2.1) and waits for the
//! updates before it. All requests after it wait. While requests wait, the session still looks for
//! an abandon or a cancel behind them. These stop a search at once, or withdraw an update that the
//! writer has not begun.
//!
//! The session has no socket and reads no clock. It never blocks: slow work leaves as a [`Job`]. A
//! turn does a bounded amount of work for any number of requests. So a client that sends many
//! requests gets no more of the server than others.

use std::collections::VecDeque;
use std::sync::Arc;

use fulgurite_directory::Connection;
use fulgurite_ldap::{
    DecodeError, LdapResult, Limits, MessageId, Operation, Request, RequestEnvelope, ResultCode,
    encode,
};

use super::bind_delays::BindDelays;
use super::class::RequestClass;
use super::handler::Handler;
use super::input::{Input, Span};
use super::job::{CheckId, Job, Turn};
use super::limits::SessionLimits;
use super::log::{ConnectionLog, OperationLog};
use super::operations::{Arrival, CancelOutcome, Operations, WORK_PER_TURN};
use super::quota::IdentityQuotas;
use crate::statistics::Meter;

/// Bytes read ahead while requests wait.
const READ_AHEAD_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// TLS begins once the output is sent. The session reads nothing until TLS protects the
    /// connection.
    Securing,
    /// The client or the server ends the connection. Updates and binds that have begun are
    /// finished; nothing begins.
    Ending,
    /// The output is complete.
    Closing,
}

/// A request that has not begun. Its body is decoded when it begins.
#[derive(Debug)]
struct ReceivedRequest {
    span: Span,
    envelope: RequestEnvelope,
    class: RequestClass,
    arrival: Arrival,
}

/// The state of one connection.
pub struct Session<'h, H: Handler> {
    limits: Arc<SessionLimits>,
    input: Input,
    waiting: VecDeque<ReceivedRequest>,
    operations: Operations<'h, H>,
    phase: Phase,
    /// True if the session takes no more requests. It finishes those received and then sends a
    /// notice.
    draining: bool,
    sent_notice: bool,
}

/// Returns a sentence about bytes that are of another protocol.
fn other_protocol(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        // A record of the handshake, in any version.
        [0x16, 0x03, ..] => {
            Some("looks like TLS on a port without it: use an ldaps:// port here, or StartTLS")
        }
        [b'G', b'E', b'T', b' ', ..] | [b'P', b'O', b'S', b'T', b' ', ..] => {
            Some("looks like HTTP: this port speaks LDAP")
        }
        _ => None,
    }
}

impl<'h, H: Handler> Session<'h, H> {
    /// Makes the session of a new connection.
    pub fn new(
        handler: &'h H,
        limits: Arc<SessionLimits>,
        log: Option<&'h dyn OperationLog>,
        connection: Arc<Connection>,
    ) -> Self {
        let log = ConnectionLog::new(log, connection.id);
        let operations = Operations::new(handler, &limits, log, connection);
        Session {
            limits,
            input: Input::default(),
            waiting: VecDeque::new(),
            operations,
            phase: Phase::Open,
            draining: false,
            sent_notice: false,
        }
    }

    /// Sets the limits and the log of further requests.
    pub(crate) fn set_limits(
        &mut self,
        limits: Arc<SessionLimits>,
        log: Option<&'h dyn OperationLog>,
    ) {
        self.operations.set_limits(&limits);
        self.limits = limits;
        self.operations.set_log(log);
    }

    /// Returns the limits in force.
    pub(crate) fn limits(&self) -> &SessionLimits {
        &self.limits
    }

    /// Sets the meter that counts the session's work.
    pub(crate) fn with_meter(mut self, meter: Meter) -> Self {
        self.operations.set_meter(meter);
        self
    }

    /// Sets the table of quotas that all connections of an identity share.
    #[must_use]
    pub fn with_quotas(mut self, identities: &'h IdentityQuotas) -> Self {
        self.operations.set_identities(identities);
        self
    }

    /// Sets the table in which failed binds of all connections count.
    #[must_use]
    pub fn with_bind_delays(mut self, delays: &'h BindDelays) -> Self {
        self.operations.set_bind_delays(delays);
        self
    }

    /// Returns the work of the last turn in candidates of searches. It exceeds the limit of a turn
    /// by one step at most.
    pub fn worked(&self) -> usize {
        WORK_PER_TURN - self.operations.work_left
    }

    /// Returns true if the session accepts more bytes now.
    pub fn wants_input(&self) -> bool {
        self.phase == Phase::Open
            && !self.draining
            && !self.operations.output.is_full()
            && self.outstanding() < self.pending_max()
            && (self.outstanding() == 0 || self.input.len() < READ_AHEAD_BYTES)
    }

    /// Takes bytes from the client; [`Session::turn`] decodes them.
    pub fn receive(&mut self, bytes: &[u8]) {
        if self.phase == Phase::Open {
            self.input.push(bytes);
        }
    }

    /// Records that the client has closed its side. Searches end (RFC 4511 section 5.3); updates
    /// that have begun are finished.
    pub fn end_of_input(&mut self) {
        if matches!(self.phase, Phase::Open | Phase::Securing) {
            self.end();
        }
    }

    /// Returns true if a TLS handshake follows the output; [`Session::secured`] ends that state.
    pub fn starts_tls(&self) -> bool {
        self.phase == Phase::Securing
    }

    /// Records that TLS protects the connection now. The identity stays.
    pub fn secured(&mut self, connection: Arc<Connection>) {
        if self.phase == Phase::Securing {
            self.phase = Phase::Open;
        }
        self.operations.secured(connection);
    }

    /// Records the client that a load balancer has named, before its first request.
    pub fn introduced(&mut self, connection: Arc<Connection>) {
        self.operations.secured(connection);
    }

    /// Stops taking requests. The session finishes those received and then sends a notice of
    /// disconnection.
    pub fn drain(&mut self) {
        self.draining = true;
        self.operations.abandon_waiting();
    }

    /// Sends a notice of disconnection and closes. Updates that have begun are finished without a
    /// response.
    pub fn disconnect(&mut self, code: ResultCode, diagnostic: &str) {
        if self.phase != Phase::Closing {
            self.operations.abandon_searches();
            encode::notice_of_disconnection(self.operations.output.append(), code, diagnostic);
            self.phase = Phase::Closing;
            self.sent_notice = true;
        }
    }

    /// Does a bounded amount of work.
    pub fn turn(&mut self) -> Turn {
        self.turn_with(&mut H::Cache::default())
    }

    /// Does a bounded amount of work with the cache of the thread.
    pub fn turn_with(&mut self, cache: &mut H::Cache<'h>) -> Turn {
        self.operations.work_left = WORK_PER_TURN;
        let limits = self.decode_limits();
        let has_begun_held = self.operations.begin_held(&limits, cache);
        let begun_all = self.begin_requests(cache);
        // A search that ends makes room for waiting requests.
        let made_room = self.operations.run_searches(cache);
        if self.draining {
            self.operations.abandon_waiting();
        }
        self.input
            .release(self.waiting.front().map(|waiting| waiting.span));
        if begun_all {
            self.end_if_drained();
        }
        if self.phase == Phase::Ending && self.operations.outstanding() == 0 {
            self.phase = Phase::Closing;
        }
        self.operations.report_outstanding(self.waiting.len());
        if self.phase == Phase::Closing {
            Turn::Closing
        } else if self.operations.output.is_full() {
            Turn::OutputFull
        } else if !begun_all
            || made_room
            || has_begun_held
            || self.operations.searches_running() > 0
        {
            Turn::More
        } else {
            Turn::Waits
        }
    }

    /// Lets searches go on that wait for changes.
    pub fn wake_searches(&mut self) {
        self.operations.wake_searches();
    }

    /// Returns true if a search waits for changes.
    pub fn has_waiting_searches(&self) -> bool {
        self.operations.has_waiting_searches()
    }

    /// Returns the responses that are not sent yet.
    pub fn unsent(&self) -> &[u8] {
        self.operations.output.unsent()
    }

    /// Drops the first `count` bytes of [`Session::unsent`], which have been sent.
    pub fn sent(&mut self, count: usize) {
        self.operations.sent(count);
    }

    /// Returns true if the output is full, so that searches wait for the client.
    pub fn output_is_full(&self) -> bool {
        self.operations.output.is_full()
    }

    /// Takes the work for other threads, in order.
    pub fn take_jobs(&mut self) -> impl Iterator<Item = Job<H>> + '_ {
        self.operations.jobs.drain(..)
    }

    /// Takes the response of the writer to [`Job::Update`].
    pub fn updated(&mut self, id: MessageId, response: &[u8]) {
        if self.phase != Phase::Closing {
            self.operations.updated(id, response);
        }
    }

    /// Takes the result of [`Job::CheckPassword`]; `None` if the queue was full.
    pub fn password_checked(&mut self, number: CheckId, verdict: Option<H::PasswordResult>) {
        match verdict {
            Some(verdict) => self.operations.password_checked(number, verdict),
            None => self.operations.password_unchecked(number),
        }
    }

    /// Takes the end of the wait of [`Job::AwaitState`].
    pub fn state_reached(&mut self, number: CheckId, reached: Result<(), LdapResult>) {
        if self.phase != Phase::Closing {
            self.operations.state_reached(number, reached);
        }
    }

    /// Takes the end of the time of [`Job::HoldBind`].
    pub fn release_bind(&mut self, number: CheckId) {
        if self.phase != Phase::Closing {
            self.operations.release_bind(number);
        }
    }

    /// Releases the snapshots of running searches until they continue, for a client that does not
    /// read.
    pub fn park(&mut self) {
        self.operations.park();
    }

    /// Returns true if the session has sent a notice of disconnection.
    pub fn sent_notice(&self) -> bool {
        self.sent_notice
    }

    /// Returns true if nothing is outstanding and all output is sent.
    pub fn is_idle(&self) -> bool {
        self.outstanding() == 0 && self.unsent().is_empty()
    }

    fn outstanding(&self) -> usize {
        self.operations.outstanding() + self.waiting.len()
    }

    fn pending_max(&self) -> usize {
        if self.operations.is_authenticated() {
            self.limits.pending_max_authenticated
        } else {
            self.limits.pending_max_anonymous
        }
    }

    fn request_bytes_max(&self) -> usize {
        if self.operations.is_authenticated() {
            self.limits.request_bytes_max_authenticated
        } else {
            self.limits.request_bytes_max_anonymous
        }
    }

    /// Begins all requests that may begin. Returns false if only the end of the turn stopped it.
    fn begin_requests(&mut self, cache: &mut H::Cache<'h>) -> bool {
        // Running searches get half of the turn if they need it.
        let reserved = match self.operations.searches_running() {
            0 => 0,
            _ => WORK_PER_TURN / 2,
        };
        while self.operations.work_left > reserved {
            if self.phase != Phase::Open || self.operations.output.is_full() {
                return true;
            }
            let waiting = self.next_waiting();
            let progress = match waiting.and_then(|index| self.waiting.remove(index)) {
                Some(request) => {
                    self.begin(request, cache);
                    true
                }
                None => self.take_next(cache),
            };
            if !progress {
                return true;
            }
        }
        false
    }

    fn may_begin(&self, class: RequestClass) -> bool {
        self.operations
            .may_begin(class, self.limits.searches_running_max)
    }

    /// Returns the oldest waiting request that may begin.
    fn next_waiting(&self) -> Option<usize> {
        for (index, waiting) in self.waiting.iter().enumerate() {
            if waiting.class.is_barrier() {
                return (index == 0 && self.may_begin(waiting.class)).then_some(0);
            }
            if self.may_begin(waiting.class) {
                return Some(index);
            }
        }
        None
    }

    /// Takes the next request from the input. Returns false if there is none.
    fn take_next(&mut self, cache: &mut H::Cache<'h>) -> bool {
        // Limits and identity are unknown until a bind is answered.
        let bind_waits = self
            .waiting
            .back()
            .is_some_and(|last| last.class.is_barrier());
        if self.operations.is_binding() || bind_waits || self.outstanding() >= self.pending_max() {
            return false;
        }
        match self.input.cut(self.request_bytes_max()) {
            Ok(Some(span)) => self.take(span, cache),
            Ok(None) => return false,
            Err(error) => {
                if let Some(other) = other_protocol(self.input.uncut()) {
                    let connection = self.operations.connection();
                    tracing::warn!("conn={connection} {other}");
                }
                self.disconnect(ResultCode::ProtocolError, &error.to_string());
            }
        }
        true
    }

    /// Begins a request, or lets it wait.
    fn take(&mut self, span: Span, cache: &mut H::Cache<'h>) {
        let pdu = self.input.pdu(span);
        let envelope = match RequestEnvelope::open(pdu) {
            Ok(envelope) => envelope,
            Err(error) => return self.refuse_malformed(&error),
        };
        let class = RequestClass::of(&envelope, pdu);
        if let Some(result) = self.refusal(envelope.id, class) {
            let RequestEnvelope { id, operation, .. } = envelope;
            return self.operations.refuse(id, operation, &result);
        }
        if class == RequestClass::Bind {
            self.operations.abandon_searches();
            self.waiting
                .retain(|waiting| waiting.class != RequestClass::Search);
        }
        let waits = !self.waiting.is_empty() && class.is_barrier() || !self.may_begin(class);
        let arrival = Arrival {
            logged: waits.then(|| self.operations.now_for_log()).flatten(),
            counted: self.operations.now_for_statistics(),
        };
        let request = ReceivedRequest {
            span,
            envelope,
            class,
            arrival,
        };
        if waits {
            self.waiting.push_back(request);
        } else {
            self.begin(request, cache);
        }
    }

    /// Begins a request that may begin.
    fn begin(&mut self, request: ReceivedRequest, cache: &mut H::Cache<'h>) {
        let limits = self.decode_limits();
        let pdu = self.input.pdu(request.span);
        let message = match request.envelope.decode(pdu, &limits) {
            Ok(message) => message,
            Err(error) => return self.refuse_malformed(&error),
        };
        match request.class {
            RequestClass::Unbind => {
                self.operations.log_unanswered(&message);
                self.end();
            }
            RequestClass::Abandon => {
                self.operations.log_unanswered(&message);
                if let Request::Abandon(target) = message.request {
                    self.abandon(target);
                }
            }
            RequestClass::StartTls => {
                let alone = self.outstanding() == 0 && self.input.uncut().is_empty();
                if self.operations.start_tls(&message, alone) {
                    self.phase = Phase::Securing;
                }
            }
            _ => {
                let id = message.id;
                let begun = self.operations.begin(&message, pdu, request.arrival, cache);
                if let Some(target) = begun {
                    self.cancel(id, target);
                }
            }
        }
    }

    /// Returns the result that refuses a request before it begins, if any.
    fn refusal(&self, id: MessageId, class: RequestClass) -> Option<LdapResult> {
        let has_id = !matches!(class, RequestClass::Unbind | RequestClass::Abandon);
        if has_id && self.is_outstanding(id) {
            let text =
                format!("message id {id} is in use by an operation that is not answered yet");
            return Some(LdapResult::with_diagnostic(ResultCode::ProtocolError, text));
        }
        let has_quota = matches!(
            class,
            RequestClass::Search | RequestClass::Read | RequestClass::Update
        );
        if has_quota && self.operations.is_identity_full(self.waiting.len()) {
            let text = "too many operations of this identity are outstanding; try again";
            return Some(LdapResult::with_diagnostic(ResultCode::Busy, text));
        }
        None
    }

    fn decode_limits(&self) -> Limits {
        Limits {
            filter_depth_max: self.limits.filter_depth_max,
            ..Limits::default()
        }
    }

    fn is_outstanding(&self, id: MessageId) -> bool {
        self.operations.contains(id) || self.waiting.iter().any(|waiting| waiting.envelope.id == id)
    }

    fn abandon(&mut self, target: MessageId) {
        self.operations.abandon(target);
        self.waiting
            .retain(|waiting| waiting.envelope.id != target || waiting.class == RequestClass::Bind);
    }

    /// Stops the operation `target` for the cancel request `id`, and answers both.
    fn cancel(&mut self, id: MessageId, target: MessageId) {
        let waiting = self.waiting.iter().position(|w| w.envelope.id == target);
        let outcome = match waiting.and_then(|index| self.waiting.get(index)) {
            Some(waiting) if waiting.class.is_barrier() => CancelOutcome::Cannot,
            Some(waiting) => {
                let operation = waiting.envelope.operation;
                self.operations.answer_cancelled(target, operation);
                self.waiting.retain(|w| w.envelope.id != target);
                CancelOutcome::Done
            }
            None => self.operations.cancel(target),
        };
        self.operations.answer_cancel(id, outcome);
    }

    fn refuse_malformed(&mut self, error: &DecodeError) {
        match error {
            DecodeError::Body { id, operation, .. }
                if !error.is_fatal() && operation.result_tag().is_some() =>
            {
                let result =
                    LdapResult::with_diagnostic(ResultCode::ProtocolError, error.to_string());
                self.operations.refuse(*id, *operation, &result);
            }
            // A malformed abandon or unbind has no response to carry the error.
            DecodeError::Body {
                operation: Operation::Abandon,
                ..
            } if !error.is_fatal() => {}
            _ => self.disconnect(ResultCode::ProtocolError, &error.to_string()),
        }
    }

    /// Publishes the operations for administrators, and cancels those that one has ended. Returns
    /// true if there is a response to send.
    pub(crate) fn publish_operations(&mut self) -> bool {
        self.operations.publish()
    }

    /// Ends the session: no more requests begin.
    fn end(&mut self) {
        self.phase = Phase::Ending;
        self.operations.abandon_searches();
        self.waiting.clear();
    }

    fn end_if_drained(&mut self) {
        let is_open = self.phase == Phase::Open && !self.operations.output.is_full();
        if self.draining && is_open && self.outstanding() == 0 {
            self.disconnect(ResultCode::Unavailable, "the server is shutting down");
        }
    }
}
