//! The sibling of a leaf: its neighbour below the same branch.

use fulgurite_format::{Page, PageKind, Pgno};
use fulgurite_os::prefetch_first_lines;

use super::fast::PageCursor;
use crate::opened::Window;
use crate::tree::{Path, Step};

/// The sibling of the leaf that a path leads to.
pub(super) struct SiblingLeaf {
    pub(super) page_cursor: PageCursor,
    pub(super) link: SiblingLink,
}

/// Where the branch has that leaf.
pub(super) struct SiblingLink {
    pub(super) leaf: Pgno,
    /// The level of the branch, and its entry for the sibling.
    level: usize,
    index: usize,
    /// The leaf after the sibling in the same direction, and the one after that.
    pub(super) next: Option<Pgno>,
    pub(super) after_next: Option<Pgno>,
}

impl SiblingLink {
    #[inline(never)]
    pub(super) fn of(window: Window<'_>, path: &Path, forwards: bool) -> Option<SiblingLink> {
        let level = path.len().checked_sub(2)?;
        let step = path.step(level)?;
        let bytes = window.page(step.pgno)?;
        let branch = Page::parse(bytes, step.pgno, PageKind::Branch).ok()?;
        // Index -1 wraps to `usize::MAX`, which no branch has.
        let sibling = |index: usize| index.wrapping_add(if forwards { 1 } else { usize::MAX });
        let index = sibling(step.index);
        Some(SiblingLink {
            leaf: branch.child_if_sound(index)?,
            level,
            index,
            next: branch.child_if_sound(sibling(index)),
            after_next: branch.child_if_sound(sibling(sibling(index))),
        })
    }
}

impl SiblingLeaf {
    #[inline(always)]
    pub(super) fn of(
        window: Window<'_>,
        path: &Path,
        kind: PageKind,
        forwards: bool,
    ) -> Option<SiblingLeaf> {
        let link = SiblingLink::of(window, path, forwards)?;
        let page_cursor = PageCursor::over(window, link.leaf, kind)?;
        Some(SiblingLeaf { page_cursor, link })
    }

    /// Makes the path lead to the sibling. The page cursor has the entry.
    #[inline(always)]
    pub(super) fn go(&self, path: &mut Path) {
        if let Some(step) = path.step_mut(self.link.level) {
            step.index = self.link.index;
        }
        if let Some(step) = path.leaf_mut() {
            *step = Step {
                pgno: self.link.leaf,
                index: 0,
            };
        }
    }

    /// Prefetches lines of the leaf after the sibling. The processor does not prefetch across
    /// pages.
    #[inline(always)]
    pub(super) fn expect_next(&self, window: Window<'_>, lines: usize) {
        expect(self.link.next.and_then(|next| window.page(next)), lines);
    }
}

/// Prefetches the first lines of a page.
#[inline]
fn expect(bytes: Option<&[u8]>, lines: usize) {
    if let Some(bytes) = bytes {
        prefetch_first_lines(bytes, lines);
    }
}
