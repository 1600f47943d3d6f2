//! Sorted duplicates: several values under one key, each of them a key of an inner tree.
//!
//! ```text
//!   one value     the node's data                                  flags 0
//!   a few         a little page in the node (sub-page)             flags DUPLICATES
//!   many          a tree of their own, its record in the node      flags DUPLICATES | SUB_TREE
//! ```
//! There is no way back from the right to the left: the last value takes the whole entry with it.

use alloc::boxed::Box;
use alloc::vec::Vec;
use fulgurite_format::{
    DatabaseFlags, LeafNode, Malformed, NodeFlags, NodeValue, Page, PageKind, PageMut, Pgno,
    TREE_RECORD_LEN, TreeRecord, layout, new_sub_page, sub_page_with, sub_page_without,
};

use super::overflow::run_of;
use super::put::store_data;
use crate::boxed_error::BoxedError;
use crate::tree::{self, Pages, PagesMut, Path, Step, Tree};
use crate::{Error, KeyOrder};

const ONE: u16 = 0;
const SUB_PAGE: u16 = NodeFlags::DUPLICATES;
const SUB_TREE: u16 = NodeFlags::DUPLICATES | NodeFlags::SUB_TREE;

/// The values of one key of a database with duplicates.
#[derive(Debug)]
pub(crate) enum Values<'p> {
    One(&'p [u8]),
    Page(Page<'p>),
    Tree(Tree),
}

/// The place of a value among those of its key.
#[derive(Debug)]
pub(crate) enum ValueAt {
    One,
    Page(usize),
    Tree(Tree, Box<Path>),
}

/// The values in a leaf entry, checked.
pub(crate) fn values_of<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    leaf: Pgno,
    node: &LeafNode<'p>,
) -> Result<Values<'p>, BoxedError> {
    match node.flags.0 {
        ONE => Ok(Values::One(node.data)),
        SUB_PAGE => {
            let page = Page::parse_sub(node.data).map_err(Error::at(leaf))?;
            let packed = page.kind() != PageKind::Leaf;
            if packed != tree.has_fixed_values() {
                return Err(Error::at(leaf)(Malformed::ItemLength));
            }
            if page.is_empty() {
                return Err(Error::at(leaf)(Malformed::TooFewEntries(0)));
            }
            Ok(Values::Page(page))
        }
        SUB_TREE => {
            let record = (node.data.len() == TREE_RECORD_LEN)
                .then(|| TreeRecord::read(node.data))
                .flatten()
                .filter(|record| !record.root.is_none())
                .ok_or_else(|| Error::at(leaf)(Malformed::TreeRecord))?;
            record.check(pages.last()).map_err(Error::at(leaf))?;
            if record.root == leaf {
                return Err(Error::at(leaf)(Malformed::Cycle));
            }
            inner_tree(tree, record)
                .map(Values::Tree)
                .ok_or_else(|| Error::at(leaf)(Malformed::ItemLength))
        }
        flags => Err(Error::at(leaf)(Malformed::NodeFlags { index: 0, flags })),
    }
}

/// The first value in a leaf entry.
pub(crate) fn first_value<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    leaf: Pgno,
    node: &LeafNode<'p>,
) -> Result<&'p [u8], BoxedError> {
    match values_of(pages, tree, leaf, node)? {
        Values::One(value) => Ok(value),
        Values::Page(page) => page.key(0).map_err(Error::at(leaf)),
        Values::Tree(inner) => {
            let mut path = Path::new();
            tree::first(pages, &inner, &mut path)?;
            value_at(pages, &inner, &path)
        }
    }
}

/// Returns the key of a tree's entry, for any kind of leaf.
pub(crate) fn key_at<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    path: &Path,
) -> Result<&'p [u8], BoxedError> {
    let leaf = tree::leaf_of(path, tree)?;
    pages
        .tree_page(leaf.pgno, tree.leaf)?
        .key(leaf.index)
        .map_err(Error::at(leaf.pgno))
}

/// The value that an entry of an inner tree is: a key that is alone.
#[inline]
pub(crate) fn value_at<'p, P: Pages<'p>>(
    pages: P,
    inner: &Tree,
    path: &Path,
) -> Result<&'p [u8], BoxedError> {
    let leaf = tree::leaf_of(path, inner)?;
    let node = pages
        .tree_page(leaf.pgno, inner.leaf)?
        .leaf(leaf.index)
        .map_err(Error::at(leaf.pgno))?;
    if node.flags.0 == ONE && node.data.is_empty() {
        Ok(node.key)
    } else {
        Err(Error::at(leaf.pgno)(Malformed::StrayValue(leaf.index)))
    }
}

