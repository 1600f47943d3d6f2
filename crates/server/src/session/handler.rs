//! The port between sessions and the directory that answers their requests.
//!
//! A session knows messages, order and limits, but not entries. [`Handler`] gives it everything
//! that it needs from the directory. So tests use a handler of a few lines, and benchmarks measure
//! a driver without a store.

use std::sync::Arc;
use std::time::Duration;

use fulgurite_directory::{BegunRecord, ChangeListener, Connection, ExtendedStep, Progress};
use fulgurite_ldap::{
    BindRequest, CompareRequest, Controls, ExtendedRequest, LdapResult, Message, MessageId,
    ResultCode, SearchRequest,
};

use crate::statistics::SearchWork;

/// The answer to the question if a read may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadGate {
    /// It begins.
    Open,
    /// It begins, and its result tells the position of the state.
    Tells,
    /// It begins when the state is here.
    Waits(StateWish),
    /// It does not begin.
    Refused(LdapResult),
}

/// The state of a cluster that a read needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateWish {
    /// The position that the client has seen; `None` for all that is acknowledged.
    pub not_before: Option<u64>,
    /// True if the result tells the position.
    pub tells: bool,
}

/// Takes the end of a wait for a state: the state is here, or a refusal.
pub type StateListener = Box<dyn FnOnce(Result<(), LdapResult>) + Send>;

/// Answers requests. One value serves all connections of a server from all threads.
pub trait Handler: Sync {
    /// The identity of a connection. The default is anonymous.
    type Identity: Default + Clone + Send;
    /// A search that has begun; dropping it abandons the search.
    type Search<'h>: RunningSearch<Self::Cache<'h>>
    where
        Self: 'h;
    /// Data that each thread keeps from one request to the next, for its own use.
    type Cache<'h>: Default
    where
        Self: 'h;
    /// An update on its way to the writer.
    type Update: Send;
    /// Passwords that take long to verify or to hash, on their way to the hashing pool.
    type PasswordCheck: Send;
    /// The result of the hashing pool.
    type PasswordResult: Send;

    /// Returns the identity of a new connection.
    fn connected(&self, _connection: Arc<Connection>) -> Self::Identity {
        Self::Identity::default()
    }

    /// Updates the identity after TLS has begun to protect its connection.
    fn secured(&self, _identity: &mut Self::Identity, _connection: Arc<Connection>) {}

    /// Returns true if a bind of several steps waits for the client, which blocks other requests.
    fn is_binding(&self, _identity: &Self::Identity) -> bool {
        false
    }

    /// Decides if TLS may begin (StartTLS, RFC 4511 section 4.14). The session itself checks that
    /// no operation is outstanding.
    ///
    /// # Errors
    /// The result to send if TLS may not begin.
    fn start_tls(
        &self,
        _identity: &mut Self::Identity,
        _request: &ExtendedRequest<'_>,
        _controls: &Controls<'_>,
    ) -> Result<(), LdapResult> {
        let text = "unsupported extended operation";
        Err(LdapResult::with_diagnostic(ResultCode::ProtocolError, text))
    }

    /// Returns true if the larger limits of authenticated connections apply.
    fn is_authenticated(&self, identity: &Self::Identity) -> bool;

    /// Returns the name of the identity for logs and `cn=Monitor`; empty if anonymous.
    fn name(&self, _identity: &Self::Identity) -> String {
        String::new()
    }

