//! slapindex: rebuilds indexes from the entries.

use fulgurite_schema::AttributeDescription;
use fulgurite_store::{IndexProgress, IndexSpec, Store, StoreError};

use super::context::{Access, Context};
use super::failure::Failure;
use super::options::SharedOptions;
use super::options::text;
use fulgurite_server::store_options;
use fulgurite_terminal::getopt::CommandLine;

/// Entries of one transaction.
const ENTRIES_PER_STEP: usize = 2_000;

pub(super) fn run(line: &CommandLine) -> Result<(), Failure> {
    let mut common = SharedOptions::default();
    for given in &line.options {
        // `-q` and `-t` describe the normal behaviour.
        if !matches!(given.letter, 'q' | 't') {
            common.take(given)?;
        }
    }
    let context = Context::read(&common)?;
    let names: Vec<String> = line.operands.iter().map(|name| text(name)).collect();
    for name in &names {
        if context.schema.attribute(name).is_none() {
            eprintln!("slap_str2ad({name}) failed 17 (Undefined attribute type)");
            return Err(Failure::Reported(1));
        }
    }
    for database in context.databases(&common)? {
        let store = context.open(database, Access::Write)?;
        let options =
            store_options(database).map_err(|error| Failure::Message(error.to_string()))?;
        let configured = options.indexes.unwrap_or_default();
        let names = indexable(&context, &names, &configured)?;
        // Only the given attributes change.
        let asked = match &names {
            None => store.request_indexes(&configured),
            Some(names) => store.add_indexes(&named(&context, names, &configured)),
        };
        asked
            .and_then(|_| store.rebuild_indexes(names.as_deref()))
            .map_err(|error| Failure::Message(error.to_string()))?;
        work_off(&store, common.verbose).map_err(|error| Failure::Message(error.to_string()))?;
    }
    Ok(())
}

/// Returns the given attributes that have an index, or all without any. DNs (entryDN) need no
/// index.
fn indexable(
    context: &Context,
    names: &[String],
    configured: &[IndexSpec],
) -> Result<Option<Vec<String>>, Failure> {
    if names.is_empty() {
        return Ok(None);
    }
    let names = names
        .iter()
        .filter(|name| !name.eq_ignore_ascii_case("entryDN"));
    let names: Vec<String> = names.cloned().collect();
    for name in &names {
        if named(context, std::slice::from_ref(name), configured).is_empty() {
            return Err(Failure::Message(format!("no index configured for {name}")));
        }
    }
    Ok(Some(names))
}

/// Returns the configured indexes of some attributes.
fn named(context: &Context, names: &[String], configured: &[IndexSpec]) -> Vec<IndexSpec> {
    let of = |name: &str| {
        let attribute = context.schema.attribute(name);
        attribute.map(|attribute| AttributeDescription::plain(attribute.index))
    };
    let configured = configured.iter();
    let wanted = configured.filter(|spec| names.iter().any(|name| of(name) == of(&spec.attribute)));
    wanted.cloned().collect()
}

fn work_off(store: &Store, verbose: bool) -> Result<(), StoreError> {
    let mut said = 0;
    while store.index_step(ENTRIES_PER_STEP)? == IndexProgress::More {
        if !verbose {
            continue;
        }
        let status = store.index_status()?;
        let position = status.work.iter().map(|work| work.position).min();
        if let Some(position) = position.filter(|position| *position > said) {
            said = position;
            eprintln!("indexing id={position:08x}");
        }
    }
    Ok(())
}
