//! Sub-pages: the duplicates of one key as a little page inside the key's node. They are always
//! just as long as their items need.

use crate::bytes::{put, shift_up};
use crate::page_mut::write_record;
use crate::{Malformed, NodeFlags, NodeValue, Page, PageFlags, PageKind, PageMut, Pgno, layout};
use alloc::vec;
use alloc::vec::Vec;

/// Bytes of a sub-page of this kind that holds that many items of that many bytes together.
#[must_use]
pub fn sub_page_len(kind: PageKind, items: impl Iterator<Item = usize>) -> usize {
    let used: usize = items.map(|len| entry_len(kind, len)).sum();
    // Packed items may have any size; node sizes are even.
    (layout::HEADER_LEN + used).next_multiple_of(2)
}

/// A sub-page of these items, which are in order.
/// # Errors
/// [`Malformed::ItemLength`] if an item does not have the size of a packed page's items.
pub fn new_sub_page(pgno: Pgno, kind: PageKind, items: &[&[u8]]) -> Result<Vec<u8>, Malformed> {
    if let PageKind::Packed(item_len) = kind {
        if items.iter().any(|item| item.len() != usize::from(item_len)) {
            return Err(Malformed::ItemLength);
        }
        return PageMut::packed_sub(pgno, kind, items);
    }
    let len = sub_page_len(kind, items.iter().map(|item| item.len()));
    let mut bytes = vec![0; len];
    let mut page = PageMut::initialise_sub(&mut bytes, pgno, kind);
    for (index, item) in items.iter().enumerate() {
        insert(&mut page, index, item)?;
    }
    Ok(bytes)
}

/// A copy of a sub-page with one more item at `index`.
/// # Errors
/// As [`Page::parse_sub`], and [`Malformed::ItemLength`].
pub fn sub_page_with(
    pgno: Pgno,
    page: &Page<'_>,
    index: usize,
    item: &[u8],
) -> Result<Vec<u8>, Malformed> {
    rebuilt(pgno, page, None, Some((index, item)))
}

/// A copy of a sub-page without item `index`.
/// # Errors
/// As [`Page::parse_sub`].
pub fn sub_page_without(pgno: Pgno, page: &Page<'_>, index: usize) -> Result<Vec<u8>, Malformed> {
    rebuilt(pgno, page, Some(index), None)
}

impl Page<'_> {
    /// Returns true if the nodes of all sub-pages in this leaf are sound.
    #[must_use]
    pub fn has_sound_sub_pages(&self) -> bool {
        (0..self.len()).all(|index| match self.leaf(index) {
            Ok(node) if node.flags.0 == NodeFlags::DUPLICATES => {
                Page::parse_sub(node.data).is_ok_and(|page| page.check_nodes().is_ok())
            }
            Ok(_) => true,
            Err(_) => false,
        })
    }
}

impl PageMut<'_> {
    /// Adds an item to the sub-page in the node of entry `entry`, at `index` among its items. The
    /// nodes of the page are sound, and those of the sub-page if `is_checked`. Returns `false`,
    /// with nothing changed, if the item does not fit there. The same holds for a sub-page that is
    /// packed, unsound or has free space.
    ///
    /// ```text
    ///   node   key | header | offsets | nodes            the nodes of the sub-page stay
    ///   key | header | offsets + 1 | new node | nodes    all before them moves down
    /// ```
    /// # Errors
    /// As [`Page::parse_sub`].
    pub fn insert_in_sub_page(
        &mut self,
        entry: usize,
        index: usize,
        item: &[u8],
        is_checked: bool,
    ) -> Result<bool, Malformed> {
        let (page_size, pgno) = (self.view().entries().0.len(), self.view().number());
        let page = self.view();
        let node = page.leaf(entry)?;
        let sub = Page::parse_sub(node.data)?;
        let by = entry_len(PageKind::Leaf, item.len());
        let node_len = layout::leaf_node_len(node.key.len(), node.data.len());
        let fits = sub.kind() == PageKind::Leaf
            && sub.free_space() == 0
            && (is_checked || sub.check_nodes().is_ok())
            && index <= sub.len()
            && node.data.len().is_multiple_of(2)
            && node_len + by <= layout::node_max(page_size);
        let (count, start) = (
            sub.len(),
            page.offset(entry)? + layout::data_at(node.key.len()),
        );
        let nodes_at = start + layout::HEADER_LEN + 2 * count;
        if !fits || !self.lengthen(entry, nodes_at, by)? {
            return Ok(false);
        }
        let room = self.bytes_mut(start - by..nodes_at);
        fill_opened(room, (count, by), index, item).ok_or(Malformed::Node(index))?;
        let mark = PageFlags::LEAF | PageFlags::SUB_PAGE | PageFlags::DIRTY;
        put(room, 0, &pgno.to_le_bytes())
            .and_then(|()| put(room, layout::FLAGS_AT, &mark.to_le_bytes()))
            .ok_or(Malformed::Truncated)?;
        Ok(true)
    }
}

