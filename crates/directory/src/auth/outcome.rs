//! The outcome of a bind.

use std::sync::Arc;

use fulgurite_ldap::{Control, LdapResult, MessageId, ResultCode, encode};
use fulgurite_schema::Dn;

use crate::core::forwarded_bind::{BindDelivery, ForwardedBind};
use crate::core::sasl_exchange::Exchange;
use crate::core::session::{Identity, Method, Session};

/// The protocol version of the server.
const VERSION: u8 = 3;

/// The outcome of a bind, or of one step of it.
#[derive(Clone, Debug)]
pub struct BindOutcome {
    /// The result for the client.
    pub result: LdapResult,
    /// The new identity of the connection.
    pub identity: Identity,
    /// The requested protocol version.
    pub version: u8,
    method: Method,
    /// The message of the SASL mechanism to the client.
    credentials: Option<Vec<u8>>,
    /// The exchange, if it continues.
    exchange: Option<Arc<Exchange>>,
    /// The authenticated name of a success.
    authenticated: Option<Arc<Dn>>,
    /// The judgement of a password policy.
    pub(crate) policy: PolicyAnswer,
    /// True if the time of a success is stored, as far as it must be.
    pub(crate) is_recorded: bool,
    /// The changes of the bind for another server, and their way to it.
    pub(crate) forwarded: Option<(Arc<ForwardedBind>, Arc<BindDelivery>)>,
    /// The normal form of the name whose password was verified, right or wrong; `None` if nobody
    /// asks for it.
    pub(crate) claimed: Option<Arc<str>>,
    /// The reason of a failure that the client must not learn, for the log.
    pub(crate) reason: Option<&'static str>,
}

/// The judgement of a password policy about a bind.
#[derive(Clone, Debug, Default)]
pub(crate) struct PolicyAnswer {
    /// The response controls: OID and value.
    pub(crate) controls: Vec<(&'static str, Vec<u8>)>,
    /// True if the connection may only change its password.
    pub(crate) must_change: bool,
}

impl BindOutcome {
    pub(crate) fn success(identity: Identity, method: Method) -> BindOutcome {
        BindOutcome {
            result: LdapResult::success(),
            identity,
            version: VERSION,
            method,
            credentials: None,
            exchange: None,
            authenticated: None,
            policy: PolicyAnswer::default(),
            is_recorded: false,
            forwarded: None,
            claimed: None,
            reason: None,
        }
    }

    pub(crate) fn failure(result: LdapResult) -> BindOutcome {
        BindOutcome {
            result,
            ..BindOutcome::success(Identity::Anonymous, Method::None)
        }
    }

    /// Returns the outcome of every failed authentication, for whatever reason.
    pub(crate) fn invalid_credentials() -> BindOutcome {
        BindOutcome::failure(LdapResult::new(ResultCode::InvalidCredentials))
    }

    /// Returns the same outcome with its reason for the log.
    pub(crate) fn because(self, reason: &'static str) -> BindOutcome {
        BindOutcome {
            reason: Some(reason),
            ..self
        }
    }

    pub(crate) fn with_credentials(mut self, credentials: Option<Vec<u8>>) -> BindOutcome {
        self.credentials = credentials;
        self
    }

    pub(crate) fn of_name(mut self, name: Dn) -> BindOutcome {
        self.authenticated = Some(Arc::new(name));
        self
    }

    /// Returns the authenticated name of a success.
    pub(crate) fn authenticated(&self) -> Option<&Dn> {
        self.authenticated.as_deref()
    }

    pub(crate) fn in_progress(credentials: Vec<u8>, exchange: Arc<Exchange>) -> BindOutcome {
        BindOutcome {
            credentials: Some(credentials),
            exchange: Some(exchange),
            ..BindOutcome::failure(LdapResult::new(ResultCode::SaslBindInProgress))
        }
    }

    /// Waits until another server has made the changes that the bind causes there, for a bounded
    /// time.
    pub fn wait_for_provider(&mut self) {
        if let Some((bind, delivery)) = self.forwarded.take() {
            // Nobody waits for changes that nobody sends.
            drop(bind);
            delivery.wait();
        }
    }

    /// Gives the session its new identity and appends the response.
    pub fn finish(self, session: &mut Session, id: MessageId, out: &mut Vec<u8>) {
        session.authenticated(self.identity, self.method);
        session.set_exchange(self.exchange);
        session.set_claimed_name(self.claimed);
        session.set_bind_failure(self.reason.filter(|_| !self.result.is_success()));
        let unrecorded = self.authenticated.filter(|_| !self.is_recorded);
        session.set_unrecorded_bind(unrecorded);
        if self.result.is_success() {
            session.bound(self.version);
        }
        if self.policy.must_change {
            session.restrict_to_password_change();
        }
        let controls = self.policy.controls.iter();
        let controls = controls.map(|(oid, value)| Control::with_value(oid, false, value));
        let controls: Vec<Control<'_>> = controls.collect();
        encode::bind_result(
            out,
            id,
            &self.result,
            self.credentials.as_deref(),
            &controls,
        );
    }
}
