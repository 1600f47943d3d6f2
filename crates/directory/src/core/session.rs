//! The identity that a connection acts as.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fulgurite_schema::Dn;

use crate::core::connection::Connection;
use crate::core::sasl_exchange::Exchange;
use crate::core::transaction_queue::Transaction;

/// The authorization state of one connection. Each write carries a copy, so cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct Session {
    identity: Identity,
    /// The authenticated identity, if operations are done for another one.
    real: Option<Identity>,
    method: Method,
    /// The protocol version of the last successful bind, including anonymous ones.
    version: Option<u8>,
    connection: Arc<Connection>,
    /// A SASL bind that waits for the client.
    exchange: Option<Arc<Exchange>>,
    /// The open transaction of the connection.
    transaction: Option<Transaction>,
    /// The authenticated name of the last bind, until the bind is recorded.
    unrecorded_bind: Option<Arc<Dn>>,
    /// The normal form of the name that the last bind claimed with a password, if kept.
    claimed_name: Option<Arc<str>>,
    /// The reason why the last bind failed.
    bind_failure: Option<&'static str>,
    /// True in it as long as the connection may only change its password. Copies share it.
    restriction: Option<Arc<AtomicBool>>,
}

/// The way the identity of a session was established.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// No authentication.
    #[default]
    None,
    /// Name and password.
    Simple,
    /// The SASL mechanism of this name.
    Sasl(&'static str),
}

/// An authorization identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Identity {
    /// An unauthenticated client.
    #[default]
    Anonymous,
    /// A name. The database decides if the name is its root.
    User(Name),
}

/// An authenticated name. Names are equal if their normal forms are.
#[derive(Clone, Debug)]
pub struct Name {
    normal: Arc<str>,
    pretty: Arc<str>,
}

/// The parts of a session that updates ask for.
pub(crate) struct SessionParts {
    pub(crate) identity: Identity,
    /// The authenticated identity, if operations are done for another one.
    pub(crate) real: Option<Identity>,
    pub(crate) method: Method,
    pub(crate) version: Option<u8>,
    /// True if the connection may only change its password.
    pub(crate) is_restricted: bool,
    pub(crate) connection: Arc<Connection>,
}

impl Session {
    /// Makes a session like one of another server.
    pub(crate) fn restored(parts: SessionParts) -> Session {
        let restriction = parts.is_restricted;
        Session {
            identity: parts.identity,
            real: parts.real,
            method: parts.method,
            version: parts.version,
            connection: parts.connection,
            restriction: restriction.then(|| Arc::new(AtomicBool::new(true))),
            ..Session::default()
        }
    }

    /// Makes an anonymous session, the state of every new connection.
    #[must_use]
    pub fn new() -> Session {
        Session::default()
    }

    /// Makes a session with an identity that is already established.
    #[must_use]
    pub fn of(identity: Identity) -> Session {
        Session {
            identity,
            ..Session::default()
        }
    }

    /// Makes the anonymous session of a connection.
    #[must_use]
    pub fn on(connection: Arc<Connection>) -> Session {
        Session {
            connection,
            ..Session::default()
        }
    }

