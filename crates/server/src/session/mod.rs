//! The protocol of one connection, free of I/O: bytes in, bytes out.
//!
//! ```text
//!   receive(bytes)                                             unsent() -> bytes, sent(count)
//!        |                                                          ^
//!        v                        turn()                            |
//!     Input --cut--> PDU --decode--> may it begin? --yes--> Operations --> Output
//!                                        | no                  |   ^
//!                                        v                     v   | updated, password_checked
//!                                     waiting                 take_jobs()
//! ```
//!
//! Requests begin in the order they came. A search or another read begins when all updates before it
//! are answered, so that a client sees what it wrote; a bind begins when everything before it is
//! answered, and everything after it waits. Running searches take turns, and answers may overtake each
//! other. While a request waits, those behind it are looked at for an abandon.
//!
//! The session holds no socket and reads no clock. It never blocks: what takes long leaves as a
//! [`Job`], and a turn does a bounded amount of work.

mod class;
mod input;
mod limits;
mod log;
mod operations;
mod output;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use fulgurite_directory::Connection;
use fulgurite_ldap::{
    DecodeError, LdapResult, Limits, Message, MessageId, Operation, Request, ResultCode, encode,
};

use crate::handler::Handler;
use class::Class;
use input::{Input, Span};
use log::ConnectionLog;
use operations::Operations;

pub use limits::SessionLimits;
pub use log::OperationLog;

/// Requests begun in one turn, before other connections have theirs.
const REQUESTS_PER_TURN: usize = 256;

/// Octets read ahead while requests wait.
const READ_AHEAD_BYTES: usize = 64 * 1024;

/// Work that a session hands to other threads.
#[derive(Debug)]
pub enum Job<H: Handler> {
    /// For the writer; its response comes back through [`Session::updated`] under this id.
    Update(MessageId, H::Update),
    /// For the hashing pool; the verdict comes back through [`Session::password_checked`].
    CheckPassword(H::PasswordCheck),
}

/// What a session needs next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Another turn, without waiting for anything.
    More,
    /// Bytes, or the end of a job.
    Waits,
    /// That the client reads.
    OutputFull,
    /// To be closed, once the output is sent.
    Closing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// The client has gone or we want it to: begun updates and binds are finished, nothing begins.
    Ending,
    /// The last byte is in the output.
    Closing,
}

/// A request that has arrived and may not begin yet.
#[derive(Debug)]
struct Waiting {
    span: Span,
    id: MessageId,
    class: Class,
    received: Option<Instant>,
}

/// The state of one connection.
pub struct Session<'h, H: Handler> {
    limits: &'h SessionLimits,
    input: Input,
    waiting: VecDeque<Waiting>,
    operations: Operations<'h, H>,
    phase: Phase,
    /// No more requests are taken; those received are finished, then the client is told.
    draining: bool,
    sent_notice: bool,
}

impl<'h, H: Handler> Session<'h, H> {
    /// The session of a new connection, and what is known of that.
    pub fn new(
        handler: &'h H,
        limits: &'h SessionLimits,
        log: Option<&'h dyn OperationLog>,
        connection: Arc<Connection>,
    ) -> Self {
        let log = log.map(|sink| ConnectionLog::new(sink, connection.id));
        Session {
            limits,
            input: Input::default(),
            waiting: VecDeque::new(),
            operations: Operations::new(handler, limits, log, connection),
            phase: Phase::Open,
            draining: false,
            sent_notice: false,
        }
    }

    /// Whether more bytes from the client are welcome now.
    pub fn wants_input(&self) -> bool {
        self.phase == Phase::Open
            && !self.draining
            && !self.operations.output.is_full()
            && self.outstanding() < self.pending_max()
            && (self.outstanding() == 0 || self.input.len() < READ_AHEAD_BYTES)
    }

    /// Takes bytes from the client; [`Session::turn`] looks at them.
    pub fn receive(&mut self, bytes: &[u8]) {
        if self.phase == Phase::Open {
            self.input.push(bytes);
        }
    }

    /// The client has ended its side: searches end with it (RFC 4511 section 5.3), updates that have
    /// begun are finished.
    pub fn end_of_input(&mut self) {
        if self.phase == Phase::Open {
            self.end();
        }
    }

    /// Takes note that TLS protects the connection now; who is authenticated stays.
    pub fn secured(&mut self, connection: Arc<Connection>) {
        self.operations.secured(connection);
    }

    /// Takes no more requests, finishes those received, then sends a notice of disconnection.
    pub fn drain(&mut self) {
        self.draining = true;
    }

