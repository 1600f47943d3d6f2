//! `fulgurite env copy`.

use std::time::Instant;

use fulgurite_engine_tools::copy;

use super::bar::{OctetsBar, octets, rate};
use crate::arguments::env::Copy;

pub(crate) fn run(command: Copy) -> anyhow::Result<()> {
    let bar = OctetsBar::new(command.quiet);
    let begun = Instant::now();
    let copied = copy(
        &command.environment.path,
        &command.to,
        command.compact,
        &mut |progress| bar.update(progress),
    );
    bar.finish();
    let copied = copied?;
    if !command.quiet {
        let seconds = begun.elapsed().as_secs_f64();
        let (path, size) = (copied.path.display(), octets(copied.octets));
        eprintln!("{path}: {size}, {}", rate(copied.octets, seconds));
    }
    Ok(())
}
