//! Checks of a change beyond the parser of a start: each fails as slapd does, or protects data.

use std::collections::BTreeMap;
use std::path::Path;

use fulgurite_config::{ConfigChange, ConfigEntry, ConfigFiles, Database, Layer, Origin, Settings};
use fulgurite_directory::{Directory, TreeRefusal};
use fulgurite_schema::{Dn, Schema};

use super::refusals::{config_refusal, unwilling};
use crate::compose::check::is_braced_scheme;

/// The attributes with definitions that have numbers, and slapd's word for one.
const DEFINITIONS: [(&str, &str); 2] = [
    ("olcAttributeTypes", "attributeType"),
    ("olcObjectClasses", "objectClass"),
];

/// The end of warnings of what a start ignores.
const NO_MEANING: &str = "has no meaning here";

/// Fails as slapd does if a new entry defines what another entry of the directory defines. It may
/// define what is only built in, because files of older releases do.
pub(super) fn refuse_duplicates(
    files: &ConfigFiles,
    change: &ConfigChange,
) -> Result<(), TreeRefusal> {
    let ConfigChange::Add(new) = change else {
        return Ok(());
    };
    for (attribute, word) in DEFINITIONS {
        let numbers = |entry: &ConfigEntry| -> Vec<String> {
            let all = entry.attributes.iter();
            let all = all.filter(|(name, _)| name.eq_ignore_ascii_case(attribute));
            let values = all.flat_map(|(_, values)| values);
            values.filter_map(|value| number_of(value)).collect()
        };
        let wanted = numbers(new);
        if wanted.is_empty() {
            continue;
        }
        let held = files.entries().map_err(config_refusal)?;
        let held: Vec<String> = held.iter().flat_map(numbers).collect();
        if let Some(number) = wanted.iter().find(|number| held.contains(number)) {
            let text = format!("{attribute}: Duplicate {word}: \"{number}\"");
            return Err(TreeRefusal::Failed(text));
        }
    }
    Ok(())
}

/// Fails as slapd does if the first value of changed schemes for passwords has no known one. slapd
/// reads a value after the other, and needs a scheme after each.
pub(super) fn refuse_schemes(
    files: &ConfigFiles,
    change: &ConfigChange,
) -> Result<(), TreeRefusal> {
    const SCHEMES: &str = "olcPasswordHash";
    let (ConfigChange::Replace(new) | ConfigChange::Add(new)) = change else {
        return Ok(());
    };
    let Some(first) = new.values(SCHEMES).first() else {
        return Ok(());
    };
    let mut words = first.split_ascii_whitespace();
    if words.any(is_braced_scheme) {
        return Ok(());
    }
    let held = files.entries().map_err(config_refusal)?;
    let mut held = held.iter();
    let is_held = |held: &ConfigEntry| {
        held.dn.eq_ignore_ascii_case(&new.dn) && held.values(SCHEMES) == new.values(SCHEMES)
    };
    match held.any(is_held) {
        true => Ok(()),
        false => Err(TreeRefusal::Failed(format!(
            "<{SCHEMES}> no valid hashes found"
        ))),
    }
}

/// Returns the number of a definition, such as `{0}( 1.2.3 NAME 'x' )`.
fn number_of(definition: &str) -> Option<String> {
    let (_, inside) = definition.split_once('(')?;
    Some(inside.split_whitespace().next()?.to_owned())
}

/// Fails if a database would move to another directory, or if one with entries would get another
/// name. Returns true if a database without entries gets one.
pub(super) fn refuse_moves(
    current: &Directory,
    held: &Settings,
    wanted: &Settings,
) -> Result<bool, TreeRefusal> {
    let places = |settings: &Settings| -> BTreeMap<_, _> {
        let stores = settings.stores();
        let stores =
            stores.filter_map(|store| Some((store.directory().ok()?.to_owned(), suffixes(store))));
        stores.collect()
    };
    let (held, wanted) = (places(held), places(wanted));
    let is_kept = |place: &Path| held.contains_key(place) && wanted.contains_key(place);
    let mut renames = false;
    for (place, suffixes) in &wanted {
        let again = "delete the database and add it again";
        match held.get(place) {
            Some(same) if same == suffixes => {}
            Some(_) if has_no_entries(current, place) => renames = true,
            Some(_) => {
                let text = format!("olcSuffix of a database with entries cannot change: {again}");
                return Err(unwilling(text));
            }
            None => {
                let mut others = held.iter().filter(|(other, _)| !is_kept(other));
                if others.any(|(_, other)| other == suffixes) {
                    let text = "olcDbDirectory cannot change while the server runs";
                    return Err(unwilling(format!("{text}: {again}")));
                }
            }
        }
    }
    Ok(renames)
}

