//! SASL exchanges (RFC 4513, section 5.2): the mechanisms and their steps.
//!
//! Between two steps the session keeps an immutable [`Exchange`]; each step makes the next. The
//! texts are those of slapd and Cyrus SASL where they do not reveal which users exist.

use std::sync::Arc;

use fulgurite_auth::{
    ChannelBinding, ClientFirst, Mechanism, PlainMessage, PropertyError, ScramHash, ScramKeys,
};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::{Dn, DnError};

use super::check::{PasswordCheck, Proof};
use super::claim::Claim;
use super::outcome::BindOutcome;
use super::scram::{ScramProof, bad_protocol, refusal};
use super::state::Authenticator;
use crate::core::connection::Connection;
use crate::core::result::{self, OpResult, refuse};
use crate::core::sasl_exchange::{Exchange, ExchangeState, ScramExchange, Secret};
use crate::core::session::{Identity, Method, Name, Session};
use crate::request::restrictions::OperationKind;
use crate::rights::snapshots::Snapshots;

/// The result of a step.
#[allow(clippy::large_enum_variant, reason = "lives for a moment")]
pub(crate) enum SaslStep {
    Done(BindOutcome),
    Check(PasswordCheck),
    /// The client must continue: saslBindInProgress.
    Continue(Vec<u8>, Arc<Exchange>),
}

impl Authenticator<'_> {
    /// Returns the mechanisms that a connection can use, the strongest first:
    /// `supportedSASLMechanisms`.
    pub(crate) fn sasl_mechanisms(&self, connection: &Connection) -> Vec<&'static str> {
        let usable = |mechanism: &Mechanism| self.usable(*mechanism, connection).is_ok();
        let all = Mechanism::ALL.into_iter().filter(usable);
        all.map(Mechanism::name).collect()
    }

    fn usable(&self, mechanism: Mechanism, connection: &Connection) -> OpResult {
        let none = |text: &str| {
            let text = format!("SASL(-4): no mechanism available: {text}");
            refuse(ResultCode::AuthMethodNotSupported, text)
        };
        let ssf = connection.strength.overall();
        match self.auth.options.sasl_properties.permit(mechanism, ssf) {
            Ok(()) => {}
            Err(PropertyError::Excluded) => {
                return Err(none("security flags do not match required"));
            }
            Err(PropertyError::NeedsProtection | PropertyError::TooWeak) => {
                return Err(refuse(
                    ResultCode::InappropriateAuthentication,
                    "SASL(-16): encryption needed to use mechanism: security flags do not match required",
                ));
            }
        }
        let available = match mechanism {
            Mechanism::External => external_name(connection).is_some(),
            Mechanism::Scram { plus: true, .. } => binding(connection).is_available(),
            _ => true,
        };
        if available { Ok(()) } else { Err(none("")) }
    }

    /// Does one step: the first, or the next one of `pending` if it has the same mechanism.
    pub(crate) fn sasl_step(
        &self,
        session: &Session,
        pending: Option<&Exchange>,
        mechanism: &[u8],
        credentials: Option<&[u8]>,
    ) -> OpResult<SaslStep> {
        self.policy.permit(session, None, OperationKind::SaslBind)?;
        if mechanism.is_empty() {
            let text = "no SASL mechanism provided";
            return Err(refuse(ResultCode::AuthMethodNotSupported, text));
        }
        let known = Mechanism::from_name(mechanism).ok_or_else(|| {
            let name = String::from_utf8_lossy(mechanism);
            let text = format!("SASL(-4): no mechanism available: Couldn't find mech {name}");
            refuse(ResultCode::AuthMethodNotSupported, text)
        })?;
        let connection = session.connection();
        self.usable(known, connection)?;
        // Another mechanism starts a new exchange (RFC 4513, section 5.2.1.2).
        if let Some(exchange) = pending.filter(|exchange| exchange.mechanism == known)
            && let ExchangeState::Scram(scram) = &exchange.state
        {
            let message = credentials.unwrap_or_default().to_vec();
            let scram = ScramExchange::clone(scram);
            return Ok(finish_scram(session, known, scram, message));
        }
        let Some(message) = credentials else {
            return self.without_message(known, session);
        };
        match known {
            Mechanism::External => self.external(session, message),
            Mechanism::Plain => self.plain(session, message),
            Mechanism::Anonymous => Ok(anonymous()),
            Mechanism::Scram { hash, plus } => self.scram(known, (hash, plus), session, message),
        }
    }

    /// Begins a mechanism without a message. All but EXTERNAL and ANONYMOUS ask the client for one.
    fn without_message(&self, mechanism: Mechanism, session: &Session) -> OpResult<SaslStep> {
        match mechanism {
            Mechanism::External => self.external(session, &[]),
            Mechanism::Anonymous => Ok(anonymous()),
            _ => {
                let state = ExchangeState::Begun;
                let exchange = Exchange { mechanism, state };
                Ok(SaslStep::Continue(Vec::new(), Arc::new(exchange)))
            }
        }
    }

    fn external(&self, session: &Session, message: &[u8]) -> OpResult<SaslStep> {
        let method = Method::Sasl(Mechanism::External.name());
        let invalid = || LdapResult::new(ResultCode::InvalidCredentials);
        let name = external_name(session.connection()).ok_or_else(invalid)?;
        let authorization_id = std::str::from_utf8(message)
            .map_err(|_| invalid())?
            .to_owned();
        let dn = self.external_dn(session, &name).map_err(|_| invalid())?;
        let claim = Claim {
            name: Name::from(&dn),
            dn,
            method,
            authorization_id,
            session: session.clone(),
        };
        Ok(SaslStep::Done(self.conclude(claim, None)))
    }

    /// Returns the identity of a name from the layers below. A name that no rule maps stays as it
    /// is.
    pub(super) fn external_dn(&self, session: &Session, name: &str) -> Result<Dn, DnError> {
        self.mapped(session, name)
            .or_else(|_| Dn::parse(&self.core.schema, name))
    }

    fn plain(&self, session: &Session, message: &[u8]) -> OpResult<SaslStep> {
        let message = PlainMessage::parse(message).map_err(|text| bad_protocol(&text))?;
        let method = Method::Sasl(Mechanism::Plain.name());
        let dn = self.person(session, &message.authentication_id, Mechanism::Plain);
        // A user that no rule maps must cost the same time.
        let dn = dn.unwrap_or_else(Dn::root);
        let claim = Claim {
            name: Name::from(&dn),
            dn,
            method,
            authorization_id: message.authorization_id,
            session: session.clone(),
        };
        let check = self
            .password_check(&mut Snapshots::default(), claim, &message.password)
            .map_err(|error| result::store(&error))?;
        Ok(SaslStep::Check(check))
    }

    fn scram(
        &self,
        mechanism: Mechanism,
        (hash, plus): (ScramHash, bool),
        session: &Session,
        message: &[u8],
    ) -> OpResult<SaslStep> {
        let client =
            ClientFirst::parse(message, plus, binding(session.connection())).map_err(refusal)?;
        let dn = self.person(session, &client.user, mechanism);
        let secret = match &dn {
            Some(dn) => self.scram_secret(session, dn, hash)?,
            None => self.no_secret(),
        };
        let (salt, iterations) = match &secret {
            Secret::Keys(keys) => (keys.salt.clone(), keys.iterations),
            Secret::Passwords(_) | Secret::None { .. } => {
                let salt = self.salt_for(hash, &client.user);
                (salt.to_vec(), ScramKeys::iterations_of_new())
            }
        };
        let mut nonce = [0; 18];
        let random = [self.core.entropy.random(), self.core.entropy.random()].concat();
        nonce
            .iter_mut()
            .zip(random)
            .for_each(|(byte, random)| *byte = random);
        let first = client.answer(&salt, iterations, &nonce);
        let challenge = first.message().as_bytes().to_vec();
        let state = ExchangeState::Scram(Box::new(ScramExchange { first, dn, secret }));
        let exchange = Exchange { mechanism, state };
        Ok(SaslStep::Continue(challenge, Arc::new(exchange)))
    }

    fn person(&self, requester: &Session, user: &str, mechanism: Mechanism) -> Option<Dn> {
        // The name does not depend on channel binding.
        let name = mechanism.name().trim_end_matches("-PLUS");
        self.sasl_identity(requester, user, None, Some(name)).ok()
    }
}

