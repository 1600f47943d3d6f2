//! The bind of a session: simple, or by a mechanism of SASL.

use std::fmt;

use fulgurite_auth::{ScramClient, ScramHash};
use fulgurite_ldap::{
    Authentication, BindRequest, LdapResult, MessageId, Request, ResultCode, encode,
};
use fulgurite_policy::{BindMethod, SyncBind};

use crate::trouble::Trouble;

/// Randomness for the exchanges of one session.
#[derive(Clone, Copy)]
pub struct BindSecrets(pub [u8; 18]);

impl fmt::Debug for BindSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BindSecrets")
    }
}

/// A bind under way, simple or by a mechanism of SASL.
#[derive(Debug)]
pub struct Bind {
    mechanism: String,
    scram: Option<ScramClient>,
    password: Password,
}

struct Password(Vec<u8>);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}

/// Appends a bind request.
fn request(out: &mut Vec<u8>, id: MessageId, name: &str, authentication: Authentication<'_>) {
    let bind = BindRequest {
        version: 3,
        name: name.as_bytes(),
        authentication,
    };
    encode::request(out, id, &Request::Bind(bind), &[]);
}

impl Bind {
    /// Appends the first request.
    ///
    /// # Errors
    /// [`Trouble::Mechanism`] for a mechanism that is not known.
    pub fn begin(
        settings: &SyncBind,
        secrets: BindSecrets,
        id: MessageId,
        out: &mut Vec<u8>,
    ) -> Result<Bind, Trouble> {
        let password = settings.credentials.as_ref();
        let password = password.map_or_else(Vec::new, |text| text.0.clone().into_bytes());
        let mut bind = Bind {
            mechanism: String::new(),
            scram: None,
            password: Password(password),
        };
        let password = &bind.password.0;
        if settings.method == BindMethod::Simple {
            let name = settings.dn.as_deref().unwrap_or_default();
            request(out, id, name, Authentication::Simple(password));
            return Ok(bind);
        }
        let mechanism = settings.mechanism.as_deref().unwrap_or_default();
        let user = settings.user.as_deref().unwrap_or_default();
        let acting = settings.authorization.as_deref().unwrap_or_default();
        let first = match mechanism.to_ascii_uppercase().as_str() {
            "EXTERNAL" => acting.as_bytes().to_vec(),
            "PLAIN" => {
                let parts = [acting.as_bytes(), user.as_bytes(), password];
                parts.join(&0)
            }
            name => {
                let mut known = ScramHash::ALL.into_iter();
                let hash = known.find(|hash| hash.scheme() == name);
                let hash = hash.ok_or_else(|| {
                    let text =
                        "is none of EXTERNAL, PLAIN, SCRAM-SHA-1, SCRAM-SHA-256, SCRAM-SHA-512";
                    Trouble::Mechanism(format!("saslmech \"{mechanism}\" {text}"))
                })?;
                let client = ScramClient::new(hash, user, acting, &secrets.0);
                let first = client.first();
                bind.scram = Some(client);
                first
            }
        };
        bind.mechanism = mechanism.to_ascii_uppercase();
        bind.sasl(out, id, &first);
        Ok(bind)
    }

    fn sasl(&self, out: &mut Vec<u8>, id: MessageId, message: &[u8]) {
        let authentication = Authentication::Sasl {
            mechanism: self.mechanism.as_bytes(),
            credentials: Some(message),
        };
        request(out, id, "", authentication);
    }

    /// Takes a response. Returns true at the end of the bind, or appends another request.
    ///
    /// # Errors
    /// The refusal, or a message that is wrong.
    pub fn respond(
        &mut self,
        result: &LdapResult,
        credentials: Option<&[u8]>,
        id: MessageId,
        out: &mut Vec<u8>,
    ) -> Result<bool, Trouble> {
        let is_done = match result.code {
            ResultCode::Success => true,
            ResultCode::SaslBindInProgress => false,
            _ => return Err(Trouble::Bind(result.clone())),
        };
        let Some(scram) = &mut self.scram else {
            return match is_done {
                true => Ok(true),
                false => Err(Trouble::Mechanism("an unexpected challenge".to_owned())),
            };
        };
        let message = credentials.unwrap_or_default();
        let answer = scram.answer(message, &self.password.0);
        let answer = answer.map_err(Trouble::Mechanism)?;
        match (answer, is_done) {
            // The provider has proved itself.
            (None, true) => Ok(true),
            // Some servers wait for an empty message after their proof.
            (None, false) => {
                self.scram = None;
                self.sasl(out, id, &[]);
                Ok(false)
            }
            (Some(answer), false) => {
                self.sasl(out, id, &answer);
                Ok(false)
            }
            (Some(_), true) => Err(Trouble::Mechanism("the provider proves nothing".to_owned())),
        }
    }
}
