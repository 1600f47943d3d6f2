//! Pages, packed pages and sub-pages as the checker reads them.
//!
//! The engine's own views refuse a page at the first contradiction. These are for looking on: they read headers that
//! contradict their place. And they are a second reading of the same bytes, so that what the engine writes is not judged
//! by the code that wrote it.

use fulgurite_format::{Format, NodeFlags, PageFlags, V09};

/// Bytes of a page header, on pages and sub-pages alike.
pub(super) const HEADER: usize = V09::HEADER_LEN;

/// The number at `at`, or `None` beyond the end.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// As [`u16_at`].
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// As [`u16_at`].
pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// The header of a page or sub-page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub(super) pgno: u64,
    pub(super) pad: u16,
    pub(super) flags: u16,
    pub(super) lower: u16,
    pub(super) upper: u16,
    /// Overflow pages only: pages of the run.
    pub(super) run_pages: u32,
}

impl Header {
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            pgno: u64_at(bytes, 0)?,
            pad: u16_at(bytes, 8)?,
            flags: u16_at(bytes, V09::FLAGS_AT)?,
            lower: u16_at(bytes, V09::LOWER_AT)?,
            upper: u16_at(bytes, V09::UPPER_AT)?,
            run_pages: u32_at(bytes, V09::RUN_AT)?,
        })
    }
}

/// One entry of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) key: &'a [u8],
    /// Branch pages only: the page it leads to.
    pub(super) child: u64,
    /// Leaf pages only: the node's flags.
    pub(super) flags: u16,
    /// Leaf pages only: the value's size, which on overflow values is not that of `data`.
    pub(super) value_bytes: u32,
    /// Leaf pages only: what stands in the page, and where.
    pub(super) data: &'a [u8],
    pub(super) data_at: usize,
    /// What the node takes up.
    pub(super) node_bytes: usize,
}

/// The entries of a branch page, leaf page or sub-page that fills `bytes`.
///
/// `Err` names the first contradiction; nothing is known about such a page.
pub(super) fn items<'a>(bytes: &'a [u8], header: &Header) -> Result<Vec<Item<'a>>, String> {
    let (lower, upper) = (usize::from(header.lower), usize::from(header.upper));
    if lower < HEADER || !lower.is_multiple_of(2) || upper < lower {
        return Err(format!("lower bound {lower}, upper bound {upper}"));
    }
    let count = (lower - HEADER) / 2;
    if header.flags & PageFlags::PACKED != 0 {
        return packed(bytes, header, count);
    }
    if upper > bytes.len() {
        return Err(format!("upper bound {upper} of {} bytes", bytes.len()));
    }
    let mut items = Vec::with_capacity(count);
    for index in 0..count {
        items.push(
            node(bytes, header, index).ok_or_else(|| format!("node {index} leaves its bounds"))?,
        );
    }
    let taken: usize = items.iter().map(|item| item.node_bytes).sum();
    if taken != bytes.len() - upper {
        return Err(format!(
            "its nodes take {taken} bytes where {} are in use",
            bytes.len() - upper
        ));
    }
    Ok(items)
}

fn node<'a>(bytes: &'a [u8], header: &Header, index: usize) -> Option<Item<'a>> {
    let at = usize::from(u16_at(bytes, HEADER + 2 * index)?);
    if at < usize::from(header.upper) || !at.is_multiple_of(2) {
        return None;
    }
    let (low, high) = (
        u64::from(u16_at(bytes, at)?),
        u64::from(u16_at(bytes, at + 2)?),
    );
    let (flags, key_bytes) = (u16_at(bytes, at + 4)?, usize::from(u16_at(bytes, at + 6)?));
    let data_at = at + V09::NODE_HEADER_LEN + key_bytes;
    let key = bytes.get(at + V09::NODE_HEADER_LEN..data_at)?;
    if header.flags & PageFlags::BRANCH != 0 {
        let child = low | high << 16 | u64::from(flags) << 32;
        let node_bytes = even(V09::NODE_HEADER_LEN + key_bytes);
        return Some(Item {
            key,
            child,
            flags: 0,
            value_bytes: 0,
            data: &[],
            data_at,
            node_bytes,
        });
    }
    let value_bytes = (low | high << 16) as u32;
    let in_page = if flags & NodeFlags::OVERFLOW != 0 {
        8
    } else {
        value_bytes as usize
    };
    let data = bytes.get(data_at..data_at.checked_add(in_page)?)?;
    let node_bytes = even(V09::NODE_HEADER_LEN + key_bytes + in_page);
    Some(Item {
        key,
        child: 0,
        flags,
        value_bytes,
        data,
        data_at,
        node_bytes,
    })
}

fn packed<'a>(bytes: &'a [u8], header: &Header, count: usize) -> Result<Vec<Item<'a>>, String> {
    let size = usize::from(header.pad);
    let end = HEADER + count * size;
    let free = usize::from(header.upper) - usize::from(header.lower);
    let Some(area) = bytes.get(HEADER..end).filter(|_| size > 0) else {
        return Err(format!("{count} packed items of {size} bytes do not fit"));
    };
    if free != bytes.len() - end {
        return Err(format!(
            "{count} packed items of {size} bytes leave {} bytes free, not {free}",
            bytes.len() - end
        ));
    }
    let item = |key| Item {
        key,
        child: 0,
        flags: 0,
        value_bytes: 0,
        data: &[],
        data_at: 0,
        node_bytes: size,
    };
    Ok(area.chunks_exact(size).map(item).collect())
}

fn even(bytes: usize) -> usize {
    bytes.next_multiple_of(2)
}
