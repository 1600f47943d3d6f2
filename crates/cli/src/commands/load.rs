//! `fulgurite load`.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{anyhow, bail};
use fulgurite_config::FlagGroup;
use fulgurite_directory_tools::{
    LoadBar, LoadFailure, LoadSettings, load, load_faults, note_of_left_out,
};
use fulgurite_server::{check_suffix_names, schema, store_options};
use fulgurite_store::{IndexProgress, Store, StoreOptions};

use super::load_add;
use crate::arguments::Load;
use crate::lock::DataLock;

/// Wrong records that a failed load shows.
const FAULTS_SHOWN_MAX: usize = 20;

/// Entries of one transaction of index work.
const ENTRIES_PER_STEP: usize = 5_000;

pub(crate) fn run(command: Load) -> anyhow::Result<()> {
    if command.add {
        if command.flags.has(FlagGroup::Store) {
            bail!("--add sends the entries to a running server, which has its own --data");
        }
        return load_add::run(&command);
    }
    let settings = command.flags.settings()?;
    let data = settings.data()?;
    let mut options = store_options(settings.first_store()?)?;
    if Store::exists(data) && !command.flags.has(FlagGroup::Index) {
        // An extended store keeps the indexes it was created with.
        options.indexes = None;
    }
    let schema = Arc::new(schema(&settings)?);
    check_suffix_names(&settings, &schema)?;
    let _lock = DataLock::take_or_make(data)?;
    let mut load_settings = LoadSettings::new(data.to_owned(), options, schema);
    load_settings.files = command.files;
    let database = settings.first_store()?;
    let root = database.content.root_dn.value.clone();
    load_settings.author.name = root.unwrap_or_default();
    load_settings.author.last_mod = *database.policy.last_mod;
    load_settings.author.computed = database.computed_attributes().collect();
    let begun = Instant::now();
    let mut bar = LoadBar::new();
    let result = load(&load_settings, &mut |progress| {
        if !command.quiet {
            bar.update(progress);
        }
    });
    bar.finish();
    let summary = match result {
        Ok(summary) => summary,
        Err(failure) => return Err(list_faults(&load_settings, failure)),
    };
    finish_indexes(data, &load_settings)?;
    if let Some(note) = note_of_left_out(summary.left_out) {
        eprintln!("{note}");
    }
    if !command.quiet {
        if summary.clear_passwords > 0 {
            let count = summary.clear_passwords;
            eprintln!("passwords in clear: {count}; `fulgurite passwd` makes hashes");
        }
        let seconds = begun.elapsed().as_secs_f64();
        eprintln!("{} entries loaded in {seconds:.1} s", summary.entries);
    }
    Ok(())
}

/// Prints the records that are wrong, if they are the reason of a failure. Returns the error of the
/// command.
fn list_faults(settings: &LoadSettings, failure: LoadFailure) -> anyhow::Error {
    match load_faults(settings, &failure, FAULTS_SHOWN_MAX) {
        Ok(Some(faults)) if faults.others > 0 || faults.shown.len() > 1 => {
            for fault in &faults.shown {
                eprintln!("fulgurite: {fault}");
            }
            anyhow!("{faults}")
        }
        _ => failure.into(),
    }
}

/// Builds requested indexes that an extended store lacks at once, because perhaps no server runs
/// that could.
fn finish_indexes(data: &Path, settings: &LoadSettings) -> anyhow::Result<()> {
    let options = StoreOptions {
        indexes: None,
        ..settings.store.clone()
    };
    let store = Store::open(data, &options, Arc::clone(&settings.schema))?;
    while store.index_step(ENTRIES_PER_STEP)? == IndexProgress::More {}
    Ok(())
}
