//! Changes of a configuration directory without a server.
//!
//! ```text
//!   record --rights, schema--> change --the parser of a start--> settings --checked--> files, or a trial
//! ```
//!
//! The checks are those of a running server. Stores are opened for reading only, and only those
//! that exist. The next start builds new indexes and makes new stores.

use std::path::Path;
use std::sync::Arc;

use fulgurite_config::{ConfigError, ConfigFiles, Layer, Settings};
use fulgurite_directory::{
    Directory, DirectoryOptions, Restrictions, TreeOptions, TreeRefusal, WriteReply, WriteRequest,
};
use fulgurite_schema::{Dn, Schema};
use fulgurite_store::{Store, StoreOptions};

use super::check::check_settings;
use super::configure::{ChangePlan, check_refusal, new_tls, open_refusal};
use super::open::{self, OpenError, store_options};
use super::reload::kept_differences;

/// The requester of changes without a server.
const ROOT: &str = "cn=config";

/// Returns the settings of a start with these files.
type Read<'r> = dyn Fn(Layer) -> Result<Settings, ConfigError> + 'r;

/// The configuration in a directory or in memory, and the changes of it.
pub struct ConfigEditor<'r> {
    settings: Settings,
    directory: Directory,
    is_trial: bool,
    /// The stores are not looked at, because the start has not made them yet.
    without_stores: bool,
    read: &'r Read<'r>,
}

/// The consequences of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consequences {
    /// The name of the changed entry; it may have got a number.
    pub name: String,
    /// Settings that a running server would not change before its next start.
    pub at_next_start: Vec<String>,
}

impl<'r> ConfigEditor<'r> {
    /// Opens a configuration directory. In a trial, its files stay as they are.
    ///
    /// # Errors
    /// [`OpenError`] for a configuration with which no server starts.
    pub fn open(folder: &Path, is_trial: bool) -> Result<ConfigEditor<'r>, OpenError> {
        let settings = Settings::new(Layer::from_config_dir(folder)?)?;
        let schema = check_settings(&settings)?;
        Ok(ConfigEditor {
            directory: directory(&settings, schema)?,
            settings,
            is_trial,
            without_stores: false,
            read: &Settings::new,
        })
    }

    /// Takes settings whose files are in memory. `read` returns the settings of changed files.
    ///
    /// # Errors
    /// [`OpenError`] for settings with which no server starts.
    pub(super) fn in_memory(
        settings: Settings,
        read: &'r Read<'r>,
    ) -> Result<ConfigEditor<'r>, OpenError> {
        let schema = check_settings(&settings)?;
        Ok(ConfigEditor {
            directory: directory(&settings, schema)?,
            settings,
            is_trial: false,
            without_stores: true,
            read,
        })
    }

    /// Returns the files after the changes so far.
    pub(super) fn files(&self) -> Option<&ConfigFiles> {
        self.settings.files.as_deref()
    }

    /// Returns the settings after the changes.
    pub(super) fn into_settings(self) -> Settings {
        self.settings
    }

    /// Returns the name of the requester that may change everything.
    #[must_use]
    pub fn root(&self) -> Dn {
        let name = &self.settings.config.content.root_dn;
        let name = name.as_deref().unwrap_or(ROOT);
        Dn::parse(self.directory.schema(), name).unwrap_or_else(|_| Dn::root())
    }

    /// Carries out a change, and returns its consequences if it succeeds.
    pub fn change(&mut self, request: &WriteRequest) -> (WriteReply, Consequences) {
        let mut consequences = Consequences::default();
        let update = match self.directory.begin_tree_update(request) {
            Ok(update) => update,
            Err(reply) => return (*reply, consequences),
        };
        let plan = ChangePlan::of(&self.settings, &self.directory, update.change(), self.read);
        let outcome = plan.and_then(|plan| {
            let next = self.open_next(&plan.wanted)?;
            if !self.is_trial {
                write(&plan.old_files, &plan.new_files)?;
            }
            consequences.at_next_start = kept_differences(&self.settings, &plan.wanted);
            consequences.name = plan.name;
            (self.directory, self.settings) = (next, plan.wanted);
            Ok(())
        });
        (update.finish(outcome), consequences)
    }

    /// Opens all that a server with these settings would open.
    fn open_next(&self, wanted: &Settings) -> Result<Directory, TreeRefusal> {
        let schema = check_settings(wanted).map_err(|error| check_refusal(error, wanted))?;
        new_tls(&self.settings, wanted).map_err(|error| TreeRefusal::Failed(error.to_string()))?;
        if !self.without_stores {
            check_stores(wanted, &schema).map_err(|error| open_refusal(error, wanted))?;
        }
        directory(wanted, schema).map_err(|error| open_refusal(error, wanted))
    }
}

/// Checks the settings of an earlier state of a directory as a start does.
///
/// # Errors
/// [`OpenError`].
pub fn check_config_files(files: &ConfigFiles) -> Result<(), OpenError> {
    let settings = Settings::new(files.layer()?)?;
    let schema = check_settings(&settings)?;
    check_stores(&settings, &schema)
}

fn write(old: &ConfigFiles, new: &ConfigFiles) -> Result<(), TreeRefusal> {
    match old.replace_by(new) {
        Ok(None) => Ok(()),
        Ok(Some(error)) | Err(error) => Err(TreeRefusal::Failed(error.to_string())),
    }
}

/// Returns a directory of the generated entries alone.
fn directory(settings: &Settings, schema: Arc<Schema>) -> Result<Directory, OpenError> {
    // There is no connection whose strength could be demanded.
    let config = TreeOptions {
        restrictions: Restrictions::default(),
        ..open::config_options(settings)?
    };
    let options = DirectoryOptions {
        config: Some(config),
        ..DirectoryOptions::new(schema, Vec::new())
    };
    Ok(Directory::open(options)?)
}

/// Fails if an existing store does not fit, or if a new one has no folder.
fn check_stores(settings: &Settings, schema: &Arc<Schema>) -> Result<(), OpenError> {
    for database in settings.served_stores() {
        let folder = database.directory()?;
        if !Store::exists(folder) {
            if !folder.is_dir() {
                return Err(OpenError::NoFolder(folder.to_owned()));
            }
            continue;
        }
        let options = StoreOptions {
            read_only: true,
            indexes: None,
            ..store_options(database)?
        };
        Store::open(folder, &options, Arc::clone(schema))?;
    }
    Ok(())
}

impl std::fmt::Debug for ConfigEditor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfigEditor")
            .field("is_trial", &self.is_trial)
            .finish_non_exhaustive()
    }
}
