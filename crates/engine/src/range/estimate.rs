//! The approximate number of records in a range.
//!
//! ```text
//!                      [ . | . . . | . ]             two descents part here
//!                        /   three   \
//!             [ . | . . .]  subtrees  [. . | . ]     2 * depth - 1 groups of subtrees between them:
//!               /     three         two   \          a small group is read, one level deep;
//!                                                    a large group counts as average subtrees
//!         leaf |####                    ##| leaf     counted
//! ```

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

use fulgurite_format::{Page, Pgno};

use super::bounds::Gap;
use super::leaf_count::records_in;
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::space::PageView;
use crate::tree::{self, Pages, Path, Step, Tree};

/// Size of the largest group whose subtrees are read, one page each.
const GROUP_READ_MAX: usize = 8;

/// Estimates how many records are between two gaps.
pub(crate) fn estimate(
    pages: PageView<'_>,
    tree: &Tree,
    low: Gap<'_>,
    high: Gap<'_>,
) -> Result<u64, BoxedError> {
    let total = tree.record.entries;
    if low == Gap::Edge && high == Gap::Edge || tree.record.root.is_none() {
        return Ok(total);
    }
    let range = PathRange {
        pages,
        tree,
        low: path_to(pages, tree, low, Edge::First)?,
        high: path_to(pages, tree, high, Edge::Last)?,
    };
    Ok(range.records()?.min(total))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    First,
    Last,
}

/// Returns the path to the entry after a gap, or past the leaf's last entry.
fn path_to(pages: PageView<'_>, tree: &Tree, gap: Gap<'_>, edge: Edge) -> Result<Path, BoxedError> {
    let mut path = Path::new();
    let behind = match gap {
        Gap::Before(key) => {
            tree::seek(pages, tree, key, &mut path)?;
            false
        }
        Gap::After(key) => tree::seek(pages, tree, key, &mut path)?,
        Gap::Edge if edge == Edge::First => {
            tree::first(pages, tree, &mut path)?;
            false
        }
        Gap::Edge => tree::last(pages, tree, &mut path)?,
    };
    if let Some(leaf) = path.leaf_mut() {
        leaf.index += usize::from(behind);
    }
    Ok(path)
}

struct PathRange<'t, 'a> {
    pages: PageView<'t>,
    tree: &'a Tree,
    low: Path,
    high: Path,
}

impl<'t> PathRange<'t, '_> {
    fn records(&self) -> Result<u64, BoxedError> {
        let bottom = self.low.len().saturating_sub(1);
        let parting = (0..bottom)
            .find(|level| self.index(&self.low, *level) != self.index(&self.high, *level));
        let Some(parting) = parting else {
            let (from, to) = (
                self.index(&self.low, bottom),
                self.index(&self.high, bottom),
            );
            return match from.cmp(&to) {
                Ordering::Less => self.counted(&self.low, Some(from), Some(to)),
                _ => Ok(0),
            };
        };
        if self.low.cmp_leaves(&self.high).is_gt() {
            return Ok(0);
        }
        let weights = self.weights(bottom)?;
        let mut sum = 0.0;
        for level in parting..bottom {
            let (low, high) = (self.index(&self.low, level), self.index(&self.high, level));
            if level == parting {
                sum += self.group(&self.low, level, low + 1..high, &weights)?;
                continue;
            }
            let end = self.page(&self.low, level)?.1.len();
            sum += self.group(&self.low, level, low + 1..end, &weights)?;
            sum += self.group(&self.high, level, 0..high, &weights)?;
        }
        let low = self.counted(&self.low, Some(self.index(&self.low, bottom)), None)?;
        let high = self.counted(&self.high, None, Some(self.index(&self.high, bottom)))?;
        // The size of a file bounds the sum far below the precision of a float.
        Ok(low.saturating_add(high).saturating_add(sum as u64))
    }

    fn index(&self, path: &Path, level: usize) -> usize {
        path.step(level).map_or(0, |step| step.index)
    }

    fn page(&self, path: &Path, level: usize) -> Result<(Pgno, Page<'t>), BoxedError> {
        let Some(Step { pgno, .. }) = path.step(level) else {
            return Err(Error::BeyondEnd(self.tree.record.root).into());
        };
        let page = self.pages.tree_page(pgno, self.tree.kind_at(level))?;
        Ok((pgno, page))
    }

    /// Counts the records of some entries of the leaf that a path leads to.
    fn counted(
        &self,
        path: &Path,
        from: Option<usize>,
        to: Option<usize>,
    ) -> Result<u64, BoxedError> {
        let (leaf, page) = self.page(path, path.len().saturating_sub(1))?;
        let range = from.unwrap_or(0)..to.unwrap_or(page.len());
        records_in(self.pages, self.tree, leaf, &page, range)
    }

    /// Returns the records of the average subtree, by the level of its root.
    fn weights(&self, bottom: usize) -> Result<Vec<f64>, BoxedError> {
        let record = &self.tree.record;
        let mut count = 1.0;
        let mut above = 0.0;
        let mut weights = Vec::with_capacity(bottom + 1);
        for level in 0..=bottom {
            if !self.tree.has_duplicates() {
                // The record has the number of leaves, and so the number of branches above them.
                // With duplicates its numbers include the value trees.
                if level == bottom {
                    count = record.leaf_pages as f64;
                } else if level + 1 == bottom {
                    count = record.branch_pages as f64 - above;
                }
            }
            count = f64::max(count, 1.0);
            above += count;
            weights.push(record.entries as f64 / count);
            if level < bottom {
                let (low, high) = (
                    self.page(&self.low, level)?.1,
                    self.page(&self.high, level)?.1,
                );
                count *= (low.len() + high.len()) as f64 / 2.0;
            }
        }
        Ok(weights)
    }

    /// Estimates the records below some entries of a branch.
    fn group(
        &self,
        path: &Path,
        level: usize,
        range: Range<usize>,
        weights: &[f64],
    ) -> Result<f64, BoxedError> {
        let weight = |level: usize| weights.get(level).copied().unwrap_or(1.0);
        if range.len() > GROUP_READ_MAX {
            return Ok(range.len() as f64 * weight(level + 1));
        }
        let (pgno, page) = self.page(path, level)?;
        let kind = self.tree.kind_at(level + 1);
        let mut sum = 0.0;
        for index in range {
            let child = page.child(index).map_err(Error::at(pgno))?;
            let below = self.pages.tree_page(child, kind)?;
            sum += if kind.is_leaf() {
                records_in(self.pages, self.tree, child, &below, 0..below.len())? as f64
            } else {
                below.len() as f64 * weight(level + 2)
            };
        }
        Ok(sum)
    }
}
