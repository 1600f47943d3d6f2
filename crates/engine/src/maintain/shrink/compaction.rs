//! The state of a compaction between its steps.

use fulgurite_format::{Pgno, Txnid};

use super::resumable_walk::WalkPosition;

/// A compaction in progress: its task, its stage and its report.
/// [`Environment::compact_step`](crate::Environment::compact_step) advances it.
///
/// It holds no lock and no snapshot between steps. Dropping it leaves the environment sound: moved
/// pages stay moved.
#[derive(Debug, Default)]
pub struct Compaction {
    pub(super) until_bytes: u64,
    pub(super) punch: bool,
    pub(super) stage: Stage,
    pub(super) report: CompactReport,
    /// The last transaction that moved pages. Older readers may still read the old positions.
    pub(super) moved_by: Option<Txnid>,
    /// The last transaction that lowered the last page. Since then the file is longer than it says.
    pub(super) lowered_by: Option<Txnid>,
    pub(super) attempts: u32,
    pub(super) rounds: u32,
    /// True if a commit in this round has made the last transaction's free pages usable.
    pub(super) is_rotated: bool,
    /// Leaves read in this round, which bounds walks in cycles.
    pub(super) leaves: u64,
    /// The last page when this round began.
    pub(super) round_last: u64,
}

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactStep {
    /// There is more to do. Call again, at once or later.
    Working,
    /// Nothing can be done before readers end; the oldest reads this snapshot. Call again then, or
    /// never.
    Waiting(Txnid),
    /// Everything possible is done.
    Done,
}

/// The report of a compaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompactReport {
    /// Length of the file in bytes when it began.
    pub bytes_before: u64,
    /// Length of the file in bytes after the last step.
    pub bytes_after: u64,
    /// Pages that the newest snapshot uses, when the last round was planned.
    pub pages_live: u64,
    /// Pages moved.
    pub pages_moved: u64,
    /// Overflow runs that found no place in the last round, because there were too few consecutive
    /// free pages.
    pub runs_stuck: u64,
    /// Write transactions committed.
    pub commits: u64,
    /// Bytes given back to the file system as holes, while the file kept its length.
    pub bytes_punched: u64,
    /// The process whose writable map keeps the file from being cut off; 0 if it is unknown.
    pub kept_length: Option<u32>,
}

/// The stage of a compaction.
#[derive(Debug, Clone, Default)]
pub(super) enum Stage {
    #[default]
    Plan,
    Move {
        mark: Pgno,
        position: WalkPosition,
    },
    Settle,
    Lower,
    CutOff,
    /// Free pages inside the file become holes, from this record of the free list on.
    Punch(Txnid, usize),
    Done,
}

impl Compaction {
    /// Makes a compaction that makes the file as short as it can.
    #[must_use]
    pub fn new() -> Compaction {
        Compaction::default()
    }

    /// Stops when the file has this many bytes.
    #[must_use]
    pub fn until_bytes(mut self, bytes: u64) -> Compaction {
        self.until_bytes = bytes;
        self
    }

    /// Also gives free pages inside the file back to the file system, as holes.
    ///
    /// A hole is filled again when its pages are used again. A file with many holes is read in more
    /// pieces.
    #[must_use]
    pub fn punch_free_pages(mut self, yes: bool) -> Compaction {
        self.punch = yes;
        self
    }

    /// Returns the report so far.
    #[must_use]
    pub const fn report(&self) -> CompactReport {
        self.report
    }

    /// Stops moving pages: further steps only give back the pages that are free at the end already.
    ///
    /// Returns false if the compaction had finished moving, so nothing changes.
    pub fn stop_moving(&mut self) -> bool {
        let moves = matches!(self.stage, Stage::Plan | Stage::Move { .. } | Stage::Settle);
        if moves {
            self.until_bytes = u64::MAX;
            self.stage = Stage::Lower;
        }
        moves
    }
}
