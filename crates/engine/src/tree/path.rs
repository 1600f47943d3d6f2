//! The way from a root to an entry.

use std::cmp::Ordering;

use fulgurite_format::{DEPTH_MAX, Pgno};

use crate::Error;

/// One page on the way, and which of its entries the way takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) pgno: Pgno,
    pub(crate) index: usize,
}

/// The way from the root (level 0) down to a leaf entry.
#[derive(Debug, Clone)]
pub(crate) struct Path {
    steps: [Step; DEPTH_MAX as usize],
    len: usize,
}

impl Path {
    pub(crate) const fn new() -> Path {
        Path {
            steps: [Step {
                pgno: Pgno::NONE,
                index: 0,
            }; DEPTH_MAX as usize],
            len: 0,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Levels on the way; 0 in an empty tree.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn push(&mut self, step: Step) -> Result<(), Error> {
        let Some(slot) = self.steps.get_mut(self.len) else {
            return Err(Error::at(step.pgno)(fulgurite_format::Malformed::Depth));
        };
        *slot = step;
        self.len += 1;
        Ok(())
    }

    /// Puts a new root above the way.
    pub(crate) fn push_root(&mut self, step: Step) -> Result<(), Error> {
        self.push(step)?;
        if let Some(steps) = self.steps.get_mut(..self.len) {
            steps.rotate_right(1);
        }
        Ok(())
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    pub(crate) fn step(&self, level: usize) -> Option<Step> {
        self.steps.get(..self.len)?.get(level).copied()
    }

    pub(crate) fn step_mut(&mut self, level: usize) -> Option<&mut Step> {
        self.steps.get_mut(..self.len)?.get_mut(level)
    }

    /// Whether another way in the same tree leads to the same leaf, to whatever entry.
    pub(crate) fn is_same_leaf(&self, other: &Path) -> bool {
        self.cmp_leaves(other).is_eq()
    }

    /// Which of two leaves of a tree comes first, by the ways to them.
    pub(crate) fn cmp_leaves(&self, other: &Path) -> Ordering {
        self.turns().cmp(other.turns())
    }

    /// Which entries of branches the way takes.
    fn turns(&self) -> impl Iterator<Item = usize> {
        let branches = self.len.saturating_sub(1);
        self.steps.iter().take(branches).map(|step| step.index)
    }

    /// The leaf and the entry in it.
    #[inline]
    pub(crate) fn leaf(&self) -> Option<Step> {
        // An empty way has no step with the greatest of all numbers.
        self.steps.get(self.len.wrapping_sub(1)).copied()
    }

    #[inline]
    pub(crate) fn leaf_mut(&mut self) -> Option<&mut Step> {
        self.steps.get_mut(self.len.wrapping_sub(1))
    }
}
