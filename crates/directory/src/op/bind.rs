//! Bind (RFC 4511, section 4.2; RFC 4513, section 5).
//!
//! The lookup of a password is fast, but its check may be slow on purpose. The check is separate,
//! so that it can run on a thread that serves no searches.

use std::sync::Arc;

use fulgurite_ldap::{Authentication, BindRequest, Controls, Operation, ResultCode};
use fulgurite_schema::Dn;

use crate::auth::{BindOutcome, Claim, PasswordCheck, SaslStep};
use crate::core::result::{self, OpResult, refuse};
use crate::core::sasl_exchange::Exchange;
use crate::core::session::{Identity, Method, Name, Session};
use crate::directory::Directory;
use crate::op::bind_policy;
use crate::request::controls::RequestControls;
use crate::rights::snapshots::Snapshots;

/// The next step of a bind.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "lives for a moment")]
pub enum BindStep {
    /// The bind is decided.
    Done(BindOutcome),
    /// A slow hash must be computed: call [`PasswordCheck::run`] on a thread for that.
    Check(PasswordCheck),
}

impl Directory {
    /// Begins or continues a bind. The session is anonymous until the bind succeeds.
    #[must_use]
    pub fn begin_bind(
        &self,
        session: &mut Session,
        request: &BindRequest<'_>,
        controls: &Controls<'_>,
    ) -> BindStep {
        self.begin_bind_on(&mut Snapshots::default(), session, request, controls)
    }

    /// Does the same as [`begin_bind`](Self::begin_bind) with the thread's cached views.
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
        let decoded = RequestControls::decode(Operation::Bind, controls)?;
        self.require_password_policy(&decoded)?;
        let wants_control = decoded.password_policy;
        self.policy().permit_version(request.version)?;
        let dn = snapshots.dn(self.schema(), request.name)?;
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
                    .map(|check| self.policed(check, session, (wants_control, true)))
                    .map_err(|error| result::store(&error))
            }
            Authentication::Sasl {
                mechanism,
                credentials,
            } => {
                let is_judged = !self.auth_options().policies_pass_sasl;
                let step =
                    self.authenticator()
                        .sasl_step(session, pending, mechanism, credentials)?;
                Ok(match step {
                    SaslStep::Done(outcome) if is_judged => {
                        BindStep::Done(bind_policy::unless_locked(self, outcome)?)
                    }
                    SaslStep::Done(outcome) => BindStep::Done(outcome),
                    SaslStep::Check(check) => {
                        self.policed(check, session, (wants_control, is_judged))
                    }
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

impl Directory {
    /// Makes the next step of a check. A password policy judges it if `is_judged`.
    fn policed(
        &self,
        check: PasswordCheck,
        session: &Session,
        (wants_control, is_judged): (bool, bool),
    ) -> BindStep {
        let policed = check
            .name()
            .and_then(|dn| bind_policy::policed(self, dn, session, (wants_control, is_judged)));
        BindStep::Check(check.with_policy(policed))
    }
}

impl PasswordCheck {
    /// Verifies the proof. An Argon2 hash takes milliseconds. A password policy may wait for the
    /// disk.
    #[must_use]
    pub fn run(mut self, directory: &Directory) -> BindOutcome {
        let claimed = match directory.auth_options().keep_claimed_names {
            // A user that no rule maps has the empty name.
            true => self.name().map(Dn::normal).filter(|name| !name.is_empty()),
            false => None,
        };
        let claimed = claimed.map(Arc::from);
        let mut outcome = match self.take_policed() {
            None => self.verify(directory.authenticator()),
            Some(policed) => bind_policy::run(directory, &policed, self),
        };
        outcome.claimed = claimed;
        outcome
    }
}
