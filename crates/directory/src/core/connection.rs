//! What is known of the connection that a request came over: facts for access rules, security demands and SASL.
//!
//! The server fills them in; the directory only reads. A connection's facts are immutable: when one of them changes
//! (StartTLS), the session gets a new value.

use std::fmt;
use std::net::SocketAddr;

/// Facts about one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// Its number in the log.
    pub id: u64,
    /// The client's end.
    pub peer: EndPoint,
    /// Our end.
    pub socket: EndPoint,
    /// The listener it came in by, as configured: `ldap://:389/`.
    pub listener_url: String,
    /// The client's host name, where it is looked up (`reverse-lookup`).
    pub domain: Option<String>,
    /// How well it is protected.
    pub strength: Strength,
    /// Whether TLS can be started on it.
    pub offers_tls: bool,
    /// Its TLS layer, if it has one.
    pub tls: Option<TlsFacts>,
    /// Who is at the other end of a UNIX socket, as the system says.
    pub peer_credentials: Option<PeerCredentials>,
}

/// One end of a connection. Displays as slapd's `peername` and `sockname`: `IP=127.0.0.1:389`, `IP=[::1]:389`,
/// `PATH=/run/ldapi`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EndPoint {
    /// There is no socket (an operation of the server itself, or a test).
    #[default]
    Unknown,
    /// TCP.
    Ip(SocketAddr),
    /// A UNIX socket; the path may be empty for a client that has not bound its end.
    Path(String),
}

/// Security strength factors: about the number of bits of the weakest key that protects the layer; 0 for none, 1 for
/// integrity alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strength {
    /// Of the transport: `localSSF` (71) for a UNIX socket, else 0.
    pub transport: u32,
    /// Of the TLS layer.
    pub tls: u32,
    /// Of the SASL security layer; none of the mechanisms here has one.
    pub sasl: u32,
}

/// What the TLS layer of a connection has settled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFacts {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: String,
    /// The cipher suite: `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// Subject of the client's certificate as a DN (RFC 4514), the last RDN of the certificate first; only of one
    /// that was verified.
    pub client_dn: Option<String>,
    /// What SCRAM-...-PLUS can be bound to.
    pub channel_bindings: ChannelBindings,
}

/// Channel bindings of a TLS layer (RFC 5929, RFC 9266).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelBindings {
    /// `tls-server-end-point`: the hash of the server's certificate.
    pub server_end_point: Option<Vec<u8>>,
    /// `tls-exporter`: keying material under the label EXPORTER-Channel-Binding.
    pub exporter: Option<Vec<u8>>,
}

/// Who is at the other end of a UNIX socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerCredentials {
    /// Effective user id.
    pub uid: u32,
    /// Effective group id.
    pub gid: u32,
}

impl Strength {
    /// The strongest layer: what `ssf=` means in access rules and security demands.
    #[must_use]
    pub fn overall(&self) -> u32 {
        self.transport.max(self.tls).max(self.sasl)
    }
}

impl fmt::Display for EndPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EndPoint::Unknown => f.write_str("IP=unknown"),
            EndPoint::Ip(address) => write!(f, "IP={address}"),
            EndPoint::Path(path) => write!(f, "PATH={path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_written_as_access_rules_know_them() {
        let ip = |text: &str| EndPoint::Ip(text.parse().unwrap()).to_string();
        assert_eq!(ip("10.0.0.1:389"), "IP=10.0.0.1:389");
        assert_eq!(ip("[::1]:389"), "IP=[::1]:389");
        assert_eq!(
            EndPoint::Path("/run/ldapi".to_owned()).to_string(),
            "PATH=/run/ldapi"
        );
    }

    #[test]
    fn the_strongest_layer_counts() {
        let strength = Strength {
            transport: 71,
            tls: 256,
            sasl: 0,
        };
        assert_eq!(strength.overall(), 256);
    }
}
