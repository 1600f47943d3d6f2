//! The fast path into the tree of a key's values: straight down its first or last edge.
//!
//! Failures are `None`. The slow path finds the reason and reports it.

use fulgurite_format::{Page, PageKind, Pgno, TREE_RECORD_LEN, TreeRecord};

use super::CursorPosition;
use super::fast::{FastMode, FastState, PageCursor};
use super::fast_step::FastStep;
use super::position::Edge;
use crate::opened::Window;
use crate::tree::Step;
use crate::value;

/// Levels of the tree that this path can descend, leaves included. Deeper trees are rare.
const LEVELS: usize = 4;

impl CursorPosition {
    /// Goes to the first or last value of the current key. `record` is the tree record in its node.
    ///
    /// On `None` nothing has changed: the cursor is on the key it came from.
    pub(super) fn enter_tree<'t>(
        &mut self,
        window: Window<'t>,
        step: FastStep,
        record: &[u8],
    ) -> Option<&'t [u8]> {
        if !self.has_values {
            return None;
        }
        // All value trees of a database share order and leaf kind. The tree entered last has them.
        let (before, _) = self.inner.as_deref()?;
        let record = read_record(window, self.fast.keys.start, record)?;
        let leaf = value::inner_leaf_like(before, &record)?;
        let branches = usize::from(record.depth) - 1;
        let mut steps = [Step {
            pgno: record.root,
            index: 0,
        }; LEVELS];
        let mut pgno = record.root;
        let mut lowest = FastState::NO_BRANCH;
        for branch_step in steps.get_mut(..branches)? {
            let bytes = window.page(pgno)?;
            let branch = Page::parse(bytes, pgno, PageKind::Branch).ok()?;
            let index = if step.forwards {
                0
            } else {
                branch.len().checked_sub(1)?
            };
            *branch_step = Step { pgno, index };
            lowest = (pgno, branch.header());
            pgno = branch.child(index).ok()?;
        }
        let mut page_cursor = PageCursor::over(window, pgno, leaf)?;
        page_cursor.index = step.first_index(page_cursor.page);
        let value = page_cursor
            .page
            .leaf_key(page_cursor.bytes(window)?, page_cursor.index)?;
        *steps.get_mut(branches)? = Step {
            pgno,
            index: page_cursor.index as usize,
        };
        let (inner, path) = self.inner.as_deref_mut()?;
        inner.leaf = leaf;
        inner.record = TreeRecord {
            flags: inner.record.flags,
            ..record
        };
        path.clear();
        for step in steps.get(..=branches)? {
            path.push(*step).ok()?;
        }
        self.set_heading(if step.forwards {
            Edge::Last
        } else {
            Edge::First
        });
        self.leaves_passed += core::mem::replace(&mut self.inner_leaves_passed, 1);
        if step.forwards {
            page_cursor.begin_prefetch_at_next_step();
        }
        self.fast.values = page_cursor;
        self.fast.branch = lowest;
        self.fast.mode = FastMode::Tree;
        Some(value)
    }
}

/// Reads the record of a value tree. Returns `None` for an empty tree. It does so too if the root
/// is the page of its key, which would be a cycle. `keys` is the map offset of that page.
#[inline(always)]
fn read_record(window: Window<'_>, keys: usize, record: &[u8]) -> Option<TreeRecord> {
    let record = TreeRecord::read(record.first_chunk::<TREE_RECORD_LEN>()?)?;
    let last = Pgno(window.pages().checked_sub(1)?);
    record.check(last).ok()?;
    (record.depth > 0 && window.start_of(record.root) != keys).then_some(record)
}
