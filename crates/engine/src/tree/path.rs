//! The path from a root to an entry.

use alloc::boxed::Box;
use core::cmp::Ordering;

use fulgurite_format::{DEPTH_MAX, Pgno};

use super::Tree;
use crate::Error;
use crate::boxed_error::BoxedError;

/// One page on the path, and which of its entries the path takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) pgno: Pgno,
    pub(crate) index: usize,
}

/// Number of levels stored inline. Deeper trees are rare, and paths are made and moved all the
/// time.
const INLINE_LEVELS: usize = 6;

/// The path from the root (level 0) down to a leaf entry.
#[derive(Debug, Clone)]
pub(crate) struct Path {
    len: usize,
    /// Number of pages, from the root down, that are known to be private to the transaction.
    private: usize,
    inline: [Step; INLINE_LEVELS],
    /// All steps, once there are more than the inline ones.
    deep: Option<Box<[Step; DEPTH_MAX as usize]>>,
}

impl Path {
    /// The contents of unused steps. All bits are equal, so one instruction makes a step.
    const UNSET: Step = Step {
        pgno: Pgno::NONE,
        index: usize::MAX,
    };

    pub(crate) const fn new() -> Path {
        Path {
            len: 0,
            private: 0,
            inline: [Path::UNSET; INLINE_LEVELS],
            deep: None,
        }
    }

    #[inline]
    fn room(&self) -> &[Step] {
        match &self.deep {
            None => &self.inline,
            Some(steps) => &**steps,
        }
    }

    #[inline]
    fn room_mut(&mut self) -> &mut [Step] {
        match &mut self.deep {
            None => &mut self.inline,
            Some(steps) => &mut **steps,
        }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.private = 0;
    }

    /// Begins a path of that many levels, whose steps the caller sets. Returns `None`, with nothing
    /// changed, if there is no room for them yet.
    #[inline]
    pub(crate) fn begin(&mut self, levels: usize) -> Option<&mut [Step]> {
        debug_assert!(levels <= usize::from(DEPTH_MAX));
        if levels > self.room().len() {
            return None;
        }
        self.len = levels;
        self.private = 0;
        Some(self.steps_mut())
    }

    /// Returns all steps, from the root down.
    #[inline]
    pub(crate) fn steps_mut(&mut self) -> &mut [Step] {
        let len = self.len;
        self.room_mut().get_mut(..len).unwrap_or_default()
    }

