//! The origin of a service's settings, and the parts of a server that follow them.

use std::sync::Arc;

use fulgurite_config::{ConfigError, Layer, Settings};

use crate::driver::live_settings::LiveSettings;
use crate::tls::reload::TlsSlot;

/// The origin of a service's settings. A function that reads them is one.
pub trait SettingsSource: Send + Sync {
    /// Reads the settings again. With a layer, it returns the settings that the server would have
    /// with this layer in place of its configuration.
    ///
    /// # Errors
    /// [`ConfigError`] as at a start.
    fn read(&self, changed: Option<Layer>) -> Result<Settings, ConfigError>;

    /// Takes settings that are in force from now on, for parts that the program itself owns, such
    /// as its log.
    fn in_force(&self, _settings: &Settings) {}
}

impl<F> SettingsSource for F
where
    F: Fn(Option<Layer>) -> Result<Settings, ConfigError> + Send + Sync,
{
    fn read(&self, changed: Option<Layer>) -> Result<Settings, ConfigError> {
        self(changed)
    }
}

/// The parts of a running server that follow its settings.
pub(super) struct RunningServer {
    pub(super) tls: Arc<TlsSlot>,
    pub(super) live: Arc<LiveSettings>,
}
