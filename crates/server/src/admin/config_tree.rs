//! `cn=config`: the settings in force as entries. Those of a configuration directory are shown as
//! its files have them.

use fulgurite_config::{ConfigEntry, ConfigError, Settings};
use fulgurite_directory::{TreeEntry, TreeSource};

/// The entries of one generation of settings.
pub(crate) struct ConfigTree {
    entries: Vec<TreeEntry>,
}

impl ConfigTree {
    /// Makes the entries of these settings.
    ///
    /// # Errors
    /// [`ConfigError`] for a file that holds no entry.
    pub(crate) fn new(settings: &Settings) -> Result<ConfigTree, ConfigError> {
        let entries = match &settings.files {
            Some(files) => files.entries()?,
            None => settings.config_entries(false),
        };
        let entries = entries.into_iter().map(entry);
        Ok(ConfigTree {
            entries: entries.collect(),
        })
    }
}

impl TreeSource for ConfigTree {
    fn suffix(&self) -> &str {
        "cn=config"
    }

    fn entries(&self, _base: &str) -> Vec<TreeEntry> {
        self.entries.clone()
    }
}

fn entry(entry: ConfigEntry) -> TreeEntry {
    let attributes = entry.attributes.into_iter();
    TreeEntry {
        dn: entry.dn,
        attributes: attributes
            .map(|(name, values)| (name, values.into_iter().map(String::into_bytes).collect()))
            .collect(),
        counter: None,
    }
}
