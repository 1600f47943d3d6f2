//! Tree pages as the writer changes them: private copies, whose nodes were checked when the copy
//! was made.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::bytes::{put, shift_down, shift_up, wipe};
use crate::{Malformed, NodeFlags, Page, PageFlags, PageHeader, PageKind, Pgno, layout};

/// The contents of a new node behind its key.
#[derive(Debug, Clone, Copy)]
pub enum NodeValue<'a> {
    /// A child page; in branches only.
    Child(Pgno),
    /// Bytes in the page, with the flags that describe them.
    Data(&'a [u8], NodeFlags),
    /// Room for that many bytes, zeroed, to be filled by the caller.
    Reserved(usize),
    /// A value of `len` bytes in the overflow run that begins at `first`.
    Overflow {
        /// First page of the run.
        first: Pgno,
        /// Length of the value in bytes.
        len: u32,
    },
}

impl NodeValue<'_> {
    /// Bytes in the page.
    fn data_len(&self) -> usize {
        match self {
            NodeValue::Child(_) => 0,
            NodeValue::Data(data, _) => data.len(),
            NodeValue::Reserved(len) => *len,
            NodeValue::Overflow { .. } => layout::OVERFLOW_REF_LEN,
        }
    }

    /// Bytes a node with this value and a key of `key_len` bytes takes in a page, without its
    /// offset.
    #[must_use]
    pub fn node_len(&self, key_len: usize) -> usize {
        match self {
            NodeValue::Child(_) => layout::branch_node_len(key_len),
            _ => layout::leaf_node_len(key_len, self.data_len()),
        }
    }

    /// A node with this value and a key.
    #[must_use]
    pub fn to_node(&self, key: &[u8]) -> Vec<u8> {
        let mut node = vec![0; self.node_len(key.len())];
        let done = self.write_node(&mut node, key);
        debug_assert!(done.is_some(), "the node has its length");
        node
    }

    /// Writes a node with this value and a key to where it has its length.
    #[inline]
    fn write_node(&self, node: &mut [u8], key: &[u8]) -> Option<()> {
        match self {
            NodeValue::Data(data, flags) => write_record(
                node,
                data.len() as u64 | u64::from(flags.0) << 32,
                key,
                data,
            ),
            NodeValue::Child(child) => write_record(node, child.0 & 0xffff_ffff_ffff, key, &[]),
            NodeValue::Reserved(len) => {
                node.fill(0);
                write_record(node, *len as u64, key, &[])
            }
            NodeValue::Overflow { first, len } => {
                let word = u64::from(*len) | u64::from(NodeFlags::OVERFLOW) << 32;
                write_record(node, word, key, &first.0.to_le_bytes())
            }
        }
    }
}

/// Writes a node: the lower six bytes of its header as given, the key and the data.
#[inline]
pub(crate) fn write_record(node: &mut [u8], word: u64, key: &[u8], data: &[u8]) -> Option<()> {
    let data_at = layout::data_at(key.len()) - layout::NODE_HEADER_LEN;
    let (header, rest) = node.split_first_chunk_mut()?;
    if let Some(padding) = rest.last_mut() {
        // All else is written.
        *padding = 0;
    }
    let (to_key, to_data) = rest.split_at_mut_checked(data_at)?;
    let (to_key, to_data) = (to_key.get_mut(..key.len())?, to_data.get_mut(..data.len())?);
    *header = (word | (key.len() as u64) << 48).to_le_bytes();
    to_key.copy_from_slice(key);
    to_data.copy_from_slice(data);
    Some(())
}

/// A branch or leaf page that may be changed.
#[derive(Debug)]
pub struct PageMut<'a> {
    bytes: &'a mut [u8],
    kind: PageKind,
    count: usize,
    upper: usize,
}

