//! `fulgurite schema-check`.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use fulgurite_directory_tools::{CatOptions, schema_check};
use fulgurite_ldap::FilterBuf;
use fulgurite_schema::{Dn, Filter};
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
    let store = Store::open(settings.data()?, &options, schema)?;
    let wrong = schema_check(&[Arc::new(store)], &chosen, &mut |entry| {
        if let Some(violation) = entry.violation {
            println!("{}: {}", entry.dn, violation.text);
        }
        Ok(())
    })?;
    match wrong {
        0 => Ok(()),
        1 => bail!("one entry violates the schema"),
        count => bail!("{count} entries violate the schema"),
    }
}
