//! Access to a page whose header was checked before, the common case of every walk. The functions
//! return options instead of errors. On `None`, [`Page`](crate::Page) gives the reason.

use crate::checks::{holds, present};
use crate::node::plain_key_len;
use crate::{LeafNode, NodeFlags, Page, PageHeader, PageKind, Pgno, layout};

impl PageHeader {
    /// Checks the header of a sub-page, as [`Page::parse_sub`] does.
    #[must_use]
    #[inline(always)]
    pub fn of_sub_page(bytes: &[u8]) -> Option<PageHeader> {
        let page = Page::parse_sub_inline(bytes).ok()?;
        Some(page.header())
    }

    /// Returns key and value of entry `index` of a leaf. The entry is sound and has one value, in
    /// the page.
    #[must_use]
    #[inline(always)]
    pub fn plain_entry(self, bytes: &[u8], index: u32) -> Option<(&[u8], &[u8])> {
        if index >= self.count() || self.kind() != PageKind::Leaf {
            return None;
        }
        let (header, rest) = self.node(bytes, index)?;
        let key_len = plain_key_len(header)?;
        let value_at = layout::data_at(key_len) - layout::NODE_HEADER_LEN;
        let value_end = value_at + header as u32 as usize;
        // One bounds check covers all: the key ends before the value.
        let node = present(rest.get(..value_end))?;
        let (key, value) = node.split_at_checked(value_at)?;
        Some((key.get(..key_len)?, value))
    }

    /// Entry `index` of a leaf, if it is sound and its data lie in the page.
    #[must_use]
    #[inline(always)]
    pub fn leaf_entry(self, bytes: &[u8], index: u32) -> Option<LeafNode<'_>> {
        if index >= self.count() || self.kind() != PageKind::Leaf {
            return None;
        }
        let (header, rest) = self.node(bytes, index)?;
        let (value_len, flags) = (header as u32 as usize, (header >> 32) as u16);
        let key_len = (header >> 48) as usize;
        let has_key = key_len.wrapping_sub(1) < crate::KEY_LEN_MAX;
        if !holds(NodeFlags(flags).is_inline() && has_key) {
            return None;
        }
        let data_at = layout::data_at(key_len) - layout::NODE_HEADER_LEN;
        // One bounds check covers all: the key ends before the data.
        let node = present(rest.get(..data_at + value_len))?;
        let (key, data) = node.split_at_checked(data_at)?;
        Some(LeafNode {
            key: key.get(..key_len)?,
            data,
            value_len,
            flags: NodeFlags(flags),
        })
    }

    /// Returns the stored offset of entry `index` of a branch or leaf in the page, unchecked. There
    /// is such an entry.
    #[must_use]
    #[inline(always)]
    pub fn entry_at(self, bytes: &[u8], index: u32) -> Option<usize> {
        let entry = layout::HEADER_LEN + 2 * index as usize;
        let offset = present(bytes.get(entry..entry + 2))?.first_chunk()?;
        Some(layout::to_page_offset(u16::from_le_bytes(*offset)))
    }

    /// The header and the rest of a node. There is such an entry.
    #[inline(always)]
    fn node(self, bytes: &[u8], index: u32) -> Option<(u64, &[u8])> {
        let at = self.entry_at(bytes, index)?;
        if !holds(at >= self.upper() as usize && at.is_multiple_of(2)) {
            return None;
        }
        let (header, rest) = present(present(bytes.get(at..))?.split_first_chunk::<8>())?;
        Some((u64::from_le_bytes(*header), rest))
    }

    /// The key of entry `index` of a leaf, packed or not.
    #[must_use]
    #[inline(always)]
    pub fn leaf_key(self, bytes: &[u8], index: u32) -> Option<&[u8]> {
        if index >= self.count() {
            return None;
        }
        match self.kind() {
            PageKind::Packed(len) => {
                let len = usize::from(len);
                let at = layout::HEADER_LEN + index as usize * len;
                present(bytes.get(at..at + len))
            }
            PageKind::Leaf => {
                let (header, rest) = self.node(bytes, index)?;
                let len = (header >> 48) as usize;
                // First, so that both checks become one comparison.
                if !holds(len != 0) {
                    return None;
                }
                present(rest.get(..len))
            }
            PageKind::Branch => None,
        }
    }

    /// The child of entry `index` of a branch.
    #[must_use]
    #[inline(always)]
    pub fn child(self, bytes: &[u8], index: u32) -> Option<Pgno> {
        if index >= self.count() || self.kind() != PageKind::Branch {
            return None;
        }
        let (header, _) = self.node(bytes, index)?;
        Some(Pgno(layout::branch_child(header.to_le_bytes())))
    }

    /// All items of a packed leaf, back to back.
    #[must_use]
    #[inline]
    pub fn packed_items(self, bytes: &[u8]) -> Option<&[u8]> {
        let PageKind::Packed(len) = self.kind() else {
            return None;
        };
        bytes.get(layout::HEADER_LEN..layout::HEADER_LEN + self.len() * usize::from(len))
    }
}

