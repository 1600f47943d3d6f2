//! Online compaction: the pages at the end of the file move to free places before them, the file ends earlier, and what is
//! behind its end goes back to the file system; while readers and writers go on, those with the original library too.
//!
//! ```text
//!   plan       live pages + some room = the mark
//!   move       small write transactions copy what lies behind the mark to free pages before it
//!              |..live..free..live..free..|mark|..live..free..|last
//!   settle     until nobody, nor the other meta page, sees the old places any more
//!   lower      a commit whose last page is lower, and whose free list has no pages behind it
//!   cut off    once that is durable and no reader is older: the file gets shorter
//! ```
//!
//! Copy on write does all of it: a page is moved by changing the way to it, as any change would, with the difference that
//! only free pages before the mark are taken. So nothing here is new to other processes but a last page that is lower than
//! before, and a file that is shorter. Both were tried with the original library beside: a writer takes its last page
//! from the meta page at each beginning, and writes, which makes the file longer again; a reader touches reachable pages
//! only. What no process may have is a map it *stores* through ([`crate::OpenOptions::write_map`]): it stores behind the
//! file's end without asking, which kills it. So where another process has one, or may have, the file keeps its length
//! and the tail becomes a hole ([`CompactReport::kept_length`]).
//!
//! What stays where it is: overflow runs for which there are not enough free pages in a row, and all that long readers
//! hold.

mod cut;
mod mover;
mod plan;
mod walk;

use fulgurite_format::{Pgno, Txnid};

use crate::reader::may_be_reused;
use crate::{Environment, Error};
use mover::Bounds;
use walk::{Position, Roots, Walk};

/// Leaves that one step looks at while it holds nobody up.
const LEAVES_MAX: u64 = 1 << 14;
/// Leaves that one step looks at as the writer.
const LEAVES_WRITER: u64 = 1 << 10;
/// Numbers of free pages that one step reads, and so writes again, to find low ones.
const FREE_READ_MAX: usize = 1 << 20;
/// Steps that can move nothing, one after the other, before the rest is given up: what a step frees is of use two
/// transactions later.
const ATTEMPTS: u32 = 6;

/// A compaction under way: what is to be done, how far it is, and what came of it. Advance it with
/// [`Environment::compact_step`].
///
/// It holds no lock and no snapshot between steps. Dropping it leaves the environment sound: what was moved stays moved.
#[derive(Debug, Default)]
pub struct Compaction {
    until_octets: u64,
    punch: bool,
    stage: Stage,
    report: CompactReport,
    /// The last transaction that moved pages: what it freed may be of use to older readers.
    moved_by: Option<Txnid>,
    /// The last transaction that lowered the last page: the file is longer than it says.
    lowered_by: Option<Txnid>,
    attempts: u32,
    rounds: u32,
    /// Whether a commit in this round has made the last one's free pages usable.
    is_rotated: bool,
    /// Leaves looked at in this round, against walks in circles.
    leaves: u64,
    /// The last page when this round began.
    round_last: u64,
}

/// What a step did, and whether there is more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactStep {
    /// Call again; at once, or later if others should have the disk.
    Working,
    /// Nothing can be done before a reader, or several, have ended: the oldest reads this snapshot. Call again then, or
    /// never.
    Waiting(Txnid),
    /// All is done that can be done.
    Done,
}

/// What came of a compaction so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompactReport {
    /// Length of the file in octets when it began.
    pub octets_before: u64,
    /// Length of the file in octets after the last step.
    pub octets_after: u64,
    /// Pages in use by the newest snapshot, as planned with last.
    pub pages_live: u64,
    /// Pages that were moved.
    pub pages_moved: u64,
    /// Overflow runs that could not be moved in the last round: there were not enough free pages in a row.
    pub runs_stuck: u64,
    /// Write transactions committed.
    pub commits: u64,
    /// Octets given back to the file system as holes in a file of unchanged length.
    pub octets_punched: u64,
    /// The process that, by changing the file through its map, keeps it from being cut off; 0 if it cannot be told which.
    pub kept_length: Option<u32>,
}

/// How far a compaction is.
#[derive(Debug, Clone, Default)]
enum Stage {
    #[default]
    Plan,
    Move {
        mark: Pgno,
        position: Position,
    },
    Settle,
    Lower,
    CutOff,
    /// Free pages inside the file become holes, from this record of the free list on.
    Punch(Txnid, usize),
    Done,
}

impl Compaction {
    /// A compaction that makes the file as short as it can.
    #[must_use]
    pub fn new() -> Compaction {
        Compaction::default()
    }

    /// The file need not become shorter than this many octets.
    #[must_use]
    pub fn until_octets(mut self, octets: u64) -> Compaction {
        self.until_octets = octets;
        self
    }

    /// Gives free pages inside the file back to the file system too, as holes. They are filled again when the pages are
    /// used again; a file with many is read back in more pieces.
    #[must_use]
    pub fn punch_free_pages(mut self, yes: bool) -> Compaction {
        self.punch = yes;
        self
    }

    /// What came of it so far.
    #[must_use]
    pub const fn report(&self) -> CompactReport {
        self.report
    }

