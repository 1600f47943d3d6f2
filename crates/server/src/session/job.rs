//! Work that a session hands to other threads, and its state after a turn.

use std::time::Duration;

use fulgurite_ldap::MessageId;

use super::cancel_token::CancelToken;
use super::handler::{Handler, StateWish};

/// The id of updates without a response. It is beyond the ids of messages.
pub(crate) const NO_MESSAGE: MessageId = MessageId::MAX;

/// Work that a session hands to other threads.
#[derive(Debug)]
pub enum Job<H: Handler> {
    /// For the writer. Its response comes back through [`Session::updated`] under this id, unless
    /// the session has taken the update back.
    ///
    /// [`Session::updated`]: crate::Session::updated
    Update(MessageId, CancelToken, H::Update),
    /// For the hashing pool. The result comes back through [`Session::password_checked`] under this
    /// number.
    ///
    /// [`Session::password_checked`]: crate::Session::password_checked
    CheckPassword(CheckId, H::PasswordCheck),
    /// For a timer: after this time, [`Session::release_bind`] gets this number.
    ///
    /// [`Session::release_bind`]: crate::Session::release_bind
    HoldBind(CheckId, Duration),
    /// For the cluster of the handler. The end of the wait comes back through
    /// [`Session::state_reached`] under this number.
    ///
    /// [`Session::state_reached`]: crate::Session::state_reached
    AwaitState(CheckId, StateWish),
}

/// The number of a job for the hashing pool, a timer or a cluster. A session never uses a number
/// twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckId(pub(super) u64);

/// The next need of a session after a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Another turn, without waiting for anything.
    More,
    /// Bytes from the client, or the end of a job.
    Waits,
    /// Room in the output: the client has to read first.
    OutputFull,
    /// The end of the connection, once the output is sent.
    Closing,
}
