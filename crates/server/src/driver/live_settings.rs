//! Settings that change while a server runs.
//!
//! ```text
//!   compose --set--> LiveSettings --load--> acceptor: each connection that it accepts
//!                                 \--load--> worker: each round, all its connections
//! ```

use std::sync::Arc;

use arc_swap::ArcSwap;

use super::settings::ServerSettings;
use crate::session::limits::SessionLimits;

/// The newest values of the settings that change while a server runs.
pub(crate) struct LiveSettings(ArcSwap<LiveValues>);

/// Values of the settings that change while a server runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LiveValues {
    /// Bounds of each connection.
    pub(crate) session: Arc<SessionLimits>,
    /// Log each operation.
    pub(crate) log_operations: bool,
    /// The maximum of open connections.
    pub(crate) connections_max: usize,
    /// Strength factor of new connections over a UNIX socket.
    pub(crate) local_ssf: u32,
}

impl LiveSettings {
    pub(crate) fn new(settings: &ServerSettings) -> LiveSettings {
        LiveSettings(ArcSwap::from_pointee(LiveValues::of(settings)))
    }

    /// Returns the newest values.
    pub(crate) fn load(&self) -> arc_swap::Guard<Arc<LiveValues>> {
        self.0.load()
    }

    /// Puts the values of other settings in force.
    pub(crate) fn set(&self, settings: &ServerSettings) {
        let values = LiveValues::of(settings);
        if **self.0.load() != values {
            self.0.store(Arc::new(values));
        }
    }
}

impl LiveValues {
    fn of(settings: &ServerSettings) -> LiveValues {
        LiveValues {
            session: Arc::new(settings.session.clone()),
            log_operations: settings.log_operations,
            connections_max: settings.connections_max,
            local_ssf: settings.local_ssf,
        }
    }
}