/// How many values a leaf entry has.
pub(crate) fn count_of<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    leaf: Pgno,
    node: &LeafNode<'p>,
) -> Result<u64, BoxedError> {
    Ok(match values_of(pages, tree, leaf, node)? {
        Values::One(_) => 1,
        Values::Page(page) => page.len() as u64,
        Values::Tree(inner) => inner.record.entries,
    })
}

/// Finds a value among those of a key. Returns its position, or where it would have to go, and true
/// if it is there.
pub(crate) fn seek_value<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    leaf: Step,
    value: &[u8],
) -> Result<(ValueAt, bool), BoxedError> {
    let node = pages.leaf_node(leaf)?;
    let values = values_of(pages, tree, leaf.pgno, &node)?;
    if value.is_empty() && !matches!(values, Values::One(_)) {
        let max = layout::key_max(pages.page_size());
        return Err(Error::DuplicateLength { len: 0, max }.into());
    }
    match values {
        Values::One(old) => Ok((ValueAt::One, tree.value_order.compare(value, old).is_eq())),
        Values::Page(page) => {
            let (index, exact) =
                tree::lower_bound(&page, tree.value_order, value).map_err(Error::at(leaf.pgno))?;
            Ok((ValueAt::Page(index), exact))
        }
        Values::Tree(inner) => {
            let mut path = Box::new(Path::new());
            let exact = tree::seek(pages, &inner, value, &mut path)?;
            Ok((ValueAt::Tree(inner, path), exact))
        }
    }
}

/// The last value of a key, and its place.
pub(crate) fn last_value<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    leaf: Step,
) -> Result<(ValueAt, &'p [u8]), BoxedError> {
    let node = pages.leaf_node(leaf)?;
    match values_of(pages, tree, leaf.pgno, &node)? {
        Values::One(value) => Ok((ValueAt::One, value)),
        Values::Page(page) => {
            let index = page.len() - 1;
            let value = page.key(index).map_err(Error::at(leaf.pgno))?;
            Ok((ValueAt::Page(index), value))
        }
        Values::Tree(inner) => {
            let mut path = Box::new(Path::new());
            tree::last(pages, &inner, &mut path)?;
            let value = value_at(pages, &inner, &path)?;
            Ok((ValueAt::Tree(inner, path), value))
        }
    }
}

/// Checks that a value may be added to those of a key: values of fixed size have the same size.
/// # Errors
/// [`Error::FixedSize`]; nothing has been changed then, unlike when it is noticed later.
pub(crate) fn check_size<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    leaf: Step,
    value: &[u8],
) -> Result<(), BoxedError> {
    if !tree.has_fixed_values() {
        return Ok(());
    }
    let node = pages.leaf_node(leaf)?;
    let len = match values_of(pages, tree, leaf.pgno, &node)? {
        // A new value replaces the empty one that early versions wrote.
        Values::One([]) => return Ok(()),
        Values::One(old) => old.len(),
        Values::Page(page) => page.kind().item_len(),
        Values::Tree(inner) => inner.leaf.item_len(),
    };
    fixed_len(len, value).map(|_| ())
}

