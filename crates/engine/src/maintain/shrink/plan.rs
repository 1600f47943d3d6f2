//! The plan of a round: the length that the file can get, and whether another round is worth it.

use fulgurite_format::{Malformed, Pgno};

use super::compaction::{CompactStep, Compaction, Stage};
use super::resumable_walk::WalkPosition;
use crate::boxed_error::BoxedError;
use crate::maintain::free_list::free_page_count;
use crate::opened::Database;
use crate::txn::Sealed as _;
use crate::{Environment, Error};

/// The most pages that one transaction moves.
const PAGES_PER_STEP: u64 = 256;
/// Free pages left in addition to twice that: branches are copied, and the free list has its own
/// pages.
const SPARE_PAGES: u64 = 48;

/// Rounds in which overflow runs without a place are tried again.
const ROUNDS_STUCK: u32 = 4;

/// Returns the pages that one transaction moves. In small files it moves fewer, so less room has to
/// stay free.
pub(super) fn pages_per_step(live: u64) -> usize {
    (live / 64).clamp(8, PAGES_PER_STEP) as usize
}

/// Fails if a round has read more leaves than a sound one can: each page twice and one step.
pub(super) fn check_rounds(leaves: u64, last: Pgno) -> Result<(), BoxedError> {
    if leaves > 16 * last.0 + (1 << 20) {
        return Err(Error::at(last)(Malformed::Cycle));
    }
    Ok(())
}

impl Compaction {
    /// Sets the mark.
    pub(super) fn plan(&mut self, environment: &Environment) -> Result<CompactStep, BoxedError> {
        let txn = environment.read()?;
        let page_size = environment.handle().mapping().page_size() as u64;
        let last = txn.last_page().0;
        let live = (last + 1).saturating_sub(free_page_count(
            txn.pages(),
            &txn.tree(Database::FREE_LIST)?.record,
            txn.last_page(),
        )?);
        drop(txn);
        if self.report.bytes_before == 0 {
            self.report.bytes_before = environment.handle().mapping().refresh_len()?;
        }
        self.report.pages_live = live;
        let is_first = self.round_last == 0;
        let gained = self.round_last.saturating_sub(last);
        self.round_last = last;
        self.leaves = 0;
        self.attempts = 0;
        self.is_rotated = false;
        // A lower mark would leave no room to move anything.
        let least = live + 3 * pages_per_step(live) as u64 + SPARE_PAGES;
        let mark = least.max(self.until_bytes / page_size);
        self.rounds += 1;
        // Runs that found no place may find one that other pages left.
        let has_stuck = self.report.runs_stuck > 0 && self.rounds <= ROUNDS_STUCK;
        let is_worth_it = is_first || has_stuck || gained > last / 64;
        self.stage = if last > mark + mark / 64 && is_worth_it {
            self.report.runs_stuck = 0;
            Stage::Move {
                mark: Pgno(mark),
                position: WalkPosition::default(),
            }
        } else if is_first {
            Stage::Lower
        } else if self.punch {
            Stage::Punch(fulgurite_format::Txnid(0), 0)
        } else {
            Stage::Done
        };
        Ok(CompactStep::Working)
    }
}
