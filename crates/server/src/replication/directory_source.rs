//! The seam to the configuration: consumers always work on the newest directory.

use fulgurite_directory::Directory;

/// The source of the newest configuration.
pub(crate) trait DirectorySource: Sync {
    /// Returns the newest directory.
    fn newest(&self) -> &Directory;
}
