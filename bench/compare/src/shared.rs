//! Stores to memory that readers share, counted: each of them would make readers on several cores
//! wait for each other.
//!
//! valgrind's lackey writes down every load and store of a process in which two threads read, one
//! after the other. A store of one thread into a cache line that the other one touches as well is a
//! shared one. The count is exact, whatever the machine does meanwhile.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};

use crate::action::trace::MARK_CHANGES;
use crate::engines::library_folders;

/// Of one engine.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Shared {
    pub(crate) title: String,
    /// Begun and ended, by both threads together; as many renewals are counted with them.
    pub(crate) transactions: u64,
    pub(crate) lookups: u64,
    /// To anything, mostly each thread's own stack.
    pub(crate) stores: u64,
    /// Into lines that the other thread touches.
    pub(crate) shared_stores: u64,
    pub(crate) shared_lines: u64,
}

/// The accesses of one thread between its marks.
#[derive(Debug, Default, Clone)]
struct Phase {
    /// Lines, and how often each was stored to.
    stored: HashMap<u64, u64>,
    loaded: HashSet<u64>,
}

/// Reads a trace and tells what each thread stored, and how much of that is shared.
#[derive(Debug, Default)]
struct Trace {
    phases: [Phase; 2],
    /// Marks met so far.
    marks: u32,
    mark_line: u64,
    /// Of what may become a mark: a word of one octet that was changed so often in a row.
    change_address: u64,
    changes: u32,
}

/// Runs a part under valgrind and counts.
/// # Errors
/// A process that fails; a trace without marks.
pub(crate) fn count(title: &str, part: &Command, project: &Path) -> anyhow::Result<Shared> {
    let folders = std::env::join_paths(library_folders(project))?;
    let mut process = Command::new("valgrind")
        .args(["--tool=lackey", "--trace-mem=yes", "--basic-counts=no"])
        .arg(part.get_program())
        .args(part.get_args())
        .env("LD_LIBRARY_PATH", folders)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut trace = Trace::default();
    let mut said = String::new();
    let stderr = process.stderr.take().context("a pipe")?;
    let mut lines = BufReader::with_capacity(1 << 20, stderr);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        if !trace.take(&line) && said.len() < 2000 {
            said += &String::from_utf8_lossy(&line);
        }
        line.clear();
    }
    if let Some(mut stdout) = process.stdout.take() {
        stdout.read_to_string(&mut String::new())?;
    }
    let status = process.wait()?;
    ensure!(status.success(), "{title}: {status}: {said}");
    ensure!(
        trace.marks == 4,
        "{title}: {} marks in the trace",
        trace.marks
    );
    Ok(trace.shared(title))
}

impl Trace {
    /// Takes a line of lackey's output. Returns false for others than `I 04001000,3`, ` S 1ffe,8`,
    /// ` L ...`, ` M ...`.
    fn take(&mut self, line: &[u8]) -> bool {
        let kind = match line {
            [b'I', ..] => return true,
            [b' ', kind @ (b'L' | b'S' | b'M'), b' ', ..] => *kind,
            _ => return false,
        };
        let text = std::str::from_utf8(line.get(3..).unwrap_or_default()).unwrap_or("");
        let Some((address, bytes)) = text.trim().split_once(',') else {
            return false;
        };
        let (Ok(address), Ok(bytes)) = (u64::from_str_radix(address, 16), bytes.parse::<u64>())
        else {
            return false;
        };
        self.access(kind, address, bytes);
        true
    }

    fn access(&mut self, kind: u8, address: u64, bytes: u64) {
        // A locked change is written down as a load and a change.
        if bytes != 1 || self.change_address != address {
            self.changes = 0;
            self.change_address = address;
        }
        if bytes == 1 && kind == b'M' {
            self.changes += 1;
            if self.changes == MARK_CHANGES {
                self.changes = 0;
                self.marks += 1;
                self.mark_line = address / 64;
            }
        }
        let phase = match self.marks {
            1 => &mut self.phases[0],
            3 => &mut self.phases[1],
            _ => return,
        };
        for line in address / 64..=(address + bytes.max(1) - 1) / 64 {
            if kind != b'S' {
                phase.loaded.insert(line);
            }
            if kind != b'L' {
                *phase.stored.entry(line).or_default() += 1;
            }
        }
    }

    fn shared(&self, title: &str) -> Shared {
        let [first, second] = &self.phases;
        let (mut stores, mut shared_stores) = (0, 0);
        let mut lines = HashSet::new();
        for (own, other) in [(first, second), (second, first)] {
            for (line, count) in &own.stored {
                if *line != self.mark_line {
                    stores += count;
                }
                if *line != self.mark_line
                    && (other.loaded.contains(line) || other.stored.contains_key(line))
                {
                    shared_stores += count;
                    lines.insert(*line);
                }
            }
        }
        Shared {
            title: title.to_owned(),
            transactions: 2 * crate::action::trace::TRANSACTIONS,
            lookups: 2 * crate::action::trace::TRANSACTIONS * crate::action::trace::LOOKUPS,
            stores,
            shared_stores,
            shared_lines: lines.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_to_what_the_other_thread_touches_are_counted() {
        let mut trace = Trace::default();
        let mark = |trace: &mut Trace| {
            for _ in 0..MARK_CHANGES {
                assert!(trace.take(b" L 9000,1\n"));
                assert!(trace.take(b" M 9000,1\n"));
            }
        };
        assert!(trace.take(b" S 1000,8\n"));
        mark(&mut trace);
        for line in [
            " S 1000,8",
            " S 2038,16",
            " L 3000,8",
            "I  04001000,3",
            " M 5000,1",
        ] {
            assert!(trace.take(line.as_bytes()), "{line}");
        }
        mark(&mut trace);
        assert!(!trace.take(b"==12== said by valgrind\n"));
        mark(&mut trace);
        // Reads the other thread's writes, with a store across two lines; writes what the other one
        // read.
        for line in [" L 2040,4", " S 3008,4", " S 3008,4", " L 4000,8"] {
            assert!(trace.take(line.as_bytes()), "{line}");
        }
        mark(&mut trace);
        let shared = trace.shared("x");
        assert_eq!(
            (shared.stores, shared.shared_stores, shared.shared_lines),
            (6, 3, 2)
        );
    }
}
