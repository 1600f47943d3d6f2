//! `fulgurite load`.

use std::sync::Arc;
use std::time::Instant;

use fulgurite_dirtools::{LoadSettings, TerminalBar, load};
use fulgurite_server::{schema, store_options};
use fulgurite_store::Store;

use crate::arguments::Load;
use crate::lock::DataLock;

pub(crate) fn run(command: Load) -> anyhow::Result<()> {
    let settings = command.settings()?;
    let data = settings.data()?;
    let mut options = store_options(settings.first_store()?)?;
    if Store::exists(data) && command.index.is_empty() && !command.no_default_indexes {
        // Extending a store: it keeps the indexes it was made with.
        options.indexes = None;
    }
    let schema = Arc::new(schema(&settings)?);
    let _lock = DataLock::take_or_make(data)?;
    let mut load_settings = LoadSettings::new(data.to_owned(), options, schema);
    load_settings.files = command.files;
    load_settings.creator = settings
        .first_store()?
        .content
        .root_dn
        .value
        .clone()
        .unwrap_or_default();
    let begun = Instant::now();
    let mut bar = TerminalBar::new();
    let result = load(&load_settings, &mut |progress| {
        if !command.quiet {
            bar.update(progress);
        }
    });
    bar.finish();
    let summary = result?;
    if !command.quiet {
        let seconds = begun.elapsed().as_secs_f64();
        eprintln!("{} entries loaded in {seconds:.1} s", summary.entries);
    }
    Ok(())
}
