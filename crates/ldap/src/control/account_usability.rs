//! The account usability control of Sun's servers: the value of the response, one for each entry.
//!
//! The request has no value.

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, oid};

const AVAILABLE: Tag = Tag::context(0);
const UNAVAILABLE: Tag = Tag::context(1).constructed();
const INACTIVE: Tag = Tag::context(0);
const RESET: Tag = Tag::context(1);
const EXPIRED: Tag = Tag::context(2);
const GRACE_LOGINS: Tag = Tag::context(3);
const UNLOCKED_IN: Tag = Tag::context(4);

/// The value of the response control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountUsability {
    /// The account can be used.
    Available {
        /// The seconds until its password expires, if it does.
        expires_in_s: Option<u32>,
    },
    /// The account cannot be used, or only to change its password.
    Unavailable {
        /// True if the account is locked.
        is_inactive: bool,
        /// True if the password was reset and must change.
        is_reset: bool,
        /// True if the password has expired.
        is_expired: bool,
        /// The number of binds that the expired password still permits.
        grace_logins: u32,
        /// The seconds until a lock ends, if it does.
        unlocked_in_s: Option<u32>,
    },
}

impl AccountUsability {
    /// The request control's constants.
    pub const KIND: ControlKind =
        ControlKind::plain(oid::ACCOUNT_USABILITY, "account usability control");

    /// Parses the value of a response. Servers leave out the last fields as they like.
    ///
    /// # Errors
    /// A value that is none.
    pub fn decode(value: &[u8]) -> Result<AccountUsability, Fault> {
        let seconds = |content| {
            let number = Reader::integer_of(content)?;
            Ok::<Option<u32>, Fault>(u32::try_from(number).ok())
        };
        let mut outside = Reader::new(value);
        if let Some(content) = outside.optional(AVAILABLE)? {
            outside.end()?;
            let expires_in_s = seconds(content)?;
            return Ok(AccountUsability::Available { expires_in_s });
        }
        let mut reader = outside.nested(UNAVAILABLE)?;
        outside.end()?;
        let mut truth = |tag| {
            let content = reader.optional(tag)?;
            Ok::<bool, Fault>(
                content
                    .map(Reader::boolean_of)
                    .transpose()?
                    .unwrap_or(false),
            )
        };
        let (is_inactive, is_reset, is_expired) =
            (truth(INACTIVE)?, truth(RESET)?, truth(EXPIRED)?);
        let mut number = |tag| {
            let content = reader.optional(tag)?;
            Ok::<Option<u32>, Fault>(content.map(seconds).transpose()?.flatten())
        };
        let usability = AccountUsability::Unavailable {
            is_inactive,
            is_reset,
            is_expired,
            grace_logins: number(GRACE_LOGINS)?.unwrap_or(0),
            unlocked_in_s: number(UNLOCKED_IN)?,
        };
        reader.skip_extensions()?;
        Ok(usability)
    }

    /// Returns the control value. As slapd's, it has every field, and -1 means never.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let or_never = |seconds: Option<u32>| seconds.map_or(-1, i64::from);
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        match *self {
            AccountUsability::Available { expires_in_s } => {
                writer.integer_as(AVAILABLE, or_never(expires_in_s));
            }
            AccountUsability::Unavailable {
                is_inactive,
                is_reset,
                is_expired,
                grace_logins,
                unlocked_in_s,
            } => writer.container(UNAVAILABLE, |writer| {
                writer.boolean_as(INACTIVE, is_inactive);
                writer.boolean_as(RESET, is_reset);
                writer.boolean_as(EXPIRED, is_expired);
                writer.integer_as(GRACE_LOGINS, grace_logins.into());
                writer.integer_as(UNLOCKED_IN, or_never(unlocked_in_s));
            }),
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_bytes_of_slapd() {
        let available = |expires_in_s| AccountUsability::Available { expires_in_s };
        assert_eq!(available(None).encode(), b"\x80\x01\xff");
        assert_eq!(available(Some(1000)).encode(), b"\x80\x02\x03\xe8");
        let locked = AccountUsability::Unavailable {
            is_inactive: false,
            is_reset: false,
            is_expired: false,
            grace_logins: 1,
            unlocked_in_s: None,
        };
        let bytes = b"\xa1\x0f\x80\x01\x00\x81\x01\x00\x82\x01\x00\x83\x01\x01\x84\x01\xff";
        assert_eq!(locked.encode(), bytes);
        for usability in [available(None), available(Some(1000)), locked] {
            let bytes = usability.encode();
            assert_eq!(AccountUsability::decode(&bytes), Ok(usability));
            for cut in 0..bytes.len() {
                let cut = bytes.get(..cut).unwrap_or_default();
                assert!(AccountUsability::decode(cut).is_err());
            }
        }
    }
}
