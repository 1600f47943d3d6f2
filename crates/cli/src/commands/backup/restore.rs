//! `fulgurite restore`.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use fulgurite_directory::Timestamp;
use fulgurite_directory_tools::{ReplayReport, replay};
use fulgurite_schema::Schema;
use fulgurite_store::{Store, StoreOptions};
use fulgurite_terminal::size::bytes_text;

use super::chosen;
use super::verify::verify_database;
use crate::arguments::backup::Restore;

pub(crate) fn run(command: Restore) -> anyhow::Result<()> {
    let until = command.at.as_deref().map(chosen::time).transpose()?;
    let backup = chosen::backup(&command.from, until)?;
    let database = chosen::database(&backup, command.suffix.as_deref())?;
    let schema = chosen::schema_of(&command.config)?;
    let target = command.to.join("data.mdb");
    if target.exists() {
        bail!("{} exists: nothing is overwritten", target.display());
    }
    let verified = verify_database(&backup, database, &schema);
    verified.with_context(|| format!("{}", backup.path.display()))?;
    let log = command.log.clone();
    let log = log.unwrap_or_else(|| PathBuf::from(&database.data));
    let partial = PartialRestore::make(&command.to)?;
    copy(&backup.data_file(&database.folder), &partial.0)?;
    let replayed = match until {
        Some(until) => Some(replay_log(&partial.0, &log, &schema, until)?),
        None => None,
    };
    partial.finish(&target)?;
    let (begun, size) = (chosen::begin(&backup), bytes_text(database.bytes));
    eprintln!(
        "{}: {} from the backup of {}, {} entries, {size}",
        command.to.display(),
        database.suffix,
        begun.generalized(),
        database.entries
    );
    if let Some(report) = replayed {
        let last = report.last.map(Timestamp::generalized);
        let last = last.map_or_else(String::new, |last| format!(", the last of {last}"));
        eprintln!("{} changes of {}{last}", report.applied, log.display());
    }
    Ok(())
}

/// The folder of the restored data until it is whole. Dropping it removes it.
struct PartialRestore(PathBuf);

impl PartialRestore {
    fn make(to: &Path) -> anyhow::Result<PartialRestore> {
        let mut builder = DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(to);
        made.with_context(|| format!("cannot make {}", to.display()))?;
        let path = to.join(".restoring");
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| {
            format!(
                "cannot make {}: is another restore at work?",
                path.display()
            )
        })?;
        Ok(PartialRestore(path))
    }

    /// Gives the data file its place.
    fn finish(self, target: &Path) -> anyhow::Result<()> {
        let file = self.0.join("data.mdb");
        File::open(&file)?.sync_all()?;
        // Unlike a rename, a link replaces nothing.
        let linked = fs::hard_link(&file, target);
        linked.with_context(|| format!("cannot make {}", target.display()))?;
        let folder = target.parent().unwrap_or(Path::new("."));
        Ok(File::open(folder)?.sync_all()?)
    }
}

impl Drop for PartialRestore {
    fn drop(&mut self) {
        // It can be removed by hand, too.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Copies a data file, readable by its owner only.
fn copy(from: &Path, folder: &Path) -> anyhow::Result<()> {
    let mut options = File::options();
    let options = options.write(true).create_new(true).mode(0o600);
    let copied = File::open(from).and_then(|mut from| {
        let mut to = options.open(folder.join("data.mdb"))?;
        io::copy(&mut from, &mut to)
    });
    copied.with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}

/// Applies the changes of a log to a copy.
fn replay_log(
    copy: &Path,
    log: &Path,
    schema: &Arc<Schema>,
    until: Timestamp,
) -> anyhow::Result<ReplayReport> {
    let options = StoreOptions {
        read_only: true,
        // A lock file of this command's user would shut out the server.
        no_lock: !log.join("lock.mdb").exists(),
        ..StoreOptions::default()
    };
    let source = Store::open(log, &options, Arc::clone(schema));
    let source =
        source.context("the log of changes cannot be opened; --log names its directory")?;
    let restored = Store::open(copy, &StoreOptions::default(), Arc::clone(schema))?;
    let report = replay(&Arc::new(restored), &source, until)?;
    Ok(report)
}
