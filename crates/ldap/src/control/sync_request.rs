//! The request of a content synchronisation (RFC 4533 section 2.2).

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, oid};

/// The part of a synchronisation that a consumer asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncMode {
    /// The changes up to now.
    RefreshOnly,
    /// The changes up to now, and then each change as it happens.
    RefreshAndPersist,
}

impl SyncMode {
    const fn number(self) -> i64 {
        match self {
            SyncMode::RefreshOnly => 1,
            SyncMode::RefreshAndPersist => 3,
        }
    }
}

/// The value of the Sync Request control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncRequest<'a> {
    /// How far the synchronisation goes.
    pub mode: SyncMode,
    /// The state of the consumer's copy; none if it has no copy.
    pub cookie: Option<&'a [u8]>,
    /// True to get the whole content if the provider cannot tell the changes.
    pub reload_hint: bool,
}

impl<'a> SyncRequest<'a> {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::SYNC_REQUEST, "Sync control", |value| {
            SyncRequest::decode(value).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// [`Fault::OutOfRange`] for an unknown mode, and other faults for anything but the sequence of
    /// RFC 4533.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut reader = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let mode = match reader.enumerated()? {
            1 => SyncMode::RefreshOnly,
            3 => SyncMode::RefreshAndPersist,
            value => {
                let what = "synchronisation mode";
                return Err(Fault::OutOfRange { what, value });
            }
        };
        let cookie = reader.optional(Tag::OCTET_STRING)?;
        let reload_hint = match reader.optional(Tag::BOOLEAN)? {
            Some(content) => Reader::boolean_of(content)?,
            None => false,
        };
        reader.skip_extensions()?;
        Ok(SyncRequest {
            mode,
            cookie,
            reload_hint,
        })
    }

    /// Returns the control value. A false hint is left out.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            writer.enumerated(self.mode.number());
            if let Some(cookie) = self.cookie {
                writer.octet_string(cookie);
            }
            if self.reload_hint {
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
    fn an_explicit_false_hint_is_read() {
        let request = SyncRequest::decode(b"\x30\x0b\x0a\x01\x03\x04\x03rid\x01\x01\x00").unwrap();
        assert_eq!(request.mode, SyncMode::RefreshAndPersist);
        assert_eq!(request.cookie, Some(&b"rid"[..]));
        assert!(!request.reload_hint);
    }

    #[test]
    fn unknown_modes_are_out_of_range() {
        for mode in [0, 2, 4, 0xff] {
            let value = [0x30, 3, 0x0a, 1, mode];
            let refused = SyncRequest::decode(&value);
            assert!(matches!(refused, Err(Fault::OutOfRange { .. })), "{mode}");
        }
        assert!(SyncRequest::decode(b"\x30\x02\x04\x00").is_err());
        assert!(SyncRequest::decode(b"").is_err());
    }

    proptest! {
        #[test]
        fn requests_come_back(
            persist: bool,
            cookie in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..300)),
            reload_hint: bool,
        ) {
            let mode = if persist { SyncMode::RefreshAndPersist } else { SyncMode::RefreshOnly };
            let request = SyncRequest { mode, cookie: cookie.as_deref(), reload_hint };
            let value = request.encode();
            prop_assert_eq!(SyncRequest::decode(&value), Ok(request));
            for len in 0..value.len() {
                prop_assert!(SyncRequest::decode(&value[..len]).is_err());
            }
        }

        #[test]
        fn any_bytes_have_an_answer(value in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = SyncRequest::decode(&value);
        }
    }
}
