//! Tree pages as they are read: a checked header, then nodes checked one by one as they are met.

use crate::bytes::u16_at;
use crate::checks::{holds, present};
use crate::layout::header_pgno;
use crate::node::{key_len, leaf_node_len, plain_key_len};
use crate::{Malformed, NodeFlags, PageFlags, Pgno, layout};

/// The kind of a tree page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKind {
    /// Keys and children.
    Branch,
    /// Keys and values.
    Leaf,
    /// Keys of this many bytes back to back, without nodes or values: the duplicates of databases
    /// with fixed-size items ("LEAF2").
    Packed(u16),
}

impl PageKind {
    /// The flag that marks the kind.
    #[must_use]
    #[inline(always)]
    pub const fn flag(self) -> u16 {
        match self {
            PageKind::Branch => PageFlags::BRANCH,
            PageKind::Leaf => PageFlags::LEAF,
            PageKind::Packed(_) => PageFlags::LEAF | PageFlags::PACKED,
        }
    }

    /// Returns true if pages of this kind are at the bottom of a tree.
    #[must_use]
    pub const fn is_leaf(self) -> bool {
        !matches!(self, PageKind::Branch)
    }

    /// Bytes of an item, on packed pages; else 0.
    #[must_use]
    #[inline(always)]
    pub const fn item_len(self) -> usize {
        match self {
            PageKind::Packed(len) => len as usize,
            PageKind::Branch | PageKind::Leaf => 0,
        }
    }

    const fn wanted(self) -> &'static str {
        match self {
            PageKind::Branch => "a branch page",
            PageKind::Leaf => "a leaf page",
            PageKind::Packed(_) => "a packed leaf page",
        }
    }
}

/// A branch or leaf page whose header has been checked.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    bytes: &'a [u8],
    /// Where each entry's node begins, as stored; empty on packed pages.
    offsets: &'a [[u8; 2]],
    /// Number of items on packed pages.
    items: usize,
    upper: usize,
    kind: PageKind,
}

/// The result of checking a page's header. It gives access to the page without another check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageHeader {
    // Narrow, since the caller that walks keeps two of them, and index arithmetic in them cannot
    // overflow.
    count: u32,
    upper: u32,
    kind: PageKind,
}

impl PageHeader {
    /// A page without entries.
    pub const EMPTY: PageHeader = PageHeader {
        count: 0,
        upper: 0,
        kind: PageKind::Leaf,
    };

    /// Number of entries.
    #[must_use]
    #[inline]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// As [`PageHeader::len`]: no page has more than 65,536 entries.
    #[must_use]
    #[inline(always)]
    pub const fn count(self) -> u32 {
        self.count
    }

    /// Returns true if there are no entries.
    #[must_use]
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline(always)]
    pub(crate) const fn upper(self) -> u32 {
        self.upper
    }

    /// The same page as if it had no more entries than that many of its first.
    #[must_use]
    #[inline]
    pub fn first(self, count: u32) -> PageHeader {
        PageHeader {
            count: self.count.min(count),
            ..self
        }
    }

    /// Where the lowest node of a page begins in it; behind all items of a packed one.
    #[must_use]
    #[inline]
    pub const fn nodes_at(self) -> usize {
        self.upper as usize
    }

    /// Where the nodes of a page of `page_len` bytes are in it, or the items of a packed one.
    #[must_use]
    #[inline]
    pub const fn entry_span(self, page_len: usize) -> (usize, usize) {
        match self.kind {
            PageKind::Packed(len) => {
                let end = layout::HEADER_LEN + self.len() * len as usize;
                (layout::HEADER_LEN, end)
            }
            PageKind::Branch | PageKind::Leaf => (self.nodes_at(), page_len),
        }
    }

    /// Returns the kind of the page.
    #[must_use]
    #[inline(always)]
    pub const fn kind(self) -> PageKind {
        self.kind
    }
}

