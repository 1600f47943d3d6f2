//! A SASL exchange between two steps, kept in the session.

use fulgurite_auth::{Mechanism, ScramKeys, ServerFirst};
use fulgurite_schema::Dn;

/// An exchange that waits for the client.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) mechanism: Mechanism,
    pub(crate) state: ExchangeState,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one to an exchange")]
pub(crate) enum ExchangeState {
    /// The client has named a mechanism and sent no message yet.
    Begun,
    /// The server has sent its first message.
    Scram(Box<ScramExchange>),
}

/// A SCRAM exchange that waits for the client's proof.
#[derive(Clone, Debug)]
pub(crate) struct ScramExchange {
    pub(crate) first: ServerFirst,
    /// The user's entry, if one is known.
    pub(crate) dn: Option<Dn>,
    pub(crate) secret: Secret,
}

/// The secret that a SCRAM proof is verified with.
#[derive(Clone)]
pub(crate) enum Secret {
    Keys(ScramKeys),
    /// Passwords in clear, any of which may match. The keys are derived when the proof arrives.
    Passwords(Vec<Vec<u8>>),
    /// No such user. `derives` makes the check cost as much as a password in clear.
    None {
        derives: bool,
    },
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}
