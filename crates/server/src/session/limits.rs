//! Limits of one connection.

use std::time::Duration;

/// Limits of one connection, the same for all connections of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLimits {
    /// Maximum bytes of one request before a bind has succeeded.
    pub request_bytes_max_anonymous: usize,
    /// Maximum bytes of one request of an authenticated connection.
    pub request_bytes_max_authenticated: usize,
    /// Maximum of unanswered requests before a bind has succeeded. The server stops reading from a
    /// connection at its limit until a response makes room.
    pub pending_max_anonymous: usize,
    /// Maximum of unanswered requests of an authenticated connection.
    pub pending_max_authenticated: usize,
    /// Maximum of concurrent searches; later ones wait.
    pub searches_running_max: usize,
    /// Bytes of unsent responses at which searches pause.
    pub output_bytes_max: usize,
    /// Maximum depth of a filter.
    pub filter_depth_max: u16,
    /// Time without progress in sending responses after which the server closes the connection.
    pub write_timeout: Option<Duration>,
    /// The longest delay of the answer to a bind after failed ones; zero for none.
    pub bind_delay_max: Duration,
    /// Time without traffic after which the server closes an idle connection.
    pub idle_timeout: Option<Duration>,
}

impl Default for SessionLimits {
    fn default() -> Self {
        SessionLimits {
            request_bytes_max_anonymous: 262_143,
            request_bytes_max_authenticated: 4_194_303,
            pending_max_anonymous: 100,
            pending_max_authenticated: 1000,
            searches_running_max: 8,
            output_bytes_max: 256 * 1024,
            filter_depth_max: fulgurite_ldap::Limits::default().filter_depth_max,
            write_timeout: Some(Duration::from_secs(120)),
            bind_delay_max: Duration::ZERO,
            idle_timeout: None,
        }
    }
}
