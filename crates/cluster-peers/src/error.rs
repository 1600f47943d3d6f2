//! The errors of frames.

use thiserror::Error;

/// The format of frames.
pub const FORMAT: u16 = 1;

/// The reason why bytes are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// It ends too early.
    #[error("the frame ends too early")]
    Truncated,
    /// Bytes come behind its end.
    #[error("the frame has more bytes than it says")]
    Rest,
    /// A text is no UTF-8.
    #[error("a text of the frame is no UTF-8")]
    Text,
    /// A kind is unknown.
    #[error("the frame has the unknown kind {0}")]
    Kind(u8),
    /// The first bytes are others.
    #[error("the peer is no node of a cluster")]
    Magic,
    /// The format is another one.
    #[error("the peer speaks format {0} of messages, and this node speaks {FORMAT}")]
    Format(u16),
    /// The content of its update or answer cannot be read.
    #[error("the content of the frame cannot be read")]
    Content,
    /// It is too long.
    #[error("a frame of {0} bytes is too long")]
    TooLong(usize),
}