    /// Returns the reason why the last bind failed, as far as the client must not learn it. It is
    /// for the log.
    #[must_use]
    pub fn bind_failure(&self) -> Option<&'static str> {
        self.bind_failure
    }

    /// Returns the normal form of the name that the last bind claimed with a password, if
    /// [`AuthOptions::keep_claimed_names`](crate::AuthOptions::keep_claimed_names).
    #[must_use]
    pub fn claimed_name(&self) -> Option<&str> {
        self.claimed_name.as_deref()
    }

    pub(crate) fn set_claimed_name(&mut self, name: Option<Arc<str>>) {
        self.claimed_name = name;
    }

    pub(crate) fn set_bind_failure(&mut self, reason: Option<&'static str>) {
        self.bind_failure = reason;
    }

    /// Returns a copy that acts for another identity (RFC 4370).
    ///
    /// Rules decide about `identity`; [`Session::real_identity`] stays the authenticated one.
    #[must_use]
    pub fn acting_for(&self, identity: Identity) -> Session {
        Session {
            real: Some(self.real_identity().clone()),
            identity,
            ..self.clone()
        }
    }

    /// Returns the open transaction of the connection.
    pub(crate) fn transaction(&self) -> Option<&Transaction> {
        self.transaction.as_ref()
    }

    /// Replaces the open transaction and returns the previous one.
    pub(crate) fn set_transaction(
        &mut self,
        transaction: Option<Transaction>,
    ) -> Option<Transaction> {
        std::mem::replace(&mut self.transaction, transaction)
    }

    /// Drops the open transaction, as a bind does (RFC 5805, section 2.3). Returns true if there
    /// was one.
    pub fn abort_transaction(&mut self) -> bool {
        self.transaction.take().is_some()
    }

    /// Returns the facts about its connection.
    #[must_use]
    pub fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Replaces the facts about the connection after StartTLS. The identity stays.
    pub fn set_connection(&mut self, connection: Arc<Connection>) {
        self.connection = connection;
    }

    /// Returns the authenticated identity, also while the session [acts for](Session::acting_for)
    /// another one.
    #[must_use]
    pub fn real_identity(&self) -> &Identity {
        self.real.as_ref().unwrap_or(&self.identity)
    }

    /// Returns true if the session acts for another identity than the authenticated one.
    pub(crate) fn acts_for_another(&self) -> bool {
        self.real.is_some()
    }

    /// Returns the way the identity was established.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// Returns the identity that rules decide about.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Replaces the identity at the end of a simple bind.
    pub fn set_identity(&mut self, identity: Identity) {
        let method = match identity {
            Identity::Anonymous => Method::None,
            _ => Method::Simple,
        };
        self.authenticated(identity, method);
    }

    /// Replaces the identity and the method at the end of a bind.
    pub fn authenticated(&mut self, identity: Identity, method: Method) {
        self.identity = identity;
        self.real = None;
        self.method = method;
        self.restriction = None;
    }

    /// Restricts the connection to changes of its password, after a reset by an administrator.
    pub(crate) fn restrict_to_password_change(&mut self) {
        self.restriction = Some(Arc::new(AtomicBool::new(true)));
    }

    /// Returns true if the connection may only change its password.
    pub(crate) fn must_change_password(&self) -> bool {
        let restriction = self.restriction.as_ref();
        restriction.is_some_and(|restriction| restriction.load(Ordering::Relaxed))
    }

    /// Returns true if the connection had to change its password, and has done it.
    pub(crate) fn has_been_freed(&self) -> bool {
        self.restriction.is_some() && !self.must_change_password()
    }

    /// Ends the restriction of the connection.
    pub(crate) fn password_has_changed(&self) {
        if let Some(restriction) = &self.restriction {
            restriction.store(false, Ordering::Relaxed);
        }
    }

    /// Notes the authenticated name of a bind, which may have to be recorded.
    pub(crate) fn set_unrecorded_bind(&mut self, name: Option<Arc<Dn>>) {
        self.unrecorded_bind = name;
    }

    /// Returns the authenticated name of the last bind, once.
    pub(crate) fn take_unrecorded_bind(&mut self) -> Option<Arc<Dn>> {
        self.unrecorded_bind.take()
    }

    /// Returns the protocol version of the last bind; `None` before any bind.
    #[must_use]
    pub fn version(&self) -> Option<u8> {
        self.version
    }

    /// Records a successful bind of this protocol version.
    pub fn bound(&mut self, version: u8) {
        self.version = Some(version);
    }

    /// Makes the session anonymous, as the beginning of a bind does (RFC 4511, section 4.2.1).
    pub fn reset(&mut self) {
        self.authenticated(Identity::Anonymous, Method::None);
        self.version = None;
    }

    /// Returns true if a SASL bind waits for the client; then only a bind may follow.
    #[must_use]
    pub fn is_binding(&self) -> bool {
        self.exchange.is_some()
    }

    pub(crate) fn take_exchange(&mut self) -> Option<Arc<Exchange>> {
        self.exchange.take()
    }

    pub(crate) fn set_exchange(&mut self, exchange: Option<Arc<Exchange>>) {
        self.exchange = exchange;
    }

    /// Returns true unless the session is anonymous.
    #[must_use]
    pub fn is_authenticated(&self) -> bool {
        self.identity != Identity::Anonymous
    }

    /// Returns the name as written; empty for an anonymous session.
    #[must_use]
    pub fn name(&self) -> &str {
        self.identity.name().map_or("", Name::pretty)
    }
}

impl Identity {
    /// Returns the authenticated name, if there is one.
    #[must_use]
    pub fn name(&self) -> Option<&Name> {
        match self {
            Identity::Anonymous => None,
            Identity::User(name) => Some(name),
        }
    }
}

impl Name {
    /// Makes the name that both texts are of.
    pub(crate) fn restored(normal: &str, pretty: &str) -> Name {
        Name {
            normal: normal.into(),
            pretty: pretty.into(),
        }
    }

    /// Returns the normal form, which compares.
    #[must_use]
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// Returns the form for display.
    #[must_use]
    pub fn pretty(&self) -> &str {
        &self.pretty
    }

    /// Returns the same name with another form for display.
    pub(crate) fn written(self, pretty: &str) -> Name {
        Name {
            pretty: pretty.into(),
            ..self
        }
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.normal == other.normal
    }
}

impl Eq for Name {}

impl From<&Dn> for Name {
    fn from(dn: &Dn) -> Name {
        Name {
            normal: dn.normal().into(),
            pretty: dn.pretty().into(),
        }
    }
}
