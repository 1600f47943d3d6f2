//! Pages, packed pages and sub-pages as the checker reads them.
//!
//! The engine's own views refuse a page at the first contradiction. These go on: they read headers
//! that contradict their position. They are also a second implementation, so the code that wrote a
//! page does not judge it.

use fulgurite_format::{NodeFlags, PAGE_SIZE_MAX, PageFlags, layout};

/// Length of a page header in bytes, on pages and sub-pages alike.
pub(crate) const HEADER: usize = layout::HEADER_LEN;

/// Returns the number at `at`, or `None` beyond the end.
#[inline]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes
        .get(at..)?
        .first_chunk()
        .copied()
        .map(u16::from_le_bytes)
}

/// As [`u16_at`].
#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .copied()
        .map(u32::from_le_bytes)
}

/// As [`u16_at`].
#[inline]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes
        .get(at..)?
        .first_chunk()
        .copied()
        .map(u64::from_le_bytes)
}

/// The header of a page or sub-page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    pub(crate) pgno: u64,
    pub(crate) pad: u16,
    pub(crate) flags: u16,
    pub(crate) lower: u16,
    pub(crate) upper: u16,
    /// The pages of the run. On overflow pages only.
    pub(crate) run_pages: u32,
}

impl Header {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            pgno: u64_at(bytes, 0)?,
            pad: u16_at(bytes, layout::PAD_AT)?,
            flags: u16_at(bytes, layout::FLAGS_AT)?,
            lower: u16_at(bytes, layout::LOWER_AT)?,
            upper: u16_at(bytes, layout::UPPER_AT)?,
            run_pages: u32_at(bytes, layout::RUN_AT)?,
        })
    }

    pub(crate) const fn is_branch(&self) -> bool {
        self.flags & PageFlags::BRANCH != 0
    }

    pub(crate) const fn is_packed(&self) -> bool {
        self.flags & PageFlags::PACKED != 0
    }
}

/// One entry of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item<'a> {
    pub(crate) key: &'a [u8],
    /// The page it leads to. On branch pages only.
    pub(crate) child: u64,
    /// The node's flags. On leaf pages only.
    pub(crate) flags: u16,
    /// The value's length in bytes, which for overflow values is not that of `data`. On leaf pages
    /// only.
    pub(crate) value_bytes: u32,
    /// The bytes in the page. On leaf pages only.
    pub(crate) data: &'a [u8],
    /// The offset of the node, and its length.
    pub(crate) at: usize,
    pub(crate) node_bytes: usize,
}

/// The entries of a branch page, leaf page or sub-page with valid bounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entries<'a> {
    bytes: &'a [u8],
    count: usize,
    lowest: usize,
    is_branch: bool,
    /// Length of the items, on packed pages.
    packed: Option<usize>,
}

impl<'a> Entries<'a> {
    /// Checks the bounds of a page that fills `bytes`. `Err` names the first contradiction, and
    /// then nothing is known about the page.
    pub(crate) fn parse(bytes: &'a [u8], header: &Header) -> Result<Self, String> {
        let (lower, upper) = (usize::from(header.lower), usize::from(header.upper));
        if lower < HEADER || !lower.is_multiple_of(2) || upper < lower {
            return Err(format!("lower bound {lower}, upper bound {upper}"));
        }
        let count = (lower - HEADER) / 2;
        let entries = Self {
            bytes,
            count,
            lowest: upper,
            is_branch: header.is_branch(),
            packed: header.is_packed().then_some(usize::from(header.pad)),
        };
        if header.is_packed() {
            return entries.check_packed(upper - lower);
        }
        if upper > bytes.len() {
            return Err(format!("upper bound {upper} of {} bytes", bytes.len()));
        }
        Ok(entries)
    }

