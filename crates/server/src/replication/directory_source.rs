//! The seam to the configuration: consumers always work on the newest directory.

use std::sync::RwLockReadGuard;

use fulgurite_config::ConfigEntry;
use fulgurite_directory::Directory;
use fulgurite_policy::Syncrepl;

/// The configuration of a provider.
pub(crate) struct ToldConfiguration {
    /// The name at the top of the entries.
    pub(crate) base: String,
    pub(crate) entries: Vec<ConfigEntry>,
    /// The numbers up to which the entries have all changes.
    pub(crate) state: Vec<String>,
}

/// The source of the newest configuration.
pub(crate) trait DirectorySource: Sync {
    /// Returns the newest directory.
    fn newest(&self) -> &Directory;

    /// Returns the newest directory for a change of entries. Its definitions stay until the guard
    /// is dropped.
    fn newest_for_changes(&self) -> (&Directory, RwLockReadGuard<'_, ()>);

    /// Does the same if no change of the definitions is on its way.
    fn newest_for_changes_at_once(&self) -> Option<(&Directory, RwLockReadGuard<'_, ()>)>;

    /// Returns the providers that the configuration itself is copied from.
    fn configuration_consumers(&self) -> Vec<Syncrepl> {
        Vec::new()
    }

    /// Puts the entries of a provider's configuration in force. They replace those at and below
    /// their base, or are merged with them. Returns false if nothing changes.
    ///
    /// # Errors
    /// The reason why this server cannot have them. The present configuration stays.
    fn copy_configuration(&self, _told: ToldConfiguration) -> Result<bool, String> {
        Err("there is no configuration to change".to_owned())
    }
}
