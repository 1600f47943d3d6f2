//! `fulgurite env restore`.

use std::time::Instant;

use fulgurite_engine_tools::restore;

use super::bar::{OctetsBar, octets, rate};
use crate::arguments::env::Restore;

pub(crate) fn run(command: Restore) -> anyhow::Result<()> {
    let bar = OctetsBar::new(command.quiet);
    let begun = Instant::now();
    let restored = restore(
        &command.from,
        &command.to,
        command.no_subdir,
        command.txn,
        &mut |progress| bar.update(progress),
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
        octets(restored.octets),
        rate(restored.octets, seconds)
    );
    if restored.lost_pages > 0 {
        eprintln!(
            "{} pages are neither used nor free; the original had lost them too",
            restored.lost_pages
        );
    }
    Ok(())
}
