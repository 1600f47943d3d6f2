//! The entries of a tree between two gaps, taken from both ends.
//!
//! ```text
//!   leaf         leaf               leaf         leaf
//!   . . |e e     e e e e    ...     e e e e      e e e| .
//!       ^ front: next to take           back: one past the next to take
//! ```
//! The ends are positions, not keys, so no step compares keys. Each end keeps its leaf with the
//! checked header. A snapshot's pages do not change while it is borrowed. An end at the edge of the
//! tree is looked up on first use.

use core::cmp::Ordering;
use core::ops::Range;

use fulgurite_format::{Malformed, Page, Pgno};

use super::bounds::Gap;
use super::prefetch::{HEAD_LINES, LeafPrefetch};
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::cursor::Record;
use crate::space::PageView;
use crate::tree::{self, Pages, Path, Tree};

/// One of the two ends.
#[derive(Debug, Clone)]
struct RangeEnd<'t> {
    /// The path to the leaf. Its entry index is stale; see `index`.
    path: Path,
    pgno: Pgno,
    page: Page<'t>,
    index: usize,
    is_placed: bool,
}

/// The entries that are still to be taken.
#[derive(Debug, Clone)]
pub(crate) struct Entries<'t> {
    pages: PageView<'t>,
    tree: Tree,
    front: RangeEnd<'t>,
    /// The entry of its leaf at which the front stops.
    front_stop: usize,
    /// The entry at which the front prefetches more of the next leaf; at most `front_stop`.
    front_prefetch_at: usize,
    prefetch: LeafPrefetch<'t>,
    back: RangeEnd<'t>,
    /// True if both ends are in one leaf.
    joined: bool,
    /// Leaves passed. More than there are pages means a cycle in the tree.
    leaves_passed: u64,
    /// Cache lines of a leaf that will be read.
    expected_lines: usize,
}

