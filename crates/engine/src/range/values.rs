//! The values of one key.

use alloc::boxed::Box;
use core::iter::FusedIterator;

use fulgurite_format::{LeafNode, Page, Pgno};

use super::entries::Entries;
use crate::boxed_error::BoxedError;
use crate::space::PageView;
use crate::tree::Tree;
use crate::{Error, value};

/// The values of one key in their order, from both ends; see [`crate::Snapshot::values`].
///
/// After an error, which says that the file is damaged, there are no more.
#[derive(Debug, Clone)]
pub struct Values<'t>(RemainingValues<'t>);

/// The values that are still to be taken.
#[derive(Debug, Clone)]
enum RemainingValues<'t> {
    None,
    One(&'t [u8]),
    /// The values of a sub-page in this leaf, from one index up to another.
    Page(Page<'t>, Pgno, usize, usize),
    Tree(Box<Entries<'t>>),
}

impl<'t> Values<'t> {
    pub(crate) const fn none() -> Values<'t> {
        Values(RemainingValues::None)
    }

    /// Returns the values of a leaf entry.
    pub(crate) fn of(
        pages: PageView<'t>,
        tree: &Tree,
        leaf: Pgno,
        node: &LeafNode<'t>,
    ) -> Result<Values<'t>, BoxedError> {
        if !tree.has_duplicates() {
            let value = value::value_of(pages, leaf, node)?;
            return Ok(Values(RemainingValues::One(value)));
        }
        Ok(Values(match value::values_of(pages, tree, leaf, node)? {
            value::Values::One(value) => RemainingValues::One(value),
            value::Values::Page(page) => RemainingValues::Page(page, leaf, 0, page.len()),
            value::Values::Tree(inner) => {
                RemainingValues::Tree(Box::new(Entries::all(pages, inner)?))
            }
        }))
    }

    /// Returns the number of leaves passed in a value tree.
    pub(super) fn leaves_passed(&self) -> u64 {
        match &self.0 {
            RemainingValues::Tree(entries) => entries.leaves_passed(),
            _ => 0,
        }
    }

    /// Ends the iteration after an error.
    #[inline]
    fn ended_by(
        &mut self,
        value: Result<&'t [u8], BoxedError>,
    ) -> Option<Result<&'t [u8], BoxedError>> {
        if value.is_err() {
            self.0 = RemainingValues::None;
        }
        Some(value)
    }

    /// Returns the only value, once.
    fn take_one(&mut self) -> Option<Result<&'t [u8], BoxedError>> {
        match core::mem::replace(&mut self.0, RemainingValues::None) {
            RemainingValues::One(value) => Some(Ok(value)),
            _ => None,
        }
    }
}

impl<'t> Iterator for Values<'t> {
    type Item = Result<&'t [u8], Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            RemainingValues::Page(page, leaf, low, high) if *low < *high => {
                let index = *low;
                *low += 1;
                let value = page.key(index).map_err(Error::at(*leaf));
                self.ended_by(value).map(|found| found.map_err(Error::from))
            }
            RemainingValues::Tree(entries) => entries
                .next(|leaf, page, index| page.key(index).map_err(Error::at(leaf)))
                .map(|found| found.map_err(Error::from)),
            _ => self.take_one().map(|found| found.map_err(Error::from)),
        }
    }
}

impl DoubleEndedIterator for Values<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            RemainingValues::Page(page, leaf, low, high) if *low < *high => {
                *high -= 1;
                let value = page.key(*high).map_err(Error::at(*leaf));
                self.ended_by(value).map(|found| found.map_err(Error::from))
            }
            RemainingValues::Tree(entries) => entries
                .next_back(|leaf, page, index| page.key(index).map_err(Error::at(leaf)))
                .map(|found| found.map_err(Error::from)),
            _ => self.take_one().map(|found| found.map_err(Error::from)),
        }
    }
}

impl FusedIterator for Values<'_> {}
