//! Bind (RFC 4511, section 4.2; RFC 4513, section 5).
//!
//! Looking a password up is quick, checking it may be slow on purpose. The two halves are apart, so that the second
//! can run where it does not hold up searches.

use std::sync::Arc;

use fulgurite_ldap::{
    Authentication, BindRequest, Controls, LdapResult, MessageId, Operation, ResultCode, encode,
};

use crate::auth::{Exchange, PasswordCheck, SaslStep};
use crate::core::result::{self, Answer, refuse};
use crate::core::session::{Identity, Method, Session};
use crate::directory::Directory;
use crate::request::controls::RequestControls;
use crate::rights::snapshots::Snapshots;

/// The protocol version that clients are expected to speak.
const VERSION: u8 = 3;

/// How a bind goes on.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "lives for a moment")]
pub enum BindStep {
    /// It is decided.
    Done(BindOutcome),
    /// A slow hash has to be computed: [`PasswordCheck::run`] it on a thread that may take its time.
    Check(PasswordCheck),
}

/// The end of a bind, or of one of its steps.
#[derive(Clone, Debug)]
pub struct BindOutcome {
    /// What the client is told.
    pub result: LdapResult,
    /// Whom the connection speaks for from now on.
    pub identity: Identity,
    /// The protocol version asked for.
    pub version: u8,
    method: Method,
    /// What the mechanism sends to the client.
    credentials: Option<Vec<u8>>,
    /// The exchange goes on.
    exchange: Option<Arc<Exchange>>,
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
        }
    }

    pub(crate) fn failure(result: LdapResult) -> BindOutcome {
        BindOutcome {
            result,
            ..BindOutcome::success(Identity::Anonymous, Method::None)
        }
    }

    /// What everybody is told who is not who they say, whatever is wrong.
    pub(crate) fn invalid_credentials() -> BindOutcome {
        BindOutcome::failure(LdapResult::new(ResultCode::InvalidCredentials))
    }

    pub(crate) fn with_credentials(mut self, credentials: Option<Vec<u8>>) -> BindOutcome {
        self.credentials = credentials;
        self
    }

    fn in_progress(credentials: Vec<u8>, exchange: Arc<Exchange>) -> BindOutcome {
        BindOutcome {
            credentials: Some(credentials),
            exchange: Some(exchange),
            ..BindOutcome::failure(LdapResult::new(ResultCode::SaslBindInProgress))
        }
    }

    /// Gives the session its new identity and appends the response.
    pub fn finish(self, session: &mut Session, id: MessageId, out: &mut Vec<u8>) {
        session.authenticated(self.identity, self.method);
        session.set_exchange(self.exchange);
        if self.result.is_success() {
            session.bound(self.version);
        }
        encode::bind_result(out, id, &self.result, self.credentials.as_deref(), &[]);
    }
}

impl Directory {
    /// Begins a bind or goes on with one. The session is anonymous until it is finished, whatever comes of it.
    #[must_use]
    pub fn begin_bind(
        &self,
        session: &mut Session,
        request: &BindRequest<'_>,
        controls: &Controls<'_>,
    ) -> BindStep {
        self.begin_bind_on(&mut Snapshots::default(), session, request, controls)
    }

    /// As [`begin_bind`](Self::begin_bind), on a snapshot that the thread keeps.
    #[must_use]
    pub fn begin_bind_on<'d>(
        &'d self,
        snapshots: &mut Snapshots<'d>,
        session: &mut Session,
        request: &BindRequest<'_>,
        controls: &Controls<'_>,
    ) -> BindStep {
        let pending = session.take_exchange();
        session.reset();
        let step = self.bind(snapshots, session, pending.as_deref(), request, controls);
        match step.unwrap_or_else(|result| BindStep::Done(BindOutcome::failure(result))) {
            BindStep::Check(check) => {
                let check = check.of_version(request.version);
                if check.is_cheap() {
                    BindStep::Done(check.run(self))
                } else {
                    BindStep::Check(check)
                }
            }
            BindStep::Done(mut outcome) => {
                outcome.version = request.version;
                BindStep::Done(outcome)
            }
        }
    }

    fn bind<'d>(
        &'d self,
        snapshots: &mut Snapshots<'d>,
        session: &Session,
        pending: Option<&Exchange>,
        request: &BindRequest<'_>,
        controls: &Controls<'_>,
    ) -> Answer<BindStep> {
        if request.version < 3 && !controls.is_empty() {
            let text = "controls require LDAPv3";
            return Err(refuse(ResultCode::ProtocolError, text));
        }
        RequestControls::decode(Operation::Bind, controls)?;
        self.permit_version(request.version)?;
        let dn = result::dn(&self.schema, request.name)?;
        match request.authentication {
            Authentication::Simple(password) => {
                if self.permit_simple_bind(session, &dn, password)? {
                    let outcome = BindOutcome::success(Identity::Anonymous, Method::None);
                    return Ok(BindStep::Done(outcome));
                }
                let as_itself = String::new();
                self.password_check(snapshots, session, dn, password, Method::Simple, as_itself)
                    .map(BindStep::Check)
                    .map_err(|error| result::store(&error))
            }
            Authentication::Sasl {
                mechanism,
                credentials,
            } => {
                let step = self.sasl_step(session, pending, mechanism, credentials)?;
                Ok(match step {
                    SaslStep::Done(outcome) => BindStep::Done(outcome),
                    SaslStep::Check(check) => BindStep::Check(check),
                    SaslStep::Continue(challenge, exchange) => {
                        BindStep::Done(BindOutcome::in_progress(challenge, exchange))
                    }
                })
            }
            Authentication::Unknown(_) => Err(refuse(
                ResultCode::AuthMethodNotSupported,
                "unknown authentication method",
            )),
        }
    }
}