/// Adds an item to a sub-page, given up to its lowest node. Its header and its offsets were moved
/// down by `by` bytes.
fn fill_opened(
    room: &mut [u8],
    (count, by): (usize, usize),
    index: usize,
    item: &[u8],
) -> Option<()> {
    let lower = layout::HEADER_LEN + 2 * (count + 1);
    let new = layout::from_page_offset(lower).to_le_bytes();
    put(room, layout::LOWER_AT, &new)?;
    put(room, layout::UPPER_AT, &new)?;
    let offsets = room.get_mut(layout::HEADER_LEN..lower)?.as_chunks_mut().0;
    shift_up(offsets, index..count, 1)?;
    for stored in offsets.iter_mut() {
        let offset = layout::to_page_offset(u16::from_le_bytes(*stored));
        *stored = layout::from_page_offset(offset.wrapping_add(by)).to_le_bytes();
    }
    *offsets.get_mut(index)? = new;
    write_record(room.get_mut(lower..)?, 0, item, &[])
}

fn rebuilt(
    pgno: Pgno,
    page: &Page<'_>,
    without: Option<usize>,
    with: Option<(usize, &[u8])>,
) -> Result<Vec<u8>, Malformed> {
    if let PageKind::Packed(len) = page.kind() {
        return repacked(pgno, page, usize::from(len), without, with);
    }
    if page.check_nodes().is_ok()
        && let Some(bytes) = resized(pgno, page, without, with)?
    {
        return Ok(bytes);
    }
    let mut items = Vec::with_capacity(page.len() + 1);
    for index in (0..page.len()).filter(|index| Some(*index) != without) {
        items.push(page.key(index)?);
    }
    if let Some((index, item)) = with {
        if index > items.len() {
            return Err(Malformed::Node(index));
        }
        items.insert(index, item);
    }
    new_sub_page(pgno, page.kind(), &items)
}

/// As [`rebuilt`], of a page whose nodes were checked: they are moved all at once. `None` if they
/// are not just as long as their items need.
fn resized(
    pgno: Pgno,
    page: &Page<'_>,
    without: Option<usize>,
    with: Option<(usize, &[u8])>,
) -> Result<Option<Vec<u8>>, Malformed> {
    let used = layout::HEADER_LEN + page.used_space();
    if let Some(index) = without {
        let len = used - entry_len(page.kind(), page.key(index)?.len());
        let Some(mut copy) = PageMut::resize_sub(pgno, page, used) else {
            return Ok(None);
        };
        let mut smaller = PageMut::from_resized(&mut copy, page);
        smaller.remove(index)?;
        return Ok(PageMut::resize_sub(pgno, &smaller.view(), len));
    }
    let Some((index, item)) = with else {
        return Ok(None);
    };
    let len = used + entry_len(page.kind(), item.len());
    let Some(mut bytes) = PageMut::resize_sub(pgno, page, len) else {
        return Ok(None);
    };
    insert(&mut PageMut::from_resized(&mut bytes, page), index, item)?;
    Ok(Some(bytes))
}

/// As [`rebuilt`], for packed items.
fn repacked(
    pgno: Pgno,
    page: &Page<'_>,
    len: usize,
    without: Option<usize>,
    with: Option<(usize, &[u8])>,
) -> Result<Vec<u8>, Malformed> {
    let items = page.packed_items()?;
    let (at, gone) = match (without, with) {
        (Some(index), _) => (index * len, len),
        (None, Some((index, item))) if item.len() == len => (index * len, 0),
        (None, Some(_)) => return Err(Malformed::ItemLength),
        (None, None) => (0, 0),
    };
    let (Some(before), Some(behind)) = (items.get(..at), items.get(at + gone..)) else {
        return Err(Malformed::Node(at / len.max(1)));
    };
    let item = with.map_or(&[][..], |(_, item)| item);
    PageMut::packed_sub(pgno, page.kind(), &[before, item, behind])
}

