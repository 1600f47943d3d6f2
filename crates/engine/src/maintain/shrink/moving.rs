//! The moving stage: finding pages after the mark, and waiting until their old positions are
//! unused.

use fulgurite_format::Pgno;

use super::compaction::{CompactStep, Compaction, Stage};
use super::mover::{self, MoveLimits};
use super::plan;
use super::resumable_walk::{ResumableWalk, RootRecords, WalkEvent, WalkPosition};
use crate::Environment;
use crate::boxed_error::BoxedError;
use crate::reader::may_be_reused;

/// Leaves that one step reads while writers go on.
const LEAVES_MAX: u64 = 1 << 14;
/// Leaves that one step reads as the writer.
const LEAVES_WRITER: u64 = 1 << 10;
/// Numbers of free pages that one step reads, and rewrites, to find low ones.
const FREE_READ_MAX: usize = 1 << 20;
/// Consecutive steps without a move before the rest is given up. Pages that a step frees become
/// usable two transactions later.
const ATTEMPTS: u32 = 6;

impl Compaction {
    /// Continues the walk for pages after the mark, and moves some if there are any.
    pub(super) fn advance(
        &mut self,
        environment: &Environment,
        mark: Pgno,
        position: WalkPosition,
    ) -> Result<CompactStep, BoxedError> {
        let Some(position) = self.look(environment, mark, position)? else {
            return Ok(CompactStep::Working);
        };
        let mut txn = environment.write()?;
        let bounds = MoveLimits {
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
            // Pages freed by earlier steps become usable after two more commits.
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

    /// Continues the walk without being the writer. Returns the position of the first page to move,
    /// if there is one.
    fn look(
        &mut self,
        environment: &Environment,
        mark: Pgno,
        position: WalkPosition,
    ) -> Result<Option<WalkPosition>, BoxedError> {
        let txn = environment.read()?;
        let meta = txn.meta()?;
        let roots = RootRecords {
            free: meta.free,
            main: meta.main,
        };
        let view = crate::txn::Sealed::pages(&txn);
        let mut leaves = LEAVES_MAX;
        let mut walk = ResumableWalk::resume(view, roots, &position)?;
        let found = walk.find(view, roots, mark, &mut leaves)?;
        self.leaves += LEAVES_MAX - leaves;
        plan::check_rounds(self.leaves, meta.last)?;
        let position = walk.position();
        match found {
            WalkEvent::End => self.stage = Stage::Settle,
            WalkEvent::LeafLimit => self.stage = Stage::Move { mark, position },
            WalkEvent::Page | WalkEvent::Run { .. } => return Ok(Some(position)),
        }
        Ok(None)
    }

    /// Waits until no snapshot needs the old positions of moved pages.
    pub(super) fn settle(&mut self, environment: &Environment) -> Result<CompactStep, BoxedError> {
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
            // The other meta page still refers to them. One more commit replaces it.
            txn.pages.force_commit();
            txn.commit()?;
            self.report.commits += 1;
        }
        Ok(CompactStep::Working)
    }
}
