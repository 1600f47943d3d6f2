//! How short the file can become, and whether another round is worth it.

use fulgurite_format::{FreeRecord, Malformed, Pgno};

use super::walk::Position;
use super::{CompactStep, Compaction, Stage};
use crate::env::Database;
use crate::space::free_tree;
use crate::tree::{self, LeafStep, Pages, Path};
use crate::txn::Sealed as _;
use crate::{Environment, Error, ReadTxn, value};

/// Pages that one transaction moves, at most.
const PAGES_PER_STEP: u64 = 256;
/// Free pages left beside twice that: branches are copied, and the free list has pages of its own.
const SPARE_PAGES: u64 = 48;

/// Rounds in which overflow runs without a place are tried again.
const ROUNDS_STUCK: u32 = 4;

/// How many pages one transaction moves in a file of so many pages in use: in small files less room is left free.
pub(super) fn pages_per_step(live: u64) -> usize {
    (live / 64).clamp(8, PAGES_PER_STEP) as usize
}

/// No sound round looks at more leaves than these: twice for each page, and what a step may look at in vain.
pub(super) fn check_rounds(leaves: u64, last: Pgno) -> Result<(), Error> {
    if leaves > 16 * last.0 + (1 << 20) {
        return Err(Error::at(last)(Malformed::Cycle));
    }
    Ok(())
}

impl Compaction {
    /// Decides where the mark is.
    pub(super) fn plan(&mut self, environment: &Environment) -> Result<CompactStep, Error> {
        let txn = environment.read()?;
        let page_size = environment.handle().mapping().page_size() as u64;
        let last = txn.last_page().0;
        let live = (last + 1).saturating_sub(free_pages(&txn)?);
        drop(txn);
        if self.report.octets_before == 0 {
            self.report.octets_before = environment.handle().mapping().refresh_len()?;
        }
        self.report.pages_live = live;
        let is_first = self.round_last == 0;
        let gained = self.round_last.saturating_sub(last);
        self.round_last = last;
        self.leaves = 0;
        self.attempts = 0;
        self.is_rotated = false;
        // Marks below this one would leave no room to move anything.
        let least = live + 3 * pages_per_step(live) as u64 + SPARE_PAGES;
        let mark = least.max(self.until_octets / page_size);
        self.rounds += 1;
        // Runs that found no place may find one where others were before.
        let has_stuck = self.report.runs_stuck > 0 && self.rounds <= ROUNDS_STUCK;
        let is_worth_it = is_first || has_stuck || gained > last / 64;
        self.stage = if last > mark + mark / 64 && is_worth_it {
            self.report.runs_stuck = 0;
            Stage::Move {
                mark: Pgno(mark),
                position: Position::default(),
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

/// Number of pages on the free list. Reads it all.
fn free_pages(txn: &ReadTxn<'_>) -> Result<u64, Error> {
    let view = txn.pages();
    let free = free_tree(txn.tree(Database::FREE_LIST)?.record);
    let mut path = Path::new();
    let mut found = tree::first(view, &free, &mut path)?;
    let mut pages = 0;
    let mut records = 0;
    while let Some(leaf) = path.leaf().filter(|_| found) {
        let node = view.leaf_node(leaf)?;
        let list = value::value_of(view, leaf.pgno, &node)?;
        let list = FreeRecord::parse(list, view.last()).map_err(Error::at(leaf.pgno))?;
        pages += list.len() as u64;
        records += 1;
        // More than there are pages can only be met in circles.
        if pages.max(records / 512) > view.last().0 {
            return Err(Error::at(leaf.pgno)(Malformed::Cycle));
        }
        found = tree::next(view, &free, &mut path)? != LeafStep::AtEnd;
    }
    Ok(pages)
}
