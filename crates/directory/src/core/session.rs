//! Who a connection speaks for.

use std::sync::Arc;

use fulgurite_schema::Dn;

use crate::core::connection::Connection;
use crate::core::sasl_exchange::Exchange;
use crate::core::transaction_queue::Transaction;

/// The authorisation state of one connection. Cheap to clone: a write carries a copy of it.
#[derive(Clone, Debug, Default)]
pub struct Session {
    identity: Identity,
    /// Who has authenticated, where that is somebody else than the operation is done for.
    real: Option<Identity>,
    method: Method,
    /// Protocol version of the last bind that succeeded, an anonymous one included.
    version: Option<u8>,
    connection: Arc<Connection>,
    /// A SASL bind that waits for the client.
    exchange: Option<Arc<Exchange>>,
    /// The transaction that is open on it.
    transaction: Option<Transaction>,
}

/// How the identity of a session was established.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Not at all.
    #[default]
    None,
    /// By name and password.
    Simple,
    /// By the SASL mechanism of that name.
    Sasl(&'static str),
}

/// An authorisation identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Identity {
    /// Nobody has authenticated.
    #[default]
    Anonymous,
    /// A name. Whether it is the root of a database depends on the database.
    User(Name),
}

/// A name somebody has authenticated with. Names are equal when their normal forms are.
#[derive(Clone, Debug)]
pub struct Name {
    normal: Arc<str>,
    pretty: Arc<str>,
}

impl Session {
    /// A session in the state every connection begins with: anonymous.
    #[must_use]
    pub fn new() -> Session {
        Session::default()
    }

    /// A session that speaks for an identity already established.
    #[must_use]
    pub fn of(identity: Identity) -> Session {
        Session {
            identity,
            ..Session::default()
        }
    }

    /// The anonymous session of a new connection.
    #[must_use]
    pub fn on(connection: Arc<Connection>) -> Session {
        Session {
            connection,
            ..Session::default()
        }
    }

    /// The same session, acting for somebody else (RFC 4370): access is decided for `identity`, and
    /// [`Session::real_identity`] stays who has authenticated.
    #[must_use]
    pub fn acting_for(&self, identity: Identity) -> Session {
        Session {
            real: Some(self.real_identity().clone()),
            identity,
            ..self.clone()
        }
    }

    /// The transaction that is open on its connection.
    pub(crate) fn transaction(&self) -> Option<&Transaction> {
        self.transaction.as_ref()
    }

    /// Opens or closes a transaction; returns the one there was.
    pub(crate) fn set_transaction(
        &mut self,
        transaction: Option<Transaction>,
    ) -> Option<Transaction> {
        std::mem::replace(&mut self.transaction, transaction)
    }

    /// Forgets the transaction that is open, as a bind does (RFC 5805, section 2.3); whether there was one.
    pub fn abort_transaction(&mut self) -> bool {
        self.transaction.take().is_some()
    }

    /// The connection it belongs to.
    #[must_use]
    pub fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Replaces what is known of the connection: its TLS layer has been set up. Who is authenticated stays.
    pub fn set_connection(&mut self, connection: Arc<Connection>) {
        self.connection = connection;
    }

    /// Who has authenticated: the identity, unless the session [acts for](Session::acting_for) somebody else.
    #[must_use]
    pub fn real_identity(&self) -> &Identity {
        self.real.as_ref().unwrap_or(&self.identity)
    }

    /// How the identity was established.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// Whom it speaks for.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Replaces the identity: the end of a simple bind.
    pub fn set_identity(&mut self, identity: Identity) {
        let method = match identity {
            Identity::Anonymous => Method::None,
            _ => Method::Simple,
        };
        self.authenticated(identity, method);
    }

    /// Replaces the identity, established in that way: the end of a bind.
    pub fn authenticated(&mut self, identity: Identity, method: Method) {
        self.identity = identity;
        self.real = None;
        self.method = method;
    }

    /// The protocol version of the last bind; `None` where there was none.
    #[must_use]
    pub fn version(&self) -> Option<u8> {
        self.version
    }

    /// Notes that a bind of this protocol version has succeeded.
    pub fn bound(&mut self, version: u8) {
        self.version = Some(version);
    }

    /// Back to anonymous: the beginning of a bind (RFC 4511, section 4.2.1).
    pub fn reset(&mut self) {
        self.authenticated(Identity::Anonymous, Method::None);
        self.version = None;
    }

    /// Whether a SASL bind waits for the client: nothing but a bind may come then.
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

    /// Whether somebody has authenticated.
    #[must_use]
    pub fn is_authenticated(&self) -> bool {
        self.identity != Identity::Anonymous
    }

    /// The authenticated name as shown to people; empty when anonymous.
    #[must_use]
    pub fn name(&self) -> &str {
        self.identity.name().map_or("", Name::pretty)
    }
}

impl Identity {
    /// The authenticated name, if there is one.
    #[must_use]
    pub fn name(&self) -> Option<&Name> {
        match self {
            Identity::Anonymous => None,
            Identity::User(name) => Some(name),
        }
    }
}

impl Name {
    /// The form that compares.
    #[must_use]
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// The form people see.
    #[must_use]
    pub fn pretty(&self) -> &str {
        &self.pretty
    }

    /// The same name, shown as in `pretty`.
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
