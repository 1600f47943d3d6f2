//! Moving pages from behind a mark to free ones before it, in one write transaction.

use fulgurite_format::Pgno;

use super::walk::{Found, Position, Root, Roots, Walk};
use crate::env::Database;
use crate::space::refer_to;
use crate::tree::{self, PagesMut, Tree};
use crate::{Error, WriteTxn, value};

/// Free pages left alone, beside what the way to a page needs, for saving the free list.
const RESERVE: usize = 16;

/// What came of moving pages.
#[derive(Debug)]
pub(super) struct Moved {
    /// Pages behind the mark that were given a place before it.
    pub(super) pages: u64,
    /// Whether any page of the snapshot was touched.
    pub(super) changed: bool,
    /// Free pages before the mark ran out.
    pub(super) no_room: bool,
    /// Overflow runs for which there were not enough free pages in a row.
    pub(super) stuck: u64,
    /// Where to go on; `None` at the end.
    pub(super) next: Option<Position>,
}

/// How much one transaction may do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) mark: Pgno,
    /// Leaves looked at.
    pub(super) leaves: u64,
    /// Pages moved, those on the ways to them included.
    pub(super) pages: usize,
    /// Numbers of free pages read.
    pub(super) free_read: usize,
}

/// Moves what it finds from `position` on. The transaction is not committed.
pub(super) fn move_pages(
    txn: &mut WriteTxn<'_>,
    position: &Position,
    bounds: Bounds,
) -> Result<Moved, Error> {
    let mut main = txn.main()?;
    let mark = bounds.mark;
    let wanted = 2 * bounds.pages + 4 * RESERVE;
    let at_first = txn.pages.gather_low(mark, wanted, bounds.free_read)?;
    let mut walk = Walk::resume(txn.pages.view(), roots(txn, &main), position)?;
    let mut leaves = bounds.leaves;
    let mut moved = Moved {
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
            Found::End => return finish(txn, main, moved),
            Found::Enough => break,
            Found::Page | Found::Run { .. } => {}
        }
        // Saving the free list takes pages too, as many as its tree is deep at least.
        let reserve = RESERVE + 4 * usize::from(txn.pages.free.record.depth);
        if low < walk.len() + reserve {
            moved.no_room = true;
            break;
        }
        moved.changed = true;
        touch(txn, &mut walk, &mut main)?;
        match found {
            Found::Run { first, count } => {
                if move_run(txn, &walk, first, count, bounds)? {
                    moved.pages += count;
                } else {
                    moved.stuck += 1;
                }
                walk.step_over();
            }
            _ if txn.pages.low_pages(mark)? < low => moved.pages += 1,
            // Nothing was taken for it: it is private, and yet was not taken from before the mark.
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

fn finish(txn: &mut WriteTxn<'_>, main: Tree, moved: Moved) -> Result<Moved, Error> {
    if moved.changed {
        txn.set_tree(Database::MAIN, main);
    }
    Ok(moved)
}

pub(super) fn roots(txn: &WriteTxn<'_>, main: &Tree) -> Roots {
    Roots {
        free: txn.pages.free.record,
        main: main.record,
    }
}

/// Makes all pages on the way private, which gives them low numbers; each tree's new root is noted where the tree is
/// described.
fn touch(txn: &mut WriteTxn<'_>, walk: &mut Walk, main: &mut Tree) -> Result<(), Error> {
    // The free list is not read from meanwhile: its tree may be the one that is changed.
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
            None if walk.root == Root::FreeList => txn.pages.free = frame.tree,
            None => *main = frame.tree,
        }
    }
    txn.pages.hold_free_list(held);
    Ok(())
}

/// Moves the run of the entry at hand, whose leaf is private.
fn move_run(
    txn: &mut WriteTxn<'_>,
    walk: &Walk,
    first: Pgno,
    count: u64,
    bounds: Bounds,
) -> Result<bool, Error> {
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
