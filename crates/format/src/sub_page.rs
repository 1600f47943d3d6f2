//! Sub-pages: the duplicates of one key as a little page inside the key's node. They are always
//! just as long as their items need.

use crate::bytes::put;
use crate::page_mut::write_record;
use crate::{Malformed, NodeFlags, NodeValue, Page, PageFlags, PageKind, PageMut, Pgno, layout};

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

impl PageMut<'_> {
    /// Adds an item to the sub-page in the node of entry `entry`, at `index` among its items. The
    /// nodes of the page are sound. Returns `false`, with nothing changed, if the item does not fit
    /// there, or if the sub-page is packed, has free space or is unsound.
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
    ) -> Result<bool, Malformed> {
        let (page_size, pgno) = (self.view().entries().0.len(), self.view().number());
        let page = self.view();
        let node = page.leaf(entry)?;
        let sub = Page::parse_sub(node.data)?;
        let by = entry_len(PageKind::Leaf, item.len());
        let node_len = layout::leaf_node_len(node.key.len(), node.data.len());
        let fits = sub.kind() == PageKind::Leaf
            && sub.free_space() == 0
            && sub.check_nodes().is_ok()
            && index <= sub.len()
            && node.data.len().is_multiple_of(2)
            && node_len + by <= layout::node_max(page_size);
        let (count, start) = (sub.len(), page.offset(entry)? + layout::data_at(node.key.len()));
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
    offsets.copy_within(index..count, index + 1);
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
