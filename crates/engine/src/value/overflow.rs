//! Values too large for a leaf.

use fulgurite_format::{
    LeafNode, Malformed, NodeFlags, NodeValue, OverflowHeader, Pgno, TreeRecord, layout,
    overflow_pages, write_overflow_header,
};

use crate::Error;
use crate::boxed_error::BoxedError;
use crate::tree::{Pages, PagesMut};

/// Returns the value of a leaf entry of a database without duplicates, from the leaf or from a run.
#[inline(always)]
pub(crate) fn value_of<'p, P: Pages<'p>>(
    pages: P,
    leaf: Pgno,
    node: &LeafNode<'p>,
) -> Result<&'p [u8], BoxedError> {
    match node.flags.0 {
        0 | NodeFlags::SUB_TREE => Ok(node.data),
        NodeFlags::OVERFLOW => {
            let (first, _) = run_of(pages, leaf, node)?;
            let header = layout::HEADER_LEN;
            let run = pages.run(first, header + node.value_len)?;
            run.get(header..)
                .ok_or_else(|| Error::at(first)(Malformed::Truncated))
        }
        flags => Err(Error::Corrupted {
            page: leaf,
            what: Malformed::NodeFlags { index: 0, flags },
        }
        .into()),
    }
}

/// The checked overflow run of a node: first page and number of pages.
pub(crate) fn run_of<'p, P: Pages<'p>>(
    pages: P,
    leaf: Pgno,
    node: &LeafNode<'p>,
) -> Result<(Pgno, u64), BoxedError> {
    let first = node
        .overflow()
        .ok_or_else(|| Error::at(leaf)(Malformed::Truncated))?;
    if first < Pgno::FIRST_DATA || first > pages.last() {
        return Err(Error::Corrupted {
            page: leaf,
            what: Malformed::PageOutOfRange(first),
        }
        .into());
    }
    let page = pages.page(first)?;
    let header =
        OverflowHeader::parse(page, first, pages.page_size(), node.value_len, pages.last())
            .map_err(Error::at(first))?;
    Ok((first, header.pages))
}

/// Takes a run for a value of `len` bytes and writes its header. The caller writes the value behind
/// it.
pub(crate) fn write_run<P: PagesMut>(
    pages: &mut P,
    record: &mut TreeRecord,
    len: usize,
) -> Result<(Pgno, NodeValue<'static>), BoxedError> {
    let run = Run::of::<P>(pages, len)?;
    let first = pages.allocate(run.count)?;
    if run.count == 1 {
        // Longer runs are zeros. A page has the old bytes of its buffer, and its value does not
        // fill it.
        pages.page_mut(first)?.fill(0);
    }
    let header = pages.run_mut(first, layout::HEADER_LEN)?;
    write_overflow_header(header, first, run.pages);
    Ok((first, run.reference(record, first)))
}

/// Takes a run for a value and stores it there.
pub(crate) fn store_run<P: PagesMut>(
    pages: &mut P,
    record: &mut TreeRecord,
    value: &[u8],
) -> Result<NodeValue<'static>, BoxedError> {
    let run = Run::of::<P>(pages, value.len())?;
    let first = pages.store_run(run.count, value)?;
    Ok(run.reference(record, first))
}

/// The size of a run to be stored.
struct Run {
    count: u64,
    pages: u32,
    len: u32,
}

impl Run {
    fn of<P: PagesMut>(pages: &P, len: usize) -> Result<Run, BoxedError> {
        let count = overflow_pages(len, pages.view().page_size());
        Ok(Run {
            count,
            pages: u32::try_from(count).map_err(|_| Error::ValueLength(len))?,
            len: u32::try_from(len).map_err(|_| Error::ValueLength(len))?,
        })
    }

    fn reference(&self, record: &mut TreeRecord, first: Pgno) -> NodeValue<'static> {
        // The count is only told, and may be wrong from the start.
        record.overflow_pages = record.overflow_pages.saturating_add(self.count);
        NodeValue::Overflow {
            first,
            len: self.len,
        }
    }
}

/// Gives up the run that a value occupies outside its leaf.
pub(crate) fn release_value<P: PagesMut>(
    pages: &mut P,
    record: &mut TreeRecord,
    run: Option<(Pgno, u64)>,
) -> Result<(), BoxedError> {
    debug_assert!(run.is_none_or(|(first, count)| first >= Pgno::FIRST_DATA && count > 0));
    if let Some((first, count)) = run {
        record.overflow_pages = record.overflow_pages.saturating_sub(count);
        pages.release(first, count)?;
    }
    Ok(())
}
