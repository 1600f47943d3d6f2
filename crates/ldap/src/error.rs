//! Why a PDU is not a message we can act on, and how much of it could still be read.

use fulgurite_ber::{Malformed, Tag};

use crate::{MessageId, Operation};

/// A PDU that is not a valid message, by what the receiver can still do about it (RFC 4511
/// section 4.1.1).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// No LDAPMessage with a usable id and a known operation: nothing can be answered to. A server
    /// sends the notice of disconnection and closes.
    #[error("not an LDAP message: {0}")]
    Envelope(Fault),
    /// The envelope was read, the operation or its controls were not: `protocolError` on `id`.
    #[error("malformed {operation} (message {id}): {fault}")]
    Body {
        /// The message to answer.
        id: MessageId,
        /// The operation that was asked for, which names the response.
        operation: Operation,
        /// The fault.
        fault: Fault,
    },
}

impl DecodeError {
    /// Returns the message that can be answered, if the envelope was readable.
    #[must_use]
    pub const fn message_id(&self) -> Option<MessageId> {
        match self {
            DecodeError::Envelope(_) => None,
            DecodeError::Body { id, .. } => Some(*id),
        }
    }

    /// Returns true if the connection has to end. The envelope is then unreadable, or lengths
    /// inside the body contradict the length of the message.
    #[must_use]
    pub const fn is_fatal(&self) -> bool {
        match self {
            DecodeError::Envelope(_) => true,
            DecodeError::Body {
                fault: Fault::Ber(malformed),
                ..
            } => malformed.breaks_framing(),
            DecodeError::Body { .. } => false,
        }
    }
}

/// A fault of a message or of a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The encoding itself.
    #[error(transparent)]
    Ber(#[from] Malformed),
    /// A message id outside 1 to 2^31-1 (0 is left to unsolicited notifications).
    #[error("message id {0} is out of range")]
    MessageId(i64),
    /// A protocolOp that is none of those expected in this direction.
    #[error("unknown operation {0}")]
    UnknownOperation(Tag),
    /// A number outside its range or enumeration.
    #[error("{what} cannot be {value}")]
    OutOfRange {
        /// The component, by its name in RFC 4511.
        what: &'static str,
        /// The value found.
        value: i64,
    },
    /// A list or string that must not be empty.
    #[error("{0} must not be empty")]
    Empty(&'static str),
    /// Text that is not UTF-8 where a string is required.
    #[error("{0} is not UTF-8")]
    NotUtf8(&'static str),
    /// Text in another form than its own.
    #[error("{what} is not of the form {form}")]
    Form {
        /// The component.
        what: &'static str,
        /// Its form.
        form: &'static str,
    },
    /// A filter choice that does not exist.
    #[error("unknown filter choice {0}")]
    FilterChoice(Tag),
    /// `and`, `or` and `not` nest beyond the limit.
    #[error("the filter nests deeper than {0}")]
    FilterTooDeep(u16),
    /// A filter of more parts than the limit.
    #[error("the filter has more than {0} parts")]
    FilterTooLarge(u32),
    /// `initial` not first, `final` not last, or an unknown kind of substring.
    #[error("a substring {0} in the wrong position")]
    SubstringOrder(Tag),
    /// An extensible match without attribute and without matching rule.
    #[error("an extensible match needs an attribute or a matching rule")]
    ExtensibleWithoutTarget,
}
