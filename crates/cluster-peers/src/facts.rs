//! An update of an LDAP client, and the facts of its session that access rules ask for.

use crate::bytes::{Reader, put_bytes, put_optional};
use crate::error::FrameError;
use crate::node_peers::Wire;

/// The facts of a session, as the node of the client knows them. Names are normal DNs, and an empty
/// one is anonymous.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFacts {
    /// The name that has proved its identity.
    pub bound_as: String,
    /// The name that the session acts as.
    pub acts_as: String,
    /// The way of the proof: `simple`, or the name of a SASL mechanism.
    pub method: Option<String>,
    /// The client's address, such as `IP=127.0.0.1:389`.
    pub peer: String,
    /// The server's address.
    pub socket: String,
    /// The listener's URL.
    pub listener_url: String,
    /// The client's host name.
    pub domain: Option<String>,
    /// The strength factors of transport, TLS and SASL.
    pub strength: [u32; 3],
    /// The version and cipher of TLS.
    pub tls: Option<[String; 2]>,
    /// The subject of the client's certificate.
    pub client_dn: Option<String>,
    /// User and group at the other end of a UNIX socket.
    pub credentials: Option<[u32; 2]>,
    /// The number of the connection in that node's log.
    pub connection: u64,
}

/// An update as it goes to the sequencer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForwardedUpdate {
    /// The LDAP message in BER, with its controls.
    pub message: Vec<u8>,
    /// The facts of the session.
    pub session: SessionFacts,
}

impl Wire for ForwardedUpdate {
    fn to_bytes(&self) -> Vec<u8> {
        let session = &self.session;
        let mut out = Vec::new();
        put_bytes(&mut out, &self.message);
        for text in [
            &session.bound_as,
            &session.acts_as,
            &session.peer,
            &session.socket,
            &session.listener_url,
        ] {
            put_bytes(&mut out, text.as_bytes());
        }
        for text in [&session.method, &session.domain, &session.client_dn] {
            put_optional(&mut out, text.as_deref());
        }
        for factor in session.strength {
            out.extend(factor.to_be_bytes());
        }
        out.push(u8::from(session.tls.is_some()));
        for text in session.tls.iter().flatten() {
            put_bytes(&mut out, text.as_bytes());
        }
        out.push(u8::from(session.credentials.is_some()));
        for id in session.credentials.iter().flatten() {
            out.extend(id.to_be_bytes());
        }
        out.extend(session.connection.to_be_bytes());
        out
    }

    fn from_bytes(bytes: &[u8]) -> Result<ForwardedUpdate, FrameError> {
        let mut reader = Reader(bytes);
        let message = reader.bytes()?.to_vec();
        let mut text = || reader.text();
        let [bound_as, acts_as, peer, socket, listener_url] =
            [text()?, text()?, text()?, text()?, text()?];
        let [method, domain, client_dn] =
            [reader.optional()?, reader.optional()?, reader.optional()?];
        let strength = [reader.word()?, reader.word()?, reader.word()?];
        let tls = match is_present(&mut reader)? {
            true => Some([reader.text()?, reader.text()?]),
            false => None,
        };
        let credentials = match is_present(&mut reader)? {
            true => Some([reader.word()?, reader.word()?]),
            false => None,
        };
        let connection = reader.number()?;
        reader.end()?;
        Ok(ForwardedUpdate {
            message,
            session: SessionFacts {
                bound_as,
                acts_as,
                method,
                peer,
                socket,
                listener_url,
                domain,
                strength,
                tls,
                client_dn,
                credentials,
                connection,
            },
        })
    }
}

fn is_present(reader: &mut Reader<'_>) -> Result<bool, FrameError> {
    match reader.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        kind => Err(FrameError::Kind(kind)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_back_and_no_others() {
        let plain = ForwardedUpdate::default();
        let full = ForwardedUpdate {
            message: b"\x30\x05abcde".to_vec(),
            session: SessionFacts {
                bound_as: "cn=a".to_owned(),
                acts_as: "cn=b".to_owned(),
                method: Some("EXTERNAL".to_owned()),
                peer: "IP=[::1]:3890".to_owned(),
                socket: "IP=[::1]:389".to_owned(),
                listener_url: "ldap://:389/".to_owned(),
                domain: Some("host.example".to_owned()),
                strength: [0, 256, 0],
                tls: Some(["TLSv1.3".to_owned(), "x".to_owned()]),
                client_dn: Some("cn=c".to_owned()),
                credentials: Some([0, 1000]),
                connection: 77,
            },
        };
        for update in [plain, full] {
            let bytes = update.to_bytes();
            assert_eq!(ForwardedUpdate::from_bytes(&bytes), Ok(update));
            for len in 0..bytes.len() {
                assert!(ForwardedUpdate::from_bytes(&bytes[..len]).is_err());
            }
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] ^= 0x81;
                if let Ok(update) = ForwardedUpdate::from_bytes(&other) {
                    assert_eq!(update.to_bytes(), other);
                }
            }
        }
    }
}
