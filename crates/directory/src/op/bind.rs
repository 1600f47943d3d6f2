//! Bind (RFC 4511, section 4.2; RFC 4513, section 5).
//!
//! Looking a password up is quick, checking it may be slow on purpose. The two halves are apart, so that the second
//! can run where it does not hold up searches.

use fulgurite_ldap::{Authentication, BindRequest, Controls, Operation, ResultCode};

use crate::auth::{BindOutcome, Claim, PasswordCheck, SaslStep};
use crate::core::result::{self, OpResult, refuse};
use crate::core::sasl_exchange::Exchange;
use crate::core::session::{Identity, Method, Name, Session};
use crate::directory::Directory;
use crate::request::controls::RequestControls;
use crate::rights::snapshots::Snapshots;

/// How a bind goes on.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "lives for a moment")]
pub enum BindStep {
    /// It is decided.
    Done(BindOutcome),
    /// A slow hash has to be computed: [`PasswordCheck::run`] it on a thread that may take its time.
    Check(PasswordCheck),
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
    ) -> OpResult<BindStep> {
        if request.version < 3 && !controls.is_empty() {
            let text = "controls require LDAPv3";
            return Err(refuse(ResultCode::ProtocolError, text));
        }
        RequestControls::decode(Operation::Bind, controls)?;
        self.policy().permit_version(request.version)?;
        let dn = result::dn(self.schema(), request.name)?;
        match request.authentication {
            Authentication::Simple(password) => {
                let own = || self.target(&dn).restrictions();
                if self
                    .policy()
                    .permit_simple_bind(session, &dn, password, own)?
                {
                    let outcome = BindOutcome::success(Identity::Anonymous, Method::None);
                    return Ok(BindStep::Done(outcome));
                }
                let claim = Claim {
                    name: Name::from(&dn),
                    dn,
                    method: Method::Simple,
                    authorization_id: String::new(),
                    session: session.clone(),
                };
                self.authenticator()
                    .password_check(snapshots, claim, password)
                    .map(BindStep::Check)
                    .map_err(|error| result::store(&error))
            }
            Authentication::Sasl {
                mechanism,
                credentials,
            } => {
                let step =
                    self.authenticator()
                        .sasl_step(session, pending, mechanism, credentials)?;
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

impl PasswordCheck {
    /// Compares. Takes as long as the hash wants: milliseconds for Argon2.
    #[must_use]
    pub fn run(self, directory: &Directory) -> BindOutcome {
        self.verify(directory.authenticator())
    }
}
