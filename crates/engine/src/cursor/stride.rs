//! Steps to a neighbour in the page at hand: the common case of every walk, which needs no search, no tree and no error.
//!
//! A place notes what the headers of the pages it stands on were found to say; strides look at nothing else but the
//! nodes they pass. Where a stride is not possible the place has not moved, and [`Place::go`] knows what there is to say.

use fulgurite_format::{NodeFlags, Page, V09};

use super::place::{AtValue, Deleted, State};
use super::{Place, Record};
use crate::env::Window;
use crate::space::PageView;
use crate::tree::{Pages, Tree};

/// A step to a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    /// To the next one; else to the one before.
    pub forwards: bool,
    /// Among the values of one key only.
    pub within_key: bool,
}

impl Stride {
    #[inline(always)]
    fn from(self, index: usize) -> usize {
        // No page has entry `usize::MAX`.
        index.wrapping_add(if self.forwards { 1 } else { usize::MAX })
    }
}

impl Place {
    /// Takes a stride; `None`, with nothing changed, where it leads elsewhere than to the page at hand.
    #[inline(always)]
    pub(crate) fn stride<'t>(&mut self, window: Window<'t>, stride: Stride) -> Option<Record<'t>> {
        if self.state != State::On
            || self.deleted != Deleted::No
            || self.is_parked
            || self.behind_values
        {
            return None;
        }
        let record = if self.value == AtValue::One {
            self.stride_keys(window, stride)?
        } else if self.value == AtValue::Tree {
            self.stride_inner(window, stride)?
        } else if let AtValue::Page(index) = self.value {
            self.stride_sub_page(window, stride, index)?
        } else {
            return None;
        };
        if !stride.forwards {
            self.at_end = false;
        }
        Some(record)
    }

    /// Notes what the headers of the pages say that the place stands on, so that strides are possible from here on.
    pub(crate) fn look(&mut self, pages: PageView<'_>, tree: &Tree) {
        if self.state != State::On {
            return;
        }
        let Some(leaf) = self.path.leaf() else {
            return;
        };
        self.has_values = tree.has_duplicates();
        if leaf.pgno != self.leaf.0
            && let Ok(page) = pages.tree_page(leaf.pgno, tree.leaf)
        {
            self.leaf = (leaf.pgno, page.checked());
        }
        if self.value == AtValue::Tree
            && let Some((values, path)) = self.inner.as_deref()
            && let Some(leaf) = path.leaf()
            && leaf.pgno != self.inner_leaf.0
            && let Ok(page) = pages.tree_page(leaf.pgno, values.leaf)
        {
            self.inner_leaf = (leaf.pgno, page.checked());
        }
    }

    /// To the neighbouring key.
    #[inline(always)]
    fn stride_keys<'t>(&mut self, window: Window<'t>, stride: Stride) -> Option<Record<'t>> {
        if stride.within_key {
            return None;
        }
        let (pgno, checked) = self.leaf;
        let step = self.path.leaf_mut().filter(|step| step.pgno == pgno)?;
        let index = stride.from(step.index);
        let node = checked.leaf_entry::<V09>(window.page(pgno)?, index)?;
        let value = match node.flags.0 {
            0 => node.data,
            NodeFlags::DUPLICATES if self.has_values => {
                let values = Page::<V09>::parse_sub(node.data).ok()?;
                let at = if stride.forwards {
                    0
                } else {
                    values.len().checked_sub(1)?
                };
                let value = values.key(at).ok()?;
                self.value = AtValue::Page(at);
                step.index = index;
                return Some((node.key, value));
            }
            // The values' own tree, or the record of a database, which looks the same to those who walk over it.
            _ => return None,
        };
        self.value = AtValue::One;
        step.index = index;
        Some((node.key, value))
    }

    /// To the neighbouring value of a sub-page, or over its edge.
    #[inline]
    fn stride_sub_page<'t>(
        &mut self,
        window: Window<'t>,
        stride: Stride,
        index: usize,
    ) -> Option<Record<'t>> {
        let (pgno, checked) = self.leaf;
        let step = self.path.leaf().filter(|step| step.pgno == pgno)?;
        let node = checked.leaf_entry::<V09>(window.page(pgno)?, step.index)?;
        let values = Page::<V09>::parse_sub(node.data).ok()?;
        let to = stride.from(index);
        if to >= values.len() {
            return self.stride_over_edge(window, stride);
        }
        let value = values.key(to).ok()?;
        self.value = AtValue::Page(to);
        Some((node.key, value))
    }

    #[inline(never)]
    fn stride_over_edge<'t>(&mut self, window: Window<'t>, stride: Stride) -> Option<Record<'t>> {
        self.stride_keys(window, stride)
    }

    /// To the neighbouring value of the values' own tree.
    #[inline]
    fn stride_inner<'t>(&mut self, window: Window<'t>, stride: Stride) -> Option<Record<'t>> {
        let (pgno, checked) = self.leaf;
        let outer = self.path.leaf().filter(|step| step.pgno == pgno)?;
        let key = checked.leaf_key::<V09>(window.page(pgno)?, outer.index)?;
        let (pgno, checked) = self.inner_leaf;
        let path = &mut self.inner.as_deref_mut()?.1;
        let step = path.leaf_mut().filter(|step| step.pgno == pgno)?;
        let index = stride.from(step.index);
        let value = checked.leaf_key::<V09>(window.page(pgno)?, index)?;
        step.index = index;
        Some((key, value))
    }
}
