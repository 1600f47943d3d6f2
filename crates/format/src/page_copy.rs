//! Copying a tree page without its free space.

use crate::bytes::{put, u16_at, wipe};
use crate::{PageFlags, Pgno, layout};

/// Copies the used parts of a branch or leaf page, packed ones too, to where it gets the number
/// `pgno`.
///
/// The gap between offsets and nodes, or behind packed items, stays as it is in `to`. Up to seven
/// bytes at its ends are copied with their words, as in the original. Marks that mean something in
/// memory only are wiped. Both slices are one page long.
pub fn copy_used(from: &[u8], to: &mut [u8], pgno: Pgno) {
    let (head, tail) = used_parts(from).unwrap_or((from.len(), from.len()));
    for part in [0..head, tail..from.len()] {
        if let (Some(to), Some(from)) = (to.get_mut(part.clone()), from.get(part)) {
            to.copy_from_slice(from);
        }
    }
    let flags = u16_at(from, layout::FLAGS_AT).unwrap_or_default() & !PageFlags::DIRTY;
    let done = put(to, 0, &pgno.0.to_le_bytes())
        .and_then(|()| put(to, layout::FLAGS_AT, &flags.to_le_bytes()));
    debug_assert!(done.is_some(), "a page is larger than its header");
}

/// Makes `to` the same page as `from`, but for the free space, which stays as it is in `to`. The
/// free space of `from` is not read, which saves a third of the cost of an uncached page. A page
/// without a sensible header is copied as it is. Both slices have one length.
// The ranges have ends, so that parts of equal lengths are copied wherever this is compiled to.
#[inline]
pub fn copy_without_gap(from: &[u8], to: &mut [u8]) {
    let len = from.len();
    let (head, tail) = used_parts(from).unwrap_or((len, len));
    if let (Some(to), Some(from)) = (to.get_mut(..head), from.get(..head)) {
        to.copy_from_slice(from);
    }
    if let (Some(to), Some(from)) = (to.get_mut(tail..len), from.get(tail..len)) {
        to.copy_from_slice(from);
    }
}

/// Makes zeros of the free space of a tree page. Other pages are left as they are.
pub fn wipe_gap(page: &mut [u8]) {
    let gap = parts_in_use(page).map(|(head, tail, _)| head.len()..tail);
    if let Some(gap) = gap.and_then(|gap| page.get_mut(gap)) {
        wipe(gap);
    }
}

/// The parts of a tree page that are used, with where the second one begins: between them is free
/// space. Returns `None` for other pages, and for a page without a sensible header.
#[must_use]
pub fn parts_in_use(page: &[u8]) -> Option<(&[u8], usize, &[u8])> {
    let flags = u16_at(page, layout::FLAGS_AT)?;
    if flags & (PageFlags::BRANCH | PageFlags::LEAF) == 0 {
        return None;
    }
    let (head, tail) = used_parts(page)?;
    Some((page.get(..head)?, tail, page.get(tail..)?))
}

/// Where the first used part ends and the second begins; `None` if the header makes no sense.
#[inline(always)]
fn used_parts(page: &[u8]) -> Option<(usize, usize)> {
    let lower = layout::to_page_offset(u16_at(page, layout::LOWER_AT)?);
    let upper = layout::to_page_offset(u16_at(page, layout::UPPER_AT)?);
    let (head, tail) = if u16_at(page, layout::FLAGS_AT)? & PageFlags::PACKED == 0 {
        (lower.next_multiple_of(8), upper & !7)
    } else {
        // Here the bounds only say how much is free, at the end of the page.
        let free = upper.checked_sub(lower)? & !7;
        (page.len().checked_sub(free)?, page.len())
    };
    (head <= tail && tail <= page.len()).then_some((head, tail))
}
