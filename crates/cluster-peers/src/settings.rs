//! The settings of connections.

use std::time::Duration;

/// The waits and bounds of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSettings {
    /// The wait for a connection with its handshake.
    pub connect: Duration,
    /// The wait for a frame to be written.
    pub write: Duration,
    /// The wait for the next frame of another node, which says that it is alive each second.
    pub read: Duration,
    /// The time between two signs of life.
    pub alive: Duration,
    /// The pause before a node is tried again.
    pub pause: Duration,
    /// Frames that wait for a node, at most.
    pub queue_max: usize,
    /// Connections from other nodes, at most.
    pub connections_max: usize,
    /// Connections that have not said who they are, at most. They count for no node, so strangers
    /// keep no node out.
    pub strangers_max: usize,
    /// The wait for the beginning of a copy, which its node makes meanwhile.
    pub copy: Duration,
}

impl Default for LinkSettings {
    fn default() -> LinkSettings {
        LinkSettings {
            connect: Duration::from_secs(3),
            write: Duration::from_secs(5),
            read: Duration::from_secs(10),
            alive: Duration::from_secs(1),
            pause: Duration::from_millis(500),
            queue_max: 1024,
            connections_max: 64,
            strangers_max: 64,
            copy: Duration::from_secs(3600),
        }
    }
}