/// Adds a value that the key does not have. `path` leads to the key's entry. `at` is the result of
/// [`seek_value`], or one behind the last value. Returns true if the path is still valid.
pub(crate) fn add_value<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    at: ValueAt,
    key: &[u8],
    value: &[u8],
) -> Result<bool, BoxedError> {
    debug_assert!(tree.has_duplicates());
    tree::touch_path(pages, tree, path)?;
    let leaf = tree::leaf_of(path, tree)?;
    let sub_page = {
        let node = pages.view().leaf_node(leaf)?;
        match (values_of(pages.view(), tree, leaf.pgno, &node)?, at) {
            (Values::One([]), ValueAt::One) => {
                // Early versions wrote empty values. An empty value cannot have neighbours: the new
                // one replaces it.
                let key = node.key.to_vec();
                let value = NodeValue::Data(value, NodeFlags(ONE));
                return Ok(tree::replace(pages, tree, path, &key, value)?.is_some());
            }
            (Values::One(old), ValueAt::One) => {
                let kind = if tree.has_fixed_values() {
                    PageKind::Packed(fixed_len(old.len(), value)?)
                } else {
                    PageKind::Leaf
                };
                let mut items = [old, value];
                if tree.value_order.compare(value, old).is_lt() {
                    items.swap(0, 1);
                }
                new_sub_page(leaf.pgno, kind, &items)
            }
            (Values::Page(page), ValueAt::Page(index)) => {
                if let PageKind::Packed(len) = page.kind() {
                    fixed_len(usize::from(len), value)?;
                }
                sub_page_with(leaf.pgno, &page, index, value)
            }
            (Values::Tree(_), ValueAt::Tree(mut inner, mut inner_path)) => {
                if let PageKind::Packed(len) = inner.leaf {
                    fixed_len(usize::from(len), value)?;
                }
                let before = inner.record;
                tree::touch_path(pages, &mut inner, &mut inner_path)?;
                tree::insert(pages, &mut inner, &mut inner_path, value, NO_VALUE)?;
                count_inner(tree, &before, &inner.record);
                store_data(pages, leaf, &inner.record.to_bytes())?;
                return Ok(true);
            }
            _ => return Err(Error::at(leaf.pgno)(Malformed::KeyOrder)),
        }
        .map_err(Error::at(leaf.pgno))?
    };
    let good = store_sub_page(pages, tree, path, key, sub_page)?;
    tree.record.entries = tree.record.entries.saturating_add(1);
    Ok(good)
}

/// Stores the record of the tree of values that a leaf entry has, which was changed. The way to the
/// entry is private.
pub(crate) fn store_inner<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    leaf: Step,
    before: &TreeRecord,
    after: &TreeRecord,
) -> Result<(), BoxedError> {
    count_inner(tree, before, after);
    let (mut page, _) = pages.sound_leaf_mut(leaf.pgno)?;
    let data = page.data_mut(leaf.index).map_err(Error::at(leaf.pgno))?;
    let record = after.to_bytes();
    if data.len() != record.len() {
        return Err(Error::at(leaf.pgno)(Malformed::TreeRecord));
    }
    data.copy_from_slice(&record);
    Ok(())
}

/// Removes one value of a key, and the key with its last one.
pub(crate) fn remove_value<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    at: ValueAt,
) -> Result<Removal, BoxedError> {
    debug_assert!(tree.has_duplicates());
    tree::touch_path(pages, tree, path)?;
    let leaf = tree::leaf_of(path, tree)?;
    let sub_page = {
        let node = pages.view().leaf_node(leaf)?;
        match (values_of(pages.view(), tree, leaf.pgno, &node)?, at) {
            (Values::One(_), ValueAt::One) => None,
            (Values::Page(page), ValueAt::Page(0)) if page.len() == 1 => None,
            (Values::Page(page), ValueAt::Page(index)) => {
                Some(sub_page_without(leaf.pgno, &page, index).map_err(Error::at(leaf.pgno))?)
            }
            (Values::Tree(_), ValueAt::Tree(mut inner, mut inner_path)) => {
                let before = inner.record;
                tree::touch_path(pages, &mut inner, &mut inner_path)?;
                tree::remove(pages, &mut inner, &mut inner_path)?;
                if !inner.record.root.is_none() {
                    count_inner(tree, &before, &inner.record);
                    store_data(pages, leaf, &inner.record.to_bytes())?;
                    return Ok(Removal::Value(true));
                }
                count_inner(tree, &before, &inner.record);
                tree.record.entries = tree.record.entries.saturating_add(1);
                None
            }
            _ => return Err(Error::at(leaf.pgno)(Malformed::KeyOrder)),
        }
    };
    let Some(sub_page) = sub_page else {
        return tree::remove(pages, tree, path).map(Removal::Key);
    };
    let key = pages.view().leaf_node(leaf)?.key.to_vec();
    let good = store_sub_page(pages, tree, path, &key, sub_page)?;
    tree.record.entries = tree.record.entries.saturating_sub(1);
    Ok(Removal::Value(good))
}

/// The extent of a removal by [`remove_value`], and true if the path is still valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Removal {
    /// One of several values.
    Value(bool),
    /// The key's last value and the key.
    Key(bool),
}