    fn check_packed(self, free: usize) -> Result<Self, String> {
        let (count, size) = (self.count, self.packed.unwrap_or_default());
        let end = HEADER + count * size;
        if size == 0 || end > self.bytes.len() {
            return Err(format!("{count} packed items of {size} bytes do not fit"));
        }
        if free != self.bytes.len() - end {
            return Err(format!(
                "{count} packed items of {size} bytes leave {} bytes free, not {free}",
                self.bytes.len() - end
            ));
        }
        Ok(self)
    }

    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    pub(crate) const fn is_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// Returns the entry at `index`, or `None` if it leaves its bounds.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<Item<'a>> {
        if let Some(size) = self.packed {
            return self.packed_item(index, size);
        }
        let at = usize::from(u16_at(self.bytes, HEADER + 2 * index)?);
        if index >= self.count || at < self.lowest || !at.is_multiple_of(2) {
            return None;
        }
        let head: [u8; 8] = *self.bytes.get(at..)?.first_chunk()?;
        let word = u64::from_le_bytes(head);
        let key_bytes = (word >> 48) as usize;
        let data_at = at + layout::NODE_HEADER_LEN + key_bytes;
        let key = self.bytes.get(at + layout::NODE_HEADER_LEN..data_at)?;
        let (mut item, mut in_page) = (
            Item {
                key,
                child: 0,
                flags: 0,
                value_bytes: 0,
                data: &[],
                at,
                node_bytes: 0,
            },
            0,
        );
        if self.is_branch {
            item.child = word & 0xffff_ffff_ffff;
        } else {
            item.flags = (word >> 32) as u16;
            item.value_bytes = word as u32;
            in_page = match item.flags & NodeFlags::OVERFLOW {
                0 => item.value_bytes as usize,
                _ => 8,
            };
            item.data = self.bytes.get(data_at..data_at.checked_add(in_page)?)?;
        }
        item.node_bytes = (layout::NODE_HEADER_LEN + key_bytes + in_page).next_multiple_of(2);
        Some(item)
    }

    fn packed_item(&self, index: usize, size: usize) -> Option<Item<'a>> {
        let at = HEADER + index * size;
        let key = self
            .bytes
            .get(at..at + size)
            .filter(|_| index < self.count)?;
        Some(Item {
            key,
            child: 0,
            flags: 0,
            value_bytes: 0,
            data: &[],
            at,
            node_bytes: size,
        })
    }

    /// Iterates over the entries that are within their bounds.
    pub(crate) fn iter(self) -> impl Iterator<Item = Item<'a>> {
        (0..self.count).filter_map(move |index| self.get(index))
    }

    /// Checks that the nodes fill the used part of the page without gaps or overlaps. Packed items
    /// always do.
    pub(crate) fn check_nodes(&self, tiling: &mut Tiling) -> Result<Nodes, String> {
        let mut nodes = Nodes::default();
        if self.is_packed() {
            return Ok(nodes);
        }
        let used = self.bytes.len() - self.lowest;
        tiling.begin(self.bytes.len());
        for index in 0..self.count {
            let item = self
                .get(index)
                .ok_or_else(|| format!("node {index} leaves its bounds"))?;
            tiling.add(item.at, item.node_bytes);
            nodes.flags |= item.flags;
            nodes.largest_bytes = nodes.largest_bytes.max(item.node_bytes);
            nodes.bytes += item.node_bytes;
        }
        if nodes.bytes != used {
            let taken = nodes.bytes;
            return Err(format!(
                "its nodes take {taken} bytes where {used} are in use"
            ));
        }
        if !tiling.is_from_to(self.lowest, self.bytes.len()) {
            return Err("its nodes overlap".to_owned());
        }
        Ok(nodes)
    }
}

/// Properties of all nodes of a page together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nodes {
    /// All flags that occur.
    pub(crate) flags: u16,
    pub(crate) largest_bytes: usize,
    bytes: usize,
}

/// Checks that pieces cover a part of a page exactly once, given that their lengths add up to its
/// length.
///
/// Each piece toggles the bits of its start and its end; there is a bit for every even offset. If
/// only the ends of the part remain set, every offset in it is covered an odd number of times. As
/// the lengths add up, it is covered exactly once.
#[derive(Debug)]
pub(crate) struct Tiling {
    words: [u64; PAGE_SIZE_MAX / 128 + 1],
    used: usize,
}

impl Default for Tiling {
    fn default() -> Self {
        Self {
            words: [0; PAGE_SIZE_MAX / 128 + 1],
            used: 0,
        }
    }
}

impl Tiling {
    fn begin(&mut self, bytes: usize) {
        self.used = (bytes / 128 + 1).min(self.words.len());
        self.words[..self.used].fill(0);
    }

    #[inline]
    fn toggle(&mut self, at: usize) {
        if let Some(word) = self.words.get_mut(at / 128) {
            *word ^= 1 << ((at / 2) % 64);
        }
    }

    #[inline]
    fn add(&mut self, at: usize, bytes: usize) {
        self.toggle(at);
        self.toggle(at + bytes);
    }

    fn is_from_to(&mut self, from: usize, to: usize) -> bool {
        if from < to {
            self.toggle(from);
            self.toggle(to);
        }
        self.words[..self.used].iter().all(|word| *word == 0)
    }
}