fn finish_scram(
    session: &Session,
    mechanism: Mechanism,
    scram: ScramExchange,
    message: Vec<u8>,
) -> SaslStep {
    let hash = mechanism
        .scram()
        .map_or(ScramHash::Sha256, |(hash, _)| hash);
    let proof = ScramProof {
        first: scram.first,
        message,
        secret: scram.secret,
        hash,
        dn: scram.dn,
        method: Method::Sasl(mechanism.name()),
        session: session.clone(),
    };
    SaslStep::Check(PasswordCheck::from(Proof::Scram(Box::new(proof))))
}

fn anonymous() -> SaslStep {
    SaslStep::Done(BindOutcome::success(Identity::Anonymous, Method::None))
}

/// Returns the identity below SASL: the client's certificate, or the process at the other end of a
/// UNIX socket.
pub(super) fn external_name(connection: &Connection) -> Option<String> {
    let certificate = connection
        .tls
        .as_ref()
        .and_then(|tls| tls.client_dn.clone());
    certificate.or_else(|| {
        let peer = connection.peer_credentials?;
        let (gid, uid) = (peer.gid, peer.uid);
        Some(format!(
            "gidNumber={gid}+uidNumber={uid},cn=peercred,cn=external,cn=auth"
        ))
    })
}

fn binding(connection: &Connection) -> ChannelBinding<'_> {
    let bindings = connection.tls.as_ref().map(|tls| &tls.channel_bindings);
    ChannelBinding {
        server_end_point: bindings.and_then(|bindings| bindings.server_end_point.as_deref()),
        exporter: bindings.and_then(|bindings| bindings.exporter.as_deref()),
    }
}
