//! Prefetching for a range taken from its front: in parts, as for walks of a cursor.
//!
//! Two leaves before a leaf is entered, its header is prefetched. The header says where the nodes
//! are. The nodes are prefetched while the leaf before is read. A whole page prefetched at once
//! would stall the processor.

use fulgurite_format::{PageKind, Pgno};
use fulgurite_os::{CACHE_LINE, prefetch_lines};

use crate::space::PageView;
use crate::tree::Pages as _;

/// Cache lines of a leaf that hold its header and, mostly, its entry offsets.
pub(super) const HEAD_LINES: usize = 2;
/// Parts in which the nodes of a leaf are prefetched.
const PARTS: usize = 3;

/// The nodes of the next leaf that are still to be prefetched.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeafPrefetch<'t> {
    rest: &'t [u8],
    part: usize,
}

impl<'t> LeafPrefetch<'t> {
    pub(super) const NOTHING: LeafPrefetch<'static> = LeafPrefetch { rest: &[], part: 0 };

    /// Returns the nodes of a leaf whose header was prefetched.
    pub(super) fn of(pages: PageView<'t>, leaf: Option<Pgno>, kind: PageKind) -> LeafPrefetch<'t> {
        let nodes = leaf.and_then(|leaf| {
            let bytes = pages.page(leaf).ok()?;
            let page = pages.tree_page(leaf, kind).ok()?;
            let at = page.header().nodes_at();
            match kind {
                PageKind::Packed(_) => bytes.get(..at),
                _ => bytes.get(at & !(CACHE_LINE - 1)..),
            }
        });
        let rest = nodes.unwrap_or_default();
        LeafPrefetch {
            rest,
            part: rest.len().div_ceil(PARTS),
        }
    }

    /// Prefetches a part. Returns how many of the `left` entries to read before the next part.
    pub(super) fn prefetch_part(&mut self, left: usize) -> usize {
        // Without another chance, prefetch all that is left.
        let len = if left <= 1 {
            self.rest.len()
        } else {
            self.part
        };
        let (now, later) = self.rest.split_at(len.min(self.rest.len()));
        prefetch_lines(now);
        self.rest = later;
        if later.is_empty() {
            return left;
        }
        let parts = later.len().div_ceil(self.part.max(1));
        // Saturating, so that the compiler sees no division by zero.
        (left / parts.saturating_add(1)).max(1)
    }
}
