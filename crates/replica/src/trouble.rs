//! The ends of a session that were not wanted.

use fulgurite_ldap::LdapResult;

/// The reason why a session ends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The connection failed or was lost.
    #[error("{0}")]
    Connection(String),
    /// The provider refuses the bind.
    #[error("the bind is refused: {}", shown(.0))]
    Bind(LdapResult),
    /// The mechanism of the bind is unknown, or its messages are wrong.
    #[error("the bind fails: {0}")]
    Mechanism(String),
    /// The provider ends the search.
    #[error("the search ends: {}", shown(.0))]
    Search(LdapResult),
    /// A message does not fit the protocol.
    #[error("the provider breaks the protocol: {0}")]
    Protocol(&'static str),
    /// The store refuses changes.
    #[error("the changes cannot be stored: {0}")]
    Store(String),
    /// No answer came in time.
    #[error("no answer from the provider in time")]
    Silence,
    /// Two servers have the same number.
    #[error("the provider has the serverID of this server: {0}")]
    SameServer(u16),
}

fn shown(result: &LdapResult) -> String {
    let (code, text) = (result.code.number(), result.diagnostic.as_str());
    match text {
        "" => format!("result {code}"),
        text => format!("result {code}, {text}"),
    }
}