    /// Returns the reason why the last bind failed, for the log only.
    fn bind_failure(&self, _identity: &Self::Identity) -> Option<&'static str> {
        None
    }

    /// Returns the normal form of the name whose password the last bind gave, right or wrong.
    fn claimed_name<'a>(&self, _identity: &'a Self::Identity) -> Option<&'a str> {
        None
    }

    /// Returns a key for comparisons: equal keys mean the same identity.
    fn identity_key(&self, identity: &Self::Identity) -> String {
        self.name(identity)
    }

    /// Reads the configuration again at an administrator's request and logs the outcome.
    fn reload(&self) {
        tracing::info!("SIGHUP ignored: there is no configuration to read again");
    }

    /// Logs the state of the server at an administrator's request.
    fn dump(&self) {}

    /// Runs background work on its own thread until the server ends. `pause` waits for the given
    /// time or less and returns true if the work may go on.
    fn background(&self, _pause: &dyn Fn(Duration) -> bool) {}

    /// Calls `listener` whenever searches that wait may have something to do. It must be fast.
    fn on_change(&self, _listener: ChangeListener) {}

    /// Begins the record of an operation, if a log of the directory shall have one.
    fn begin_record(
        &self,
        _identity: &Self::Identity,
        _message: &Message<'_>,
    ) -> Option<Box<BegunRecord>> {
        None
    }

    /// Ends the record with the responses to the operation.
    fn end_record(&self, _record: BegunRecord, _responses: &[u8]) {}

    /// Records a request that has no response.
    fn record_unanswered(&self, _identity: &Self::Identity, _message: &Message<'_>) {}

    /// Returns true if [`gate_read`](Self::gate_read) shall decide about all reads. Without it only
    /// reads with controls are asked about. Each connection asks once, when it begins.
    fn gates_reads(&self) -> bool {
        false
    }

    /// Decides if a search or a compare may begin.
    fn gate_read(&self, _message: &Message<'_>) -> ReadGate {
        ReadGate::Open
    }

    /// Waits for the state of a read, for a bounded time, and calls `then` from any thread.
    fn await_state(&self, _wish: StateWish, then: StateListener) {
        then(Ok(()));
    }

    /// Adds the position of the state to the last of the responses since `mark`.
    fn tell_position(&self, _out: &mut Vec<u8>, _mark: usize) {}

    /// Begins a search. Its responses come from [`RunningSearch::advance`].
    fn begin_search<'h>(
        &'h self,
        cache: &mut Self::Cache<'h>,
        identity: &Self::Identity,
        id: MessageId,
        request: &SearchRequest<'_>,
        controls: &Controls<'_>,
    ) -> Self::Search<'h>;

    /// Compares and appends the response to `out`.
    fn compare<'h>(
        &'h self,
        cache: &mut Self::Cache<'h>,
        identity: &Self::Identity,
        id: MessageId,
        request: &CompareRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    );

    /// Begins an extended operation.
    fn extended(
        &self,
        identity: &mut Self::Identity,
        id: MessageId,
        request: &ExtendedRequest<'_>,
        controls: &Controls<'_>,
    ) -> ExtendedStep<Self::PasswordCheck, Self::Update>;

    /// Continues an extended operation with the result of the hashing pool.
    fn resume_extended(
        &self,
        identity: &mut Self::Identity,
        checked: Self::PasswordResult,
    ) -> ExtendedStep<Self::PasswordCheck, Self::Update>;

    /// Begins a bind. `identity` becomes anonymous at once and the new identity at success
    /// (RFC 4513 section 4).
    ///
    /// Returns the password that the hashing pool has to verify first. `None` means that the
    /// response is in `out`.
    fn begin_bind<'h>(
        &'h self,
        cache: &mut Self::Cache<'h>,
        identity: &mut Self::Identity,
        id: MessageId,
        request: &BindRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Self::PasswordCheck>;

    /// Verifies or hashes; runs on a thread of the hashing pool.
    fn check_password(&self, check: Self::PasswordCheck) -> Self::PasswordResult;

    /// Returns the update that a verified bind causes before its answer. No response to it is sent.
    fn before_answer(&self, _checked: &mut Self::PasswordResult) -> Option<Self::Update> {
        None
    }

    /// Waits until that update is done, for a bounded time; on a thread of the hashing pool.
    fn wait_before_answer(&self, _checked: &mut Self::PasswordResult) {}

    /// Ends a bind with the result of the hashing pool and appends the response to `out`.
    fn finish_bind(
        &self,
        identity: &mut Self::Identity,
        id: MessageId,
        checked: Self::PasswordResult,
        out: &mut Vec<u8>,
    );

    /// Returns the update that the bind causes that has just been answered. No response to it is
    /// sent.
    fn after_bind(&self, _identity: &mut Self::Identity) -> Option<Self::Update> {
        None
    }

    /// Makes an update from an add, delete, modify or modify DN. The update outlives the read
    /// buffer.
    ///
    /// Returns `None` if the update waits for the end of its transaction; the response is in `out`.
    fn update(
        &self,
        identity: &mut Self::Identity,
        message: &Message<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Self::Update>;

    /// Returns the number of the writer that an update belongs to. Each writer is a thread, which
    /// its first update starts. Updates of one connection and one writer keep their order.
    fn writer_of(&self, _update: &Self::Update) -> usize {
        0
    }

    /// Applies updates of one writer in order and makes them durable. Returns one encoded response
    /// for each, in order. Runs on the thread of that writer.
    fn apply(&self, updates: Vec<Self::Update>) -> Vec<Vec<u8>>;

    /// Applies updates of one writer as [`Handler::apply`] does, on a worker between the turns of
    /// its connections.
    ///
    /// Returns `None` if the updates would wait for a lock or a disk, or take too long. Then
    /// nothing has changed, and their writer applies them.
    fn apply_at_once(&self, _updates: &[Self::Update]) -> Option<Vec<Vec<u8>>> {
        None
    }
}

/// A search in progress.
pub trait RunningSearch<Cache> {
    /// Works for one quantum and appends encoded responses to `out`.
    ///
    /// The responses take about `room` bytes at most; a single entry may exceed that. The search
    /// examines at most `work` candidates and subtracts those it has examined. The last response
    /// before [`Progress::Done`] is the result.
    fn advance(&mut self, out: &mut Vec<u8>, room: usize, work: &mut usize) -> Progress;

    /// Returns the work up to now, for the statistics.
    fn work(&self) -> SearchWork {
        SearchWork::default()
    }

    /// Returns what the search looks for, without values, for administrators.
    fn about(&self) -> String {
        String::new()
    }

    /// Returns the result code of a search that is done, if it is known without its response.
    fn code(&self) -> Option<ResultCode> {
        None
    }

    /// Ends the search and gives its snapshot back to the cache of the thread.
    fn release(self, cache: &mut Cache);

    /// Gives up everything that pins the store, because the client does not read. The next
    /// [`RunningSearch::advance`] takes it up again.
    fn park(&mut self);
}