/// A node of a leaf page.
#[derive(Debug, Clone, Copy)]
pub struct LeafNode<'a> {
    /// Its key.
    pub key: &'a [u8],
    /// Its data in the page: the value, a page number, a record or a sub-page.
    pub data: &'a [u8],
    /// Length of the value in bytes; for overflow values not that of `data`.
    pub value_len: usize,
    /// The kind of `data`.
    pub flags: NodeFlags,
}

impl LeafNode<'_> {
    /// The first page of the overflow run that holds the value, if one does.
    #[must_use]
    pub fn overflow(&self) -> Option<Pgno> {
        if self.flags.0 != NodeFlags::OVERFLOW {
            return None;
        }
        crate::bytes::u64_at(self.data, 0).map(Pgno)
    }
}

impl<'a> Page<'a> {
    /// Checks the header of page `pgno`, which must be of `kind`.
    ///
    /// The memory-only dirty mark is ignored: the original may leave it behind on pages of the
    /// file.
    /// # Errors
    /// [`Malformed::Number`], [`Malformed::Kind`], [`Malformed::Bounds`] or
    /// [`Malformed::Truncated`].
    #[inline(always)]
    pub fn parse(bytes: &'a [u8], pgno: Pgno, kind: PageKind) -> Result<Page<'a>, Malformed> {
        let header = present(bytes.get(..layout::HEADER_LEN)).ok_or(Malformed::Truncated)?;
        let number = header_pgno(header).ok_or(Malformed::Truncated)?;
        if !holds(number == pgno.0) {
            return Err(Malformed::Number(Pgno(number)));
        }
        let flags = u16_at(header, layout::FLAGS_AT).ok_or(Malformed::Truncated)?;
        if !holds(flags & PageFlags::KIND == kind.flag()) {
            return Err(Malformed::Kind {
                found: flags,
                wanted: kind.wanted(),
            });
        }
        let is_other_len = || u16_at(header, layout::PAD_AT) != Some(kind.item_len() as u16);
        if kind.item_len() != 0 && !holds(!is_other_len()) {
            return Err(Malformed::ItemLength);
        }
        Self::with_bounds(bytes, kind)
    }

    /// Checks the header of a sub-page: the duplicates of one key, inside its node.
    /// # Errors
    /// As [`Page::parse`]; the page number means nothing here.
    pub fn parse_sub(bytes: &'a [u8]) -> Result<Page<'a>, Malformed> {
        Self::parse_sub_inline(bytes)
    }

    /// As [`Page::parse_sub`], without a call.
    #[inline(always)]
    pub(crate) fn parse_sub_inline(bytes: &'a [u8]) -> Result<Page<'a>, Malformed> {
        const PACKED: u16 = PageFlags::LEAF | PageFlags::SUB_PAGE | PageFlags::PACKED;
        const NODES: u16 = PageFlags::LEAF | PageFlags::SUB_PAGE;
        let flags = u16_at(bytes, layout::FLAGS_AT).ok_or(Malformed::Truncated)?;
        let kind = match flags & PageFlags::KIND {
            NODES => PageKind::Leaf,
            PACKED => match u16_at(bytes, layout::PAD_AT).ok_or(Malformed::Truncated)? {
                0 => return Err(Malformed::ItemLength),
                len => PageKind::Packed(len),
            },
            _ => {
                return Err(Malformed::Kind {
                    found: flags,
                    wanted: "a sub-page",
                });
            }
        };
        Self::with_bounds(bytes, kind)
    }

    #[inline(always)]
    fn with_bounds(bytes: &'a [u8], kind: PageKind) -> Result<Page<'a>, Malformed> {
        let lower = present(u16_at(bytes, layout::LOWER_AT)).ok_or(Malformed::Truncated)?;
        let upper = present(u16_at(bytes, layout::UPPER_AT)).ok_or(Malformed::Truncated)?;
        let (end, start) = (layout::to_page_offset(lower), layout::to_page_offset(upper));
        if kind.item_len() != 0 {
            // Here the bounds only count: items are stored back to back behind the header.
            let items = end.wrapping_sub(layout::HEADER_LEN) / 2;
            let fits = end >= layout::HEADER_LEN
                && end.is_multiple_of(2)
                && end <= start
                && layout::HEADER_LEN + items * kind.item_len() <= bytes.len();
            return if holds(fits) {
                Ok(Self::again(bytes, items, start, kind))
            } else {
                Err(Malformed::Bounds { lower, upper })
            };
        }
        let offsets = present(bytes.get(layout::HEADER_LEN..end));
        match offsets.map(<[u8]>::as_chunks) {
            Some((offsets, odd))
                if holds(odd.is_empty() && end <= start && start <= bytes.len()) =>
            {
                Ok(Page {
                    bytes,
                    offsets,
                    items: 0,
                    upper: start,
                    kind,
                })
            }
            _ => Err(Malformed::Bounds { lower, upper }),
        }
    }

    /// A page without entries.
    #[must_use]
    pub const fn empty(kind: PageKind) -> Page<'a> {
        Page {
            bytes: &[],
            offsets: &[],
            items: 0,
            upper: 0,
            kind,
        }
    }

    /// Returns the checked header.
    #[must_use]
    #[inline]
    pub const fn header(&self) -> PageHeader {
        PageHeader {
            count: self.len() as u32,
            upper: self.upper as u32,
            kind: self.kind,
        }
    }

    /// A page whose header was checked before and has not changed since.
    #[must_use]
    #[inline(always)]
    pub fn from_header(bytes: &'a [u8], checked: PageHeader) -> Page<'a> {
        let (count, upper) = (checked.count as usize, checked.upper as usize);
        Self::again(bytes, count, upper, checked.kind)
    }

    /// Returns the kind of the page.
    #[must_use]
    pub const fn kind(&self) -> PageKind {
        self.kind
    }

    /// Number of entries.
    #[must_use]
    #[inline(always)]
    pub const fn len(&self) -> usize {
        match self.kind {
            PageKind::Packed(_) => self.items,
            PageKind::Branch | PageKind::Leaf => self.offsets.len(),
        }
    }

    /// Returns true if there are no entries.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes between the offset array and the lowest node, or behind the last packed item.
    #[must_use]
    pub const fn free_space(&self) -> usize {
        match self.kind {
            PageKind::Packed(len) => {
                self.bytes.len() - layout::HEADER_LEN - self.items * len as usize
            }
            PageKind::Branch | PageKind::Leaf => {
                self.upper - layout::HEADER_LEN - 2 * self.offsets.len()
            }
        }
    }

    /// The items of a packed page, back to back.
    /// # Errors
    /// [`Malformed::Kind`] on any other page.
    pub fn packed_items(&self) -> Result<&'a [u8], Malformed> {
        let len = self.kind.item_len();
        self.bytes
            .get(layout::HEADER_LEN..layout::HEADER_LEN + self.items * len)
            .filter(|_| len != 0)
            .ok_or(Malformed::Kind {
                found: self.kind.flag(),
                wanted: "a packed page",
            })
    }

    /// Bytes that entries take, offsets included.
    #[must_use]
    pub const fn used_space(&self) -> usize {
        self.bytes.len() - layout::HEADER_LEN - self.free_space()
    }

    /// The key of entry `index`. The key of entry 0 of a branch has no meaning and is usually
    /// empty.
    /// # Errors
    /// [`Malformed::Node`] if there is no such entry or it does not lie in the page.
    #[inline(always)]
    pub fn key(&self, index: usize) -> Result<&'a [u8], Malformed> {
        self.key_if_sound(index).ok_or(Malformed::Node(index))
    }

    /// Returns the page from the start of entry `index` on, without checking the entry. Returns
    /// `None` if there is no such entry.
    #[must_use]
    #[inline(always)]
    pub fn from_entry(&self, index: usize) -> Option<&'a [u8]> {
        let at = match self.kind {
            PageKind::Packed(len) => layout::HEADER_LEN + index * usize::from(len),
            PageKind::Branch | PageKind::Leaf => self.offset_if_sound(index)?,
        };
        self.bytes.get(at..)
    }

    /// The key of an entry of a branch or leaf that begins a part of the page, see
    /// [`Page::from_entry`].
    #[must_use]
    #[inline(always)]
    pub fn entry_key(entry: &[u8]) -> Option<&[u8]> {
        let (header, rest) = entry.split_first_chunk()?;
        rest.get(..key_len(header))
    }

    /// Options are lighter than results in the innermost loop.
    #[inline(always)]
    fn key_if_sound(&self, index: usize) -> Option<&'a [u8]> {
        if let PageKind::Packed(len) = self.kind {
            return self.item(index, usize::from(len));
        }
        let (header, rest) = self.node_if_sound(index)?;
        present(rest.get(..key_len(header)))
    }

