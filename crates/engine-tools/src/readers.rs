//! The readers of an environment, with the system's facts about their processes.

use std::fs;
use std::time::Duration;

use fulgurite::{Environment, Error, FreePages, HeldPages, Reader, Txnid};

/// A reader, and its process.
#[derive(Debug, Clone)]
pub struct ReaderFacts {
    /// The reader.
    pub reader: Reader,
    /// The name of its process; empty if it is unknown.
    pub process: String,
    /// Its process is dead, and its slot is not cleared yet.
    pub is_dead: bool,
    /// The pages that it pins; `None` if they could not be counted.
    pub pages: Option<HeldPages>,
}

/// All readers except those of this process.
#[derive(Debug, Clone)]
pub(crate) struct Readers {
    pub(crate) list: Vec<ReaderFacts>,
}

/// Lists the readers of all other processes.
pub(crate) fn readers(environment: &Environment) -> Result<Readers, Error> {
    let dead = environment.dead_readers()?;
    let own = std::process::id();
    let all = environment.readers().unwrap_or_default();
    let facts = |reader: Reader| ReaderFacts {
        reader,
        process: process_name(reader.pid),
        is_dead: dead.contains(&reader.pid),
        pages: None,
    };
    let others = all.into_iter().filter(|reader| reader.pid != own);
    Ok(Readers {
        list: others.map(facts).collect(),
    })
}

impl Readers {
    /// Counts the pages that each pins.
    pub(crate) fn measure(&mut self, free: &FreePages) {
        let readers: Vec<Reader> = self.list.iter().map(|facts| facts.reader).collect();
        for (facts, pages) in self.list.iter_mut().zip(free.held_by(&readers)) {
            facts.pages = Some(pages);
        }
    }

    /// Returns the oldest snapshot of any reader.
    pub(crate) fn oldest(&self) -> Option<Txnid> {
        let snapshots = self.list.iter().filter_map(|facts| facts.reader.snapshot);
        snapshots.min()
    }
}

/// Returns the system's name of a process or thread.
pub(crate) fn process_name(number: u32) -> String {
    let name = fs::read(format!("/proc/{number}/comm")).unwrap_or_default();
    let name = String::from_utf8_lossy(&name);
    // A process chooses its name. Only letters of it may reach a terminal.
    name.trim_end()
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

/// Formats a time in few characters.
pub(crate) fn short_time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.2}s", time.as_secs_f64()),
        10..100 => format!("{:.1}s", time.as_secs_f64()),
        100..6_000 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        6_000..172_800 => format!("{}h{:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// Formats a number of bytes in few characters.
pub(crate) fn short_bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "K", "M", "G", "T"] {
        if value < 1024.0 {
            return if unit == "B" || value >= 100.0 {
                format!("{value:.0}{unit}")
            } else {
                format!("{value:.1}{unit}")
            };
        }
        value /= 1024.0;
    }
    format!("{value:.1}P")
}

/// Formats one line for each reader, the oldest first, below a line of headings.
pub(crate) fn table(readers: &[ReaderFacts]) -> String {
    let mut text = format!(
        "{:>8} {:<15} {:>16} {:>12} {:>8} {:>8} {:>9} {:>9}  {}\n",
        "PID", "PROCESS", "THREAD", "SNAPSHOT", "AGE", "LAG", "HOLDS", "ALONE", "STATE"
    );
    let mut sorted: Vec<&ReaderFacts> = readers.iter().collect();
    sorted.sort_by_key(|facts| (facts.reader.snapshot.is_none(), facts.reader.snapshot));
    for facts in sorted {
        text += &line(facts);
    }
    text
}

fn line(facts: &ReaderFacts) -> String {
    let reader = &facts.reader;
    let number = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let pages = facts.pages.filter(|_| reader.snapshot.is_some());
    let process = if facts.process.is_empty() {
        "-"
    } else {
        &facts.process
    };
    format!(
        "{:>8} {:<15} {:>16x} {:>12} {:>8} {:>8} {:>9} {:>9}  {}\n",
        reader.pid,
        process,
        reader.thread,
        number(reader.snapshot.map(|id| id.0)),
        reader.age.map_or("-".to_owned(), short_time),
        number(reader.snapshot.map(|_| reader.lag)),
        number(pages.map(|pages| pages.held)),
        number(pages.map(|pages| pages.freed_by_its_end)),
        state(facts)
    )
}

/// Describes a reader in a word.
pub(crate) fn state(facts: &ReaderFacts) -> &'static str {
    match (
        facts.is_dead,
        facts.reader.is_asked_to_end,
        facts.reader.snapshot,
    ) {
        (true, _, _) => "dead",
        (_, _, None) => "idle",
        (_, true, _) => "asked to end",
        _ => "reads",
    }
}
