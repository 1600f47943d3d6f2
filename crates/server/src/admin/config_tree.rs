//! `cn=config`: the settings in force, as entries to read.

use fulgurite_config::{ConfigEntry, Settings};
use fulgurite_directory::{TreeEntry, TreeSource};

/// The entries of one generation of settings.
pub(crate) struct ConfigTree {
    entries: Vec<TreeEntry>,
}

impl ConfigTree {
    /// Makes the entries of these settings.
    pub(crate) fn new(settings: &Settings) -> ConfigTree {
        let entries = settings.config_entries(false).into_iter().map(entry);
        ConfigTree {
            entries: entries.collect(),
        }
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
