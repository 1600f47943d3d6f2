//! The suffixes that stores know, for settings that name none.

use std::sync::Arc;

use fulgurite_config::{Database, DatabaseKind, Origin, Settings, Sourced};
use fulgurite_server::schema;
use fulgurite_store::{Store, StoreOptions};

/// Names each database without a suffix as its store does.
pub(crate) fn with_stored_suffixes(mut settings: Settings) -> Settings {
    let stored: Vec<_> = settings
        .databases
        .iter()
        .map(|database| stored_suffixes(&settings, database).unwrap_or_default())
        .collect();
    for (database, suffixes) in settings.databases.iter_mut().zip(stored) {
        if !suffixes.is_empty() {
            database.content.suffixes = suffixes;
        }
    }
    settings
}

/// Returns the suffixes of the store of a database that names none. If the store cannot be read,
/// the start fails with the reason.
fn stored_suffixes(settings: &Settings, database: &Database) -> Option<Vec<Sourced<String>>> {
    let directory = database.directory().ok()?;
    let is_nameless = database.kind == DatabaseKind::Mdb && database.suffix_if_set().is_none();
    if !is_nameless || !Store::exists(directory) {
        return None;
    }
    let options = StoreOptions {
        read_only: true,
        ..StoreOptions::default()
    };
    let schema = Arc::new(schema(settings).ok()?);
    let store = Store::open(directory, &options, schema).ok()?;
    let suffixes = store.suffixes().iter();
    let suffixes = suffixes.map(|dn| Sourced::new(dn.pretty().to_owned(), Origin::Default));
    Some(suffixes.collect())
}
