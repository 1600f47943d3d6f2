//! The context of a tool: the settings and the selected stores.

use std::path::Path;
use std::sync::Arc;

use fulgurite_config::{ConfigError, Database, DatabaseKind, Layer, Settings, Subordinate};
use fulgurite_schema::{Dn, Schema};
use fulgurite_server::{check_settings, check_unfinished_settings, store_options};
use fulgurite_store::{Store, StoreOptions};

use super::failure::Failure;
use super::levels;
use super::options::{DatabaseChoice, SharedOptions};
use crate::logging;
use crate::slapd_places::{self, CONFIG_FILES};

/// The way stores are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Read existing stores.
    Read,
    /// Change existing stores.
    Write,
    /// Fill stores, and create missing ones.
    Fill,
}

/// Settings and schema of a tool's run.
pub(super) struct Context {
    pub(super) settings: Settings,
    pub(super) schema: Arc<Schema>,
}

impl Context {
    /// Reads the configuration of the options.
    ///
    /// # Errors
    /// [`Failure`], after printing the reason.
    pub(super) fn read(common: &SharedOptions) -> Result<Context, Failure> {
        Context::read_quietly(common, false)
    }

    /// Reads as [`read`](Self::read) does, without notes if `quiet`.
    pub(super) fn read_quietly(common: &SharedOptions, quiet: bool) -> Result<Context, Failure> {
        logging::begin(levels_of(common));
        let what = if common.config_file.is_some() || common.config_dir.is_none() {
            "file"
        } else {
            "directory"
        };
        let bad = |text: String| {
            if !quiet {
                eprintln!("{text}");
            }
            Failure::Message(format!("bad configuration {what}!"))
        };
        let settings = settings(common).map_err(|error| bad(error.to_string()))?;
        print_notes(&settings);
        // A configuration that comes piece by piece may use definitions that are still missing.
        let checked = match common.choice.is_configuration() {
            true => check_unfinished_settings(&settings),
            false => check_settings(&settings),
        };
        let schema = checked.map_err(|error| bad(error.to_string()))?;
        Ok(Context { settings, schema })
    }

    /// Returns the databases of a tool: the selected one, and those glued below it.
    pub(super) fn databases(&self, common: &SharedOptions) -> Result<Vec<&Database>, Failure> {
        let chosen = self.chosen(&common.choice)?;
        let mut databases = vec![chosen];
        if !common.without_glued && *chosen.content.subordinate == Subordinate::No {
            databases.extend(self.glued_below(chosen));
        }
        Ok(databases)
    }

    fn chosen(&self, choice: &DatabaseChoice) -> Result<&Database, Failure> {
        let databases = &self.settings.databases;
        let is_first = |database: &&Database| {
            database.kind == DatabaseKind::Mdb && *database.content.subordinate == Subordinate::No
        };
        match choice {
            DatabaseChoice::First => {
                let first = databases.iter().find(is_first);
                first.ok_or_else(|| Failure::Message("No available databases".to_owned()))
            }
            DatabaseChoice::Number(number) => self.numbered(*number),
            DatabaseChoice::Suffix(text) => {
                let Ok(dn) = Dn::parse(&self.schema, text) else {
                    return Err(Failure::Message(format!(
                        "slap_init invalid suffix (\"{text}\")"
                    )));
                };
                self.holding(&dn, false)
                    .ok_or_else(|| Failure::Message(format!("slap_init no backend for \"{text}\"")))
            }
        }
    }

    fn numbered(&self, number: usize) -> Result<&Database, Failure> {
        let databases = &self.settings.databases;
        let database = match number.checked_sub(1) {
            None => Some(&self.settings.config),
            Some(at) => databases.get(at),
        };
        match database {
            Some(database) if database.kind == DatabaseKind::Mdb => Ok(database),
            Some(_) => Err(Failure::Message("could not open database.".to_owned())),
            None => {
                eprintln!(
                    "Database number selected via -n is out of range\n\
                     Must be in the range 0 to {} (the number of configured databases)",
                    databases.len()
                );
                Err(Failure::Reported(1))
            }
        }
    }

