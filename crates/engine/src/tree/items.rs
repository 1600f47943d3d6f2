//! Laying the entries of one page, or of two neighbours, out over two pages. An entry is the bytes
//! of its node, or an item of a packed page.
//!
//! ```text
//!   items:   e0 e1 e2 e3 e4 e5 e6      at = 4
//!   left  <- e0 e1 e2 e3               right <- e4 e5 e6          separator: > e3, <= e4
//! ```
//! A branch's first entry stores no key. On the left it never had one; on the right its key becomes
//! the separator.

use alloc::vec::Vec;
use fulgurite_format::{Malformed, NodeValue, Page, PageKind, PageMut, Pgno, layout};

use super::{PagesMut, Tree};
use crate::Error;
use crate::boxed_error::BoxedError;

/// The entries of a page, in order, and room for that many more.
pub(super) fn entries_of<'a>(page: &Page<'a>, more: usize) -> Result<Vec<&'a [u8]>, Malformed> {
    let mut entries = Vec::with_capacity(page.len() + more);
    for index in 0..page.len() {
        entries.push(page.node_bytes(index)?);
    }
    Ok(entries)
}

/// A new entry.
pub(super) fn new_entry(kind: PageKind, key: &[u8], value: NodeValue<'_>) -> Vec<u8> {
    match kind {
        PageKind::Packed(_) => key.to_vec(),
        PageKind::Branch | PageKind::Leaf => value.to_node(key),
    }
}

/// The key of an entry.
pub(super) fn key_of(kind: PageKind, entry: &[u8]) -> &[u8] {
    match kind {
        PageKind::Packed(_) => entry,
        PageKind::Branch | PageKind::Leaf => Page::entry_key(entry).unwrap_or_default(),
    }
}

/// Bytes that entries take in a page of this kind, offsets included.
pub(super) fn total_len(entries: &[&[u8]], kind: PageKind) -> usize {
    let nodes: usize = entries.iter().map(|entry| entry.len()).sum();
    nodes + entries.len() * offset_len(kind)
}

const fn offset_len(kind: PageKind) -> usize {
    match kind {
        PageKind::Packed(_) => 0,
        PageKind::Branch | PageKind::Leaf => 2,
    }
}

/// Fewest entries a page keeps when there is a choice.
pub(super) const fn entries_min(kind: PageKind) -> usize {
    match kind {
        PageKind::Branch => 2,
        PageKind::Leaf | PageKind::Packed(_) => 1,
    }
}

/// Where to cut so that both sides fit a page and differ least in size; `None` if no cut fits.
pub(super) fn balanced_cut(entries: &[&[u8]], kind: PageKind, page_size: usize) -> Option<usize> {
    debug_assert!(page_size > layout::HEADER_LEN);
    let room = page_size - layout::HEADER_LEN;
    let total = total_len(entries, kind);
    let least = entries_min(kind).min(entries.len() / 2).max(1);
    let allowed = least..=entries.len().saturating_sub(least);
    let mut left = 0;
    let mut best = None;
    for (index, entry) in entries.iter().enumerate() {
        let right = total - left;
        if allowed.contains(&index) && left <= room && right <= room {
            let difference = left.abs_diff(right);
            if best.is_none_or(|(smallest, _)| difference < smallest) {
                best = Some((difference, index));
            }
        }
        left += entry.len() + offset_len(kind);
    }
    debug_assert!(best.is_none_or(|(_, index)| 0 < index && index < entries.len()));
    best.map(|(_, index)| index)
}

/// Returns the key by which the branch above distinguishes two pages. It is the first key of the
/// right page, or, between leaves, the shortest sufficient prefix.
pub(super) fn separator<'a>(
    tree: &Tree,
    kind: PageKind,
    head: &[&[u8]],
    tail: &[&'a [u8]],
) -> &'a [u8] {
    debug_assert!(!tail.is_empty(), "the right page has entries");
    let key = tail.first().map_or(&b""[..], |entry| key_of(kind, entry));
    match (kind, head.last()) {
        (PageKind::Leaf | PageKind::Packed(_), Some(below)) => {
            tree.order.separator(key_of(kind, below), key)
        }
        _ => key,
    }
}

/// Fills a private page with these entries and nothing else.
pub(super) fn fill<P: PagesMut>(
    pages: &mut P,
    pgno: Pgno,
    kind: PageKind,
    entries: &[&[u8]],
) -> Result<(), BoxedError> {
    debug_assert!(!entries.is_empty(), "a page has entries");
    if PageMut::fill(pages.page_mut(pgno)?, pgno, kind, entries) {
        return Ok(());
    }
    Err(Error::at(pgno)(Malformed::NodeSum))
}