impl<'a> PageMut<'a> {
    /// Makes an empty page.
    #[must_use]
    pub fn initialise(bytes: &'a mut [u8], pgno: Pgno, kind: PageKind) -> PageMut<'a> {
        Self::initialise_as(bytes, pgno, kind, kind.flag())
    }

    /// Makes an empty sub-page, for the node of a key on page `pgno`. The dirty mark is part of its
    /// format.
    #[must_use]
    pub fn initialise_sub(bytes: &'a mut [u8], pgno: Pgno, kind: PageKind) -> PageMut<'a> {
        let flags = kind.flag() | PageFlags::SUB_PAGE | PageFlags::DIRTY;
        Self::initialise_as(bytes, pgno, kind, flags)
    }

    fn initialise_as(bytes: &'a mut [u8], pgno: Pgno, kind: PageKind, flags: u16) -> Self {
        wipe(bytes);
        let upper = bytes.len();
        let item_len = kind.item_len() as u16;
        let done = put(bytes, 0, &pgno.0.to_le_bytes())
            .and_then(|()| put(bytes, layout::PAD_AT, &item_len.to_le_bytes()))
            .and_then(|()| put(bytes, layout::FLAGS_AT, &flags.to_le_bytes()));
        debug_assert!(done.is_some(), "a page is larger than its header");
        let mut page = PageMut {
            bytes,
            kind,
            count: 0,
            upper,
        };
        page.store_bounds();
        page
    }

    /// Makes a page of these nodes, in their order; of items, if they are packed. The first node of
    /// a branch loses its key. Returns `false` if they do not fit. Only the free space is wiped.
    #[must_use]
    pub fn fill(bytes: &'a mut [u8], pgno: Pgno, kind: PageKind, nodes: &[&[u8]]) -> bool {
        if let PageKind::Packed(_) = kind {
            let mut page = Self::initialise(bytes, pgno, kind);
            let mut items = nodes.iter().enumerate();
            return items.all(|(index, item)| page.insert_node(index, item) == Ok(true));
        }
        let lower = layout::HEADER_LEN + 2 * nodes.len();
        let mut upper = bytes.len();
        for (index, node) in nodes.iter().enumerate() {
            let keyless;
            let node = match node.first_chunk() {
                Some(header) if kind == PageKind::Branch && index == 0 => {
                    keyless = layout::branch_child(*header).to_le_bytes();
                    &keyless[..]
                }
                _ => *node,
            };
            let Some(at) = upper.checked_sub(node.len()).filter(|at| *at >= lower) else {
                return false;
            };
            let offset = layout::from_page_offset(at).to_le_bytes();
            let placed = put(bytes, at, node)
                .and_then(|()| put(bytes, layout::HEADER_LEN + 2 * index, &offset));
            debug_assert!(placed.is_some(), "nodes and offsets are in the page");
            upper = at;
        }
        if let Some(gap) = bytes.get_mut(lower..upper) {
            wipe(gap);
        }
        Self::renumber(bytes, pgno, kind);
        let mut page = PageMut {
            bytes,
            kind,
            count: nodes.len(),
            upper,
        };
        page.store_bounds();
        true
    }

    /// Checks the header of a page that is about to be changed.
    /// # Errors
    /// As [`Page::parse`].
    pub fn parse(
        bytes: &'a mut [u8],
        pgno: Pgno,
        kind: PageKind,
    ) -> Result<PageMut<'a>, Malformed> {
        let page = Page::parse(bytes, pgno, kind)?;
        let (count, upper) = (page.len(), page.upper());
        Ok(PageMut {
            bytes,
            kind,
            count,
            upper,
        })
    }

    /// A page whose header was checked before and has not changed since.
    #[must_use]
    #[inline(always)]
    pub const fn from_header(bytes: &'a mut [u8], checked: PageHeader) -> PageMut<'a> {
        PageMut {
            bytes,
            kind: checked.kind(),
            count: checked.len(),
            upper: checked.nodes_at(),
        }
    }

    /// Checks the header of a sub-page that is about to be changed.
    /// # Errors
    /// As [`Page::parse_sub`].
    pub fn parse_sub(bytes: &'a mut [u8]) -> Result<PageMut<'a>, Malformed> {
        let page = Page::parse_sub(bytes)?;
        page.check_nodes()?;
        let (count, upper, kind) = (page.len(), page.upper(), page.kind());
        Ok(PageMut {
            bytes,
            kind,
            count,
            upper,
        })
    }

    /// A sub-page of packed items: of as many as these parts have together, back to back.
    pub(crate) fn packed_sub(
        pgno: Pgno,
        kind: PageKind,
        parts: &[&[u8]],
    ) -> Result<Vec<u8>, Malformed> {
        let items: usize = parts.iter().map(|part| part.len()).sum();
        // Items may have any size; node sizes are even.
        let len = (layout::HEADER_LEN + items).next_multiple_of(2);
        let mut bytes = Vec::with_capacity(len);
        bytes.resize(layout::HEADER_LEN, 0);
        for part in parts {
            bytes.extend_from_slice(part);
        }
        bytes.resize(len, 0);
        let flags = kind.flag() | PageFlags::SUB_PAGE | PageFlags::DIRTY;
        let item_len = kind.item_len();
        put(&mut bytes, 0, &pgno.0.to_le_bytes())
            .and_then(|()| put(&mut bytes, layout::PAD_AT, &(item_len as u16).to_le_bytes()))
            .and_then(|()| put(&mut bytes, layout::FLAGS_AT, &flags.to_le_bytes()))
            .ok_or(Malformed::Truncated)?;
        let mut page = PageMut {
            bytes: &mut bytes,
            kind,
            count: items / item_len.max(1),
            upper: 0,
        };
        page.store_bounds();
        Ok(bytes)
    }

    /// Returns a sub-page of `len` bytes with all nodes of another, checked one, at their distances
    /// from its end. Returns `None` if they do not fit.
    pub(crate) fn resize_sub(pgno: Pgno, page: &Page<'_>, len: usize) -> Option<Vec<u8>> {
        let (from, upper) = (page.entries().0, page.upper());
        let lower = layout::HEADER_LEN + 2 * page.len();
        let (head, nodes) = (from.get(layout::HEADER_LEN..lower)?, from.get(upper..)?);
        let gap = len.checked_sub(lower + nodes.len())?;
        let mut bytes = Vec::with_capacity(len);
        bytes.resize(layout::HEADER_LEN, 0);
        bytes.extend_from_slice(head);
        bytes.resize(lower + gap, 0);
        bytes.extend_from_slice(nodes);
        let flags = page.kind().flag() | PageFlags::SUB_PAGE | PageFlags::DIRTY;
        put(&mut bytes, 0, &pgno.0.to_le_bytes())?;
        put(&mut bytes, layout::FLAGS_AT, &flags.to_le_bytes())?;
        let by = len.wrapping_sub(from.len());
        let mut resized = PageMut::from_resized(&mut bytes, page);
        for stored in resized.offsets_mut(page.len()) {
            let offset = layout::to_page_offset(u16::from_le_bytes(*stored)).wrapping_add(by);
            *stored = layout::from_page_offset(offset).to_le_bytes();
        }
        resized.store_bounds();
        Some(bytes)
    }

    /// Returns the result of [`PageMut::resize_sub`] for changes.
    pub(crate) fn from_resized(bytes: &'a mut [u8], from: &Page<'_>) -> PageMut<'a> {
        let upper = (from.upper() + bytes.len()).wrapping_sub(from.entries().0.len());
        PageMut {
            bytes,
            kind: from.kind(),
            count: from.len(),
            upper,
        }
    }

    /// Gives a fresh copy its own number and wipes marks that mean something in memory only.
    pub fn renumber(bytes: &mut [u8], pgno: Pgno, kind: PageKind) {
        let done = put(bytes, 0, &pgno.0.to_le_bytes())
            .and_then(|()| {
                put(
                    bytes,
                    layout::PAD_AT,
                    &(kind.item_len() as u16).to_le_bytes(),
                )
            })
            .and_then(|()| put(bytes, layout::FLAGS_AT, &kind.flag().to_le_bytes()));
        debug_assert!(done.is_some(), "a page is larger than its header");
    }

    /// Size of the page in bytes.
    #[must_use]
    #[inline]
    pub const fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The page as it is now.
    #[must_use]
    pub fn view(&self) -> Page<'_> {
        Page::again(self.bytes, self.count, self.upper, self.kind)
    }

    /// Inserts an entry at `index`; `false`, with nothing changed, if the page has no room for it.
    /// # Errors
    /// [`Malformed::Node`] when `index` is behind the last entry.
    pub fn insert(
        &mut self,
        index: usize,
        key: &[u8],
        value: NodeValue<'_>,
    ) -> Result<bool, Malformed> {
        if let PageKind::Packed(_) = self.kind {
            return self.insert_node(index, key);
        }
        let len = value.node_len(key.len());
        let Some(node) = self.open(index, len)? else {
            return Ok(false);
        };
        value
            .write_node(node, key)
            .map(|()| true)
            .ok_or(Malformed::Node(index))
    }

    /// As [`PageMut::insert`] for a record of a leaf, in fewer steps. Returns `false`, with nothing
    /// changed, if there is no room or no such place.
    #[inline(always)]
    pub fn insert_record(&mut self, index: usize, key: &[u8], value: &[u8]) -> bool {
        let len = layout::leaf_node_len(key.len(), value.len());
        let (count, lower) = (self.count, layout::HEADER_LEN + 2 * self.count);
        if self.kind != PageKind::Leaf || lower + 2 + len > self.upper || index > count {
            return false;
        }
        let at = self.upper - len;
        let node = self.bytes.get_mut(at..at + len);
        let written = node.and_then(|node| write_record(node, value.len() as u64, key, value));
        if written.is_none() {
            return false;
        }
        if insert_offset(self.offsets_mut(count + 1), index, at).is_none() {
            return false;
        }
        self.count += 1;
        self.upper = at;
        self.store_bounds();
        true
    }

    /// Inserts a whole node, as [`Page::node_bytes`] lends it; `false` if there is no room.
    /// # Errors
    /// [`Malformed::Node`] when `index` is behind the last entry.
    pub fn insert_node(&mut self, index: usize, node: &[u8]) -> Result<bool, Malformed> {
        if let PageKind::Packed(len) = self.kind {
            return self.insert_item(index, node, usize::from(len));
        }
        let Some(room) = self.open(index, node.len())? else {
            return Ok(false);
        };
        put(room, 0, node).ok_or(Malformed::Node(index))?;
        Ok(true)
    }

    fn insert_item(&mut self, index: usize, item: &[u8], len: usize) -> Result<bool, Malformed> {
        if index > self.count {
            return Err(Malformed::Node(index));
        }
        if item.len() != len {
            return Err(Malformed::ItemLength);
        }
        let end = layout::HEADER_LEN + self.count * len;
        if end + len > self.bytes.len() {
            return Ok(false);
        }
        let at = layout::HEADER_LEN + index * len;
        shift_up(self.bytes, at..end, len)
            .and_then(|()| put(self.bytes, at, item))
            .ok_or(Malformed::Node(index))?;
        self.count += 1;
        self.store_bounds();
        Ok(true)
    }

    fn remove_item(&mut self, index: usize, len: usize) -> Result<(), Malformed> {
        if index >= self.count {
            return Err(Malformed::Node(index));
        }
        let (at, end) = (
            layout::HEADER_LEN + index * len,
            layout::HEADER_LEN + self.count * len,
        );
        shift_down(self.bytes, at + len..end, len).ok_or(Malformed::Node(index))?;
        if let Some(gap) = self.bytes.get_mut(end - len..end) {
            gap.fill(0);
        }
        self.count -= 1;
        self.store_bounds();
        Ok(())
    }

    /// Removes entry `index`, closes the gap, and zeroes the freed bytes. All nodes are sound.
    /// # Errors
    /// [`Malformed::Node`], and other errors of a damaged node.
    pub fn remove(&mut self, index: usize) -> Result<(), Malformed> {
        if let PageKind::Packed(len) = self.kind {
            return self.remove_item(index, usize::from(len));
        }
        let page = self.view();
        let (at, len) = (page.offset(index)?, page.node_bytes(index)?.len());
        let upper = self.upper;
        shift_up(self.bytes, upper..at, len).ok_or(Malformed::Node(index))?;
        if let Some(gap) = self.bytes.get_mut(upper..upper + len) {
            gap.fill(0);
        }
        let count = self.count;
        let offsets = self.offsets_mut(count);
        shift_down(offsets, index + 1..count, 1).ok_or(Malformed::Node(index))?;
        if let Some((last, others)) = offsets.split_last_mut() {
            *last = [0; 2];
            for stored in others {
                // Without a branch, so that several are done at a time.
                let offset = layout::to_page_offset(u16::from_le_bytes(*stored));
                let by = if offset < at { len } else { 0 };
                *stored = layout::from_page_offset(offset.wrapping_add(by)).to_le_bytes();
            }
        }
        self.count -= 1;
        self.upper += len;
        self.store_bounds();
        Ok(())
    }

    /// Points entry `index` of a branch to another child.
    /// # Errors
    /// [`Malformed::Node`].
    pub fn set_child(&mut self, index: usize, child: Pgno) -> Result<(), Malformed> {
        let at = self.view().offset(index)?;
        let bytes = child.0.to_le_bytes();
        put(self.bytes, at, bytes.get(..6).unwrap_or(&bytes)).ok_or(Malformed::Node(index))
    }

    /// Stores a value over that of leaf entry `index`, which has the same length. Returns `false`,
    /// with nothing changed, if the entry has other data.
    /// # Errors
    /// As [`Page::leaf`].
    #[inline]
    pub fn overwrite(&mut self, index: usize, value: &[u8]) -> Result<bool, Malformed> {
        let page = self.view();
        let node = page.leaf(index)?;
        if node.flags.0 != 0 || node.data.len() != value.len() {
            return Ok(false);
        }
        let at = page.offset(index)? + layout::data_at(node.key.len());
        put(self.bytes, at, value).ok_or(Malformed::Node(index))?;
        Ok(true)
    }

    /// The data of leaf entry `index`, for changing in place.
    /// # Errors
    /// As [`Page::leaf`].
    pub fn into_data(self, index: usize) -> Result<&'a mut [u8], Malformed> {
        let range = self.data_range(index)?;
        self.bytes.get_mut(range).ok_or(Malformed::Node(index))
    }