fn has_no_entries(current: &Directory, place: &Path) -> bool {
    let mut stores = current.shared_stores().into_iter();
    let store = stores.find(|store| store.path() == place);
    let count = store.and_then(|store| store.snapshot().ok()?.entry_count().ok());
    count == Some(0)
}

/// Fails if a change gives an entry a part that a start warns of and ignores. `held` are the files
/// before the change if they have the entry.
pub(super) fn refuse_meaningless(
    held: Option<&ConfigFiles>,
    layer: &Layer,
    files: &ConfigFiles,
    name: &str,
) -> Result<(), TreeRefusal> {
    let path = files.path_of(name).map_err(config_refusal)?;
    let ignored = |layer: &Layer| -> Vec<String> {
        let notes = layer.notes.iter().filter(|note| {
            let is_here = matches!(&note.origin, Origin::File { path: at, .. } if *at == path);
            is_here && note.text.ends_with(NO_MEANING)
        });
        notes.map(|note| note.text.clone()).collect()
    };
    let new = ignored(layer);
    if new.is_empty() {
        return Ok(());
    }
    let old = held.and_then(|files| files.layer().ok());
    let old = old.as_ref().map(ignored).unwrap_or_default();
    match new.into_iter().find(|text| !old.contains(text)) {
        Some(text) => Err(unwilling(format!("{text}: the server would ignore it"))),
        None => Ok(()),
    }
}

/// Fails if a file of the next start would be in a folder that does not exist.
pub(super) fn refuse_missing_folders(
    held: &Settings,
    wanted: &Settings,
) -> Result<(), TreeRefusal> {
    let files = |settings: &Settings| {
        let global = &settings.global;
        [
            ("olcPidFile", global.pid_file.value.clone()),
            ("olcArgsFile", global.args_file.value.clone()),
            ("olcLogFile", global.log_file.value.clone()),
        ]
    };
    for ((name, path), (_, old)) in files(wanted).into_iter().zip(files(held)) {
        let Some(path) = path.filter(|path| Some(path) != old.as_ref()) else {
            continue;
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        if !folder.as_os_str().is_empty() && !folder.is_dir() {
            return Err(TreeRefusal::Failed(format!(
                "{name}: the directory {} does not exist",
                folder.display()
            )));
        }
    }
    Ok(())
}

/// Fails if the server cannot write to a new file of the log.
pub(super) fn refuse_closed_log(held: &Settings, wanted: &Settings) -> Result<(), TreeRefusal> {
    let file = wanted.global.log_file.value.as_ref();
    let Some(file) = file.filter(|_| wanted.global.log_file.value != held.global.log_file.value)
    else {
        return Ok(());
    };
    let mut options = std::fs::OpenOptions::new();
    let opened = options.append(true).create(true).open(file);
    opened.map(drop).map_err(|error| {
        TreeRefusal::Failed(format!(
            "olcLogFile: cannot open {}: {error}",
            file.display()
        ))
    })
}

/// Fails if a database is below an earlier one, as in slapd.
pub(super) fn refuse_covered(schema: &Schema, wanted: &Settings) -> Result<(), TreeRefusal> {
    let mut earlier: Vec<Dn> = Vec::new();
    for suffix in wanted.stores().flat_map(|store| &store.content.suffixes) {
        let Ok(dn) = Dn::parse(schema, suffix) else {
            continue;
        };
        if earlier.iter().any(|other| dn.is_within(other)) {
            return Err(TreeRefusal::Failed(format!(
                "<olcSuffix> namingContext \"{}\" already served by a preceding mdb database",
                suffix.value
            )));
        }
        earlier.push(dn);
    }
    Ok(())
}

fn suffixes(store: &Database) -> Vec<String> {
    let suffixes = store.content.suffixes.iter();
    suffixes.map(|suffix| suffix.value.to_lowercase()).collect()
}
