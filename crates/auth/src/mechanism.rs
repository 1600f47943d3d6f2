//! The SASL mechanisms by name, and the messages of the simple ones.

use crate::ScramHash;

/// A SASL mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// EXTERNAL: the identity that the layer below has established (RFC 4422, appendix A).
    External,
    /// A password in the clear (RFC 4616).
    Plain,
    /// Nobody (RFC 4505).
    Anonymous,
    /// A proof of knowing the password (RFC 5802, RFC 7677).
    Scram {
        /// Its hash function.
        hash: ScramHash,
        /// `-PLUS`: the proof holds for this TLS layer only.
        plus: bool,
    },
}

impl Mechanism {
    /// All of them, the strongest first: the order in which they are published.
    pub const ALL: [Mechanism; 9] = [
        scram(ScramHash::Sha512, true),
        scram(ScramHash::Sha512, false),
        scram(ScramHash::Sha256, true),
        scram(ScramHash::Sha256, false),
        scram(ScramHash::Sha1, true),
        scram(ScramHash::Sha1, false),
        Mechanism::External,
        Mechanism::Plain,
        Mechanism::Anonymous,
    ];

    /// Returns the mechanism of that name, in any case.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Mechanism> {
        Self::ALL
            .into_iter()
            .find(|mechanism| mechanism.name().as_bytes().eq_ignore_ascii_case(name))
    }

    /// Returns the registered name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::External => "EXTERNAL",
            Self::Plain => "PLAIN",
            Self::Anonymous => "ANONYMOUS",
            Self::Scram { hash, plus } => match (hash, plus) {
                (ScramHash::Sha1, false) => "SCRAM-SHA-1",
                (ScramHash::Sha1, true) => "SCRAM-SHA-1-PLUS",
                (ScramHash::Sha256, false) => "SCRAM-SHA-256",
                (ScramHash::Sha256, true) => "SCRAM-SHA-256-PLUS",
                (ScramHash::Sha512, false) => "SCRAM-SHA-512",
                (ScramHash::Sha512, true) => "SCRAM-SHA-512-PLUS",
            },
        }
    }

    /// Returns the hash function of a SCRAM mechanism, and true if it binds channels.
    #[must_use]
    pub const fn scram(self) -> Option<(ScramHash, bool)> {
        match self {
            Self::Scram { hash, plus } => Some((hash, plus)),
            _ => None,
        }
    }
}

const fn scram(hash: ScramHash, plus: bool) -> Mechanism {
    Mechanism::Scram { hash, plus }
}

/// The message of a client for PLAIN (RFC 4616, section 2).
#[derive(Clone, PartialEq, Eq)]
pub struct PlainMessage {
    /// Whom to act for; empty for oneself.
    pub authorization_id: String,
    /// The identity that authenticates.
    pub authentication_id: String,
    /// The proof.
    pub password: Vec<u8>,
}

impl PlainMessage {
    /// Splits the message.
    ///
    /// # Errors
    /// The reason, for the client.
    pub fn parse(message: &[u8]) -> Result<PlainMessage, &'static str> {
        let mut parts = message.splitn(3, |byte| *byte == 0);
        let (Some(authorization), Some(authentication), Some(password)) =
            (parts.next(), parts.next(), parts.next())
        else {
            return Err("Can only find author (no password)");
        };
        if password.contains(&0) {
            return Err("Oops, parse error");
        }
        let text = |bytes: &[u8]| {
            String::from_utf8(bytes.to_vec()).map_err(|_| "identities have to be UTF-8")
        };
        Ok(PlainMessage {
            authorization_id: text(authorization)?,
            authentication_id: text(authentication)?,
            password: password.to_vec(),
        })
    }
}

impl std::fmt::Debug for PlainMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlainMessage")
            .field("authorization_id", &self.authorization_id)
            .field("authentication_id", &self.authentication_id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for mechanism in Mechanism::ALL {
            assert_eq!(
                Mechanism::from_name(mechanism.name().as_bytes()),
                Some(mechanism)
            );
        }
        assert_eq!(Mechanism::from_name(b"plain"), Some(Mechanism::Plain));
        assert_eq!(Mechanism::from_name(b"CRAM-MD5"), None);
    }

    #[test]
    fn plain_has_three_parts() {
        let message = PlainMessage::parse(b"u:a\0b\0c").unwrap();
        assert_eq!(message.authorization_id, "u:a");
        assert_eq!(message.authentication_id, "b");
        assert_eq!(message.password, b"c");
        for bad in [&b"jane"[..], b"a\0b", b"a\0b\0c\0d", b"\0\xff\0c"] {
            assert!(PlainMessage::parse(bad).is_err());
        }
    }
}
