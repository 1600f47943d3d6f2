//! Giving a key room for its value, in the leaf or in an overflow run.

use fulgurite_format::{Malformed, NodeFlags, NodeValue, Page, PageKind, PageMut, Pgno, layout};

use super::overflow::{release_value, run_of, store_run, write_run};
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::tree::{self, Pages, PagesMut, Path, Step, Tree};

/// Where a value is to go.
enum Destination {
    /// Over the old one, which has the same length.
    Same(Step),
    /// Into a node of its leaf.
    Leaf,
    /// Into an overflow run.
    Run,
}

/// Stores `value` under `key`, in place of its old value.
///
/// `path` and `exact` are the result of [`tree::seek`] for the key. Tells whether the path is still
/// good.
pub(crate) fn store_value<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    exact: bool,
    key: &[u8],
    value: &[u8],
) -> Result<bool, BoxedError> {
    debug_assert!(!key.is_empty());
    tree::touch_path(pages, tree, path)?;
    match choose_destination(pages, tree, path, exact, key.len(), value.len())? {
        Destination::Same(place) => {
            store_data(pages, place, value)?;
            Ok(true)
        }
        Destination::Leaf => {
            let node = NodeValue::Data(value, NodeFlags(0));
            Ok(put_node(pages, tree, path, exact, key, node)?.is_some())
        }
        Destination::Run => {
            let reference = store_run(pages, &mut tree.record, value)?;
            let place = put_node(pages, tree, path, exact, key, reference)?;
            Ok(place.is_some())
        }
    }
}

/// Stores a record where only its leaf is involved: over a value of the same length, or in free
/// space. Otherwise it makes the path private, changes nothing, and returns `false`. The path stays
/// valid. A hot path.
#[inline]
pub(crate) fn store_in_leaf<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    exact: bool,
    key: &[u8],
    value: &[u8],
) -> Result<bool, BoxedError> {
    tree::touch_path(pages, tree, path)?;
    let Some(leaf) = path.leaf() else {
        return Ok(false);
    };
    let mut page = leaf_mut(pages, leaf.pgno)?;
    if exact {
        return page
            .overwrite(leaf.index, value)
            .map_err(Error::at(leaf.pgno));
    }
    let stays = layout::leaf_node_len(key.len(), value.len()) <= layout::node_max(page.size());
    if stays && page.insert_record(leaf.index, key, value) {
        tree.record.entries = tree.record.entries.saturating_add(1);
        return Ok(true);
    }
    Ok(false)
}

/// Gives `key` room for a value of `len` bytes, in place of its old value; the caller fills it.
/// Otherwise as [`store_value`].
pub(crate) fn place_value<'p, P: PagesMut>(
    pages: &'p mut P,
    tree: &mut Tree,
    path: &mut Path,
    exact: bool,
    key: &[u8],
    len: usize,
) -> Result<&'p mut [u8], BoxedError> {
    debug_assert!(!key.is_empty());
    tree::touch_path(pages, tree, path)?;
    let place = match choose_destination(pages, tree, path, exact, key.len(), len)? {
        Destination::Same(place) => place,
        Destination::Leaf => {
            match put_node(pages, tree, path, exact, key, NodeValue::Reserved(len))? {
                Some(place) => place,
                None => {
                    // A split moved the entry. With keys out of order the entry may not be found
                    // again. Another key's value must not be lent for writing.
                    let found = tree::seek(pages.view(), tree, key, path)?;
                    path.leaf()
                        .filter(|_| found)
                        .ok_or_else(|| Error::at(tree.record.root)(Malformed::KeyOrder))?
                }
            }
        }
        Destination::Run => {
            let (first, reference) = write_run(pages, &mut tree.record, len)?;
            put_node(pages, tree, path, exact, key, reference)?;
            return run_data(pages, first, len);
        }
    };
    let data = leaf_data(pages, place)?;
    if data.len() == len {
        return Ok(data);
    }
    Err(Error::at(place.pgno)(Malformed::KeyOrder))
}