    /// Levels on the path; 0 in an empty tree.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(crate) fn push(&mut self, step: Step) -> Result<(), BoxedError> {
        debug_assert!(self.len <= usize::from(DEPTH_MAX));
        let len = self.len;
        self.private = 0;
        if let Some(slot) = self.room_mut().get_mut(len) {
            *slot = step;
            self.len += 1;
            return Ok(());
        }
        self.push_deep(step)
    }

    #[cold]
    fn push_deep(&mut self, step: Step) -> Result<(), BoxedError> {
        debug_assert!(self.len >= INLINE_LEVELS);
        if self.deep.is_some() {
            return Err(Error::at(step.pgno)(fulgurite_format::Malformed::Depth));
        }
        let mut steps = Box::new([Path::UNSET; DEPTH_MAX as usize]);
        for (to, from) in steps.iter_mut().zip(self.inline) {
            *to = from;
        }
        self.deep = Some(steps);
        self.push(step)
    }

    /// Puts a new root above the path.
    pub(crate) fn push_root(&mut self, step: Step) -> Result<(), BoxedError> {
        debug_assert!(!self.is_empty(), "a root is put above another page");
        self.push(step)?;
        let len = self.len;
        if let Some(steps) = self.room_mut().get_mut(..len)
            && !steps.is_empty()
        {
            steps.rotate_right(1);
        }
        Ok(())
    }

    /// Returns how many pages from the root down are known to be private. None are after an
    /// extension of the path.
    #[inline]
    pub(crate) const fn private_levels(&self) -> usize {
        self.private
    }

    /// Notes that this number of pages from the root down are private. They are for as long as the
    /// transaction, or its innermost level, lasts.
    #[inline]
    pub(crate) const fn mark_private(&mut self, levels: usize) {
        debug_assert!(levels <= self.len, "pages on the path are private");
        self.private = levels;
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        self.private = self.private.min(len);
    }

    #[inline]
    pub(crate) fn step(&self, level: usize) -> Option<Step> {
        self.room().get(level).copied().filter(|_| level < self.len)
    }

    #[inline]
    pub(crate) fn step_mut(&mut self, level: usize) -> Option<&mut Step> {
        debug_assert!(self.len <= usize::from(DEPTH_MAX));
        let len = self.len;
        self.room_mut().get_mut(level).filter(|_| level < len)
    }

    /// Returns true if another path in the same tree leads to the same leaf, at any entry.
    pub(crate) fn is_same_leaf(&self, other: &Path) -> bool {
        self.cmp_leaves(other).is_eq()
    }

    /// Compares two leaves of a tree by the paths to them.
    pub(crate) fn cmp_leaves(&self, other: &Path) -> Ordering {
        self.branch_indexes().cmp(other.branch_indexes())
    }

    /// Returns the indexes of the branch entries on the path.
    fn branch_indexes(&self) -> impl Iterator<Item = usize> {
        let branches = self.len.saturating_sub(1);
        self.room().iter().take(branches).map(|step| step.index)
    }

    /// The leaf and the entry in it.
    #[inline]
    pub(crate) fn leaf(&self) -> Option<Step> {
        // In an empty path the index wraps to the greatest number, where there is no step.
        self.room().get(self.len.wrapping_sub(1)).copied()
    }

    /// Returns the steps in the branch above the leaf and in the leaf, in this order.
    #[inline]
    pub(crate) fn last_two_mut(&mut self) -> Option<&mut [Step; 2]> {
        let above = self.len.checked_sub(2)?;
        self.room_mut().get_mut(above..)?.first_chunk_mut()
    }

    #[inline]
    pub(crate) fn leaf_mut(&mut self) -> Option<&mut Step> {
        let len = self.len;
        self.room_mut().get_mut(len.wrapping_sub(1))
    }
}

/// The leaf and the entry in it that a path through this tree leads to.
/// # Errors
/// [`Error::BeyondEnd`] for a path that leads nowhere.
#[inline]
pub(crate) fn leaf_of(path: &Path, tree: &Tree) -> Result<Step, BoxedError> {
    debug_assert!(path.len() <= usize::from(DEPTH_MAX));
    step_of(path.leaf(), tree)
}

/// Returns a step of a path through this tree, which should be there.
/// # Errors
/// [`Error::BeyondEnd`] if it is not.
#[inline]
pub(super) fn step_of(step: Option<Step>, tree: &Tree) -> Result<Step, BoxedError> {
    match step {
        Some(step) => Ok(step),
        None => Err(Error::BeyondEnd(tree.record.root).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_holds_the_deepest_tree() {
        let at = |number: u64| Step {
            pgno: Pgno(number),
            index: number as usize,
        };
        let mut path = Path::new();
        assert_eq!(path.leaf(), None);
        for number in 0..u64::from(DEPTH_MAX) {
            path.push(at(number)).unwrap();
            assert_eq!(path.leaf(), Some(at(number)));
        }
        assert!(path.push(at(99)).is_err());
        assert_eq!(path.step(3), Some(at(3)));
        assert_eq!(path.step(usize::from(DEPTH_MAX)), None);
        path.truncate(INLINE_LEVELS - 1);
        path.push_root(at(7)).unwrap();
        assert_eq!(path.step(0), Some(at(7)));
        assert_eq!(path.leaf(), Some(at(INLINE_LEVELS as u64 - 2)));
        assert!(path.clone().is_same_leaf(&path));
        path.clear();
        assert!(path.is_empty() && path.leaf().is_none() && path.step(0).is_none());
    }
}
