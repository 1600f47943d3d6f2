//! Workloads as data: a table of rows with action, size, participants and target.

pub(crate) mod data;
mod table;

pub(crate) use table::table;

use serde::{Deserialize, Serialize};

use crate::store::{Ability, Durability};

/// One row of the table.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) part: Part,
    pub(crate) action: Action,
    /// There when the work begins, or, where that is nothing, when it is done. Divided by
    /// `--scale`, as `operations`.
    pub(crate) records: u64,
    pub(crate) value_bytes: usize,
    /// The divisor of the time.
    pub(crate) operations: u64,
    /// Records to a transaction.
    pub(crate) batch: u64,
    pub(crate) threads: u64,
    pub(crate) durability: Durability,
    pub(crate) medium: Medium,
    pub(crate) participants: Participants,
    pub(crate) figure: Figure,
    /// Of each operation, the time it took is kept.
    pub(crate) latencies: bool,
    pub(crate) tier: Tier,
}

/// The action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// All records, in order; several times over.
    ReadForward,
    /// The same, without a look at the values.
    ReadKeys,
    /// The same, with a look at every byte of the values.
    ReadWhole,
    ReadBackward,
    ReadRandom,
    ReadMissing,
    /// Random keys, as many at a time as the engine likes.
    ReadMany,
    /// From random keys, this many records each.
    ReadRange(u64),
    /// A snapshot taken and given up.
    Begin,
    /// A snapshot taken anew.
    Renew,
    /// New records into an empty store.
    FillForward,
    FillScattered,
    Append,
    /// Random records get a new value.
    Overwrite,
    /// All records, in no order.
    Delete,
    /// The oldest record goes, a new one comes.
    Churn,
    /// Threads that read while one more writes.
    ReadBesideWriter,
    /// Threads that store one record each, durably.
    Submit,
    Copy,
    /// Overwriting after a reader has held a snapshot for many transactions.
    OverwriteAfterReader,
    /// Large values into a file whose free pages are single ones.
    FillFragmented,
}

/// A section of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Reads,
    Writes,
    Durable,
    Large,
    Duplicates,
    Concurrent,
    Space,
    Growth,
    Cores,
}

impl Part {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Part::Reads => "Reads",
            Part::Writes => "Writes",
            Part::Durable => "Durable writes",
            Part::Large => "Large values",
            Part::Duplicates => "Several values to a key",
            Part::Concurrent => "Readers beside a writer",
            Part::Space => "Space, reused and copied",
            Part::Growth => "As the store grows",
            Part::Cores => "With more threads",
        }
    }
}

/// Where files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Medium {
    /// In memory: what is measured is the program.
    Memory,
    Disk,
}

/// The engines that take part, if able.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Participants {
    All,
    /// Engines with LMDB's files.
    LmdbFiles,
}

/// The figure of ratios.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Figure {
    /// CPU time of all threads, which a busy machine disturbs little.
    Cpu,
    /// Time on the clock, where waiting is what matters.
    Wall,
    /// Octets, of memory or of a disk.
    Bytes,
}

/// The runs that have the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    Short,
    Full,
}

/// The store's content when a workload begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Content {
    pub(crate) records: u64,
    pub(crate) value_bytes: usize,
    pub(crate) duplicates: bool,
}

/// Values of each key, where keys have several.
pub(crate) const VALUES_EACH: u64 = 100;

impl Workload {
    /// The store to begin with, `None` for an empty one.
    pub(crate) fn content(&self) -> Option<Content> {
        let fresh = matches!(
            self.action,
            Action::FillForward | Action::FillScattered | Action::Append | Action::FillFragmented
        );
        (!fresh).then_some(Content {
            records: self.records,
            value_bytes: self.value_bytes,
            duplicates: self.has_duplicates(),
        })
    }

    pub(crate) fn has_duplicates(&self) -> bool {
        self.part == Part::Duplicates
    }

    /// True if it leaves the store unchanged, so that the next may have it.
    pub(crate) fn only_reads(&self) -> bool {
        matches!(
            self.action,
            Action::ReadForward
                | Action::ReadKeys
                | Action::ReadWhole
                | Action::ReadBackward
                | Action::ReadRandom
                | Action::ReadMissing
                | Action::ReadMany
                | Action::ReadRange(_)
                | Action::Begin
                | Action::Renew
                | Action::Copy
        )
    }

    /// Returns the ability that an engine needs for the workload.
    pub(crate) fn needs(&self) -> Option<Ability> {
        match self.action {
            Action::ReadBackward => Some(Ability::Backwards),
            Action::Begin => Some(Ability::Begin),
            Action::Renew => Some(Ability::Renew),
            Action::Copy => Some(Ability::Copies),
            Action::Submit => Some(Ability::Writers),
            _ if self.has_duplicates() => Some(Ability::Duplicates),
            _ => None,
        }
    }

    /// The row with everything divided, for short runs and for counting.
    pub(crate) fn scaled(mut self, scale: u64) -> Self {
        let least = match self.durability {
            Durability::Synchronous => 100,
            Durability::Asynchronous if self.value_bytes > 10_000 => 20,
            Durability::Asynchronous => 1000,
        };
        let divide = |number: u64| (number / scale).max(least.min(number));
        self.records = divide(self.records);
        self.operations = divide(self.operations);
        self
    }
}
