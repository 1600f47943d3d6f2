//! The port between sessions and whatever answers their requests.
//!
//! A session knows messages, order and limits; it does not know what an entry is. Everything it
//! needs from the directory stands in [`Handler`], so that the state machine can be tested with a
//! handler of a few lines, and so that a driver can be measured without a store under it.

use std::sync::Arc;
use std::time::Duration;

use fulgurite_directory::Connection;
use fulgurite_ldap::{
    BindRequest, CompareRequest, Controls, ExtendedRequest, LdapResult, Message, MessageId,
    ResultCode, SearchRequest,
};

/// Answers requests. One value serves all connections of a server from all threads.
pub trait Handler: Sync {
    /// Who a connection is. The default is anonymous.
    type Identity: Default + Clone + Send;
    /// A search that has begun; dropping it abandons it.
    type Search<'h>: RunningSearch<Self::Kept<'h>>
    where
        Self: 'h;
    /// What a thread keeps from one request to the next, for itself.
    type Kept<'h>: Default
    where
        Self: 'h;
    /// An update, on its way to the one writer.
    type Update: Send;
    /// Passwords that take long to verify or to hash, on their way to the hashing pool.
    type PasswordCheck: Send;
    /// What the hashing pool found out.
    type PasswordVerdict: Send;

    /// Who a new connection is.
    fn connected(&self, _connection: Arc<Connection>) -> Self::Identity {
        Self::Identity::default()
    }

    /// Takes note that what is known of a connection has changed: TLS protects it now.
    fn secured(&self, _identity: &mut Self::Identity, _connection: Arc<Connection>) {}

    /// Whether a bind of several steps waits for the client: it has to go on with that before anything else.
    fn is_binding(&self, _identity: &Self::Identity) -> bool {
        false
    }

    /// Whether TLS may begin (StartTLS, RFC 4511 section 4.14); that nothing is outstanding is not asked here.
    ///
    /// # Errors
    /// What to answer if it may not.
    fn start_tls(
        &self,
        _identity: &mut Self::Identity,
        _request: &ExtendedRequest<'_>,
        _controls: &Controls<'_>,
    ) -> Result<(), LdapResult> {
        let text = "unsupported extended operation";
        Err(LdapResult::with_diagnostic(ResultCode::ProtocolError, text))
    }

    /// Whether the larger limits of authenticated connections apply.
    fn is_authenticated(&self, identity: &Self::Identity) -> bool;

    /// Whom a connection speaks for, for people; empty for nobody.
    fn name(&self, _identity: &Self::Identity) -> String {
        String::new()
    }

    /// The same for programs: equal names are the same identity.
    fn identity_key(&self, identity: &Self::Identity) -> String {
        self.name(identity)
    }

    /// Reads the configuration again, because an administrator asks for it. What is to be said of it goes to the log.
    fn reload(&self) {
        tracing::info!("SIGHUP ignored: there is no configuration to read again");
    }

    /// Says what is going on, because an administrator asks for it.
    fn dump(&self) {}

    /// Does what is to be done beside requests, on a thread of its own, until `pause` says that the server ends: it waits
    /// for the time given, or shorter, and answers whether to go on.
    fn background(&self, _pause: &dyn Fn(Duration) -> bool) {}

    /// Begins a search. Its answers come from [`RunningSearch::advance`].
    fn begin_search<'h>(
        &'h self,
        kept: &mut Self::Kept<'h>,
        identity: &Self::Identity,
        id: MessageId,
        request: &SearchRequest<'_>,
        controls: &Controls<'_>,
    ) -> Self::Search<'h>;

    /// Compares; the response goes to `out`.
    fn compare<'h>(
        &'h self,
        kept: &mut Self::Kept<'h>,
        identity: &Self::Identity,
        id: MessageId,
        request: &CompareRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    );

    /// Begins an extended operation; the response, if there is one already, goes to `out`.
    fn extended(
        &self,
        identity: &mut Self::Identity,
        id: MessageId,
        request: &ExtendedRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    ) -> ExtendedStep<Self::PasswordCheck, Self::Update>;

    /// Goes on with an extended operation whose passwords have been looked at elsewhere.
    fn resume_extended(
        &self,
        identity: &mut Self::Identity,
        verdict: Self::PasswordVerdict,
        out: &mut Vec<u8>,
    ) -> ExtendedStep<Self::PasswordCheck, Self::Update>;

    /// Begins a bind. `identity` becomes anonymous at once and the new identity at success
    /// (RFC 4513 section 4); the response, if there is one already, goes to `out`.
    fn begin_bind<'h>(
        &'h self,
        kept: &mut Self::Kept<'h>,
        identity: &mut Self::Identity,
        id: MessageId,
        request: &BindRequest<'_>,
        controls: &Controls<'_>,
        out: &mut Vec<u8>,
    ) -> BindStep<Self::PasswordCheck>;

    /// Verifies or hashes; runs on a thread of the hashing pool.
    fn check_password(&self, check: Self::PasswordCheck) -> Self::PasswordVerdict;

    /// Ends a bind whose password has been verified elsewhere.
    fn finish_bind(
        &self,
        identity: &mut Self::Identity,
        verdict: Self::PasswordVerdict,
        out: &mut Vec<u8>,
    );

    /// Makes something that outlives the read buffer of an add, delete, modify or modify DN.
    /// `None` if the response is in `out` already: the update waits for the end of its transaction.
    fn update(
        &self,
        identity: &mut Self::Identity,
        message: &Message<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Self::Update>;

    /// Applies updates in order and makes them durable; one encoded response each, in order. Runs on
    /// the one writer thread.
    fn apply(&self, updates: Vec<Self::Update>) -> Vec<Vec<u8>>;

    /// As [`Handler::apply`], on a worker between the turns of its connections: only if nobody and no disk has to be waited
    /// for, and each update takes about as long as a search. `None` otherwise; then nothing has changed, and the writer is
    /// asked.
    fn apply_at_once(&self, _updates: &[Self::Update]) -> Option<Vec<Vec<u8>>> {
        None
    }
}

/// A search in progress.
pub trait RunningSearch<Kept> {
    /// Works for one quantum, appending encoded responses to `out`: at most about `room` octets (a
    /// single entry may exceed it). It does as much `work` as it is given, counted in candidates looked at, and takes off
    /// what it did. The last response of [`Progress::Done`] is the result.
    fn advance(&mut self, out: &mut Vec<u8>, room: usize, work: &mut usize) -> Progress;

    /// Entries and references written so far.
    fn written(&self) -> (u64, u64) {
        (0, 0)
    }

    /// Called at the end: leaves what others can use.
    fn leave(self, kept: &mut Kept);

    /// Called when the client does not read: gives up what would pin the store. The next
    /// [`RunningSearch::advance`] takes it up again.
    fn park(&mut self);
}

/// Whether a search needs another quantum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    More,
    /// The result has been written.
    Done,
}

/// How an extended operation goes on.
#[derive(Debug)]
pub enum ExtendedStep<C, U> {
    /// The response has been written.
    Done,
    /// Passwords have to be verified or hashed elsewhere first; then [`Handler::resume_extended`].
    CheckPassword(C),
    /// It changes something: the writer answers.
    Update(U),
    /// The outstanding operation with this id is to be stopped, and both of them answered (RFC 3909).
    Cancel(MessageId),
}

/// What became of a bind.
#[derive(Debug)]
pub enum BindStep<C> {
    /// The response has been written.
    Done,
    /// The password has to be verified elsewhere first; no response yet.
    CheckPassword(C),
}
