//! The seam to the configuration: consumers always work on the newest directory.

use std::sync::RwLockReadGuard;

use fulgurite_directory::Directory;

/// The source of the newest configuration.
pub(crate) trait DirectorySource: Sync {
    /// Returns the newest directory.
    fn newest(&self) -> &Directory;

    /// Returns the newest directory for a change of entries. Its definitions stay until the guard
    /// is dropped.
    fn newest_for_changes(&self) -> (&Directory, RwLockReadGuard<'_, ()>);

    /// Does the same if no change of the definitions is on its way.
    fn newest_for_changes_at_once(&self) -> Option<(&Directory, RwLockReadGuard<'_, ()>)>;
}
