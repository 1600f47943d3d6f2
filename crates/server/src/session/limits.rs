//! How much one connection may ask for at once.

use std::time::Duration;

/// Bounds of one connection; the same for all connections of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLimits {
    /// Octets of one request before a bind has succeeded.
    pub request_bytes_max_anonymous: usize,
    /// Octets of one request of an authenticated connection.
    pub request_bytes_max_authenticated: usize,
    /// Requests received and not answered, before a bind has succeeded. A connection at its limit is
    /// not read from until an answer makes room.
    pub pending_max_anonymous: usize,
    /// Requests received and not answered, of an authenticated connection.
    pub pending_max_authenticated: usize,
    /// Searches that run side by side; later ones wait their turn.
    pub searches_running_max: usize,
    /// Octets of unsent responses at which searches pause.
    pub output_bytes_max: usize,
    /// How deep a filter may nest.
    pub filter_depth_max: u16,
    /// How long the client may take none of the responses before the connection is closed.
    pub write_timeout: Option<Duration>,
    /// How long a connection may stay silent with nothing outstanding.
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
            idle_timeout: None,
        }
    }
}
