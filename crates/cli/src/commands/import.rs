//! `fulgurite import`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use fulgurite_directory_tools::{
    ImportEvent, ImportOptions, ImportSummary, import_openldap, missing_definitions, suffixes_of,
};
use fulgurite_store::{Store, StoreOptions};

use super::one_line;
use crate::arguments::tools::Import;
use crate::lock::DataLock;

/// The file for definitions that the schema lacks.
const DEFINITIONS: &str = "imported.schema";

pub(crate) fn run(command: Import) -> anyhow::Result<()> {
    let Some(data) = command.store.data.clone() else {
        bail!("the data directory is not set: use --data DIR for the new store");
    };
    if Store::exists(&data) {
        bail!("{} contains a store already", data.display());
    }
    let suffixes = suffixes_of(&command.from)?;
    if suffixes.is_empty() {
        bail!("{} contains no entries", command.from.display());
    }
    let _lock = DataLock::take_or_make(&data)?;
    let mut settings = command.settings(None)?;
    let mut schema = fulgurite_server::schema(&settings)?;
    let missing = missing_definitions(&command.from, &schema)?;
    let mut written: Option<PathBuf> = None;
    if !missing.is_empty() {
        if !command.lenient {
            bail!(
                "the schema lacks definitions, such as: {}; use the schema files, or --lenient",
                missing[0]
            );
        }
        let path = data.join(DEFINITIONS);
        let text = format!("{}\n", missing.join("\n"));
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        settings = command.settings(Some(&path))?;
        schema = fulgurite_server::schema(&settings)?;
        written = Some(path);
    }
    let done = fill(&command, &data, suffixes, Arc::new(schema), &settings);
    let summary = match done {
        Ok(summary) => summary,
        Err(error) => {
            for name in ["data.mdb", "lock.mdb", DEFINITIONS] {
                // A missing file needs no removal.
                let _ = std::fs::remove_file(data.join(name));
            }
            return Err(error);
        }
    };
    if let Some(path) = written {
        eprintln!(
            "{} attribute types that the schema lacks are defined in {}: serve with --schema {}",
            missing.len(),
            path.display(),
            path.display()
        );
    }
    if !command.quiet {
        eprintln!(
            "{} entries found, {} imported, {} skipped",
            summary.found, summary.taken, summary.left_out
        );
    }
    match summary.left_out {
        0 => Ok(()),
        _ => bail!("some entries were skipped"),
    }
}

fn fill(
    command: &Import,
    data: &Path,
    suffixes: Vec<String>,
    schema: Arc<fulgurite_schema::Schema>,
    settings: &fulgurite_config::Settings,
) -> anyhow::Result<ImportSummary> {
    let first = settings.first_store()?;
    let configured = first
        .indexes()
        .into_iter()
        .map(|index| format!("{}:{}", index.attribute, index.kinds).parse());
    let configured: Vec<fulgurite_store::IndexSpec> = configured.collect::<Result<_, _>>()?;
    let usable = configured
        .into_iter()
        .filter(|index| schema.attribute(&index.attribute).is_some());
    let options = StoreOptions {
        suffixes,
        indexes: Some(usable.collect()),
        map_bytes_max: Some(*first.storage.map_bytes_max),
        ..StoreOptions::default()
    };
    let store = Store::create(data, &options, schema)?;
    let how = ImportOptions {
        lenient: command.lenient,
        continue_on_error: command.r#continue,
    };
    let summary = import_openldap(&command.from, &store, &how, &mut |event| match event {
        ImportEvent::Progress(done, all) if !command.quiet && done % 100_000 == 0 => {
            eprintln!("{done} of {all} entries");
        }
        ImportEvent::Progress(..) => {}
        ImportEvent::LeftOut(error) => {
            eprintln!("fulgurite: skipped: {}", one_line(&error.into()));
        }
    })?;
    Ok(summary)
}
