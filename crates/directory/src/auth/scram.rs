//! SCRAM (RFC 5802): the keys that verify a proof, and the check.

use fulgurite_auth::{ScramError, ScramHash, ScramKeys, ServerFirst};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::Dn;

use super::claim::Claim;
use super::outcome::BindOutcome;
use super::state::Authenticator;
use crate::core::result::{self, OpResult, refuse};
use crate::core::sasl_exchange::Secret;
use crate::core::session::{Method, Name, Session};

/// The number of passwords in clear of one entry that are tried. Each costs a derivation of keys.
const CLEAR_MAX: usize = 4;

/// The client's proof and the secret that verifies it.
pub(crate) struct ScramProof {
    pub(super) first: ServerFirst,
    pub(super) message: Vec<u8>,
    pub(super) secret: Secret,
    pub(super) hash: ScramHash,
    pub(crate) dn: Option<Dn>,
    pub(super) method: Method,
    pub(super) session: Session,
}

impl Authenticator<'_> {
    /// Returns the stored keys of a name, or else its passwords in clear.
    pub(super) fn scram_secret(
        &self,
        requester: &Session,
        dn: &Dn,
        hash: ScramHash,
    ) -> OpResult<Secret> {
        let failed = |error| result::store(&error);
        if let Some(description) = &self.core.types.auth_password {
            let values = self
                .values_for_auth(requester, dn, description)
                .map_err(failed)?;
            let mut keys = values
                .iter()
                .filter_map(|value| ScramKeys::parse(hash, value).ok());
            if let Some(keys) = keys.next() {
                return Ok(Secret::Keys(keys));
            }
        }
        let configured = self.configured_password(dn, &Name::from(dn));
        let passwords = match configured {
            Some(password) => vec![password],
            None => self
                .values_for_auth(requester, dn, &self.core.types.user_password)
                .map_err(failed)?,
        };
        let clear = passwords
            .iter()
            .filter_map(|stored| fulgurite_auth::clear_text(stored));
        let clear: Vec<_> = clear.take(CLEAR_MAX).map(<[u8]>::to_vec).collect();
        if clear.is_empty() {
            return Ok(self.no_secret());
        }
        self.auth.lasting.note_derivation();
        Ok(Secret::Passwords(clear))
    }

    pub(super) fn salt_for(&self, hash: ScramHash, user: &str) -> [u8; 16] {
        let lasting = &self.auth.lasting;
        lasting.salt(self.core.entropy.as_ref(), hash.scheme(), user)
    }

    pub(super) fn no_secret(&self) -> Secret {
        let derives = self.auth.lasting.has_derived();
        Secret::None { derives }
    }
}

impl ScramProof {
    pub(super) fn is_cheap(&self) -> bool {
        matches!(
            self.secret,
            Secret::Keys(_) | Secret::None { derives: false }
        )
    }

    pub(super) fn run(self: Box<Self>, authenticator: Authenticator<'_>) -> BindOutcome {
        let salt = authenticator.salt_for(self.hash, &self.first.client.user);
        let derive = |password: &[u8]| {
            ScramKeys::derive(self.hash, password, &salt, ScramKeys::iterations_of_new())
        };
        let keys = match &self.secret {
            Secret::Keys(keys) => vec![keys.clone()],
            Secret::Passwords(passwords) => passwords.iter().map(|clear| derive(clear)).collect(),
            Secret::None { derives } => {
                if *derives {
                    std::hint::black_box(derive(b"nobody"));
                }
                Vec::new()
            }
        };
        // Malformed messages get the same answer whether the user exists or not.
        let mut verified = self
            .first
            .verify(&self.message, &nobody(self.hash))
            .and(Err(ScramError::Proof));
        if let Some(dn) = &self.dn {
            for keys in &keys {
                let proof = self.first.verify(&self.message, keys);
                verified = verified.or_else(|_| proof.map(|proof| (dn.clone(), proof)));
            }
        }
        match verified {
            Ok((dn, proof)) => authenticator.conclude(
                Claim {
                    name: Name::from(&dn),
                    dn,
                    method: self.method,
                    authorization_id: self.first.client.authorization_id.clone(),
                    session: self.session,
                },
                Some(proof.into_bytes()),
            ),
            Err(error) => BindOutcome::failure(refusal(error)),
        }
    }
}

/// Returns keys that match no password.
fn nobody(hash: ScramHash) -> ScramKeys {
    ScramKeys::derive(hash, b"", &[0], 1)
}

pub(super) fn bad_protocol(text: &dyn std::fmt::Display) -> LdapResult {
    refuse(
        ResultCode::Other,
        format!("SASL(-5): bad protocol / cancel: {text}"),
    )
}

/// Returns the result of a failed exchange. A wrong proof gives the result of a wrong password.
pub(super) fn refusal(error: ScramError) -> LdapResult {
    match error {
        ScramError::Proof => LdapResult::new(ResultCode::InvalidCredentials),
        ScramError::BindingMismatch | ScramError::BindingType | ScramError::Downgrade => refuse(
            ResultCode::InvalidCredentials,
            format!("SASL(-13): authentication failure: {error}"),
        ),
        ScramError::Malformed | ScramError::Extension | ScramError::Nonce => bad_protocol(&error),
    }
}
