//! The number of a request on its connection (RFC 4511 section 4.1.1.1).

/// Identifies a request on its connection: 1 to 2^31-1, 0 for unsolicited notifications.
pub type MessageId = u32;

/// The largest message id.
pub const MESSAGE_ID_MAX: MessageId = 0x7fff_ffff;