/// Frees the key's run, and decides where the new value goes. The path is private.
fn choose_destination<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    exact: bool,
    key_len: usize,
    len: usize,
) -> Result<Destination, BoxedError> {
    if let Some(leaf) = path.leaf().filter(|_| exact) {
        let old = old_node(pages, leaf)?;
        if old.run.is_none() && old.len == len {
            return Ok(Destination::Same(leaf));
        }
        release_value(pages, &mut tree.record, old.run)?;
    }
    let page_size = pages.view().page_size();
    if layout::leaf_node_len(key_len, len) <= layout::node_max(page_size) {
        return Ok(Destination::Leaf);
    }
    Ok(Destination::Run)
}

fn run_data<P: PagesMut>(pages: &mut P, first: Pgno, len: usize) -> Result<&mut [u8], BoxedError> {
    let header = layout::HEADER_LEN;
    pages
        .run_mut(first, header + len)?
        .get_mut(header..)
        .ok_or_else(Error::beyond_end(first))
}

/// Stores a tree record under a name of the main tree.
pub(crate) fn place_record<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    exact: bool,
    name: &[u8],
    record: &[u8],
) -> Result<(), BoxedError> {
    debug_assert!(!name.is_empty(), "a named database has a name");
    tree::touch_path(pages, tree, path)?;
    if let Some(leaf) = path.leaf().filter(|_| exact) {
        let node = pages.view().leaf_node(leaf)?;
        if node.flags.0 == NodeFlags::SUB_TREE && node.data.len() == record.len() {
            return store_data(pages, leaf, record);
        }
    }
    put_node(
        pages,
        tree,
        path,
        exact,
        name,
        NodeValue::Data(record, NodeFlags(NodeFlags::SUB_TREE)),
    )?;
    Ok(())
}

struct NodeSummary {
    run: Option<(Pgno, u64)>,
    len: usize,
}

fn old_node<P: PagesMut>(pages: &P, leaf: Step) -> Result<NodeSummary, BoxedError> {
    let view = pages.view();
    let node = view.leaf_node(leaf)?;
    match node.flags.0 {
        0 => Ok(NodeSummary {
            run: None,
            len: node.value_len,
        }),
        NodeFlags::OVERFLOW => Ok(NodeSummary {
            run: Some(run_of(view, leaf.pgno, &node)?),
            len: node.value_len,
        }),
        flags => Err(Error::Corrupted {
            page: leaf.pgno,
            what: Malformed::NodeFlags {
                index: leaf.index,
                flags,
            },
        }
        .into()),
    }
}

fn put_node<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    exact: bool,
    key: &[u8],
    value: NodeValue<'_>,
) -> Result<Option<Step>, BoxedError> {
    if exact {
        tree::replace(pages, tree, path, key, value)
    } else {
        tree::insert(pages, tree, path, key, value)
    }
}

pub(crate) fn leaf_data<P: PagesMut>(pages: &mut P, place: Step) -> Result<&mut [u8], BoxedError> {
    leaf_mut(pages, place.pgno)?
        .into_data(place.index)
        .map_err(Error::at(place.pgno))
}

/// Stores data of the same length in the place of those of a leaf entry.
pub(crate) fn store_data<P: PagesMut>(
    pages: &mut P,
    place: Step,
    data: &[u8],
) -> Result<(), BoxedError> {
    let room = leaf_data(pages, place)?;
    if room.len() != data.len() {
        return Err(Error::at(place.pgno)(Malformed::Node(place.index)));
    }
    room.copy_from_slice(data);
    Ok(())
}

#[inline(always)]
fn leaf_mut<P: PagesMut>(pages: &mut P, pgno: Pgno) -> Result<PageMut<'_>, BoxedError> {
    let bytes = pages.page_mut(pgno)?;
    // Two steps, because the first one is inlined and the second one is free.
    let page = Page::parse(bytes, pgno, PageKind::Leaf).map_err(Error::at(pgno))?;
    let checked = page.header();
    Ok(PageMut::from_header(bytes, checked))
}