fn insert(page: &mut PageMut<'_>, index: usize, item: &[u8]) -> Result<(), Malformed> {
    if page.insert(index, item, NodeValue::Data(&[], NodeFlags(0)))? {
        Ok(())
    } else {
        Err(Malformed::NodeSum)
    }
}

/// Bytes an item takes in a page that holds duplicates.
fn entry_len(kind: PageKind, len: usize) -> usize {
    match kind {
        PageKind::Packed(_) => len,
        PageKind::Branch | PageKind::Leaf => 2 + layout::leaf_node_len(len, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PGNO: Pgno = Pgno(7);
    const VALUES: NodeFlags = NodeFlags(NodeFlags::DUPLICATES);

    /// Returns items of all kinds of lengths, in order.
    fn items() -> Vec<Vec<u8>> {
        (0..24_u8)
            .map(|at| vec![at; 1 + usize::from(at) * 5 % 23])
            .collect()
    }

    /// Returns a leaf with three keys. The second has these values, the others one each.
    fn leaf_with(sub_page: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0xaa; 4096];
        let mut page = PageMut::initialise(&mut bytes, PGNO, PageKind::Leaf);
        // The node with the values is neither the lowest nor the highest.
        for (index, key, data, flags) in [
            (0, &b"first"[..], &b"a value"[..], NodeFlags(0)),
            (1, b"second", sub_page, VALUES),
            (2, b"third", b"another", NodeFlags(0)),
        ] {
            assert!(
                page.insert(index, key, NodeValue::Data(data, flags))
                    .unwrap()
            );
        }
        bytes
    }

    #[test]
    fn an_item_inserted_in_place_gives_the_same_sub_page() {
        let items = items();
        for (new, item) in items.iter().enumerate() {
            let others: Vec<&[u8]> = items
                .iter()
                .map(Vec::as_slice)
                .filter(|other| other != item)
                .collect();
            let before = new_sub_page(PGNO, PageKind::Leaf, &others).unwrap();
            let wanted =
                sub_page_with(PGNO, &Page::parse_sub(&before).unwrap(), new, item).unwrap();
            for is_checked in [false, true] {
                let mut bytes = leaf_with(&before);
                let mut page = PageMut::parse(&mut bytes, PGNO, PageKind::Leaf).unwrap();
                assert!(page.view().has_sound_sub_pages());
                assert!(page.insert_in_sub_page(1, new, item, is_checked).unwrap());
                let page = Page::parse(&bytes, PGNO, PageKind::Leaf).unwrap();
                page.check_nodes().unwrap();
                assert_eq!(page.leaf(1).unwrap().data, wanted, "item {new}");
                assert_eq!(page.leaf(1).unwrap().key, b"second");
                assert_eq!(page.leaf(0).unwrap().data, b"a value");
                assert_eq!(page.leaf(2).unwrap().data, b"another");
            }
        }
    }

    #[test]
    fn an_item_that_does_not_fit_changes_nothing() {
        let items = items();
        let items: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
        let mut bytes = leaf_with(&new_sub_page(PGNO, PageKind::Leaf, &items).unwrap());
        let room = {
            let page = Page::parse(&bytes, PGNO, PageKind::Leaf).unwrap();
            page.free_space()
        };
        let before = bytes.clone();
        let mut page = PageMut::parse(&mut bytes, PGNO, PageKind::Leaf).unwrap();
        assert!(
            !page
                .insert_in_sub_page(1, 25, b"behind the end", false)
                .unwrap()
        );
        assert!(
            !page
                .insert_in_sub_page(1, 3, &vec![3; room], false)
                .unwrap()
        );
        // A node for which a value would have to be a tree.
        let large = layout::node_max(4096);
        assert!(large < room + 300);
        assert!(
            !page
                .insert_in_sub_page(1, 3, &vec![3; large - 300], false)
                .unwrap()
        );
        assert!(page.insert_in_sub_page(0, 0, b"one value", false).is_err());
        assert_eq!(bytes, before);
    }

    #[test]
    fn a_damaged_leaf_is_changed_without_harm() {
        let items = items();
        let items: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
        let whole = leaf_with(&new_sub_page(PGNO, PageKind::Leaf, &items).unwrap());
        for at in 10..whole.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                let Ok(mut page) = PageMut::parse(&mut bytes, PGNO, PageKind::Leaf) else {
                    continue;
                };
                let is_checked = page.view().has_sound_sub_pages();
                let _ = page.insert_in_sub_page(1, 5, b"one more item", is_checked);
                let _ = page.insert_record(1, b"key", b"value");
                let _ = page.remove(1);
            }
        }
    }
}
