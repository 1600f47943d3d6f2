//! `fulgurite env copy`.

use std::time::Instant;

use fulgurite_engine_tools::copy;
use fulgurite_terminal::progress::TerminalBar;
use fulgurite_terminal::size::{bytes_text, rate_text};

use crate::arguments::env::Copy;

pub(crate) fn run(command: Copy) -> anyhow::Result<()> {
    let bar = TerminalBar::of_bytes(!command.quiet);
    let begun = Instant::now();
    let copied = copy(
        &command.environment.path,
        &command.to,
        command.compact,
        &mut |progress| bar.update(progress.done, progress.total),
    );
    bar.finish();
    let copied = copied?;
    if !command.quiet {
        let seconds = begun.elapsed().as_secs_f64();
        let (path, size) = (copied.path.display(), bytes_text(copied.bytes));
        eprintln!("{path}: {size}, {}", rate_text(copied.bytes, seconds));
    }
    Ok(())
}
