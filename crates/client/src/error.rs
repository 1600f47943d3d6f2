//! Why a conversation cannot go on.

use std::io;

use fulgurite_ldap::{DecodeError, Fault, FilterTextError, FrameError, LdapResult};

/// A failure of the conversation. A result code of the server is not an error, even if it is a
/// refusal.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No connection could be made.
    #[error("cannot connect: {0}")]
    Connect(#[source] io::Error),
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Io(#[source] io::Error),
    /// TLS could not be begun.
    #[error("TLS: {0}")]
    Tls(String),
    /// The server refuses StartTLS.
    #[error("StartTLS is refused: {0}")]
    StartTls(LdapResult),
    /// Nothing arrived within the read timeout.
    #[error("no answer within the time allowed")]
    Timeout,
    /// The server closed the connection.
    #[error("the server closed the connection")]
    Closed,
    /// The server closed the connection and said why.
    #[error("the server closes the connection: {0}")]
    Disconnected(LdapResult),
    /// The server sent bytes that are not LDAP, or a message that is too large.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The server sent an invalid response.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A response of another kind than the request calls for.
    #[error("the server answered with a response that does not fit the request")]
    Unexpected,
    /// A filter that cannot be parsed; nothing was sent.
    #[error("wrong filter: {0}")]
    Filter(#[from] FilterTextError),
    /// A control or value that cannot be decoded.
    #[error("malformed value from the server: {0}")]
    Value(#[from] Fault),
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ClientError::Timeout,
            _ => ClientError::Io(error),
        }
    }
}
