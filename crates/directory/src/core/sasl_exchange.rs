//! A SASL exchange between two of its steps, as the session keeps it.

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
    /// The client has named a mechanism and said nothing yet.
    Begun,
    Scram {
        first: Box<ServerFirst>,
        dn: Option<Dn>,
        secret: Secret,
    },
}

/// What a SCRAM proof is checked against.
#[derive(Clone)]
pub(crate) enum Secret {
    Keys(ScramKeys),
    /// Passwords in clear, any of which will do: keys are derived when the proof has come.
    Passwords(Vec<Vec<u8>>),
    /// Nobody's. Whether it costs what a password in clear does.
    None {
        derives: bool,
    },
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}