    /// As [`PageMut::into_data`], lent by the page.
    /// # Errors
    /// As [`Page::leaf`].
    pub fn data_mut(&mut self, index: usize) -> Result<&mut [u8], Malformed> {
        let range = self.data_range(index)?;
        self.bytes.get_mut(range).ok_or(Malformed::Node(index))
    }

    fn data_range(&self, index: usize) -> Result<Range<usize>, Malformed> {
        let page = self.view();
        let node = page.leaf(index)?;
        let at = page.offset(index)? + layout::data_at(node.key.len());
        Ok(at..at + node.data.len())
    }

    /// Makes the node of entry `entry` longer by `by` bytes. The page from its lowest node up to
    /// `to`, inside that node, moves down into the free space. The caller rearranges its end. All
    /// nodes are sound. Returns `false`, with nothing changed, if there is no room.
    pub(crate) fn lengthen(
        &mut self,
        entry: usize,
        to: usize,
        by: usize,
    ) -> Result<bool, Malformed> {
        debug_assert!(by.is_multiple_of(2), "nodes begin at even offsets");
        let at = self.view().offset(entry)?;
        let lower = layout::HEADER_LEN + 2 * self.count;
        if lower + by > self.upper || to < at + layout::NODE_HEADER_LEN || to > self.bytes.len() {
            return Ok(false);
        }
        let (upper, count) = (self.upper, self.count);
        shift_down(self.bytes, upper..to, by).ok_or(Malformed::Node(entry))?;
        for stored in self.offsets_mut(count) {
            let offset = layout::to_page_offset(u16::from_le_bytes(*stored));
            let by = if offset <= at { by } else { 0 };
            *stored = layout::from_page_offset(offset.wrapping_sub(by)).to_le_bytes();
        }
        self.upper = upper - by;
        self.store_bounds();
        let node = self.bytes.get_mut(at - by..);
        let header: &mut [u8; 4] = node
            .and_then(|node| node.first_chunk_mut())
            .ok_or(Malformed::Node(entry))?;
        *header = (u32::from_le_bytes(*header) + by as u32).to_le_bytes();
        Ok(true)
    }

