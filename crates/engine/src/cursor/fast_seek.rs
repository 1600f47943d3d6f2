//! Searches on the fast path: keys with one value each, and values in a tree, both in byte order.
//!
//! A fast seek leaves the cursor in fast mode, so the next step is a fast step. If it returns
//! `None`, [`CursorPosition::go`] has to search. A failed fast seek may leave the cursor unset.

use fulgurite_format::{LexicalKey, Page, PageHeader, PageKind, Pgno, TREE_RECORD_LEN, TreeRecord};

use super::fast::{FastMode, FastState, PageCursor};
use super::position::{AtValue, State, TREE_OF_VALUES};
use super::{CursorPosition, Record};
use crate::KeyOrder;
use crate::opened::Window;
use crate::tree::{Path, Step, Tree, prefetch_probes};
use crate::value;

impl CursorPosition {
    /// Goes to the first record whose key is not smaller, or to exactly this key.
    ///
    /// Returns `None` if there is no such record, and where the search takes more than one descent.
    #[inline]
    pub(crate) fn fast_seek<'t>(
        &mut self,
        window: Window<'t>,
        tree: &Tree,
        key: &[u8],
        exactly: bool,
    ) -> Option<Record<'t>> {
        if tree.order != KeyOrder::Lexical || tree.has_duplicates() {
            return None;
        }
        self.fast.mode = FastMode::Off;
        self.state = State::Unset;
        let down = go_down(window, tree, &LexicalKey::of(key), &mut self.path)?;
        if exactly && !down.exact {
            return None;
        }
        let (bytes, index) = (down.bytes, down.index);
        let record = down.page.plain_entry(bytes, index)?;
        self.stand_on_page_cursor(PageCursor::of(window, down.pgno, down.page, index));
        if exactly {
            // A lookup of one key often ends there. So the first step prefetches, not the seek.
            self.fast.keys.begin_prefetch_at_next_step();
        } else {
            self.fast.keys.begin_prefetch(window, &self.path);
        }
        Some(record)
    }

    /// Goes to this value of this key, if the key's values have their own tree.
    ///
    /// Returns `None` if there is no such record. It descends each of the two trees once and gives
    /// up beyond that.
    #[inline]
    pub(crate) fn fast_seek_pair<'t>(
        &mut self,
        window: Window<'t>,
        tree: &Tree,
        key: &[u8],
        value: &[u8],
    ) -> Option<Record<'t>> {
        let is_ordered = tree.order == KeyOrder::Lexical && tree.value_order == KeyOrder::Lexical;
        if !is_ordered || !tree.has_duplicates() || tree.has_fixed_values() || value.is_empty() {
            return None;
        }
        // The first slow search allocates the path in the value tree.
        self.inner.as_deref()?;
        self.fast.mode = FastMode::Off;
        self.state = State::Unset;
        let keys = go_down(window, tree, &LexicalKey::of(key), &mut self.path)?;
        let node = keys.page.leaf_entry(keys.bytes, keys.index)?;
        if !keys.exact || node.flags.0 != TREE_OF_VALUES {
            return None;
        }
        let record = TreeRecord::read(node.data.first_chunk::<TREE_RECORD_LEN>()?)?;
        record
            .check(Pgno(window.pages().checked_sub(1)?))
            .ok()
            .filter(|()| record.root != keys.pgno && record.depth > 0)?;
        let (inner, path) = self.inner.as_deref_mut()?;
        *inner = value::inner_tree(tree, record)?;
        let values = go_down(window, inner, &LexicalKey::of(value), path)?;
        let found = values.page.leaf_entry(values.bytes, values.index)?;
        if !values.exact || found.flags.0 != 0 || !found.data.is_empty() {
            return None;
        }
        self.stand_on_page_cursor(PageCursor::of(window, keys.pgno, keys.page, keys.index));
        self.has_values = true;
        self.value = AtValue::Tree;
        self.fast.values = PageCursor::of(window, values.pgno, values.page, values.index);
        self.fast.key_span = self.fast.keys.span_of(keys.bytes, node.key);
        self.fast.mode = FastMode::Tree;
        self.fast.branch = FastState::NO_BRANCH;
        Some((node.key, found.key))
    }

    /// Goes to an entry whose key has one value. The path leads to it.
    fn stand_on_page_cursor(&mut self, page_cursor: PageCursor) {
        self.forget_flags();
        self.has_values = false;
        self.has_fixed_values = false;
        self.is_saved = false;
        self.inner_leaves_passed = 0;
        self.state = State::On;
        self.value = AtValue::One;
        self.fast.values = PageCursor::NONE;
        self.fast.keys = page_cursor;
        self.fast.mode = FastMode::Keys;
    }
}

/// The end of a descent.
struct Down<'t> {
    pgno: Pgno,
    bytes: &'t [u8],
    page: PageHeader,
    index: u32,
    exact: bool,
}

/// Descends to the first entry whose key is not smaller. It may be one past the last of the leaf.
#[inline(always)]
fn go_down<'t>(
    window: Window<'t>,
    tree: &Tree,
    key: &LexicalKey<'_>,
    path: &mut Path,
) -> Option<Down<'t>> {
    path.clear();
    let mut pgno = tree.record.root;
    for _ in 1..tree.record.depth {
        let page = Page::parse(window.page(pgno)?, pgno, PageKind::Branch).ok()?;
        let (index, exact) = page.position_of(1, key)?;
        let index = index - usize::from(!exact);
        path.push(Step { pgno, index }).ok()?;
        pgno = page.child_if_sound(index)?;
        if pgno < Pgno::FIRST_DATA {
            return None;
        }
    }
    let bytes = window.page(pgno)?;
    let page = Page::parse(bytes, pgno, PageKind::Leaf).ok()?;
    prefetch_probes(bytes, &page);
    let (index, exact) = page.position_of(0, key)?;
    path.push(Step { pgno, index }).ok()?;
    Some(Down {
        pgno,
        bytes,
        page: page.header(),
        index: index as u32,
        exact,
    })
}
