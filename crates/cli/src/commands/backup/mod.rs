//! `fulgurite backup` and `fulgurite restore`.
//!
//! ```text
//!   chosen    the backup and the schema that the flags name
//!   verify    digests, pages, entries; boot: a server on a copy
//!   restore   a copy, and the changes of a log up to a time
//! ```

mod boot;
mod chosen;
mod restore;
mod verify;

use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use fulgurite_server::{Backup, BackupSource, list_backups, schema, store_options, write_backup};
use fulgurite_store::{Store, StoreOptions};
use fulgurite_terminal::size::bytes_text;
use serde_json::json;

use crate::arguments::backup::{self, BackupList, BackupNow, BackupTool};
use crate::commands::unless_pipe_closed;

pub(crate) use restore::run as restore;

pub(crate) fn run(command: backup::Backup) -> anyhow::Result<()> {
    match command.tool {
        BackupTool::Now(command) => now(&command),
        BackupTool::List(command) => list(&command),
        BackupTool::Verify(command) => verify::run(&command),
    }
}

fn now(command: &BackupNow) -> anyhow::Result<()> {
    let settings = chosen::settings(&command.config)?;
    let to = command.to.as_ref().or(settings.global.backup_to.as_ref());
    let Some(to) = to else {
        bail!("name the directory of the backups: --to DIR, or backup.to in the settings");
    };
    let schema = Arc::new(schema(&settings)?);
    let mut sources = Vec::new();
    for database in settings.served_stores() {
        let directory = database.directory()?;
        let options = StoreOptions {
            read_only: true,
            // A lock file of this command's user would shut out the server.
            no_lock: !directory.join("lock.mdb").exists(),
            indexes: None,
            ..store_options(database)?
        };
        let store = Store::open(directory, &options, Arc::clone(&schema))?;
        sources.push(BackupSource {
            suffix: database.suffix()?.to_owned(),
            store: Arc::new(store),
        });
    }
    if sources.is_empty() {
        bail!("the settings have no database");
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_s = now.context("the clock is before 1970")?.as_secs();
    let written = write_backup(to, &sources, now_s, &mut || Ok(()))?;
    eprintln!("{}", describe(&written));
    Ok(())
}

fn list(command: &BackupList) -> anyhow::Result<()> {
    let backups = list_backups(&command.directory)?;
    let mut output = io::stdout().lock();
    let written = backups.iter().try_for_each(|backup| {
        let line = match command.json {
            true => json_line(backup),
            false => describe(backup),
        };
        writeln!(output, "{line}")
    });
    unless_pipe_closed(written.map_err(Into::into))
}

/// Returns a backup on one line.
fn describe(backup: &Backup) -> String {
    let databases = backup.manifest.databases.iter();
    let databases = databases.map(|one| format!("{} ({} entries)", one.suffix, one.entries));
    format!(
        "{}: {}, {}",
        backup.path.display(),
        bytes_text(backup.manifest.bytes()),
        databases.collect::<Vec<_>>().join(", ")
    )
}

fn json_line(backup: &Backup) -> String {
    let databases = backup.manifest.databases.iter().map(|database| {
        json!({
            "suffix": database.suffix,
            "entries": database.entries,
            "changes": database.changes,
            "bytes": database.bytes,
        })
    });
    let line = json!({
        "path": backup.path.display().to_string(),
        "time_seconds": backup.time_s,
        "bytes": backup.manifest.bytes(),
        "databases": databases.collect::<Vec<_>>(),
    });
    line.to_string()
}
