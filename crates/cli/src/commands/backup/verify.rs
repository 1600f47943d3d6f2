//! `fulgurite backup verify`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use fulgurite_engine_tools::{CheckSettings, check_pages};
use fulgurite_schema::Schema;
use fulgurite_server::{Backup, SavedDatabase, digest_of};
use fulgurite_store::{Store, StoreOptions, verify};

use super::{boot, chosen};
use crate::arguments::backup::BackupVerify;

/// Problems that are shown of one database.
const SHOWN: usize = 20;

pub(super) fn run(command: &BackupVerify) -> anyhow::Result<()> {
    let backup = chosen::backup(&command.path, None)?;
    let schema = chosen::schema_of(&command.config)?;
    for database in &backup.manifest.databases {
        let checked = verify_database(&backup, database, &schema);
        checked.with_context(|| format!("{}: {}", backup.path.display(), database.suffix))?;
        println!(
            "{}: {}: {} entries, sound",
            backup.path.display(),
            database.suffix,
            database.entries
        );
    }
    if command.boot {
        let settings = chosen::settings(&command.config)?;
        let booted = boot::run(&backup, settings, command.scratch.as_deref());
        for line in booted.with_context(|| chosen::of_settings(&command.config))? {
            println!("{line}");
        }
    }
    Ok(())
}

/// Compares a copy with its manifest, and with itself.
pub(super) fn verify_database(
    backup: &Backup,
    database: &SavedDatabase,
    schema: &Arc<Schema>,
) -> anyhow::Result<()> {
    let file = backup.data_file(&database.folder);
    compare_digest(&file, database)?;
    let folder = backup.path.join(&database.folder);
    let checked = check_pages(&CheckSettings {
        path: folder.clone(),
        quiet: true,
        ..CheckSettings::default()
    })?;
    if !checked.report.is_sound() {
        bail!("pages are damaged: fulgurite check {}", folder.display());
    }
    let options = StoreOptions {
        read_only: true,
        no_lock: true,
        ..StoreOptions::default()
    };
    let store = Store::open(&folder, &options, Arc::clone(schema))?;
    let view = store.snapshot()?;
    let report = verify(&view)?;
    if !report.problems.is_empty() {
        let shown = report.problems.iter().take(SHOWN);
        bail!("{}", shown.cloned().collect::<Vec<_>>().join("; "));
    }
    let changes = view.changes()?;
    let vector: Vec<String> = changes.vector.iter().map(|csn| csn.text()).collect();
    let entries = view.entry_count()?;
    if (entries, &vector) != (database.entries, &database.changes) {
        bail!(
            "the manifest tells of {} entries up to {}, and the copy has {entries} up to {}",
            database.entries,
            database.changes.join(" "),
            vector.join(" ")
        );
    }
    Ok(())
}

/// Fails if a data file is not the one that was written.
pub(super) fn compare_digest(file: &Path, database: &SavedDatabase) -> anyhow::Result<()> {
    let shown = file.display();
    let size = file.metadata().with_context(|| format!("{shown}"))?.len();
    if size != database.bytes {
        bail!("{shown} has {size} bytes instead of {}", database.bytes);
    }
    let digest = digest_of(file, &mut |_| Ok(())).with_context(|| format!("{shown}"))?;
    if digest != database.sha256 {
        bail!("{shown} is damaged: its digest is not that of the manifest");
    }
    Ok(())
}
