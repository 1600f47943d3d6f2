//! What a range taken from its front asks the memory for: in parts, as the cursor's walks do ([`crate::cursor`]).
//!
//! A leaf's header is asked for two leaves before it is entered, and tells where its nodes are, which are asked for while the
//! leaf before it is read. A whole page asked for at once would mostly be waited for.

use fulgurite_format::{PageKind, Pgno};
use fulgurite_os::{CACHE_LINE, prefetch_lines};

use crate::space::PageView;
use crate::tree::Pages as _;

/// Lines of a leaf that hold its header and, mostly, where its entries begin.
pub(super) const HEAD_LINES: usize = 2;
/// Parts in which the nodes of a leaf are asked for.
const PARTS: usize = 3;

/// What of the next leaf is still to be asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ahead<'t> {
    rest: &'t [u8],
    part: usize,
}

impl<'t> Ahead<'t> {
    pub(super) const NOTHING: Ahead<'static> = Ahead { rest: &[], part: 0 };

    /// The nodes of a leaf whose header was asked for.
    pub(super) fn of(pages: PageView<'t>, leaf: Option<Pgno>, kind: PageKind) -> Ahead<'t> {
        let nodes = leaf.and_then(|leaf| {
            let octets = pages.page(leaf).ok()?;
            let page = pages.tree_page(leaf, kind).ok()?;
            let at = page.header().nodes_at();
            match kind {
                PageKind::Packed(_) => octets.get(..at),
                _ => octets.get(at & !(CACHE_LINE - 1)..),
            }
        });
        let rest = nodes.unwrap_or_default();
        Ahead {
            rest,
            part: rest.len().div_ceil(PARTS),
        }
    }

    /// Asks for a part; so many of the `left` entries are to be read before more is asked for.
    pub(super) fn ask(&mut self, left: usize) -> usize {
        // What is left goes at once where there will be no other look.
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
        let looks = later.len().div_ceil(self.part.max(1));
        (left / (looks + 1)).max(1)
    }
}