/// Removes a key with all its values. Returns true if the path is still valid.
pub(crate) fn remove_values<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
) -> Result<bool, BoxedError> {
    debug_assert!(tree.has_duplicates());
    tree::touch_path(pages, tree, path)?;
    let leaf = tree::leaf_of(path, tree)?;
    let (count, inner) = {
        let node = pages.view().leaf_node(leaf)?;
        match values_of(pages.view(), tree, leaf.pgno, &node)? {
            Values::One(_) => (1, None),
            Values::Page(page) => (page.len() as u64, None),
            Values::Tree(inner) => (inner.record.entries, Some(inner)),
        }
    };
    if let Some(mut inner) = inner {
        let before = inner.record;
        clear(pages, &mut inner)?;
        count_pages(tree, &before, &inner.record);
    }
    // Removing the entry counts one.
    tree.record.entries = tree.record.entries.saturating_sub(count.saturating_sub(1));
    tree::remove(pages, tree, path)
}

/// A value that an entry of a leaf stores outside it.
enum ExternalValue {
    Run(Pgno, u64),
    Tree(Tree),
}

/// Collects the values that entries of a leaf store outside it, except named databases.
fn external_values<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    leaf: Pgno,
    found: &mut Vec<ExternalValue>,
) -> Result<(), BoxedError> {
    let page = pages.tree_page(leaf, PageKind::Leaf)?;
    for index in 0..page.len() {
        let node = page.leaf(index).map_err(Error::at(leaf))?;
        match node.flags.0 {
            NodeFlags::OVERFLOW => {
                let (first, count) = run_of(pages, leaf, &node)?;
                found.push(ExternalValue::Run(first, count));
            }
            // Inner trees hold no other trees: an entry that claims one would lead in circles.
            SUB_TREE if tree.has_duplicates() => {
                if let Values::Tree(inner) = values_of(pages, tree, leaf, &node)? {
                    found.push(ExternalValue::Tree(inner));
                }
            }
            flags if flags & NodeFlags::DUPLICATES != 0 && !tree.has_duplicates() => {
                return Err(Error::at(leaf)(Malformed::NodeFlags { index, flags }));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Gives up every page of a tree, with overflow runs and the trees of duplicates, and leaves it
/// empty.
pub(crate) fn clear<P: PagesMut>(pages: &mut P, tree: &mut Tree) -> Result<(), BoxedError> {
    tree::clear(
        pages,
        tree,
        |pages, tree, leaf, found| external_values(pages.view(), tree, leaf, found),
        release_external,
    )
}

fn release_external<P: PagesMut>(pages: &mut P, value: ExternalValue) -> Result<(), BoxedError> {
    match value {
        ExternalValue::Run(first, count) => pages.release(first, count),
        ExternalValue::Tree(mut inner) => clear(pages, &mut inner),
    }
}

/// The value of a duplicate in its tree: none, because duplicates are keys.
pub(crate) const NO_VALUE: NodeValue<'static> = NodeValue::Data(&[], NodeFlags(0));

/// Puts a changed sub-page into its entry, or its items into a tree if it has become too large.
fn store_sub_page<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    key: &[u8],
    sub_page: Vec<u8>,
) -> Result<bool, BoxedError> {
    debug_assert!(tree.has_duplicates());
    let leaf = tree::leaf_of(path, tree)?;
    let page_size = pages.view().page_size();
    let node_len = layout::leaf_node_len(key.len(), sub_page.len());
    let record;
    let value = if node_len <= layout::node_max(page_size) {
        NodeValue::Data(&sub_page, NodeFlags(SUB_PAGE))
    } else {
        record = start_inner(pages, tree, leaf.pgno, &sub_page)?.to_bytes();
        NodeValue::Data(&record, NodeFlags(SUB_TREE))
    };
    Ok(tree::replace(pages, tree, path, key, value)?.is_some())
}

/// Moves the items of a sub-page to a new leaf.
fn start_inner<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    leaf: Pgno,
    sub_page: &[u8],
) -> Result<TreeRecord, BoxedError> {
    debug_assert!(tree.has_duplicates());
    let old = Page::parse_sub(sub_page).map_err(Error::at(leaf))?;
    let root = pages.allocate(1)?;
    let mut page = PageMut::initialise(pages.page_mut(root)?, root, old.kind());
    for index in 0..old.len() {
        let placed = old
            .key(index)
            .and_then(|item| page.insert(index, item, NO_VALUE))
            .map_err(Error::at(leaf))?;
        if !placed {
            return Err(Error::at(root)(Malformed::NodeSum));
        }
    }
    let mut record = TreeRecord::empty(DatabaseFlags(inner_flags(tree)));
    if let PageKind::Packed(len) = old.kind() {
        record.pad = u32::from(len);
    }
    record.depth = 1;
    record.leaf_pages = 1;
    record.entries = old.len() as u64;
    record.root = root;
    tree.record.leaf_pages = tree.record.leaf_pages.saturating_add(1);
    Ok(record)
}

/// Inserts a key's first value into its node. A value too large for a node starts a tree, in files
/// with small pages.
pub(crate) fn insert_first_value<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
    key: &[u8],
    value: &[u8],
) -> Result<Option<Step>, BoxedError> {
    debug_assert!(tree.has_duplicates() && !key.is_empty());
    let page_size = pages.view().page_size();
    if layout::leaf_node_len(key.len(), value.len()) <= layout::node_max(page_size) {
        return tree::insert(
            pages,
            tree,
            path,
            key,
            NodeValue::Data(value, NodeFlags(ONE)),
        );
    }
    let kind = match u16::try_from(value.len()) {
        Ok(len) if tree.has_fixed_values() => PageKind::Packed(len),
        _ => PageKind::Leaf,
    };
    let sub_page = new_sub_page(Pgno(0), kind, &[value]).map_err(Error::at(tree.record.root))?;
    let record = start_inner(pages, tree, tree.record.root, &sub_page)?.to_bytes();
    tree::insert(
        pages,
        tree,
        path,
        key,
        NodeValue::Data(&record, NodeFlags(SUB_TREE)),
    )
}

/// Flags in the record of an inner tree.
fn inner_flags(tree: &Tree) -> u16 {
    if !tree.has_fixed_values() {
        return 0;
    }
    let integer = tree.record.flags.has(DatabaseFlags::INTEGER_DUP);
    DatabaseFlags::DUP_FIXED
        | if integer {
            DatabaseFlags::INTEGER_KEY
        } else {
            0
        }
}

pub(crate) fn inner_tree(tree: &Tree, mut record: TreeRecord) -> Option<Tree> {
    record.flags = DatabaseFlags(inner_flags(tree));
    let leaf = inner_leaf(tree.has_fixed_values(), &record)?;
    Some(Tree {
        record,
        order: tree.value_order,
        leaf,
        value_order: KeyOrder::Lexical,
    })
}

/// The kind of the leaves of an inner tree.
fn inner_leaf(has_fixed_values: bool, record: &TreeRecord) -> Option<PageKind> {
    if !has_fixed_values {
        return Some(PageKind::Leaf);
    }
    let len = u16::try_from(record.pad).ok().filter(|len| *len > 0)?;
    Some(PageKind::Packed(len))
}

/// Returns the kind of the leaves of an inner tree. `other` is that of another key of the database.
#[inline]
pub(crate) fn inner_leaf_like(other: &Tree, record: &TreeRecord) -> Option<PageKind> {
    inner_leaf(other.leaf != PageKind::Leaf, record)
}

/// Adds the changes of an inner tree to the counts of the whole.
fn count_inner(tree: &mut Tree, before: &TreeRecord, after: &TreeRecord) {
    let entries = tree.record.entries.saturating_add(after.entries);
    tree.record.entries = entries.saturating_sub(before.entries);
    count_pages(tree, before, after);
}

fn count_pages(tree: &mut Tree, before: &TreeRecord, after: &TreeRecord) {
    let carry = |total: &mut u64, before: u64, after: u64| {
        *total = total.saturating_add(after).saturating_sub(before);
    };
    carry(
        &mut tree.record.branch_pages,
        before.branch_pages,
        after.branch_pages,
    );
    carry(
        &mut tree.record.leaf_pages,
        before.leaf_pages,
        after.leaf_pages,
    );
}

fn fixed_len(len: usize, value: &[u8]) -> Result<u16, BoxedError> {
    if value.len() != len {
        return Err(Error::FixedSize {
            len: value.len(),
            wanted: len,
        }
        .into());
    }
    u16::try_from(len)
        .map_err(|_| Error::ValueLength(len))
        .map_err(BoxedError::from)
}
