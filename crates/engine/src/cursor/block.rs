//! Blocks: the fixed-size values of a key, one page of them at a time.

use fulgurite_format::Page;

use super::Record;
use super::position::{AtValue, CursorPosition, Deleted, Edge, State};
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::space::PageView;
use crate::tree::{self, Pages, Tree};

impl CursorPosition {
    pub(super) fn block<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        if self.state == State::Unset {
            return Err(Error::CursorUnset.into());
        }
        if !tree.has_fixed_values() {
            return Err(Error::NoDuplicates.into());
        }
        if self.value == AtValue::Unset {
            return Err(Error::CursorUnset.into());
        }
        self.deleted = Deleted::No;
        let Some((key, value)) = self.current(pages, tree)? else {
            return Ok(None);
        };
        let Some(leaf) = self.path.leaf() else {
            return Ok(None);
        };
        let values = match self.value {
            AtValue::One | AtValue::Unset => return Ok(Some((key, value))),
            AtValue::Page(_) => {
                let node = pages.leaf_node(leaf)?;
                let values = Page::parse_sub(node.data).map_err(Error::at(leaf.pgno))?;
                self.value = AtValue::Page(values.len().saturating_sub(1));
                values.packed_items().map_err(Error::at(leaf.pgno))?
            }
            AtValue::Tree => {
                let Some((values, path)) = self.inner.as_deref_mut() else {
                    return Ok(None);
                };
                let Some(step) = path.leaf_mut() else {
                    return Ok(None);
                };
                let page = pages.tree_page(step.pgno, values.leaf)?;
                step.index = page.len().saturating_sub(1);
                page.packed_items().map_err(Error::at(step.pgno))?
            }
        };
        Ok(Some((key, values)))
    }

    pub(super) fn next_block<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        if !tree.has_fixed_values() {
            return Err(Error::NoDuplicates.into());
        }
        match self.next_value(pages, tree)? {
            Some(_) if !self.is_single() => self.block(pages, tree),
            _ => Ok(None),
        }
    }

    pub(super) fn previous_block<'t>(
        &mut self,
        pages: PageView<'t>,
        tree: &Tree,
    ) -> Result<Option<Record<'t>>, BoxedError> {
        if !tree.has_fixed_values() {
            return Err(Error::NoDuplicates.into());
        }
        if self.state == State::Unset && self.edge(pages, tree, Edge::Last)?.is_none() {
            return Ok(None);
        }
        let inner = self.inner.as_deref_mut();
        let Some((_, path)) = inner.filter(|_| self.value == AtValue::Tree) else {
            return Ok(None);
        };
        let Some(step) = path.leaf_mut() else {
            return Ok(None);
        };
        let index = core::mem::replace(&mut step.index, 0);
        if !self.step_inner(pages, tree::previous, Edge::First)? {
            if let Some((_, path)) = self.inner.as_deref_mut()
                && let Some(step) = path.leaf_mut()
            {
                step.index = index;
            }
            return Ok(None);
        }
        self.behind_values = false;
        self.at_end = false;
        self.block(pages, tree)
    }
}
