//! `fulgurite env restore`.

use std::time::Instant;

use fulgurite_engine_tools::restore;
use fulgurite_terminal::progress::TerminalBar;
use fulgurite_terminal::size::{bytes_text, rate_text};

use crate::arguments::env::Restore;

pub(crate) fn run(command: Restore) -> anyhow::Result<()> {
    let bar = TerminalBar::of_bytes(!command.quiet);
    let begun = Instant::now();
    let restored = restore(
        &command.from,
        &command.to,
        command.no_subdir,
        command.txn,
        &mut |progress| bar.update(progress.done, progress.total),
    );
    bar.finish();
    let restored = restored?;
    if command.quiet {
        return Ok(());
    }
    let seconds = begun.elapsed().as_secs_f64();
    eprintln!(
        "{}: transaction {} from {} backup file(s), {}, checked; {}",
        restored.path.display(),
        restored.txnid,
        restored.files,
        bytes_text(restored.bytes),
        rate_text(restored.bytes, seconds)
    );
    if restored.lost_pages > 0 {
        eprintln!(
            "{} pages are neither used nor free, as in the original",
            restored.lost_pages
        );
    }
    Ok(())
}
