//! Moving pages from after a mark to free pages before it, in one write transaction.

use fulgurite_format::Pgno;

use super::resumable_walk::{ResumableWalk, RootRecords, RootTree, WalkEvent, WalkPosition};
use crate::boxed_error::BoxedError;
use crate::opened::Database;
use crate::space::refer_to;
use crate::tree::{self, PagesMut, Tree};
use crate::{Error, WriteTxn, value};

/// Free pages kept for saving the free list, besides those for the path to a page.
const RESERVE: usize = 16;

/// The outcome of moving pages.
#[derive(Debug)]
pub(super) struct MoveOutcome {
    /// Pages after the mark that were moved before it.
    pub(super) pages: u64,
    /// True if any page of the snapshot was made dirty.
    pub(super) changed: bool,
    /// True if the free pages before the mark ran out.
    pub(super) no_room: bool,
    /// Overflow runs that found too few consecutive free pages.
    pub(super) stuck: u64,
    /// The position to continue at; `None` at the end.
    pub(super) next: Option<WalkPosition>,
}

/// The limits of one transaction.
#[derive(Debug, Clone, Copy)]
pub(super) struct MoveLimits {
    pub(super) mark: Pgno,
    /// Leaves read.
    pub(super) leaves: u64,
    /// Pages moved, those on the paths to them included.
    pub(super) pages: usize,
    /// Numbers of free pages read.
    pub(super) free_read: usize,
}

/// Moves pages from `position` on. It does not commit the transaction.
pub(super) fn move_pages(
    txn: &mut WriteTxn<'_>,
    position: &WalkPosition,
    bounds: MoveLimits,
) -> Result<MoveOutcome, BoxedError> {
    let mut main = txn.main()?;
    let mark = bounds.mark;
    let wanted = 2 * bounds.pages + 4 * RESERVE;
    let at_first = txn.pages.gather_low(mark, wanted, bounds.free_read)?;
    let mut walk = ResumableWalk::resume(txn.pages.view(), roots(txn, &main), position)?;
    let mut leaves = bounds.leaves;
    let mut moved = MoveOutcome {
        pages: 0,
        changed: false,
        no_room: false,
        stuck: 0,
        next: None,
    };
    loop {
        let low = txn.pages.low_pages(mark)?;
        if at_first.saturating_sub(low) >= bounds.pages {
            break;
        }
        let roots = roots(txn, &main);
        let found = walk.find(txn.pages.view(), roots, mark, &mut leaves)?;
        match found {
            WalkEvent::End => return finish(txn, main, moved),
            WalkEvent::LeafLimit => break,
            WalkEvent::Page | WalkEvent::Run { .. } => {}
        }
        // Saving the free list takes at least as many pages as its tree has levels.
        let reserve = RESERVE + 4 * usize::from(txn.pages.free.record.depth);
        if low < walk.len() + reserve {
            moved.no_room = true;
            break;
        }
        moved.changed = true;
        touch(txn, &mut walk, &mut main)?;
        match found {
            WalkEvent::Run { first, count } => {
                if move_run(txn, &walk, first, count, bounds)? {
                    moved.pages += count;
                } else {
                    moved.stuck += 1;
                }
                walk.step_over();
            }
            _ if txn.pages.low_pages(mark)? < low => moved.pages += 1,
            // The page was dirty already and is not before the mark, so touching it took no page.
            _ => {
                moved.stuck += 1;
                walk.step_over();
            }
        }
        txn.pages.spill_if_full()?;
    }
    moved.next = Some(walk.position());
    finish(txn, main, moved)
}

fn finish(
    txn: &mut WriteTxn<'_>,
    main: Tree,
    moved: MoveOutcome,
) -> Result<MoveOutcome, BoxedError> {
    if moved.changed {
        txn.set_tree(Database::MAIN, main);
    }
    Ok(moved)
}

pub(super) fn roots(txn: &WriteTxn<'_>, main: &Tree) -> RootRecords {
    RootRecords {
        free: txn.pages.free.record,
        main: main.record,
    }
}

/// Makes all pages on the path dirty, which gives them low numbers. It stores each tree's new root
/// in the tree's record.
fn touch(
    txn: &mut WriteTxn<'_>,
    walk: &mut ResumableWalk,
    main: &mut Tree,
) -> Result<(), BoxedError> {
    // The free list may be the tree that changes, so it must not be read meanwhile.
    let held = txn.pages.hold_free_list(true);
    for index in 0..walk.frames.len() {
        let (outer, inner) = walk.frames.split_at_mut(index);
        let Some(frame) = inner.first_mut() else {
            break;
        };
        tree::touch_path(&mut txn.pages, &mut frame.tree, &mut frame.path)?;
        match outer.last() {
            Some(holder) => {
                let leaf = tree::leaf_of(&holder.path, &holder.tree)?;
                let data = value::leaf_data(&mut txn.pages, leaf)?;
                let record = frame.tree.record.to_bytes();
                let room = data.first_chunk_mut();
                *room.ok_or(Error::BeyondEnd(leaf.pgno))? = record;
            }
            None if walk.root == RootTree::FreeList => txn.pages.free = frame.tree,
            None => *main = frame.tree,
        }
    }
    txn.pages.hold_free_list(held);
    Ok(())
}

/// Moves the run of the current entry, whose leaf is dirty.
fn move_run(
    txn: &mut WriteTxn<'_>,
    walk: &ResumableWalk,
    first: Pgno,
    count: u64,
    bounds: MoveLimits,
) -> Result<bool, BoxedError> {
    let Some(frame) = walk.frames.last() else {
        return Ok(false);
    };
    let leaf = tree::leaf_of(&frame.path, &frame.tree)?;
    let to = txn
        .pages
        .move_run(first, count, bounds.mark, bounds.free_read)?;
    match to {
        Some(to) => refer_to(&mut txn.pages, leaf, to).map(|()| true),
        None => Ok(false),
    }
}