    #[inline]
    fn item(&self, index: usize, len: usize) -> Option<&'a [u8]> {
        if index >= self.items {
            return None;
        }
        let at = layout::HEADER_LEN + index * len;
        present(self.bytes.get(at..at + len))
    }

    /// The child that entry `index` of a branch leads to.
    /// # Errors
    /// [`Malformed::Node`].
    #[inline(always)]
    pub fn child(&self, index: usize) -> Result<Pgno, Malformed> {
        let (header, _) = self.node(index)?;
        Ok(Pgno(layout::branch_child(*header)))
    }

    /// As [`Page::child`], without a reason for a failure.
    #[must_use]
    #[inline(always)]
    pub fn child_if_sound(&self, index: usize) -> Option<Pgno> {
        let (header, _) = self.node_if_sound(index)?;
        Some(Pgno(layout::branch_child(*header)))
    }

    /// Returns the stored offset of entry `index` of a branch or leaf, unchecked. Returns `None` if
    /// there is no such entry.
    #[must_use]
    #[inline(always)]
    pub fn raw_offset(&self, index: usize) -> Option<usize> {
        let stored = self.offsets.get(index)?;
        Some(layout::to_page_offset(u16::from_le_bytes(*stored)))
    }

    /// Entry `index` of a leaf.
    /// # Errors
    /// [`Malformed::Node`], [`Malformed::NodeFlags`], [`Malformed::KeyLength`].
    #[inline(always)]
    pub fn leaf(&self, index: usize) -> Result<LeafNode<'a>, Malformed> {
        if let PageKind::Packed(len) = self.kind {
            let key = self.item(index, usize::from(len));
            return Ok(LeafNode {
                key: key.ok_or(Malformed::Node(index))?,
                data: &[],
                value_len: 0,
                flags: NodeFlags(0),
            });
        }
        let (header, rest) = self.node(index)?;
        let [d0, d1, d2, d3, f0, f1, _, _] = *header;
        let value_len = u32::from_le_bytes([d0, d1, d2, d3]) as usize;
        let flags = u16::from_le_bytes([f0, f1]);
        let key_len = key_len(header);
        if !holds(key_len != 0 && key_len <= crate::KEY_LEN_MAX) {
            return Err(Malformed::KeyLength {
                index,
                len: key_len,
            });
        }
        let data_len = match flags {
            NodeFlags::OVERFLOW => layout::OVERFLOW_REF_LEN,
            flags if holds(NodeFlags(flags).is_inline()) => value_len,
            _ => return Err(Malformed::NodeFlags { index, flags }),
        };
        let data_at = layout::data_at(key_len) - layout::NODE_HEADER_LEN;
        let data = present(rest.get(data_at..data_at + data_len));
        match (present(rest.get(..key_len)), data) {
            (Some(key), Some(data)) => Ok(LeafNode {
                key,
                data,
                value_len,
                flags: NodeFlags(flags),
            }),
            _ => Err(Malformed::Node(index)),
        }
    }

    /// Key and value of entry `index` of a leaf, where the value is one and is in the page. Returns
    /// `None` for all other entries; [`Page::leaf`] gives the reason.
    #[must_use]
    #[inline(always)]
    pub fn plain_record(&self, index: usize) -> Option<(&'a [u8], &'a [u8])> {
        let (header, rest) = self.node_if_sound(index)?;
        let header = u64::from_le_bytes(*header);
        let (value_len, key_len) = (header as u32 as usize, plain_key_len(header)?);
        let value_at = layout::data_at(key_len) - layout::NODE_HEADER_LEN;
        // One bounds check covers all: the key ends before the value.
        let (key, value) = present(rest.get(..value_at + value_len))?.split_at_checked(value_at)?;
        Some((key.get(..key_len)?, value))
    }

    /// The flags of entry `index` of a leaf, with nothing else of it looked at.
    /// # Errors
    /// [`Malformed::Node`].
    #[inline]
    pub fn node_flags(&self, index: usize) -> Result<NodeFlags, Malformed> {
        let (&[_, _, _, _, low, high, _, _], _) = self.node(index)?;
        Ok(NodeFlags(u16::from_le_bytes([low, high])))
    }

    /// Bytes the node of entry `index` takes in the page.
    /// # Errors
    /// As [`Page::leaf`] and [`Page::key`].
    pub fn node_len(&self, index: usize) -> Result<usize, Malformed> {
        match self.kind {
            PageKind::Branch => Ok(layout::branch_node_len(self.key(index)?.len())),
            PageKind::Packed(len) => Ok(usize::from(len)),
            PageKind::Leaf => {
                let node = self.leaf(index)?;
                Ok(layout::leaf_node_len(node.key.len(), node.data.len()))
            }
        }
    }

    /// As [`Page::node_len`] on a branch or leaf, by the node's header alone. The caller looks
    /// whether the page has all of it.
    #[inline]
    fn header_node_len(&self, index: usize) -> Result<usize, Malformed> {
        let (header, _) = self.node(index)?;
        match self.kind {
            PageKind::Branch => Ok(layout::branch_node_len(key_len(header))),
            PageKind::Leaf | PageKind::Packed(_) => leaf_node_len(header, index),
        }
    }

    /// The bytes of entry `index`'s node, header included.
    /// # Errors
    /// As [`Page::node_len`]; [`Malformed::Node`] if the padding leaves the page.
    #[inline]
    pub fn node_bytes(&self, index: usize) -> Result<&'a [u8], Malformed> {
        if let PageKind::Packed(_) = self.kind {
            return self.key(index);
        }
        let at = self.offset(index)?;
        let len = self.header_node_len(index)?;
        self.bytes.get(at..at + len).ok_or(Malformed::Node(index))
    }

    /// Checks all nodes at once, before the page is changed. Every node is in the page, and
    /// together they fill exactly the part behind the free space.
    /// # Errors
    /// The first contradiction found.
    pub fn check_nodes(&self) -> Result<(), Malformed> {
        if matches!(self.kind, PageKind::Packed(_)) || self.has_sound_nodes() {
            return Ok(());
        }
        self.find_unsound_node()
    }

    /// Returns true if [`Page::check_nodes`] has nothing to complain of. A hot path: removals from
    /// leaves wait for it.
    pub(crate) fn has_sound_nodes(&self) -> bool {
        if self.kind == PageKind::Branch {
            return self.are_sound(|word| Some(layout::branch_node_len((word >> 48) as usize)));
        }
        self.are_sound(|word| {
            let (value_len, flags) = (word as u32 as usize, (word >> 32) as u16);
            let key_len = (word >> 48) as usize;
            if key_len.wrapping_sub(1) >= crate::KEY_LEN_MAX {
                return None;
            }
            match flags {
                0 => Some(layout::leaf_node_len(key_len, value_len)),
                NodeFlags::OVERFLOW => {
                    Some(layout::leaf_node_len(key_len, layout::OVERFLOW_REF_LEN))
                }
                flags if NodeFlags(flags).is_inline() => {
                    Some(layout::leaf_node_len(key_len, value_len))
                }
                _ => None,
            }
        })
    }

    /// As [`Page::has_sound_nodes`]. `len_of` returns the length of a node with this header, if the
    /// header makes sense.
    #[inline(always)]
    fn are_sound(&self, len_of: impl Fn(u64) -> Option<usize>) -> bool {
        let size = self.bytes.len();
        let (mut sum, mut odd) = (0, 0);
        for stored in self.offsets {
            let at = layout::to_page_offset(u16::from_le_bytes(*stored));
            let header = self.bytes.get(at..at + layout::NODE_HEADER_LEN);
            let Some(header) = header.and_then(|header| header.first_chunk()) else {
                return false;
            };
            let Some(len) = len_of(u64::from_le_bytes(*header)) else {
                return false;
            };
            if at < self.upper || len > size - at {
                return false;
            }
            odd |= at & 1;
            sum += len;
        }
        odd == 0 && sum == size - self.upper
    }

    #[cold]
    pub(crate) fn find_unsound_node(&self) -> Result<(), Malformed> {
        let mut sum = 0;
        for (index, stored) in self.offsets.iter().enumerate() {
            let at = layout::to_page_offset(u16::from_le_bytes(*stored));
            let header = self.bytes.get(at..).and_then(|bytes| bytes.first_chunk());
            let Some(header) = header else {
                return Err(Malformed::Node(index));
            };
            let len = match self.kind {
                PageKind::Branch => layout::branch_node_len(key_len(header)),
                PageKind::Leaf | PageKind::Packed(_) => leaf_node_len(header, index)?,
            };
            if at < self.upper || !at.is_multiple_of(2) || len > self.bytes.len() - at {
                return Err(Malformed::Node(index));
            }
            sum += len;
        }
        if sum == self.bytes.len() - self.upper {
            Ok(())
        } else {
            Err(Malformed::NodeSum)
        }
    }

    /// The page, and where in it each entry of a branch or leaf begins.
    #[inline(always)]
    pub(crate) const fn entries(&self) -> (&'a [u8], &'a [[u8; 2]]) {
        (self.bytes, self.offsets)
    }

    /// Returns the number in the header.
    pub(crate) fn number(&self) -> u64 {
        layout::header_pgno(self.bytes).unwrap_or_default()
    }

    /// Where the lowest node begins.
    pub(crate) const fn upper(&self) -> usize {
        self.upper
    }

    /// The same page, parsed before with this result.
    #[inline]
    pub(crate) fn again(bytes: &'a [u8], count: usize, upper: usize, kind: PageKind) -> Self {
        let (offsets, items) = if kind.item_len() == 0 {
            (
                bytes.get(layout::HEADER_LEN..layout::HEADER_LEN + 2 * count),
                0,
            )
        } else {
            (None, count)
        };
        Page {
            bytes,
            offsets: offsets.unwrap_or_default().as_chunks().0,
            items,
            upper,
            kind,
        }
    }

    /// Where in the page the node of entry `index` begins.
    #[inline]
    pub(crate) fn offset(&self, index: usize) -> Result<usize, Malformed> {
        self.offset_if_sound(index).ok_or(Malformed::Node(index))
    }

    #[inline(always)]
    fn offset_if_sound(&self, index: usize) -> Option<usize> {
        let at = layout::to_page_offset(u16::from_le_bytes(*self.offsets.get(index)?));
        holds(at >= self.upper && at.is_multiple_of(2)).then_some(at)
    }

    #[inline(always)]
    fn node_if_sound(&self, index: usize) -> Option<(&'a [u8; 8], &'a [u8])> {
        let at = self.offset_if_sound(index)?;
        present(present(self.bytes.get(at..))?.split_first_chunk())
    }

    #[inline(always)]
    fn node(&self, index: usize) -> Result<(&'a [u8; 8], &'a [u8]), Malformed> {
        self.node_if_sound(index).ok_or(Malformed::Node(index))
    }
}