    /// Makes room for a node of `len` bytes and its offset at `index`; the room keeps its old
    /// bytes. Returns `None` if there is not enough.
    fn open(&mut self, index: usize, len: usize) -> Result<Option<&mut [u8]>, Malformed> {
        if index > self.count {
            return Err(Malformed::Node(index));
        }
        let lower = layout::HEADER_LEN + 2 * self.count;
        if lower + 2 + len > self.upper {
            return Ok(None);
        }
        let at = self.upper - len;
        let count = self.count;
        let offsets = self.offsets_mut(count + 1);
        insert_offset(offsets, index, at).ok_or(Malformed::Node(index))?;
        self.count += 1;
        self.upper = at;
        self.store_bounds();
        let room = self.bytes.get_mut(at..at + len);
        room.map(Some).ok_or(Malformed::Node(index))
    }

    /// A part of the page.
    pub(crate) fn bytes_mut(&mut self, part: Range<usize>) -> &mut [u8] {
        self.bytes.get_mut(part).unwrap_or_default()
    }

    fn offsets_mut(&mut self, count: usize) -> &mut [[u8; 2]] {
        self.bytes
            .get_mut(layout::HEADER_LEN..layout::HEADER_LEN + 2 * count)
            .unwrap_or_default()
            .as_chunks_mut()
            .0
    }

