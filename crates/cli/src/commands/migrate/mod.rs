//! `fulgurite migrate`: from slapd's configuration and data to a server of this program.
//!
//! ```text
//!   slapd.conf, slapd.d --> Survey --> report
//!                             \--> slapd.d with the new directories, read again: a copy of slapd's
//!                                  if that is possible, otherwise made from the settings
//!                             \--> each database: import, comparison
//! ```

mod report;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use fulgurite_config::{
    ConfigFiles, Database, DatabaseKind, Layer, Origin, Settings, Sourced, Survey,
};
use fulgurite_directory_tools::{GroupRule, ImportCheck, ImportOptions, missing_types};
use fulgurite_schema::Schema;
use fulgurite_server::{check_settings, store_options};
use fulgurite_store::{Store, StoreOptions};

use self::report::Report;
use super::import::{self, NewStore};
use crate::arguments::migrate::Migrate;
use crate::lock::DataLock;
use crate::slapd_places;

/// The folder of the new configuration.
const CONFIG_FOLDER: &str = "slapd.d";

/// The file of the new configuration, if TOML is wanted.
const CONFIG_FILE: &str = "fulgurite.toml";

pub(crate) fn run(command: Migrate) -> anyhow::Result<()> {
    let place = place_of(&command)?;
    let survey = Survey::of(&place)?;
    let mut layer = survey.layer;
    if let Some(from) = &command.from {
        read_data_from(&mut layer, from)?;
    }
    let settings = Settings::new(layer.clone())?;
    let mut report = Report::of(&settings);
    for refusal in &survey.refusals {
        report.add_missing(refusal);
    }
    let checked = check_settings(&settings);
    if let Err(error) = &checked {
        report.add_missing(error);
    }
    println!("configuration of slapd: {}\n\n{report}", place.display());
    let schema = checked.context("correct this first")?;
    if report.missing() > 0 && !command.leave_out_missing {
        bail!("something is missing: change the configuration, or use --leave-out-missing");
    }
    let Some(to) = &command.to else {
        return Ok(());
    };
    // Without the missing parts, it is another configuration.
    let kept = (place.is_dir() && report.missing() == 0).then_some(place);
    make(&command, to, (layer, kept.as_deref()), &settings, &schema)
}

/// Returns the place of slapd's configuration.
fn place_of(command: &Migrate) -> anyhow::Result<PathBuf> {
    let given = command.slapd_dir.as_ref().or(command.slapd_conf.as_ref());
    if let Some(place) = given {
        if !place.exists() {
            bail!("no configuration exists at {}", place.display());
        }
        return Ok(place.clone());
    }
    let found = slapd_places::installed().map(Path::to_owned);
    found.context("slapd's configuration was not found: use -F DIR or -f FILE")
}

/// Returns the databases of a layer that have stores.
fn stores(layer: &mut Layer) -> impl Iterator<Item = &mut fulgurite_config::DatabaseLayer> {
    let databases = layer.databases.iter_mut();
    databases.filter(|database| database.kind == DatabaseKind::Mdb)
}

/// Sets the directory of the only database.
fn read_data_from(layer: &mut Layer, from: &Path) -> anyhow::Result<()> {
    let mut databases: Vec<_> = stores(layer).collect();
    let [database] = databases.as_mut_slice() else {
        bail!("--from needs a configuration with one database");
    };
    database.storage.directory = Some(Sourced::new(Some(from.to_owned()), Origin::Flag("--from")));
    Ok(())
}

/// Makes the new configuration and the new stores. `kept` is slapd's configuration directory if the
/// new one may be a copy of it.
fn make(
    command: &Migrate,
    to: &Path,
    (mut layer, kept): (Layer, Option<&Path>),
    settings: &Settings,
    schema: &Arc<Schema>,
) -> anyhow::Result<()> {
    let _lock = DataLock::take_or_make(to)?;
    let mut made = Unfinished::default();
    let place = match command.toml {
        true => made.take(&to.join(CONFIG_FILE))?,
        false => made.make(&to.join(CONFIG_FOLDER))?,
    };
    let mut directories = Vec::new();
    for (at, database) in stores(&mut layer).enumerate() {
        let data = to.join(format!("db{}", at + 1));
        let data = made.make(&data)?;
        let data = data.canonicalize()?;
        database.storage.directory = Some(Sourced::new(Some(data.clone()), Origin::Flag("--to")));
        directories.push(data);
    }
    let is_copy = match kept.filter(|_| !command.toml) {
        Some(kept) => ConfigFiles::read(kept)?.copy_for_stores(&place, &directories)?,
        None => false,
    };
    if !is_copy {
        write_configuration(layer, &place)?;
    }
    let written = Settings::new(Layer::from_file(&place)?)?;
    check_settings(&written)?;
    let mut different = 0;
    for (database, data) in settings.stores().zip(&directories) {
        // The server opens no store there.
        if !settings.is_access_log(database) {
            different += take_over(database, data, schema, command.quiet)?;
        }
    }
    open_stores(&written)?;
    made.finish();
    println!(
        "{}: the configuration, with the new directories",
        place.display()
    );
    if different > 0 {
        bail!("{different} entries differ from OpenLDAP's");
    }
    let start = match command.toml {
        true => format!(
            "fulgurite serve --config {} --listen ldap:///",
            place.display()
        ),
        false => format!(
            "fulgurite slapd -F {} -h 'ldap:/// ldapi:///'",
            place.display()
        ),
    };
    println!("\nStop slapd, and start the new server:\n  {start}");
    println!("Entries that slapd has changed after this copy are not in it.");
    Ok(())
}