    /// Returns the database with the most specific suffix above a name; subordinate ones only on
    /// request.
    pub(super) fn holding(&self, dn: &Dn, with_subordinates: bool) -> Option<&Database> {
        let stores = self.settings.stores();
        let depths = stores.filter_map(|database| {
            if !with_subordinates && *database.content.subordinate != Subordinate::No {
                return None;
            }
            let suffixes = self.suffixes(database);
            let suffix = suffixes.iter().filter(|suffix| dn.is_within(suffix));
            Some((suffix.map(Dn::depth).max()?, database))
        });
        depths
            .max_by_key(|(depth, _)| *depth)
            .map(|(_, database)| database)
    }

    fn glued_below<'c>(&'c self, above: &Database) -> impl Iterator<Item = &'c Database> {
        let suffixes = self.suffixes(above);
        let stores = self.settings.stores();
        let glued = stores.filter(|database| *database.content.subordinate != Subordinate::No);
        glued.filter(move |database| {
            let own = self.suffixes(database);
            own.iter()
                .any(|own| suffixes.iter().any(|suffix| own.is_under(suffix)))
        })
    }

    /// Returns the suffixes of a database that are valid DNs.
    pub(super) fn suffixes(&self, database: &Database) -> Vec<Dn> {
        let suffixes = database.content.suffixes.iter();
        let parsed = suffixes.filter_map(|suffix| Dn::parse(&self.schema, &suffix.value).ok());
        parsed.collect()
    }

    /// Returns the number of a database for `-n`.
    pub(super) fn number_of(&self, database: &Database) -> usize {
        let mut databases = self.settings.databases.iter();
        databases
            .position(|other| std::ptr::eq(other, database))
            .map_or(0, |at| at + 1)
    }

    /// Opens the store of a database.
    pub(super) fn open(&self, database: &Database, access: Access) -> Result<Arc<Store>, Failure> {
        let suffix = database.suffix_if_set().unwrap_or_default();
        let failed = |error: &dyn std::fmt::Display| {
            eprintln!("database \"{suffix}\" cannot be opened: {error}");
            Failure::Message("could not open database.".to_owned())
        };
        let path = database.directory().map_err(|error| failed(&error))?;
        let options = store_options(database).map_err(|error| failed(&error))?;
        let schema = Arc::clone(&self.schema);
        let opened = match access {
            Access::Fill if !Store::exists(path) => Store::create(path, &options, schema),
            Access::Fill | Access::Write => Store::open(path, &kept_indexes(options), schema),
            Access::Read => {
                let options = StoreOptions {
                    read_only: true,
                    ..kept_indexes(options)
                };
                Store::open(path, &options, schema)
            }
        };
        opened.map(Arc::new).map_err(|error| failed(&error))
    }

    /// Opens the stores of a tool's databases.
    pub(super) fn open_all(
        &self,
        common: &SharedOptions,
        access: Access,
    ) -> Result<Vec<Arc<Store>>, Failure> {
        let databases = self.databases(common)?;
        databases
            .into_iter()
            .map(|database| self.open(database, access))
            .collect()
    }

    /// Parses the DN of an option.
    pub(super) fn dn(&self, text: &str) -> Option<Dn> {
        Dn::parse(&self.schema, text).ok()
    }
}

/// Prints warnings of the configuration's readers always, and notes if verbose.
pub(super) fn print_notes(settings: &Settings) {
    for note in &settings.notes {
        if note.warning {
            tracing::warn!("{}: {}", note.origin, note.text);
        } else {
            tracing::info!("{}: {}", note.origin, note.text);
        }
    }
}

/// Only slapindex and a server change the set of indexes.
fn kept_indexes(options: StoreOptions) -> StoreOptions {
    StoreOptions {
        indexes: None,
        ..options
    }
}

fn levels_of(common: &SharedOptions) -> fulgurite_config::LogLevel {
    levels::log_level(common.debug.unwrap_or(0))
}

/// Returns the settings of `-f` or `-F`, or those of slapd's default paths. With both, the file
/// counts, and slaptest writes to the directory.
pub(super) fn settings(common: &SharedOptions) -> Result<Settings, ConfigError> {
    Settings::new(layer(common)?)
}

/// Returns the layer of the configuration, before other layers override it.
pub(super) fn layer(common: &SharedOptions) -> Result<Layer, ConfigError> {
    if let Some(file) = &common.config_file {
        return Layer::from_slapd_conf(file);
    }
    if let Some(dir) = &common.config_dir {
        return Layer::from_config_dir(dir);
    }
    let place = slapd_places::installed();
    slapd_places::layer_at(place.unwrap_or(Path::new(CONFIG_FILES[0])))
}
