//! `fulgurite schema-check`.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use fulgurite_config::Settings;
use fulgurite_directory::{DatabaseOptions, Directory, DirectoryOptions};
use fulgurite_directory_tools::{CatOptions, schema_check};
use fulgurite_ldap::FilterBuf;
use fulgurite_schema::{Dn, Filter, Schema};
use fulgurite_store::{Store, StoreOptions};

use crate::arguments::tools::SchemaCheck;

pub(crate) fn run(command: SchemaCheck) -> anyhow::Result<()> {
    let settings = command.flags.settings()?;
    let schema = Arc::new(fulgurite_server::schema(&settings)?);
    let mut chosen = CatOptions::default();
    if let Some(text) = &command.filter {
        let filter = FilterBuf::parse(text).with_context(|| format!("filter {text}"))?;
        chosen.filter = Some(Filter::resolve(&schema, &filter.filter()));
    }
    if let Some(text) = &command.subtree {
        let name = Dn::parse(&schema, text).with_context(|| format!("name {text}"))?;
        chosen.subtree = Some(name);
    }
    let options = StoreOptions {
        read_only: true,
        ..StoreOptions::default()
    };
    let store = Store::open(settings.data()?, &options, Arc::clone(&schema))?;
    let wrong = schema_check(&[Arc::new(store)], &chosen, &mut |entry| {
        if let Some(violation) = entry.violation {
            println!("{}: {}", entry.dn, violation.text);
        }
        Ok(())
    })?;
    let refused = match command.overlays {
        true => check_by_overlays(&settings, schema)?,
        false => 0,
    };
    match (wrong, refused) {
        (0, 0) => Ok(()),
        (0, 1) => bail!("an overlay would refuse one entry"),
        (0, count) => bail!("overlays would refuse {count} times"),
        (1, _) => bail!("one entry violates the schema"),
        (count, _) => bail!("{count} entries violate the schema"),
    }
}

/// Prints the entries that overlays would refuse, and returns the number of refusals.
fn check_by_overlays(settings: &Settings, schema: Arc<Schema>) -> anyhow::Result<u64> {
    let database = settings.first_store()?;
    let options = StoreOptions::default();
    let store = Store::open(database.directory()?, &options, Arc::clone(&schema))?;
    let part = DatabaseOptions {
        overlays: database.overlays.clone(),
        ..DatabaseOptions::new(store)
    };
    let directory = Directory::open(DirectoryOptions::new(schema, vec![part]))?;
    let mut report = |dn: &Dn, reason: &str| println!("{}: {reason}", dn.pretty());
    Ok(directory.check_by_overlays(&mut report)?)
}
