//! The exact number of records in a range.

use super::bounds::Gap;
use super::entries::Entries;
use super::estimate::estimate;
use super::leaf_count::records_in;
use crate::boxed_error::BoxedError;
use crate::space::PageView;
use crate::tree::Tree;

/// Counts records between two gaps.
///
/// Branches have no counts in this format, so the count visits leaves. It takes those inside the
/// range, or those outside if they seem fewer. The tree's record knows the sum.
pub(crate) fn count(
    pages: PageView<'_>,
    tree: Tree,
    low: Gap<'_>,
    high: Gap<'_>,
) -> Result<u64, BoxedError> {
    let total = tree.record.entries;
    if low == Gap::Edge && high == Gap::Edge {
        return Ok(total);
    }
    if estimate(pages, &tree, low, high)? <= total / 2 {
        return inside(pages, tree, low, high);
    }
    let mut outside = 0u64;
    if low != Gap::Edge {
        outside = inside(pages, tree, Gap::Edge, low)?;
    }
    if high != Gap::Edge {
        outside = outside.saturating_add(inside(pages, tree, high, Gap::Edge)?);
    }
    Ok(total.saturating_sub(outside))
}

/// Visits the leaves between two gaps. Without duplicates it reads only their headers.
fn inside(pages: PageView<'_>, tree: Tree, low: Gap<'_>, high: Gap<'_>) -> Result<u64, BoxedError> {
    let mut sum = 0u64;
    let entries = Entries::between(pages, tree, low, high)?;
    entries.each_leaf(|leaf, page, range| {
        sum = sum.saturating_add(records_in(pages, &tree, leaf, page, range)?);
        Ok(())
    })?;
    Ok(sum)
}