    /// Tells the client why, and closes. Only begun updates are still finished, unanswered.
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
        let begun_all = self.begin_requests();
        // A search that ends makes room for requests that wait.
        let made_room = self.operations.run_searches();
        self.input
            .release(self.waiting.front().map(|waiting| waiting.span));
        if begun_all {
            self.end_if_drained();
        }
        if self.phase == Phase::Ending && self.operations.outstanding() == 0 {
            self.phase = Phase::Closing;
        }
        if self.phase == Phase::Closing {
            Turn::Closing
        } else if self.operations.output.is_full() {
            Turn::OutputFull
        } else if !begun_all || made_room || self.operations.searches_running() > 0 {
            Turn::More
        } else {
            Turn::Waits
        }
    }

    /// Responses to be sent.
    pub fn unsent(&self) -> &[u8] {
        self.operations.output.unsent()
    }

    /// Notes that the first `count` octets of [`Session::unsent`] are on their way.
    pub fn sent(&mut self, count: usize) {
        self.operations.output.consume(count);
    }

    /// Whether the output is so full that searches wait for the client.
    pub fn output_is_full(&self) -> bool {
        self.operations.output.is_full()
    }

    /// Work for other threads, in order.
    pub fn take_jobs(&mut self) -> impl Iterator<Item = Job<H>> + '_ {
        self.operations.jobs.drain(..)
    }

    /// The response of the writer to [`Job::Update`].
    pub fn updated(&mut self, id: MessageId, response: &[u8]) {
        if self.phase != Phase::Closing {
            self.operations.updated(id, response);
        }
    }

    /// The answer to [`Job::CheckPassword`]; `None` if there were too many of them.
    pub fn password_checked(&mut self, verdict: Option<H::PasswordVerdict>) {
        match verdict {
            Some(verdict) => self.operations.password_checked(verdict),
            None => self.operations.password_unchecked(),
        }
    }

    /// Gives up what running searches pin in the store until they go on; for a client that does not
    /// read.
    pub fn park(&mut self) {
        self.operations.park();
    }

    /// Whether the client was told to go, rather than going by itself.
    pub fn sent_notice(&self) -> bool {
        self.sent_notice
    }

    /// Whether nothing is outstanding.
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

    /// Begins what may begin; false if it stopped only because the turn was long enough.
    fn begin_requests(&mut self) -> bool {
        for _ in 0..REQUESTS_PER_TURN {
            if self.phase != Phase::Open || self.operations.output.is_full() {
                return true;
            }
            let progress = match self.waiting.front() {
                Some(first) if self.may_begin(first.class) => self.begin_first_waiting(),
                _ => self.take_next(),
            };
            if !progress {
                return true;
            }
        }
        false
    }

    fn may_begin(&self, class: Class) -> bool {
        self.operations
            .may_begin(class, self.limits.searches_running_max)
    }

    /// Begins the request that has waited longest.
    fn begin_first_waiting(&mut self) -> bool {
        let Some(first) = self.waiting.pop_front() else {
            return false;
        };
        let limits = self.decode_limits();
        // It was decoded when it came, so it decodes now.
        let pdu = self.input.pdu(first.span);
        if let Ok(message) = Message::decode(pdu, &limits) {
            if first.class == Class::Unbind {
                self.operations.note(&message);
                self.end();
            } else {
                self.operations.begin(&message, pdu, first.received);
            }
        }
        true
    }

    /// Takes the next request from the input; false if there is none to take.
    fn take_next(&mut self) -> bool {
        // After a bind nothing is known of limits and identity until it is answered.
        let bind_waits = self
            .waiting
            .back()
            .is_some_and(|last| matches!(last.class, Class::Bind | Class::Unbind));
        if self.operations.is_binding() || bind_waits || self.outstanding() >= self.pending_max() {
            return false;
        }
        match self.input.cut(self.request_bytes_max()) {
            Ok(Some(span)) => self.take(span),
            Ok(None) => return false,
            Err(error) => self.disconnect(ResultCode::ProtocolError, &error.to_string()),
        }
        true
    }

    fn take(&mut self, span: Span) {
        let limits = self.decode_limits();
        let pdu = self.input.pdu(span);
        let message = match Message::decode(pdu, &limits) {
            Ok(message) => message,
            Err(error) => return self.refuse_malformed(&error),
        };
        let id = message.id;
        let class = Class::of(&message.request);
        if let Request::Abandon(target) = message.request {
            self.operations.note(&message);
            return self.abandon(target);
        }
        if class != Class::Unbind && self.is_outstanding(id) {
            let result = LdapResult::with_diagnostic(
                ResultCode::ProtocolError,
                format!("message id {id} is in use by an operation that is not answered yet"),
            );
            let operation = message.request.operation();
            return self.operations.refuse(id, operation, &result);
        }
        let waits = !self.waiting.is_empty()
            || !self
                .operations
                .may_begin(class, self.limits.searches_running_max);
        if waits {
            let received = self.operations.now_for_log();
            self.waiting.push_back(Waiting {
                span,
                id,
                class,
                received,
            });
        } else if class == Class::Unbind {
            self.operations.note(&message);
            self.end();
        } else {
            self.operations.begin(&message, pdu, None);
        }
    }

    fn decode_limits(&self) -> Limits {
        Limits {
            filter_depth_max: self.limits.filter_depth_max,
            ..Limits::default()
        }
    }

    fn is_outstanding(&self, id: MessageId) -> bool {
        self.operations.contains(id) || self.waiting.iter().any(|waiting| waiting.id == id)
    }

    fn abandon(&mut self, target: MessageId) {
        self.operations.abandon(target);
        self.waiting
            .retain(|waiting| waiting.id != target || waiting.class == Class::Bind);
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

    /// Begins nothing more.
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