#[cfg(test)]
mod tests {
    use crate::PageMut;

    use super::*;

    #[test]
    fn there_is_nothing_before_the_first_item() {
        let mut bytes = vec![0; 4096];
        let kind = PageKind::Packed(8);
        let mut page = PageMut::initialise(&mut bytes, Pgno(7), kind);
        let nothing = crate::NodeValue::Data(b"", NodeFlags(0));
        assert!(page.insert(0, b"8 bytes!", nothing).unwrap());
        let page = Page::parse(&bytes, Pgno(7), kind).unwrap();
        let checked = page.header();
        assert_eq!(checked.leaf_key(&bytes, 0), Some(&b"8 bytes!"[..]));
        for index in [1, u32::MAX] {
            assert_eq!(checked.leaf_key(&bytes, index), None);
            assert!(page.key(index as usize).is_err());
        }
    }

    #[test]
    fn entries_are_the_items_of_a_packed_page_and_the_nodes_of_another() {
        let mut bytes = vec![0; 4096];
        let nothing = || crate::NodeValue::Data(b"", NodeFlags(0));
        let kind = PageKind::Packed(8);
        let mut page = PageMut::initialise(&mut bytes, Pgno(7), kind);
        for index in 0..3 {
            assert!(page.insert(index, b"8 bytes!", nothing()).unwrap());
        }
        let packed = Page::parse(&bytes, Pgno(7), kind).unwrap();
        assert_eq!(packed.header().entry_span(4096), (16, 16 + 3 * 8));

        let mut page = PageMut::initialise(&mut bytes, Pgno(7), PageKind::Leaf);
        assert!(page.insert(0, b"8 bytes!", nothing()).unwrap());
        let leaf = Page::parse(&bytes, Pgno(7), PageKind::Leaf).unwrap();
        assert_eq!(leaf.header().entry_span(4096), (4096 - 16, 4096));
    }

    #[test]
    fn a_sub_page_has_the_same_header_on_both_paths() {
        // The flags of sub-pages and of others, bounds within the sub-page and outside.
        for flags in [0x42_u16, 0x62, 0x02, 0x01, 0] {
            for (pad, lower, upper) in [(0, 16, 64), (8, 20, 64), (8, 18, 16), (3, 17, 99)] {
                let mut bytes = [0; 64];
                for (at, word) in [
                    (layout::PAD_AT, pad),
                    (layout::FLAGS_AT, flags),
                    (layout::LOWER_AT, lower),
                    (layout::UPPER_AT, upper),
                ] {
                    bytes[at..at + 2].copy_from_slice(&u16::to_le_bytes(word));
                }
                for len in [0, 11, 15, 40, 64] {
                    let part = &bytes[..len];
                    let full = Page::parse_sub(part).ok().map(|page| page.header());
                    assert_eq!(PageHeader::of_sub_page(part), full);
                }
            }
        }
    }

    #[test]
    fn fast_access_agrees_with_checked_access_or_finds_nothing() {
        let mut bytes = vec![0; 4096];
        let pgno = Pgno(7);
        let mut page = PageMut::initialise(&mut bytes, pgno, PageKind::Leaf);
        for (index, key) in [b"a".as_slice(), b"bb", b"ccc"].iter().enumerate() {
            let value = crate::NodeValue::Data(b"value", NodeFlags(0));
            assert!(page.insert(index, key, value).unwrap());
        }
        let page = Page::parse(&bytes, pgno, PageKind::Leaf).unwrap();
        let checked = page.header();
        for index in 0..3 {
            let (full, glance) = (
                page.leaf(index as usize).unwrap(),
                checked.leaf_entry(&bytes, index).unwrap(),
            );
            assert_eq!((full.key, full.data), (glance.key, glance.data));
            assert_eq!(checked.leaf_key(&bytes, index), Some(full.key));
        }
        assert!(checked.leaf_entry(&bytes, 3).is_none());
        assert!(PageHeader::EMPTY.leaf_entry(&bytes, 0).is_none());
        // Each byte of the page changed: never a panic, never bytes from elsewhere.
        for at in 16..bytes.len() {
            let mut broken = bytes.clone();
            broken[at] ^= 0xff;
            for index in 0..3 {
                let full = Page::from_header(&broken, checked);
                let glance = checked.leaf_entry(&broken, index);
                if let Some(glance) = glance {
                    let full = full.leaf(index as usize).unwrap();
                    assert_eq!((full.key, full.data), (glance.key, glance.data));
                }
            }
        }
    }
}
