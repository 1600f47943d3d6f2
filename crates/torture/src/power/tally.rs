//! Counts of tried states and their results.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::inspector::Outcome;

/// Counts of one mode.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Histories recorded.
    pub histories: u64,
    /// Moments at which the power went.
    pub cuts: u64,
    /// Cuts of which every state was tried.
    pub cuts_exhausted: u64,
    /// Disk states judged.
    pub states: u64,
    /// Of them, those that differ from all others of their history.
    pub distinct: u64,
    /// Of them, those that were laid out as a file, opened, read and checked by the engine.
    pub opened: u64,
    /// Of them, those that were also written to, and checked again.
    pub written: u64,
    /// States that hold no file, or an empty one.
    pub nothing: u64,
    /// States whose newer meta page is the newest committed, and whose snapshot is all there.
    pub newest: u64,
    /// The same for an older snapshot.
    pub older: u64,
    /// States whose newer meta page describes a snapshot that is not all there.
    pub broken: u64,
    /// Of them, those whose other meta page describes one that is.
    pub way_back: u64,
    /// States with a meta page that no commit left so, or none.
    pub unknown: u64,
    /// Of the opened states among the last two kinds: how opening and reading them ended.
    pub ends: BTreeMap<String, u64>,
    /// Time it took, summed over threads.
    pub time: Duration,
}

impl Tally {
    /// Adds the counts of another.
    pub fn add(&mut self, other: &Tally) {
        self.histories += other.histories;
        self.cuts += other.cuts;
        self.cuts_exhausted += other.cuts_exhausted;
        self.states += other.states;
        self.distinct += other.distinct;
        self.opened += other.opened;
        self.written += other.written;
        self.nothing += other.nothing;
        self.newest += other.newest;
        self.older += other.older;
        self.broken += other.broken;
        self.way_back += other.way_back;
        self.unknown += other.unknown;
        for (end, count) in &other.ends {
            *self.ends.entry(end.clone()).or_default() += count;
        }
        self.time += other.time;
    }

    /// Counts the results of opened states in which the judge found no whole snapshot. A torn meta
    /// page adds the kind of the tear, as in `forwards:whole`.
    ///
    /// `whole`: as promised. `older`: an older snapshot than was promised. `latent`: read without
    /// an error, but the check finds faults. `refused` by opening. `damaged`: an error when read.
    /// `wrong`: read without an error, but nobody ever committed that. `panicked`. `fresh`: a new,
    /// empty environment.
    #[must_use]
    pub fn ended(&self, end: &str) -> u64 {
        self.ends.get(end).copied().unwrap_or_default()
    }

    pub(super) fn end(&mut self, end: String) {
        *self.ends.entry(end).or_default() += 1;
    }

    /// The heading of the lines that a tally is printed as.
    #[must_use]
    pub fn heading() -> String {
        format!(
            "{:<17}{:>9}{:>8}{:>10}{:>12}{:>12}{:>10}{:>8}{:>11}{:>11}{:>10}{:>10}{:>9}{:>10}",
            "mode",
            "histories",
            "cuts",
            "exhausted",
            "states",
            "distinct",
            "opened",
            "written",
            "newest",
            "older",
            "nothing",
            "broken",
            "no meta",
            "states/s"
        )
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.states as f64 / self.time.as_secs_f64().max(1e-9);
        write!(
            f,
            "{:>9}{:>8}{:>10}{:>12}{:>12}{:>10}{:>8}{:>11}{:>11}{:>10}{:>10}{:>9}{:>10.0}",
            self.histories,
            self.cuts,
            self.cuts_exhausted,
            self.states,
            self.distinct,
            self.opened,
            self.written,
            self.newest,
            self.older,
            self.nothing,
            self.broken,
            self.unknown,
            rate
        )?;
        if self.broken > 0 {
            let share = 100.0 * self.way_back as f64 / self.broken as f64;
            write!(
                f,
                "\n    of the broken the previous snapshot is whole: {share:.1} %"
            )?;
        }
        if !self.ends.is_empty() {
            write!(f, "\n    opened although broken or without meta page:")?;
        }
        for (end, count) in &self.ends {
            write!(f, " {end} {count}")?;
        }
        Ok(())
    }
}

/// A word for an outcome, where so much was promised.
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
