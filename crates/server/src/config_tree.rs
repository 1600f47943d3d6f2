//! `cn=config`: the settings that hold, as entries to read.

use std::sync::Arc;

use fulgurite_config::{ConfigEntry, ConfigError, Settings};
use fulgurite_directory::{TreeEntry, TreeOptions, TreeSource};

use crate::convert;

/// The entries of one generation of settings.
struct ConfigTree {
    entries: Vec<TreeEntry>,
}

impl TreeSource for ConfigTree {
    fn suffix(&self) -> &str {
        "cn=config"
    }

    fn entries(&self, _base: &str) -> Vec<TreeEntry> {
        self.entries.clone()
    }
}

/// The database `cn=config` of these settings.
///
/// # Errors
/// [`ConfigError`] for a root password that cannot be read or used.
pub(crate) fn options(settings: &Settings) -> Result<TreeOptions, ConfigError> {
    let entries = settings.config_entries(false).into_iter().map(entry);
    let tree = ConfigTree {
        entries: entries.collect(),
    };
    let policy = &settings.config.policy;
    Ok(TreeOptions {
        root: convert::root(&settings.config)?,
        access: convert::rules(&policy.access),
        limits: Some(convert::limits(policy)),
        restrictions: convert::restrictions(policy),
        ..TreeOptions::new(Arc::new(tree))
    })
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