/// Directories and files of a migration that has not ended. Dropping it removes them.
#[derive(Default)]
struct Unfinished(Vec<PathBuf>);

impl Unfinished {
    /// Makes a directory that must be new, and returns it.
    fn make(&mut self, directory: &Path) -> anyhow::Result<PathBuf> {
        let directory = self.take(directory)?;
        std::fs::create_dir(&directory)
            .with_context(|| format!("cannot create the directory {}", directory.display()))?;
        Ok(directory)
    }

    /// Takes a name that must be new, and returns it.
    fn take(&mut self, path: &Path) -> anyhow::Result<PathBuf> {
        if path.exists() {
            bail!("{} exists already", path.display());
        }
        self.0.push(path.to_owned());
        Ok(path.to_owned())
    }

    /// Keeps the directories.
    fn finish(mut self) {
        self.0.clear();
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        for made in &self.0 {
            // The error that ended the migration is the one to report.
            let _ = match made.is_dir() {
                true => std::fs::remove_dir_all(made),
                false => std::fs::remove_file(made),
            };
        }
    }
}

/// Copies a database into a new store, and compares both. Returns the number of entries that
/// differ.
fn take_over(
    database: &Database,
    data: &Path,
    schema: &Arc<Schema>,
    quiet: bool,
) -> anyhow::Result<u64> {
    let from = database.directory()?;
    let name = database.suffix()?;
    let missing = missing_types(from, schema)?;
    if !missing.is_empty() {
        bail!("{name}: {}", import::refusal(&missing));
    }
    let _lock = DataLock::take(data)?;
    let suffixes = database.content.suffixes.iter();
    let new = NewStore {
        data,
        suffixes: suffixes.map(|one| one.value.clone()).collect(),
        schema: Arc::clone(schema),
        database,
    };
    let options = ImportOptions {
        leave_out: database.computed_attributes().collect(),
        ..ImportOptions::default()
    };
    let rules = group_rules(database);
    let (_, check) = import::fill(from, new, &options, Some(&rules), quiet)?;
    let check = check.unwrap_or_default();
    print_check(name, data, &check, !rules.is_empty());
    Ok(check.different)
}

/// Returns the groups that the overlay `memberof` defines.
fn group_rules(database: &Database) -> Vec<GroupRule> {
    let overlays = database.served_overlays();
    let overlays = overlays.filter(|overlay| overlay.name == "memberof");
    let or = |given: Option<&str>, default: String| given.map_or(default, str::to_owned);
    let usual = GroupRule::default;
    overlays
        .map(|overlay| GroupRule {
            class: or(overlay.last("memberof-group-oc"), usual().class),
            member: or(overlay.last("memberof-member-ad"), usual().member),
            member_of: or(overlay.last("memberof-memberof-ad"), usual().member_of),
        })
        .collect()
}

fn print_check(name: &str, data: &Path, check: &ImportCheck, has_groups: bool) {
    println!(
        "{}: {name}: {} entries copied and compared, {} differ",
        data.display(),
        check.entries,
        check.different
    );
    if has_groups {
        println!(
            "{name}: values of memberOf: {} in OpenLDAP, {} from the groups, {} differ",
            check.stored_groups, check.computed_groups, check.different_groups
        );
    }
    for example in &check.examples {
        println!("  {example}");
    }
}

/// Writes a configuration from the settings.
fn write_configuration(layer: Layer, place: &Path) -> anyhow::Result<()> {
    if place.is_dir() {
        Settings::new(layer)?.write_config_dir(place)?;
    } else {
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(place)?;
        file.write_all(layer.to_toml().as_bytes())?;
    }
    Ok(())
}

/// Opens the new stores as the server will.
fn open_stores(settings: &Settings) -> anyhow::Result<()> {
    let schema = check_settings(settings)?;
    for database in settings.served_stores() {
        let directory = database.directory()?;
        let options = StoreOptions {
            read_only: true,
            indexes: None,
            ..store_options(database)?
        };
        Store::open(directory, &options, Arc::clone(&schema))
            .with_context(|| format!("the store in {}", directory.display()))?;
    }
    Ok(())
}
