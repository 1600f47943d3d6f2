//! Every way in which bytes can fail to be the BER that LDAP permits.

use crate::Tag;

/// Why bytes are not the expected element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// An element reaches beyond the end of what contains it.
    #[error("an element ends beyond its container")]
    Truncated,
    /// The indefinite length form, which LDAP forbids (RFC 4511 section 5.1).
    #[error("indefinite length is not allowed in LDAP")]
    IndefiniteLength,
    /// A length written with more than four bytes.
    #[error("a length of {0} bytes; at most 4 are accepted")]
    LengthBytes(u8),
    /// A tag number of 31 or above.
    #[error("tag numbers above 30 are not used in LDAP")]
    HighTagNumber,
    /// An element with another tag than the expected one.
    #[error("expected element {expected}, found {found}")]
    UnexpectedTag {
        /// The expected tag.
        expected: Tag,
        /// The tag that was found.
        found: Tag,
    },
    /// An INTEGER or ENUMERATED of no bytes, or of more than eight.
    #[error("an integer of {0} bytes")]
    IntegerBytes(usize),
    /// A BOOLEAN that is not exactly one byte.
    #[error("a boolean of {0} bytes")]
    BooleanBytes(usize),
    /// More levels of nesting than the reader's limit.
    #[error("elements nest too deeply")]
    TooDeep,
    /// Bytes remain where the container should have ended.
    #[error("{0} bytes remain after the last element")]
    TrailingBytes(usize),
}

impl Malformed {
    /// Returns true if the lengths cannot be trusted, so that elements after this point cannot be
    /// found.
    #[must_use]
    pub const fn breaks_framing(self) -> bool {
        matches!(
            self,
            Malformed::Truncated
                | Malformed::IndefiniteLength
                | Malformed::LengthBytes(_)
                | Malformed::HighTagNumber
        )
    }
}
