//! Session tracking (draft-wahl-ldap-session): on whose behalf a client asks, for the server's log.

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, oid};

/// The value of the session tracking control. Nothing of it is to be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionTracking<'a> {
    /// Address of the client's client.
    pub source_ip: &'a [u8],
    /// Its name.
    pub source_name: &'a [u8],
    /// Of which kind the identifier is.
    pub format: &'a [u8],
    /// The user or the session.
    pub identifier: &'a [u8],
}

impl<'a> SessionTracking<'a> {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::SESSION_TRACKING, "sessionTracking control", |value| {
            SessionTracking::decode(value).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but four strings; the answer is `protocolError`.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut reader = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let tracking = SessionTracking {
            source_ip: reader.octet_string()?,
            source_name: reader.octet_string()?,
            format: reader.octet_string()?,
            identifier: reader.octet_string()?,
        };
        reader.skip_extensions()?;
        Ok(tracking)
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            let parts = [
                self.source_ip,
                self.source_name,
                self.format,
                self.identifier,
            ];
            parts.iter().for_each(|part| writer.octet_string(part));
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_strings() {
        let tracking = SessionTracking {
            source_ip: b"192.0.2.7",
            source_name: b"app.example.org",
            format: b"1.3.6.1.4.1.21008.108.63.1.3",
            identifier: b"ada",
        };
        let value = tracking.encode();
        assert_eq!(SessionTracking::decode(&value), Ok(tracking));
        assert!(SessionTracking::decode(&value[..value.len() - 1]).is_err());
        assert!(SessionTracking::decode(b"\x30\x00").is_err());
    }
}
