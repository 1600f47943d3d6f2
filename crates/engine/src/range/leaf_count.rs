//! The number of records in a part of a leaf.

use fulgurite_format::{Page, PageKind, Pgno};

use crate::boxed_error::BoxedError;
use crate::space::PageView;
use crate::tree::Tree;
use crate::{Error, value};

/// Counts the records of some entries of a leaf.
pub(super) fn records_in(
    pages: PageView<'_>,
    tree: &Tree,
    leaf: Pgno,
    page: &Page<'_>,
    range: core::ops::Range<usize>,
) -> Result<u64, BoxedError> {
    debug_assert!(page.kind() == PageKind::Leaf);
    debug_assert!(range.end <= page.len(), "the entries leave their leaf");
    if !tree.has_duplicates() {
        return Ok(range.len() as u64);
    }
    let mut sum = 0u64;
    for index in range {
        let node = page.leaf(index).map_err(Error::at(leaf))?;
        sum = sum.saturating_add(value::count_of(pages, tree, leaf, &node)?);
    }
    Ok(sum)
}
