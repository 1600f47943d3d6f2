//! Counts of tried states and their results.

use std::fmt;
use std::time::Duration;

use super::inspector::Outcome;
use crate::tally::Tally;

/// The counted kinds of histories, cuts and states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Count {
    /// Histories recorded.
    Histories,
    /// Moments at which the power went.
    Cuts,
    /// Cuts of which every state was tried.
    CutsExhausted,
    /// Disk states judged.
    States,
    /// Of them, those that differ from all others of their history.
    Distinct,
    /// Of them, those that the engine opened, read and checked as a file.
    Opened,
    /// Of them, those that were also written to, and checked again.
    Written,
    /// States whose newer meta page is the newest committed, and whose snapshot is whole.
    Newest,
    /// The same for an older snapshot.
    Older,
    /// States that hold no file, or an empty one.
    Nothing,
    /// States whose newer meta page describes a snapshot that is not whole.
    Broken,
    /// Of them, those whose other meta page describes a whole one.
    WayBack,
    /// States with a meta page that no commit left so, or none.
    Unknown,
    /// Moments that were opened as after the end of the process alone.
    ProcessEnds,
}

impl Count {
    /// The columns of the table, and their widths.
    const COLUMNS: [(Count, &'static str, usize); 12] = [
        (Count::Histories, "histories", 9),
        (Count::Cuts, "cuts", 8),
        (Count::CutsExhausted, "exhausted", 10),
        (Count::States, "states", 12),
        (Count::Distinct, "distinct", 12),
        (Count::Opened, "opened", 10),
        (Count::Written, "written", 8),
        (Count::Newest, "newest", 11),
        (Count::Older, "older", 11),
        (Count::Nothing, "nothing", 10),
        (Count::Broken, "broken", 10),
        (Count::Unknown, "no meta", 9),
    ];
}

/// Counts of one mode.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModeTally {
    /// Histories, cuts and states.
    pub counts: Tally<Count>,
    /// Results of the opened states in which the judge found no whole snapshot. A torn meta page
    /// adds the kind of the tear, as in `forwards:whole`.
    ///
    /// `whole`: as promised. `older`: an older snapshot than was promised. `latent`: read without
    /// an error, but the check finds faults. `refused` by opening. `damaged`: an error when read.
    /// `wrong`: read without an error, but nobody ever committed that. `panicked`. `fresh`: a new,
    /// empty environment.
    pub ends: Tally<String>,
    /// Time it took, summed over threads.
    pub time: Duration,
}

impl ModeTally {
    /// Returns a count.
    #[must_use]
    pub fn of(&self, count: Count) -> u64 {
        self.counts.of(&count)
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &ModeTally) {
        self.counts.merge(&other.counts);
        self.ends.merge(&other.ends);
        self.time += other.time;
    }

    /// The heading of the lines that a tally is printed as.
    #[must_use]
    pub fn heading() -> String {
        let columns = Count::COLUMNS.map(|(_, title, width)| format!("{title:>width$}"));
        format!("{:<17}{}{:>10}", "mode", columns.concat(), "states/s")
    }
}

impl fmt::Display for ModeTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (count, _, width) in Count::COLUMNS {
            write!(f, "{:>width$}", self.of(count))?;
        }
        let rate = self.of(Count::States) as f64 / self.time.as_secs_f64().max(1e-9);
        write!(f, "{rate:>10.0}")?;
        let broken = self.of(Count::Broken);
        if broken > 0 {
            let share = 100.0 * self.of(Count::WayBack) as f64 / broken as f64;
            write!(
                f,
                "\n    of the broken the previous snapshot is whole: {share:.1} %"
            )?;
        }
        if !self.ends.is_empty() {
            write!(f, "\n    opened although broken or without meta page:")?;
        }
        for (end, count) in self.ends.iter() {
            write!(f, " {end} {count}")?;
        }
        Ok(())
    }
}

/// Returns a word for an outcome, after a promised snapshot.
pub(super) fn word(outcome: &Outcome, promised: Option<usize>) -> &'static str {
    match outcome {
        Outcome::Fresh => "fresh",
        Outcome::Snapshot(found) | Outcome::Latent(found, _) if Some(*found) < promised => "older",
        Outcome::Snapshot(_) => "whole",
        Outcome::Latent(..) => "latent",
        Outcome::Refused(_) => "refused",
        Outcome::Damaged(_) => "damaged",
        Outcome::Wrong(_) => "wrong",
        Outcome::Panicked => "panicked",
    }
}
