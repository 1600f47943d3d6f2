//! Laying the entries of one page, or of two neighbours, out over two pages.
//!
//! ```text
//!   items:   e0 e1 e2 e3 e4 e5 e6      at = 4
//!   left  <- e0 e1 e2 e3               right <- e4 e5 e6          separator: > e3, <= e4
//! ```
//! A branch's first entry stores no key. On the left it never had one; on the right its key becomes
//! the separator.

use fulgurite_format::{Malformed, NodeValue, Page, PageKind, PageMut, Pgno, layout};

use super::{PagesMut, Tree};
use crate::Error;

/// An entry on its way into a page.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item<'a> {
    /// A node copied from a page, with its key.
    Old { node: &'a [u8], key: &'a [u8] },
    /// A node to be made.
    New { key: &'a [u8], value: NodeValue<'a> },
}

impl<'a> Item<'a> {
    pub(super) fn key(&self) -> &'a [u8] {
        match self {
            Item::Old { key, .. } | Item::New { key, .. } => key,
        }
    }

    /// Bytes in a page of this kind, offset included.
    pub(super) fn len(&self, kind: PageKind) -> usize {
        if let PageKind::Packed(len) = kind {
            return usize::from(len);
        }
        2 + match self {
            Item::Old { node, .. } => node.len(),
            Item::New { key, value } => value.node_len(key.len()),
        }
    }

    fn place(
        &self,
        page: &mut PageMut<'_>,
        index: usize,
        kind: PageKind,
    ) -> Result<bool, Malformed> {
        match (self, kind) {
            (Item::Old { node, .. }, PageKind::Branch) if index == 0 => {
                page.insert(0, b"", NodeValue::Child(child_of(node)))
            }
            (Item::New { value, .. }, PageKind::Branch) if index == 0 => {
                page.insert(0, b"", *value)
            }
            (Item::Old { node, .. }, _) => page.insert_node(index, node),
            (Item::New { key, value }, _) => page.insert(index, key, *value),
        }
    }
}

/// The child number in a branch node.
fn child_of(node: &[u8]) -> Pgno {
    debug_assert!(node.len() >= layout::NODE_HEADER_LEN);
    Pgno(
        node.first_chunk()
            .map_or(u64::MAX, |header| layout::branch_child(*header)),
    )
}

/// The entries of a page, in order.
pub(super) fn items_of<'a>(page: &Page<'a>) -> Result<Vec<Item<'a>>, Malformed> {
    (0..page.len())
        .map(|index| {
            Ok(Item::Old {
                node: page.node_bytes(index)?,
                key: page.key(index)?,
            })
        })
        .collect()
}

/// Fewest entries a page keeps when there is a choice.
pub(super) const fn entries_min(kind: PageKind) -> usize {
    match kind {
        PageKind::Branch => 2,
        PageKind::Leaf | PageKind::Packed(_) => 1,
    }
}

/// Where to cut so that both sides fit a page and differ least in size; `None` if no cut fits.
pub(super) fn balanced_cut(items: &[Item<'_>], kind: PageKind, page_size: usize) -> Option<usize> {
    debug_assert!(page_size > layout::HEADER_LEN);
    let room = page_size - layout::HEADER_LEN;
    let total: usize = items.iter().map(|item| item.len(kind)).sum();
    let least = entries_min(kind);
    let mut left = 0;
    let mut best = None;
    for (index, item) in items.iter().enumerate() {
        let right = total - left;
        let allowed = index >= least.min(items.len() / 2).max(1)
            && items.len() - index >= least.min(items.len() / 2).max(1);
        if allowed && left <= room && right <= room {
            let difference = left.abs_diff(right);
            if best.is_none_or(|(smallest, _)| difference < smallest) {
                best = Some((difference, index));
            }
        }
        left += item.len(kind);
    }
    debug_assert!(best.is_none_or(|(_, index)| 0 < index && index < items.len()));
    best.map(|(_, index)| index)
}

/// Returns the key by which the branch above distinguishes two pages. It is the first key of the
/// right page, or, between leaves, the shortest sufficient prefix.
pub(super) fn separator<'a>(
    tree: &Tree,
    kind: PageKind,
    head: &[Item<'a>],
    tail: &[Item<'a>],
) -> &'a [u8] {
    debug_assert!(!tail.is_empty(), "the right page has entries");
    let key = tail.first().map_or(&b""[..], Item::key);
    match (kind, head.last()) {
        (PageKind::Leaf | PageKind::Packed(_), Some(below)) => {
            tree.order.separator(below.key(), key)
        }
        _ => key,
    }
}

/// Fills a private page with these entries and nothing else.
pub(super) fn fill<P: PagesMut>(
    pages: &mut P,
    pgno: Pgno,
    kind: PageKind,
    items: &[Item<'_>],
) -> Result<(), Error> {
    debug_assert!(!items.is_empty(), "a page has entries");
    let mut page = PageMut::initialise(pages.page_mut(pgno)?, pgno, kind);
    for (index, item) in items.iter().enumerate() {
        if !item
            .place(&mut page, index, kind)
            .map_err(Error::at(pgno))?
        {
            return Err(Error::Corrupted {
                page: pgno,
                what: Malformed::NodeSum,
            });
        }
    }
    Ok(())
}
