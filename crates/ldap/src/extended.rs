//! Values of extended requests.

use fulgurite_ber::{Reader, Tag, Writer};

use crate::message_id::MESSAGE_ID_MAX;
use crate::{Fault, MessageId};

/// The value of a password modify request (RFC 3062 section 2).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct PasswordModifyRequest<'a> {
    /// The owner of the password; the requester if absent.
    pub user_identity: Option<&'a [u8]>,
    /// The current password.
    pub old_password: Option<&'a [u8]>,
    /// The new password; the server makes one up if absent.
    pub new_password: Option<&'a [u8]>,
}

impl std::fmt::Debug for PasswordModifyRequest<'_> {
    /// Shows no password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PasswordModifyRequest")
            .field("user_identity", &self.user_identity)
            .finish_non_exhaustive()
    }
}

impl<'a> PasswordModifyRequest<'a> {
    /// Decodes a request value; an absent value means no component is given.
    ///
    /// # Errors
    /// A [`Fault`] for anything but the sequence of RFC 3062.
    pub fn decode(value: Option<&'a [u8]>) -> Result<Self, Fault> {
        let Some(value) = value else {
            return Ok(Self::default());
        };
        let mut outside = Reader::new(value);
        let mut reader = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let user_identity = reader.optional(Tag::context(0))?;
        let old_password = reader.optional(Tag::context(1))?;
        let new_password = reader.optional(Tag::context(2))?;
        reader.skip_extensions()?;
        Ok(PasswordModifyRequest {
            user_identity,
            old_password,
            new_password,
        })
    }

    /// Returns the request value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            let components = [self.user_identity, self.old_password, self.new_password];
            for (number, component) in (0u8..).zip(components) {
                if let Some(component) = component {
                    writer.primitive(Tag::context(number), component);
                }
            }
        });
        out
    }
}

/// Returns the value of a response to a password modify request: the password that the server has
/// made up.
#[must_use]
pub fn generated_password(password: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
        writer.primitive(Tag::context(0), password);
    });
    out
}

/// Decodes the value of a response to a password modify request.
///
/// # Errors
/// A [`Fault`] for anything but a sequence of one optional password.
pub fn read_generated_password(value: &[u8]) -> Result<Option<&[u8]>, Fault> {
    let mut outside = Reader::new(value);
    let mut reader = outside.nested(Tag::SEQUENCE)?;
    outside.end()?;
    let password = reader.optional(Tag::context(0))?;
    reader.skip_extensions()?;
    Ok(password)
}

/// The value of a cancel request (RFC 3909).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancelRequest {
    /// The message to cancel.
    pub id: MessageId,
}

impl CancelRequest {
    /// Decodes a request value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but a sequence of one message id.
    pub fn decode(value: &[u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut reader = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let number = reader.integer()?;
        reader.skip_extensions()?;
        u32::try_from(number)
            .ok()
            .filter(|&id| id <= MESSAGE_ID_MAX)
            .map(|id| CancelRequest { id })
            .ok_or(Fault::MessageId(number))
    }

    /// Returns the request value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| writer.integer(i64::from(self.id)));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_passwords_are_read_back() {
        let value = generated_password(b"x y");
        assert_eq!(read_generated_password(&value), Ok(Some(&b"x y"[..])));
        assert_eq!(read_generated_password(b"\x30\x00"), Ok(None));
        assert!(read_generated_password(b"\x30\x02\x80").is_err());
    }
}