    #[inline(always)]
    fn store_bounds(&mut self) {
        if let PageKind::Packed(len) = self.kind {
            // They say how many items there are and how much is free, and nothing of where anything
            // is.
            let (count, len) = (self.count, usize::from(len));
            self.upper = self.bytes.len() + 2 * count - count * len;
        }
        let lower = layout::from_page_offset(layout::HEADER_LEN + 2 * self.count);
        let upper = layout::from_page_offset(self.upper);
        let done = put(self.bytes, layout::LOWER_AT, &lower.to_le_bytes())
            .and_then(|()| put(self.bytes, layout::UPPER_AT, &upper.to_le_bytes()));
        debug_assert!(done.is_some(), "a page is larger than its header");
    }
}

/// Stores where a node begins as entry `index`. The offsets behind it move up by one; the last of
/// them is unused. Returns `None`, with nothing changed, if there is no such entry.
// A call, because compiled into its callers the length of the rest is not seen to be in bounds.
#[inline(never)]
fn insert_offset(offsets: &mut [[u8; 2]], index: usize, at: usize) -> Option<()> {
    let rest = offsets.get_mut(index..)?;
    let moved = rest.len().checked_sub(1)?;
    if moved > 0 {
        rest.copy_within(..moved, 1);
    }
    *rest.first_mut()? = layout::from_page_offset(at).to_le_bytes();
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PGNO: Pgno = Pgno(7);

    #[test]
    fn a_record_is_inserted_as_any_node() {
        let (mut quick, mut general) = (vec![0xaa; 512], vec![0xaa; 512]);
        let mut quick = PageMut::initialise(&mut quick, PGNO, PageKind::Leaf);
        let mut general = PageMut::initialise(&mut general, PGNO, PageKind::Leaf);
        assert!(
            !quick.insert_record(1, b"key", b"value"),
            "there is no entry 0"
        );
        for at in 0..40_u8 {
            let (key, value) = (
                vec![at; 1 + usize::from(at) % 5],
                vec![at; usize::from(at) % 7],
            );
            let index = usize::from(at) * 7 % (quick.view().len() + 1);
            let fitted = quick.insert_record(index, &key, &value);
            let node = NodeValue::Data(&value, NodeFlags(0));
            assert_eq!(general.insert(index, &key, node), Ok(fitted));
            assert_eq!(quick.bytes, general.bytes);
        }
        assert!(quick.view().len() < 40, "the page became full");
        quick.view().check_nodes().unwrap();
    }

    #[test]
    fn a_page_is_filled_with_the_nodes_of_another() {
        for kind in [PageKind::Leaf, PageKind::Branch, PageKind::Packed(6)] {
            let mut bytes = vec![0xaa; 512];
            let mut page = PageMut::initialise(&mut bytes, PGNO, kind);
            for at in 0..12_u8 {
                let value = match kind {
                    PageKind::Branch => NodeValue::Child(Pgno(100 + u64::from(at))),
                    _ => NodeValue::Data(b"odd", NodeFlags(0)),
                };
                assert!(page.insert(usize::from(at) / 2, &[at; 6], value).unwrap());
            }
            let page = page.view();
            let nodes: Vec<_> = (0..12)
                .map(|index| page.node_bytes(index).unwrap())
                .collect();
            let mut copy = vec![0xaa; 512];
            assert!(PageMut::fill(&mut copy, Pgno(8), kind, &nodes));
            let copy = Page::parse(&copy, Pgno(8), kind).unwrap();
            copy.check_nodes().unwrap();
            assert_eq!(copy.len(), 12);
            for index in 0..12 {
                let keyless = kind == PageKind::Branch && index == 0;
                let key = page.key(index).unwrap();
                assert_eq!(copy.key(index).unwrap(), if keyless { b"" } else { key });
                assert_eq!(copy.child_if_sound(index), page.child_if_sound(index));
            }
            assert!(!PageMut::fill(&mut [0; 64], Pgno(8), kind, &nodes));
        }
    }

    #[test]
    fn both_checks_of_nodes_agree() {
        for kind in [PageKind::Leaf, PageKind::Branch] {
            let mut whole = vec![0; 256];
            let mut page = PageMut::initialise(&mut whole, PGNO, kind);
            for at in 0..6_u8 {
                let value = match kind {
                    PageKind::Branch => NodeValue::Child(Pgno(100 + u64::from(at))),
                    _ => NodeValue::Data(b"some value", NodeFlags(0)),
                };
                assert!(page.insert(0, &[at; 5], value).unwrap());
            }
            for at in 12..whole.len() {
                for change in [1, 2, 4, 0x80, 0xff] {
                    let mut bytes = whole.clone();
                    bytes[at] ^= change;
                    if let Ok(page) = Page::parse(&bytes, PGNO, kind) {
                        assert_eq!(page.has_sound_nodes(), page.find_unsound_node().is_ok());
                    }
                }
            }
        }
    }
}
