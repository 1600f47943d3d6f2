//! The end of a content synchronisation (RFC 4533 section 2.4).

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, oid};

/// The value of the Sync Done control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncDone<'a> {
    /// The state of the consumer's copy.
    pub cookie: Option<&'a [u8]>,
    /// True if the provider told each deletion. Otherwise entries that it did not name are gone.
    pub refresh_deletes: bool,
}

impl<'a> SyncDone<'a> {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::SYNC_DONE, "Sync Done control", |value| {
            SyncDone::decode(value).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but the sequence of RFC 4533.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut reader = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let cookie = reader.optional(Tag::OCTET_STRING)?;
        let refresh_deletes = match reader.optional(Tag::BOOLEAN)? {
            Some(content) => Reader::boolean_of(content)?,
            None => false,
        };
        reader.skip_extensions()?;
        Ok(SyncDone {
            cookie,
            refresh_deletes,
        })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            if let Some(cookie) = self.cookie {
                writer.octet_string(cookie);
            }
            if self.refresh_deletes {
                writer.boolean(true);
            }
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn deletes_without_a_cookie_have_the_bytes_of_slapd() {
        let done = SyncDone {
            cookie: None,
            refresh_deletes: true,
        };
        assert_eq!(done.encode(), b"\x30\x03\x01\x01\xff");
    }

    proptest! {
        #[test]
        fn ends_come_back(
            cookie in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..300)),
            refresh_deletes: bool,
        ) {
            let done = SyncDone { cookie: cookie.as_deref(), refresh_deletes };
            let value = done.encode();
            prop_assert_eq!(SyncDone::decode(&value), Ok(done));
            for len in 0..value.len() {
                prop_assert!(SyncDone::decode(&value[..len]).is_err());
            }
        }

        #[test]
        fn any_bytes_have_an_answer(value in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = SyncDone::decode(&value);
        }
    }
}
