//! Facts about the connection of a request, for access rules, security demands and SASL.
//!
//! The server sets the facts and the directory reads them. They are immutable: after StartTLS the
//! session gets a new value.

use std::fmt;
use std::net::SocketAddr;

/// Facts about one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// Its number in the log.
    pub id: u64,
    /// The client's address.
    pub peer: EndPoint,
    /// The server's address.
    pub socket: EndPoint,
    /// The listener that accepted the connection, as configured: `ldap://:389/`.
    pub listener_url: String,
    /// The client's host name, if the server looks it up (`reverse-lookup`).
    pub domain: Option<String>,
    /// The strength of its protection.
    pub strength: Strength,
    /// True if the client can start TLS.
    pub offers_tls: bool,
    /// Its TLS layer, if it has one.
    pub tls: Option<TlsFacts>,
    /// The process at the other end of a UNIX socket.
    pub peer_credentials: Option<PeerCredentials>,
}

/// One end of a connection, displayed as slapd's `peername` and `sockname`: `IP=127.0.0.1:389`,
/// `IP=[::1]:389`, `PATH=/run/ldapi`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EndPoint {
    /// No socket: an operation of the server itself, or a test.
    #[default]
    Unknown,
    /// TCP.
    Ip(SocketAddr),
    /// A UNIX socket. The path is empty for a client that has not bound its end.
    Path(String),
}

/// Security strength factors, in bits of the weakest key that protects the layer. 0 is no
/// protection, 1 integrity alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strength {
    /// Of the transport: `localSSF` (71) for a UNIX socket, else 0.
    pub transport: u32,
    /// Of the TLS layer.
    pub tls: u32,
    /// Of the SASL security layer. No mechanism of this server has one.
    pub sasl: u32,
}

/// The parameters that the TLS layer has negotiated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFacts {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: String,
    /// The cipher suite: `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// The subject of a verified client certificate as a DN (RFC 4514), the last RDN of the
    /// certificate first.
    pub client_dn: Option<String>,
    /// The data that SCRAM-...-PLUS binds to.
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

/// The process at the other end of a UNIX socket, as the system reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerCredentials {
    /// Effective user id.
    pub uid: u32,
    /// Effective group id.
    pub gid: u32,
}

impl Connection {
    /// Sets a fact by the name that access rules give it, as in `ssf=56`. Returns false for an
    /// unknown fact.
    pub fn take_fact(&mut self, name: &str, value: &str) -> bool {
        let strength = |place: &mut u32| value.parse().map(|number| *place = number).is_ok();
        match name.to_ascii_lowercase().as_str() {
            "peername" => self.peer = EndPoint::from_fact(value),
            "sockname" => self.socket = EndPoint::from_fact(value),
            "sockurl" => value.clone_into(&mut self.listener_url),
            "domain" => self.domain = Some(value.to_owned()),
            // Only the strongest layer counts, so any layer will do.
            "ssf" => return strength(&mut self.strength.tls),
            "transport_ssf" => return strength(&mut self.strength.transport),
            "tls_ssf" => return strength(&mut self.strength.tls),
            "sasl_ssf" => return strength(&mut self.strength.sasl),
            _ => return false,
        }
        true
    }
}

impl EndPoint {
    fn from_fact(text: &str) -> EndPoint {
        let address: Option<SocketAddr> = text.strip_prefix("IP=").and_then(|ip| ip.parse().ok());
        match (address, text.strip_prefix("PATH=")) {
            (Some(address), _) => EndPoint::Ip(address),
            (None, Some(path)) => EndPoint::Path(path.to_owned()),
            (None, None) => EndPoint::Unknown,
        }
    }
}

impl Strength {
    /// Returns the strength of the strongest layer: `ssf=` in access rules and security demands.
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
    fn end_points_are_displayed_as_in_access_rules() {
        let ip = |text: &str| EndPoint::Ip(text.parse().unwrap()).to_string();
        assert_eq!(ip("10.0.0.1:389"), "IP=10.0.0.1:389");
        assert_eq!(ip("[::1]:389"), "IP=[::1]:389");
        assert_eq!(
            EndPoint::Path("/run/ldapi".to_owned()).to_string(),
            "PATH=/run/ldapi"
        );
    }

    #[test]
    fn facts_are_taken_by_their_names() {
        let mut connection = Connection::default();
        for (name, value) in [
            ("peername", "IP=10.0.0.1:9"),
            ("sockname", "PATH=/run/ldapi"),
            ("sockurl", "ldapi:///"),
            ("tls_ssf", "256"),
        ] {
            assert!(connection.take_fact(name, value), "{name}");
        }
        assert_eq!(connection.peer.to_string(), "IP=10.0.0.1:9");
        assert_eq!(connection.socket, EndPoint::Path("/run/ldapi".to_owned()));
        assert_eq!(connection.strength.overall(), 256);
        assert!(!connection.take_fact("nope", "1"));
        assert!(!connection.take_fact("ssf", "x"));
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
