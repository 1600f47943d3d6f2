//! Records of the free list: reading them, and rewriting one of them.

use fulgurite_format::{FreeRecord, LeafNode, Malformed, NodeValue, PageKind, Pgno, Txnid, layout};

use super::view::PageView;
use super::writer_pages::WriterPages;
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::tree::{self, Pages, PagesMut, Path, Step, Tree};
use crate::value;

/// A record of the free list, which names no page behind `last`.
pub(super) fn record_at(
    view: PageView<'_>,
    leaf: Step,
    last: Pgno,
) -> Result<(Txnid, FreeRecord<'_>), BoxedError> {
    let (id, node) = record_id(view, leaf)?;
    Ok((id, record_of(view, leaf, &node, last)?))
}

/// The id of a record of the free list, with its node. Its pages are not looked at, which may be
/// many.
pub(super) fn record_id(
    view: PageView<'_>,
    leaf: Step,
) -> Result<(Txnid, LeafNode<'_>), BoxedError> {
    let node = view.leaf_node(leaf)?;
    Ok((id_of(leaf, &node)?, node))
}

/// The pages in a node of the free list, none behind `last`.
pub(super) fn record_of<'v>(
    view: PageView<'v>,
    leaf: Step,
    node: &LeafNode<'v>,
    last: Pgno,
) -> Result<FreeRecord<'v>, BoxedError> {
    let value = value::value_of(view, leaf.pgno, node)?;
    FreeRecord::parse(value, last).map_err(Error::at(leaf.pgno))
}

fn id_of(leaf: Step, node: &LeafNode<'_>) -> Result<Txnid, BoxedError> {
    let key = <[u8; 8]>::try_from(node.key).map_err(|_| Error::Corrupted {
        page: leaf.pgno,
        what: Malformed::KeyLength {
            index: leaf.index,
            len: node.key.len(),
        },
    })?;
    Ok(Txnid(u64::from_ne_bytes(key)))
}

/// Goes to the newest record of the free list that is older than this one; `false` if there is
/// none.
pub(super) fn record_before(
    view: PageView<'_>,
    free: &Tree,
    id: Txnid,
    path: &mut Path,
) -> Result<bool, BoxedError> {
    debug_assert!(matches!(free.order, crate::KeyOrder::Integer));
    tree::seek(view, free, &id.0.to_ne_bytes(), path)?;
    Ok(tree::previous(view, free, path)? != tree::LeafStep::AtEnd)
}

pub(super) fn run_at(
    pages: &WriterPages<'_>,
    path: &Path,
) -> Result<Option<(Pgno, u64)>, BoxedError> {
    let Some(leaf) = path.leaf() else {
        return Ok(None);
    };
    let view = pages.view();
    let node = view.leaf_node(leaf)?;
    node.overflow()
        .map(|_| value::run_of(view, leaf.pgno, &node))
        .transpose()
}

/// Gives a record other numbers, no more than it had. The free list is not read from meanwhile.
pub(super) fn rewrite_record(
    pages: &mut WriterPages<'_>,
    key: u64,
    list: &[Pgno],
) -> Result<(), BoxedError> {
    debug_assert!(!list.is_empty(), "an empty record is removed");
    let mut free = pages.free;
    let mut path = Path::new();
    let bytes = key.to_ne_bytes();
    let exact = tree::seek(pages.view(), &free, &bytes, &mut path)?;
    let len = FreeRecord::value_len(list.len());
    value::place_value(pages, &mut free, &mut path, exact, &bytes, len)?;
    pages.free = free;
    write_record(pages, key, list)
}

pub(super) fn write_record(
    pages: &mut WriterPages<'_>,
    key: u64,
    list: &[Pgno],
) -> Result<(), BoxedError> {
    debug_assert!(list.is_sorted_by(|a, b| a > b), "a record descends");
    let free = pages.free;
    let mut path = Path::new();
    let bytes = key.to_ne_bytes();
    tree::seek(pages.view(), &free, &bytes, &mut path)?;
    let run = run_at(pages, &path)?;
    let leaf = path.leaf().ok_or(Error::BeyondEnd(free.record.root))?;
    let len = FreeRecord::value_len(list.len());
    if pages.view().leaf_node(leaf)?.value_len != len {
        trim_record(pages, leaf, &bytes, run, len)?;
    }
    let value = match run {
        Some((first, _)) => pages
            .run_mut(first, layout::HEADER_LEN + len)?
            .get_mut(layout::HEADER_LEN..)
            .ok_or(Error::BeyondEnd(first))?,
        None => value::leaf_data(pages, leaf)?,
    };
    FreeRecord::write(value, list).map_err(Error::at(leaf.pgno))
}

/// Takes back the room that was reserved too much: some builds of the original refuse records
/// longer than their count. Shrinking a node needs no page, and an overflow run may be longer than
/// its value.
fn trim_record(
    pages: &mut WriterPages<'_>,
    leaf: Step,
    key: &[u8],
    run: Option<(Pgno, u64)>,
    len: usize,
) -> Result<(), BoxedError> {
    debug_assert!(len >= FreeRecord::value_len(0));
    let value = match run {
        Some((first, _)) => NodeValue::Overflow {
            first,
            len: u32::try_from(len).map_err(|_| Error::ValueLength(len))?,
        },
        None => NodeValue::Reserved(len),
    };
    let mut page = pages.sound_page_mut(leaf.pgno, PageKind::Leaf)?;
    let trimmed = page
        .remove(leaf.index)
        .and_then(|()| page.insert(leaf.index, key, value));
    match trimmed {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::BeyondEnd(leaf.pgno).into()),
        Err(what) => Err(Error::Corrupted {
            page: leaf.pgno,
            what,
        }
        .into()),
    }
}

pub(super) fn listed_twice(page: Pgno) -> Error {
    Error::Corrupted {
        page,
        what: Malformed::FreeRecord("a page is listed twice"),
    }
}
