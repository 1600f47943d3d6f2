//! The process that walks: it does what a line of its input says, and answers by a line. When the
//! engine dies, so does it; who asked knows by what question.

use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::walk;

/// Octets of private memory a walk may use. The bases need a small part of this.
const MEMORY_MAX: u64 = 512 << 20;
/// Octets of address space: what a file claims may be reserved, but not without end.
const SPACE_MAX: u64 = 1 << 41;
/// Octets of the longest file a walk may make.
const FILE_MAX: u64 = 1 << 30;

/// Answers questions about the environment in `dir` until there are no more.
pub(super) fn serve(dir: &Path) -> anyhow::Result<()> {
    limit()?;
    let mut answers = std::io::stdout().lock();
    writeln!(answers, "ready the Rust interface")?;
    answers.flush()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let Some((number, seed)) = line.split_once(' ') else {
            anyhow::bail!("not a question: {line}");
        };
        let counts = walk::walk(dir, seed.parse()?);
        writeln!(
            answers,
            "{number} {} {} {} {}",
            counts.calls,
            counts.errors,
            u8::from(counts.refused),
            u8::from(counts.spoilt)
        )?;
        answers.flush()?;
    }
    Ok(())
}

/// The limits turn runaway memory or disk use into an error.
fn limit() -> std::io::Result<()> {
    for (resource, most) in [
        (Resource::Data, MEMORY_MAX),
        (Resource::As, SPACE_MAX),
        (Resource::Fsize, FILE_MAX),
        (Resource::Core, 0),
    ] {
        let most = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, most)?;
    }
    // A file that would get too long is an error, and not the end.
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
    Ok(())
}
