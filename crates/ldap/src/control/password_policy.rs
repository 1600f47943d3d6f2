//! Password policy (draft-behera-ldap-password-policy-10, section 6): the value of the response.
//!
//! The request has no value.

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, oid};

const WARNING: Tag = Tag::context(0).constructed();
const TIME_BEFORE_EXPIRATION: Tag = Tag::context(0);
const GRACE_LOGINS: Tag = Tag::context(1);
const ERROR: Tag = Tag::context(1);

/// The value of the response control.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PasswordPolicyResponse {
    /// The warning of a bind that succeeded.
    pub warning: Option<PasswordWarning>,
    /// The reason for a refusal, or for a restriction of the connection.
    pub error: Option<PasswordError>,
}

/// A warning about a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordWarning {
    /// The seconds until the password expires.
    TimeBeforeExpiration(u32),
    /// The number of binds that the expired password still permits.
    GraceLogins(u32),
}

/// An error of a password policy. The number is that of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordError {
    /// passwordExpired (0).
    Expired,
    /// accountLocked (1).
    Locked,
    /// changeAfterReset (2).
    ChangeAfterReset,
    /// passwordModNotAllowed (3).
    ModNotAllowed,
    /// mustSupplyOldPassword (4).
    MustSupplyOld,
    /// insufficientPasswordQuality (5).
    InsufficientQuality,
    /// passwordTooShort (6).
    TooShort,
    /// passwordTooYoung (7).
    TooYoung,
    /// passwordInHistory (8).
    InHistory,
    /// passwordTooLong (9), an addition of slapd.
    TooLong,
}

impl PasswordError {
    const ALL: [PasswordError; 10] = [
        PasswordError::Expired,
        PasswordError::Locked,
        PasswordError::ChangeAfterReset,
        PasswordError::ModNotAllowed,
        PasswordError::MustSupplyOld,
        PasswordError::InsufficientQuality,
        PasswordError::TooShort,
        PasswordError::TooYoung,
        PasswordError::InHistory,
        PasswordError::TooLong,
    ];

    fn number(self) -> i64 {
        let mut all = (0..).zip(PasswordError::ALL);
        all.find(|(_, error)| *error == self)
            .map_or(0, |(number, _)| number)
    }

    fn from_number(number: i64) -> Option<PasswordError> {
        let at = usize::try_from(number).ok()?;
        PasswordError::ALL.get(at).copied()
    }
}

impl PasswordPolicyResponse {
    /// The request control's constants.
    pub const KIND: ControlKind =
        ControlKind::plain(oid::PASSWORD_POLICY, "passwordPolicyRequest control");

    /// Returns a response with an error alone.
    #[must_use]
    pub fn of_error(error: PasswordError) -> PasswordPolicyResponse {
        PasswordPolicyResponse {
            warning: None,
            error: Some(error),
        }
    }

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but a sequence of a warning and an error, both optional.
    pub fn decode(value: &[u8]) -> Result<PasswordPolicyResponse, Fault> {
        let mut outside = Reader::new(value);
        let mut reader = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let mut response = PasswordPolicyResponse::default();
        if let Some(content) = reader.optional(WARNING)? {
            let mut warning = Reader::new(content);
            let number = |content| {
                let number = Reader::integer_of(content)?;
                Ok::<u32, Fault>(u32::try_from(number).unwrap_or(0))
            };
            response.warning = match warning.optional(TIME_BEFORE_EXPIRATION)? {
                Some(content) => Some(PasswordWarning::TimeBeforeExpiration(number(content)?)),
                None => {
                    let content = warning.expect(GRACE_LOGINS)?;
                    Some(PasswordWarning::GraceLogins(number(content)?))
                }
            };
            warning.end()?;
        }
        if let Some(content) = reader.optional(ERROR)? {
            response.error = PasswordError::from_number(Reader::integer_of(content)?);
        }
        reader.skip_extensions()?;
        Ok(response)
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            if let Some(warning) = self.warning {
                let (tag, number) = match warning {
                    PasswordWarning::TimeBeforeExpiration(seconds) => {
                        (TIME_BEFORE_EXPIRATION, seconds)
                    }
                    PasswordWarning::GraceLogins(count) => (GRACE_LOGINS, count),
                };
                writer.container(WARNING, |writer| writer.integer_as(tag, number.into()));
            }
            if let Some(error) = self.error {
                writer.integer_as(ERROR, error.number());
            }
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_have_the_bytes_of_slapd_and_are_read_back() {
        let warned = |warning| PasswordPolicyResponse {
            warning: Some(warning),
            error: None,
        };
        let both = PasswordPolicyResponse {
            error: Some(PasswordError::TooLong),
            ..warned(PasswordWarning::GraceLogins(300))
        };
        for (response, bytes) in [
            (PasswordPolicyResponse::default(), &b"\x30\x00"[..]),
            (
                warned(PasswordWarning::TimeBeforeExpiration(3)),
                b"\x30\x05\xa0\x03\x80\x01\x03",
            ),
            (
                warned(PasswordWarning::GraceLogins(1)),
                b"\x30\x05\xa0\x03\x81\x01\x01",
            ),
            (
                PasswordPolicyResponse::of_error(PasswordError::ChangeAfterReset),
                b"\x30\x03\x81\x01\x02",
            ),
            (both, b"\x30\x09\xa0\x04\x81\x02\x01\x2c\x81\x01\x09"),
        ] {
            assert_eq!(response.encode(), bytes);
            assert_eq!(PasswordPolicyResponse::decode(bytes), Ok(response));
            for cut in 0..bytes.len() {
                let cut = bytes.get(..cut).unwrap_or_default();
                assert!(PasswordPolicyResponse::decode(cut).is_err());
            }
        }
        for error in PasswordError::ALL {
            let response = PasswordPolicyResponse::of_error(error);
            assert_eq!(
                PasswordPolicyResponse::decode(&response.encode()),
                Ok(response)
            );
        }
    }
}
