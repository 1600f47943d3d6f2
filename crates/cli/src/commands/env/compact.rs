//! `fulgurite env compact`.

use std::time::{Duration, Instant};

use fulgurite_engine_tools::{CompactOptions, compact};
use fulgurite_terminal::progress::TerminalBar;
use fulgurite_terminal::size::bytes_text;

use crate::arguments::env::Compact;

pub(crate) fn run(command: Compact) -> anyhow::Result<()> {
    let bar = TerminalBar::of_bytes(!command.quiet);
    let begun = Instant::now();
    let options = CompactOptions {
        until_bytes: command.until.unwrap_or(0),
        punch: command.punch,
        wait: Duration::from_secs(command.wait),
        pause: Duration::from_millis(command.pause),
    };
    let compacted = compact(&command.environment.path, options, &mut |report| {
        bar.update(
            report.bytes_before.saturating_sub(report.bytes_after),
            report.bytes_before,
        );
    });
    bar.finish();
    let compacted = compacted?;
    if command.quiet {
        return Ok(());
    }
    let report = compacted.report;
    eprintln!(
        "{} -> {}; {} pages moved in {} transactions, {:.1} s",
        bytes_text(report.bytes_before),
        bytes_text(report.bytes_after),
        report.pages_moved,
        report.commits,
        begun.elapsed().as_secs_f64()
    );
    if report.bytes_punched > 0 {
        eprintln!(
            "{} returned to the file system as holes",
            bytes_text(report.bytes_punched)
        );
    }
    match report.kept_length {
        None => {}
        Some(0) => eprintln!(
            "the file keeps its length: a process with hidden memory maps has the environment open"
        ),
        Some(pid) => {
            eprintln!("the file keeps its length: process {pid} has a writable memory map of it")
        }
    }
    if report.runs_stuck > 0 {
        eprintln!(
            "{} overflow values were not moved: not enough contiguous free pages",
            report.runs_stuck
        );
    }
    if let Some(oldest) = compacted.held_by {
        eprintln!(
            "a reader of snapshot {} holds the other pages: try again when it has ended, or use --wait",
            oldest.0
        );
    }
    Ok(())
}
