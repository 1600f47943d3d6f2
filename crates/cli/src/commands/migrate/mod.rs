//! `fulgurite migrate`: from slapd's configuration and data to a server of this program.
//!
//! ```text
//!   slapd.conf, slapd.d --> Survey --> report
//!                             \--> each database: import --> check_import
//!                             \--> slapd.d with the new directories, read again
//! ```

mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use fulgurite_config::{Database, DatabaseKind, Layer, Origin, Settings, Sourced, Survey};
use fulgurite_directory_tools::{
    GroupRule, ImportCheck, ImportOptions, check_import, missing_types, suffixes_of,
};
use fulgurite_schema::Schema;
use fulgurite_server::check_settings;

use self::report::Report;
use super::import::{self, NewStore};
use crate::arguments::migrate::Migrate;
use crate::lock::DataLock;
use crate::slapd_places::{CONFIG_DIRS, CONFIG_FILES};

/// The folder of the new configuration.
const CONFIG_FOLDER: &str = "slapd.d";

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
    make(&command, to, layer, &settings, &schema)
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
    let mut places = CONFIG_DIRS.iter().chain(&CONFIG_FILES).map(PathBuf::from);
    let found = places.find(|place| place.exists());
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

/// Makes the new stores and the new configuration.
fn make(
    command: &Migrate,
    to: &Path,
    mut layer: Layer,
    settings: &Settings,
    schema: &Arc<Schema>,
) -> anyhow::Result<()> {
    let folder = to.join(CONFIG_FOLDER);
    if folder.exists() {
        bail!("{} exists already", folder.display());
    }
    let _lock = DataLock::take_or_make(to)?;
    let mut different = 0;
    let mut directories = Vec::new();
    for (at, database) in settings.stores().enumerate() {
        let data = to.join(format!("db{}", at + 1));
        different += take_over(database, &data, schema, command.quiet)?;
        directories.push(data.canonicalize()?);
    }
    for (database, directory) in stores(&mut layer).zip(directories) {
        database.storage.directory = Some(Sourced::new(Some(directory), Origin::Flag("--to")));
    }
    write_configuration(layer, &folder)?;
    println!(
        "{}: the configuration, with the new directories",
        folder.display()
    );
    if different > 0 {
        bail!("{different} entries differ from OpenLDAP's");
    }
    println!(
        "\nStop slapd, and start the new server:\n  fulgurite slapd -F {} -h 'ldap:/// ldapi:///'",
        folder.display()
    );
    println!("Entries that slapd has changed after this copy are not in it.");
    Ok(())
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
    // An empty database has no suffix entry.
    let found = suffixes_of(from)?;
    let configured = || {
        database
            .content
            .suffixes
            .iter()
            .map(|one| one.value.clone())
    };
    let suffixes = match found.is_empty() {
        true => configured().collect(),
        false => found,
    };
    let _lock = DataLock::take_or_make(data)?;
    let new = NewStore {
        data,
        suffixes,
        schema: Arc::clone(schema),
        database,
    };
    let (store, summary) = import::fill(from, new, &ImportOptions::default(), quiet)?;
    let rules = group_rules(database, summary.member_of > 0);
    let check = check_import(from, &store, &rules)?;
    print_check(name, data, &check, summary.member_of);
    Ok(check.different)
}

/// Returns the groups that the overlay `memberof` defines. Without it, stored values are compared
/// with its default.
fn group_rules(database: &Database, has_stored: bool) -> Vec<GroupRule> {
    let overlays = database.served_overlays();
    let overlays = overlays.filter(|overlay| overlay.name == "memberof");
    let or = |given: Option<&str>, default: String| given.map_or(default, str::to_owned);
    let usual = GroupRule::default;
    let mut rules: Vec<GroupRule> = overlays
        .map(|overlay| GroupRule {
            class: or(overlay.last("memberof-group-oc"), usual().class),
            member: or(overlay.last("memberof-member-ad"), usual().member),
            member_of: or(overlay.last("memberof-memberof-ad"), usual().member_of),
        })
        .collect();
    if rules.is_empty() && has_stored {
        rules.push(GroupRule::default());
    }
    rules
}

fn print_check(name: &str, data: &Path, check: &ImportCheck, left_out: u64) {
    println!(
        "{}: {name}: {} entries copied and compared, {} differ",
        data.display(),
        check.entries,
        check.different
    );
    if left_out > 0 || check.computed_groups > 0 {
        println!(
            "{name}: memberOf: OpenLDAP has {} values, the groups give {}, {} differ",
            check.stored_groups, check.computed_groups, check.different_groups
        );
    }
    for example in &check.examples {
        println!("  {example}");
    }
}

/// Writes a configuration, and reads it again as the server will.
fn write_configuration(layer: Layer, folder: &Path) -> anyhow::Result<()> {
    let settings = Settings::new(layer)?;
    std::fs::create_dir(folder)
        .with_context(|| format!("cannot create the directory {}", folder.display()))?;
    settings.write_config_dir(folder)?;
    let written = Settings::new(Layer::from_config_dir(folder)?)?;
    check_settings(&written)?;
    Ok(())
}
