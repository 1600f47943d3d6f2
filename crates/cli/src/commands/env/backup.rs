//! `fulgurite env backup`.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use fulgurite_engine_tools::{
    BackupEntry, BackupKind, BackupOutcome, backup, list_backups, verify_backups,
};
use fulgurite_terminal::progress::TerminalBar;
use fulgurite_terminal::size::{bytes_text, rate_text};

use crate::arguments::env::Backup;
use crate::commands::unless_pipe_closed;

pub(crate) fn run(command: Backup) -> anyhow::Result<()> {
    match (&command.list, &command.verify, &command.path, &command.to) {
        (Some(directory), ..) => list(directory),
        (_, Some(directory), ..) => verify(directory, command.quiet),
        (_, _, Some(path), Some(to)) => save(path, to, &command),
        // The command line was refused.
        _ => Ok(()),
    }
}

fn save(path: &Path, to: &Path, command: &Backup) -> anyhow::Result<()> {
    let bar = TerminalBar::of_bytes(!command.quiet);
    let begun = Instant::now();
    let outcome = backup(path, to, command.full, &mut |progress| {
        bar.update(progress.done, progress.total)
    });
    bar.finish();
    let seconds = begun.elapsed().as_secs_f64();
    let message = match outcome? {
        BackupOutcome::Unchanged(txnid) => {
            format!("no changes since the backup of transaction {txnid}; no backup written")
        }
        BackupOutcome::Written(entry) => {
            let read = entry.pages_of_snapshot * u64::from(entry.page_size);
            format!(
                "{}; {} read, {}",
                describe(&entry),
                bytes_text(read),
                rate_text(read, seconds)
            )
        }
    };
    if !command.quiet {
        eprintln!("{message}");
    }
    Ok(())
}

fn list(directory: &Path) -> anyhow::Result<()> {
    let entries = list_backups(directory)?;
    let mut output = io::stdout().lock();
    let written = entries
        .iter()
        .try_for_each(|entry| writeln!(output, "{}", describe(entry)));
    unless_pipe_closed(written.map_err(Into::into))
}

fn verify(directory: &Path, quiet: bool) -> anyhow::Result<()> {
    let bar = TerminalBar::of_bytes(!quiet);
    let entries = verify_backups(directory, &mut |progress| {
        bar.update(progress.done, progress.total)
    });
    bar.finish();
    let entries = entries?;
    if !quiet {
        let size = entries.iter().map(|entry| entry.bytes).sum();
        eprintln!(
            "{} backups, {}: all intact",
            entries.len(),
            bytes_text(size)
        );
    }
    Ok(())
}

fn describe(entry: &BackupEntry) -> String {
    let name = entry.path.file_name().unwrap_or_default().to_string_lossy();
    let kind = match entry.kind {
        BackupKind::Full => "full".to_owned(),
        BackupKind::Incremental(from) => format!("based on {from}"),
    };
    format!(
        "{name}: transaction {}, {kind}, {} of {} pages, {}",
        entry.txnid,
        entry.pages,
        entry.pages_of_snapshot,
        bytes_text(entry.bytes)
    )
}