impl<'t> Entries<'t> {
    /// The entries from `low` to `high`.
    pub(crate) fn between(
        pages: PageView<'t>,
        tree: Tree,
        low: Gap<'_>,
        high: Gap<'_>,
    ) -> Result<Entries<'t>, BoxedError> {
        let end = RangeEnd {
            path: Path::new(),
            pgno: Pgno::NONE,
            page: Page::empty(tree.leaf),
            index: 0,
            is_placed: false,
        };
        let mut entries = Entries {
            pages,
            tree,
            front: end.clone(),
            front_stop: 0,
            front_prefetch_at: 0,
            prefetch: LeafPrefetch::NOTHING,
            back: end,
            joined: tree.record.root.is_none(),
            leaves_passed: 0,
            expected_lines: usize::MAX,
        };
        if entries.joined {
            return Ok(entries);
        }
        entries.front.place(pages, &entries.tree, low)?;
        let near = entries.front.in_same_leaf(tree.order, high)?;
        match near {
            Some(index) => {
                entries.back = entries.front.clone();
                entries.back.index = index;
            }
            None => entries.back.place(pages, &entries.tree, high)?,
        }
        if entries.front.is_placed {
            entries.meet();
            if entries.back.is_placed && entries.front.cmp(&entries.back).is_gt() {
                entries.finish();
            }
        }
        Ok(entries)
    }

    /// All entries of a tree.
    pub(crate) fn all(pages: PageView<'t>, tree: Tree) -> Result<Entries<'t>, BoxedError> {
        Entries::between(pages, tree, Gap::Edge, Gap::Edge)
    }

    pub(crate) const fn pages(&self) -> PageView<'t> {
        self.pages
    }

    pub(crate) const fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the next record from the front if it is plain: in the current leaf, with one value
    /// stored there.
    #[inline(always)]
    pub(crate) fn next_in_leaf(&mut self) -> Option<Record<'t>> {
        if self.front.index >= self.front_prefetch_at {
            return None;
        }
        let record = self.front.page.plain_record(self.front.index)?;
        self.front.index += 1;
        Some(record)
    }

    /// As [`Entries::next_in_leaf`] from the back.
    #[inline(always)]
    pub(crate) fn next_back_in_leaf(&mut self) -> Option<Record<'t>> {
        if self.back.index <= self.floor() {
            return None;
        }
        let index = self.back.index - 1;
        let record = self.back.page.plain_record(index)?;
        self.back.index = index;
        if self.joined {
            self.stop_front_at(index);
        }
        Some(record)
    }

    /// Reads the next entry from the front. `read` receives the leaf and the index. After an error
    /// there are no more.
    #[inline]
    pub(crate) fn next<T>(
        &mut self,
        read: impl FnOnce(Pgno, &Page<'t>, usize) -> Result<T, BoxedError>,
    ) -> Option<Result<T, BoxedError>> {
        if self.front.index >= self.front_prefetch_at {
            match self.prefetch_or_enter() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return self.failed(error),
            }
        }
        let index = self.front.index;
        self.front.index += 1;
        match read(self.front.pgno, &self.front.page, index) {
            Ok(found) => Some(Ok(found)),
            Err(error) => self.failed(error),
        }
    }

    /// Reads the next entry from the back.
    #[inline]
    pub(crate) fn next_back<T>(
        &mut self,
        read: impl FnOnce(Pgno, &Page<'t>, usize) -> Result<T, BoxedError>,
    ) -> Option<Result<T, BoxedError>> {
        if self.back.index <= self.floor() {
            match self.enter_previous_leaf() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return self.failed(error),
            }
        }
        let index = self.back.index - 1;
        self.back.index = index;
        if self.joined {
            self.stop_front_at(index);
        }
        match read(self.back.pgno, &self.back.page, index) {
            Ok(found) => Some(Ok(found)),
            Err(error) => self.failed(error),
        }
    }

    /// Reads the next entry in a direction.
    #[inline(always)]
    pub(crate) fn step<const FORWARD: bool, T>(
        &mut self,
        read: impl FnOnce(Pgno, &Page<'t>, usize) -> Result<T, BoxedError>,
    ) -> Option<Result<T, BoxedError>> {
        if FORWARD {
            self.next(read)
        } else {
            self.next_back(read)
        }
    }

    /// Takes all entries, leaf by leaf.
    pub(crate) fn each_leaf(
        mut self,
        mut visit: impl FnMut(Pgno, &Page<'t>, Range<usize>) -> Result<(), BoxedError>,
    ) -> Result<(), BoxedError> {
        if !self.tree.has_duplicates() {
            // Leaf by leaf, only headers are read.
            self.expected_lines = 1;
        }
        while self.front.index < self.front_stop || self.enter_next_leaf()? {
            let range = self.front.index..self.front_stop;
            visit(self.front.pgno, &self.front.page, range)?;
            self.front.index = self.front_stop;
        }
        Ok(())
    }

    /// Returns the lowest index that the back can reach in its leaf.
    #[inline]
    fn floor(&self) -> usize {
        if self.joined { self.front.index } else { 0 }
    }

    /// Prefetches more of the next leaf, or goes to the next leaf. Returns false if there is none.
    #[inline(never)]
    fn prefetch_or_enter(&mut self) -> Result<bool, BoxedError> {
        if self.front.index >= self.front_stop {
            return self.enter_next_leaf();
        }
        self.prefetch_more();
        Ok(true)
    }

    /// Prefetches a part of the next leaf, and sets the entry for the part after it.
    fn prefetch_more(&mut self) {
        let left = self.front_stop - self.front.index;
        self.front_prefetch_at = self.front.index + self.prefetch.prefetch_part(left);
    }

    /// Goes to the front's next leaf with entries to take. Returns false if there is none.
    #[inline(never)]
    fn enter_next_leaf(&mut self) -> Result<bool, BoxedError> {
        while !self.joined {
            self.pages.check_readable()?;
            if !self.front.is_placed {
                if !tree::first(self.pages, &self.tree, &mut self.front.path)? {
                    break;
                }
            } else if !tree::next_leaf(self.pages, &self.tree, &mut self.front.path)? {
                break;
            }
            self.count_leaf(self.front.pgno)?;
            self.front.enter(self.pages, &self.tree)?;
            self.front.index = 0;
            self.meet();
            if !self.joined {
                let [next, after] = tree::leaves_after(self.pages, &self.front.path);
                tree::prefetch_leaf(self.pages, after, self.expected_lines.min(HEAD_LINES));
                if self.expected_lines > HEAD_LINES {
                    self.prefetch = LeafPrefetch::of(self.pages, next, self.tree.leaf);
                    self.prefetch_more();
                }
            }
            if self.front.index < self.front_stop {
                return Ok(true);
            }
        }
        self.finish();
        Ok(false)
    }

    /// Goes to the back's previous leaf with entries to take. Returns false if there is none.
    #[inline(never)]
    fn enter_previous_leaf(&mut self) -> Result<bool, BoxedError> {
        while !self.joined {
            self.pages.check_readable()?;
            if !self.back.is_placed {
                if !tree::last(self.pages, &self.tree, &mut self.back.path)? {
                    break;
                }
            } else if !tree::previous_leaf(self.pages, &self.tree, &mut self.back.path)? {
                break;
            }
            self.count_leaf(self.back.pgno)?;
            self.back.enter(self.pages, &self.tree)?;
            self.back.index = self.back.page.len();
            self.meet();
            if !self.joined {
                let previous = tree::leaf_before(self.pages, &self.back.path);
                tree::prefetch_leaf(self.pages, previous, self.expected_lines);
            }
            if self.back.index > self.floor() {
                return Ok(true);
            }
        }
        self.finish();
        Ok(false)
    }

    /// Sets `joined`, and how far the front can go.
    fn meet(&mut self) {
        self.joined = self.front.is_placed
            && self.back.is_placed
            && self.front.path.is_same_leaf(&self.back.path);
        self.stop_front_at(if self.joined {
            self.back.index
        } else {
            self.front.page.len()
        });
    }

    #[inline(always)]
    fn stop_front_at(&mut self, stop: usize) {
        debug_assert!(
            stop <= self.front.page.len(),
            "the front would leave its leaf"
        );
        self.front_stop = stop;
        self.front_prefetch_at = stop;
    }

    fn count_leaf(&mut self, pgno: Pgno) -> Result<(), BoxedError> {
        self.leaves_passed += 1;
        // Both ends together pass a leaf at most twice.
        if self.pages.are_fewer_than(self.leaves_passed / 2) {
            return Err(Error::at(pgno)(Malformed::Cycle));
        }
        Ok(())
    }

    /// Returns the number of leaves passed.
    pub(crate) const fn leaves_passed(&self) -> u64 {
        self.leaves_passed
    }

    /// Adds the leaves of a value tree. Otherwise, many keys that share one damaged tree could keep
    /// a walk busy without end.
    pub(crate) fn add_leaves(&mut self, leaves: u64) -> Result<(), BoxedError> {
        self.leaves_passed = self.leaves_passed.saturating_add(leaves);
        if self.pages.are_fewer_than(self.leaves_passed / 2) {
            return Err(Error::at(self.tree.record.root)(Malformed::Cycle));
        }
        Ok(())
    }

    #[cold]
    fn failed<T>(&mut self, error: BoxedError) -> Option<Result<T, BoxedError>> {
        self.finish();
        Some(Err(error))
    }

    /// Drops all remaining entries.
    pub(crate) fn finish(&mut self) {
        self.joined = true;
        self.front.index = 0;
        self.stop_front_at(0);
        self.back.index = 0;
    }
}

impl<'t> RangeEnd<'t> {
    /// Goes to a gap. An end at the edge is looked up on first use.
    fn place(&mut self, pages: PageView<'t>, tree: &Tree, gap: Gap<'_>) -> Result<(), BoxedError> {
        let (key, behind) = match gap {
            Gap::Edge => return Ok(()),
            Gap::Before(key) => (key, false),
            Gap::After(key) => (key, true),
        };
        let exact = tree::seek(pages, tree, key, &mut self.path)?;
        self.enter(pages, tree)?;
        let index = self.path.leaf().map_or(0, |leaf| leaf.index);
        self.index = index + usize::from(exact && behind);
        Ok(())
    }

    /// Reads the leaf that the path leads to.
    fn enter(&mut self, pages: PageView<'t>, tree: &Tree) -> Result<(), BoxedError> {
        if let Some(leaf) = self.path.leaf() {
            self.page = pages.tree_page(leaf.pgno, tree.leaf)?;
            self.pgno = leaf.pgno;
            self.is_placed = true;
        }
        Ok(())
    }

    /// Returns the index of a gap that is in this end's leaf and before its last entry. This saves
    /// short ranges the second search.
    fn in_same_leaf(
        &self,
        order: crate::KeyOrder,
        gap: Gap<'_>,
    ) -> Result<Option<usize>, BoxedError> {
        let (key, behind) = match gap {
            Gap::Before(key) => (key, false),
            Gap::After(key) => (key, true),
            Gap::Edge => return Ok(None),
        };
        let Some(last) = self.page.len().checked_sub(1).filter(|_| self.is_placed) else {
            return Ok(None);
        };
        let greatest = self.page.key(last).map_err(Error::at(self.pgno))?;
        if order.compare(greatest, key) != Ordering::Greater {
            return Ok(None);
        }
        let (index, exact) =
            tree::lower_bound(&self.page, order, key).map_err(Error::at(self.pgno))?;
        let index = index + usize::from(exact && behind);
        // A gap before the first entry may belong to the leaf on the left.
        Ok((index > 0).then_some(index))
    }

    /// Compares the positions of two ends.
    fn cmp(&self, other: &RangeEnd<'_>) -> Ordering {
        self.path
            .cmp_leaves(&other.path)
            .then(self.index.cmp(&other.index))
    }
}