    /// Gives up moving more: what follows only gives back what is free at the end already. `false` if it was past moving
    /// anyway, so that nothing is different now.
    pub fn stop_moving(&mut self) -> bool {
        let moves = matches!(self.stage, Stage::Plan | Stage::Move { .. } | Stage::Settle);
        if moves {
            self.until_octets = u64::MAX;
            self.stage = Stage::Lower;
        }
        moves
    }
}

impl Environment {
    /// Does a bounded piece of a compaction: at most one write transaction, which waits for its turn as any other.
    ///
    /// A step looks at 16,384 leaves at most without holding anybody up, or as the writer at 1,024 and moves 256 pages or
    /// so; beside that it reads and writes again up to eight mebioctets of the free list, and the first step counts all of
    /// it. A step that has the file cut off waits until everything is durable, whatever the durability of the
    /// environment. The file's length never changes below a snapshot that anybody reads.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; what [`Environment::read`], [`Environment::write`] and [`crate::WriteTxn::commit`] give;
    /// [`Error::Corrupted`] for a damaged page. The environment is as after any failed transaction.
    pub fn compact_step(&self, compaction: &mut Compaction) -> Result<CompactStep, Error> {
        if self.handle().is_read_only() {
            return Err(Error::ReadOnly);
        }
        let step = match compaction.stage.clone() {
            Stage::Plan => compaction.plan(self),
            Stage::Move { mark, position } => compaction.advance(self, mark, position),
            Stage::Settle => compaction.settle(self),
            Stage::Lower => compaction.lower(self),
            Stage::CutOff => compaction.cut_off(self),
            Stage::Punch(id, at) => compaction.punch(self, id, at),
            Stage::Done => Ok(CompactStep::Done),
        };
        compaction.report.octets_after = self.handle().mapping().refresh_len()?;
        step
    }
}

impl Compaction {
    /// Looks on for pages behind the mark, and moves some if there are any.
    fn advance(
        &mut self,
        environment: &Environment,
        mark: Pgno,
        position: Position,
    ) -> Result<CompactStep, Error> {
        let Some(position) = self.look(environment, mark, position)? else {
            return Ok(CompactStep::Working);
        };
        let mut txn = environment.write()?;
        let bounds = Bounds {
            mark,
            leaves: LEAVES_WRITER,
            pages: plan::pages_per_step(self.report.pages_live),
            free_read: FREE_READ_MAX,
        };
        let id = txn.id();
        let moved = mover::move_pages(&mut txn, &position, bounds)?;
        self.report.pages_moved += moved.pages;
        self.report.runs_stuck += moved.stuck;
        self.leaves += bounds.leaves;
        if moved.changed {
            self.moved_by = Some(id);
            self.attempts = 0;
        } else if moved.no_room {
            self.attempts += 1;
            let oldest = txn.pages.oldest()?;
            if oldest.0 + 1 < id.0 && self.attempts > 2 {
                self.attempts = 0;
                return Ok(CompactStep::Waiting(oldest));
            }
            // What earlier steps freed can be used once two more have been committed.
            txn.pages.force_commit();
        }
        txn.commit()?;
        self.report.commits += 1;
        self.stage = match moved.next {
            Some(position) if self.attempts < ATTEMPTS => Stage::Move { mark, position },
            _ => Stage::Settle,
        };
        Ok(CompactStep::Working)
    }

    /// Looks on without being the writer; returns the place of the first page to move, if there is one near.
    fn look(
        &mut self,
        environment: &Environment,
        mark: Pgno,
        position: Position,
    ) -> Result<Option<Position>, Error> {
        let txn = environment.read()?;
        let meta = txn.meta()?;
        let roots = Roots {
            free: meta.free,
            main: meta.main,
        };
        let view = crate::txn::Sealed::pages(&txn);
        let mut leaves = LEAVES_MAX;
        let mut walk = Walk::resume(view, roots, &position)?;
        let found = walk.find(view, roots, mark, &mut leaves)?;
        self.leaves += LEAVES_MAX - leaves;
        plan::check_rounds(self.leaves, meta.last)?;
        let position = walk.position();
        match found {
            walk::Found::End => self.stage = Stage::Settle,
            walk::Found::Enough => self.stage = Stage::Move { mark, position },
            walk::Found::Page | walk::Found::Run { .. } => return Ok(Some(position)),
        }
        Ok(None)
    }

    /// Waits until nobody needs the old places of what was moved.
    fn settle(&mut self, environment: &Environment) -> Result<CompactStep, Error> {
        let Some(moved_by) = self.moved_by else {
            self.stage = Stage::Lower;
            return Ok(CompactStep::Working);
        };
        let mut txn = environment.write()?;
        let oldest = txn.pages.oldest()?;
        if may_be_reused(moved_by, oldest) {
            self.moved_by = None;
            self.stage = Stage::Lower;
        } else if oldest.0 + 1 < txn.id().0 {
            return Ok(CompactStep::Waiting(oldest));
        } else {
            // The other meta page is in the way: one more commit, and it is another.
            txn.pages.force_commit();
            txn.commit()?;
            self.report.commits += 1;
        }
        Ok(CompactStep::Working)
    }
}
