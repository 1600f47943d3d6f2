//! Writes the configuration as a directory of LDIF files, one for each entry, as slapd does.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::entry::ConfigEntry;
use super::file_text::file_text;
use super::files::ConfigFiles;
use super::overlay;
use crate::names::{AuthzRegexp, SchemaPart};
use crate::value_tokens::{quoted_token, value_token};
use crate::{ConfigError, LimitsRule, Origin, Settings};

/// The error of writing a configuration directory.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {cause}", path.display())]
pub struct WriteError {
    /// The file or directory.
    pub path: PathBuf,
    /// The system's reason.
    pub cause: io::Error,
}

impl Settings {
    /// Writes the configuration below an existing directory, as slapd's conversion does. The files
    /// contain passwords, so only the owner may read them.
    ///
    /// # Errors
    /// [`WriteError`]: a file that exists (nothing is overwritten), a text that no value can hold,
    /// a schema file that is missing, or an error of the system.
    pub fn write_config_dir(&self, directory: &Path) -> Result<(), WriteError> {
        self.require_values(directory)?;
        self.require_definitions(directory)?;
        for entry in self.config_entries(true) {
            write_entry(directory, &entry)?;
        }
        Ok(())
    }
}

impl Settings {
    /// Makes in memory what [`write_config_dir`](Self::write_config_dir) writes. Messages show
    /// `name` as the directory.
    ///
    /// # Errors
    /// [`WriteError`]: a text that no value can hold.
    pub fn config_files(&self, name: &Path) -> Result<ConfigFiles, WriteError> {
        self.require_values(name)?;
        let files = ConfigFiles::in_memory(&self.config_entries(true), name);
        files.map_err(|error| WriteError {
            path: name.to_owned(),
            cause: io::Error::other(error.to_string()),
        })
    }

    /// Makes files in memory of entries that these settings are the origin of.
    ///
    /// # Errors
    /// [`ConfigError::Conflict`] for a text that no value can hold.
    pub(crate) fn configuration_files_of(
        &self,
        entries: &[ConfigEntry],
        name: &Path,
    ) -> Result<ConfigFiles, ConfigError> {
        let held = self.require_values(name);
        held.map_err(|error| ConfigError::Conflict(error.cause.to_string()))?;
        ConfigFiles::in_memory(entries, name)
    }

    /// Fails for a schema file whose definitions are unknown here. The server has some of these
    /// files itself, but a directory holds all definitions.
    fn require_definitions(&self, directory: &Path) -> Result<(), WriteError> {
        let mut parts = self.global.schema.iter();
        let missing = parts.find_map(|part| match &part.value {
            SchemaPart::File(path) => Some((path.display(), &part.origin)),
            _ => None,
        });
        let Some((file, origin)) = missing else {
            return Ok(());
        };
        let reason = format!("{origin}: could not stat config file \"{file}\": no such file");
        Err(WriteError {
            path: directory.to_owned(),
            cause: io::Error::other(reason),
        })
    }

    /// Fails for a text that no value of `cn=config` expresses.
    fn require_values(&self, directory: &Path) -> Result<(), WriteError> {
        let Some((attribute, origin)) = self.text_without_value() else {
            return Ok(());
        };
        let reason = format!("{origin}: no value of {attribute} has that meaning");
        Err(WriteError {
            path: directory.to_owned(),
            cause: io::Error::other(reason),
        })
    }

    /// Returns the attribute and place of a text that no value of `cn=config` expresses.
    ///
    /// Values cannot hold every combination of quotes and white space. A rule must not change its
    /// meaning, so such a text is an error.
    fn text_without_value(&self) -> Option<(&'static str, &Origin)> {
        let databases = self.databases.iter().chain([&self.config]);
        let policies = databases.clone().map(|database| &database.policy);
        let limits_hold = |rule: &LimitsRule| value_token(&rule.selector).is_some();
        let regexp_holds = |rule: &AuthzRegexp| {
            let parts = [&rule.pattern, &rule.replacement];
            parts.into_iter().all(|part| quoted_token(part).is_some())
        };
        for policy in policies.chain([&self.frontend]) {
            let rule = policy
                .access
                .iter()
                .find(|rule| rule.value.value().is_none());
            let limits = policy.limits.iter().find(|rule| !limits_hold(&rule.value));
            let access = rule.map(|rule| ("olcAccess", &rule.origin));
            let found = access.or(limits.map(|rule| ("olcLimits", &rule.origin)));
            if found.is_some() {
                return found;
            }
        }
        let overlays = databases.clone().flat_map(|database| &database.overlays);
        let overlays = overlays.chain(&self.frontend_overlays);
        let mut lines = overlays.flat_map(|overlay| &overlay.lines);
        if let Some(line) = lines.find(|line| !overlay::has_values(&line.value)) {
            return Some((line.directive.olc, &line.origin));
        }
        let mut providers = databases.flat_map(|database| &database.content.syncrepl);
        let provider = providers.find(|provider| provider.value.value().is_none());
        let provider = provider.map(|provider| ("olcSyncrepl", &provider.origin));
        let mut rules = self.global.authz_regexp.iter();
        let rule = rules.find(|rule| !regexp_holds(&rule.value));
        provider.or(rule.map(|rule| ("olcAuthzRegexp", &rule.origin)))
    }
}

/// Writes the file of one entry, which must not exist.
pub(super) fn write_entry(directory: &Path, entry: &ConfigEntry) -> Result<(), WriteError> {
    // Names of this tree have no escaped commas. They are numbers and names of files, databases,
    // overlays.
    let mut parts: Vec<&str> = entry.dn.split(',').collect();
    let name = parts.first().copied().unwrap_or_default();
    parts.reverse();
    let mut path = directory.to_owned();
    if let Some((_, above)) = parts.split_last() {
        above.iter().for_each(|part| path.push(part));
    }
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause| WriteError { path, cause }
    };
    if !path.is_dir() {
        let mut folder = fs::DirBuilder::new();
        folder.recursive(true).mode(0o750);
        folder.create(&path).map_err(failed(&path))?;
    }
    path.push(format!("{}.ldif", name.replace(['/', '\\'], "_")));
    let text = file_text(entry).map_err(failed(&path))?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(&path).map_err(failed(&path))?;
    file.write_all(&text).map_err(failed(&path))
}
