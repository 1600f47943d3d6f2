//! The expected content of an environment.

use std::collections::{BTreeMap, BTreeSet};

use fulgurite::{Environment, Error, Snapshot};

use super::script::DATABASES;

/// Databases by name, values by key. Databases that are missing and empty ones differ.
pub(super) type Model = BTreeMap<String, BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>>;

/// Reads all of a snapshot.
pub(super) fn read(snapshot: &impl Snapshot) -> Result<Model, Error> {
    let mut model = Model::new();
    let names = DATABASES
        .iter()
        .copied()
        .chain([super::neighbour::DATABASE]);
    for name in names {
        let database = match snapshot.open_database(Some(name)) {
            Ok(database) => database,
            Err(Error::NoDatabase(_)) => continue,
            Err(error) => return Err(error),
        };
        let mut records: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for record in snapshot.range(database, ..)? {
            let (key, value) = record?;
            records
                .entry(key.to_vec())
                .or_default()
                .insert(value.to_vec());
        }
        model.insert(name.to_owned(), records);
    }
    Ok(model)
}

/// Reads all of an environment's newest snapshot.
pub(super) fn read_environment(environment: &Environment) -> Result<Model, Error> {
    read(&environment.read()?)
}

/// A few words on a difference.
pub(super) fn difference(found: &Model, wanted: &Model) -> String {
    for (name, wanted) in wanted {
        let Some(found) = found.get(name) else {
            return format!("database {name} is missing");
        };
        let lost = wanted
            .iter()
            .filter(|(key, values)| found.get(*key) != Some(values));
        let more = found.keys().filter(|key| !wanted.contains_key(*key));
        let (lost, more) = (lost.count(), more.count());
        if lost + more > 0 {
            return format!(
                "database {name}: of {} keys {lost} are missing or differ, {more} are new",
                wanted.len()
            );
        }
    }
    "a database too many".to_owned()
}
