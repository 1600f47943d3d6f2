//! From a key to its place.

use fulgurite_format::{Format, LeafNode, Malformed, Page, PageKind, PageMut, Pgno};

use super::{Pages, PagesMut, Path, Step, Tree};
use crate::order::{
    head, integer, integer_word, integer_word_of, lexical_from, lexical_word, reverse,
};
use crate::{Error, KeyOrder};

/// The leaf entry with this key, if there is one, in a tree whose leaves have nodes. Touches `depth` pages and allocates nothing.
#[inline]
pub(crate) fn find<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    key: &[u8],
) -> Result<Option<(Pgno, LeafNode<'p>)>, Error> {
    if tree.record.root.is_none() {
        return Ok(None);
    }
    if tree.order == KeyOrder::Lexical
        && let Some(found) = find_if_sound(pages, tree, key)
    {
        return Ok(found);
    }
    find_or_say_why(pages, tree, key)
}

/// As [`find`], in lexical order, without reasons: options are lighter than results.
#[inline]
fn find_if_sound<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    key: &[u8],
) -> Option<Option<(Pgno, LeafNode<'p>)>> {
    let head = head(key);
    let compare = |other: &[u8]| lexical_from(other, head, key);
    let mut pgno = tree.record.root;
    for _ in 1..tree.record.depth {
        let octets = pages.page(pgno).ok()?;
        let page = Page::<P::Format>::parse(octets, pgno, PageKind::Branch).ok()?;
        let (index, exact) = page.place_by_word(1, head, lexical_word, compare)?;
        let child = page.child(index - usize::from(!exact)).ok()?;
        if child < Pgno::FIRST_DATA || child > pages.last() {
            return None;
        }
        pgno = child;
    }
    let octets = pages.page(pgno).ok()?;
    let page = Page::<P::Format>::parse(octets, pgno, PageKind::Leaf).ok()?;
    let (index, exact) = page.place_by_word(0, head, lexical_word, compare)?;
    if !exact {
        return (!page.is_empty()).then_some(None);
    }
    Some(Some((pgno, page.leaf(index).ok()?)))
}

/// As [`find`], in a tree that has a root.
#[inline(never)]
fn find_or_say_why<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    key: &[u8],
) -> Result<Option<(Pgno, LeafNode<'p>)>, Error> {
    let mut pgno = tree.record.root;
    for _ in 1..tree.record.depth {
        let page = pages.tree_page(pgno, PageKind::Branch)?;
        let index = child_index(&page, tree.order, key).map_err(Error::at(pgno))?;
        pgno = child_at(pages, &page, pgno, index)?;
    }
    let page = pages.tree_page(pgno, PageKind::Leaf)?;
    let (index, exact) = leaf_index(&page, tree.order, key).map_err(Error::at(pgno))?;
    if !exact {
        return Ok(None);
    }
    Ok(Some((pgno, page.leaf(index).map_err(Error::at(pgno))?)))
}

/// Finds the place of `key`: the way to the first leaf entry that is not smaller, which may lie one behind the leaf's
/// last entry. Tells whether the entry has exactly this key. In an empty tree the way is empty.
pub(crate) fn seek<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    key: &[u8],
    path: &mut Path,
) -> Result<bool, Error> {
    path.clear();
    let mut pgno = tree.record.root;
    if pgno.is_none() {
        return Ok(false);
    }
    for _ in 1..tree.record.depth {
        let page = pages.tree_page(pgno, PageKind::Branch)?;
        let index = child_index(&page, tree.order, key).map_err(Error::at(pgno))?;
        path.push(Step { pgno, index })?;
        pgno = child_at(pages, &page, pgno, index)?;
    }
    let page = pages.tree_page(pgno, tree.leaf)?;
    let (index, exact) = leaf_index(&page, tree.order, key).map_err(Error::at(pgno))?;
    path.push(Step { pgno, index })?;
    Ok(exact)
}

/// Makes all pages on the way private, from the root down.
///
/// A private page can only be reached by private pages. One that hangs below a page of the base snapshot was taken from
/// a free list that names pages in use: better an error now than two users of one page.
pub(crate) fn touch_path<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
) -> Result<(), Error> {
    if path.is_private() {
        return Ok(());
    }
    let mut copied = false;
    for level in 0..path.len() {
        let Some(step) = path.step(level) else { break };
        let touched = pages.touch(step.pgno, tree.kind_at(level))?;
        if touched == step.pgno {
            if copied {
                let what = Malformed::FreeRecord("a page in use is listed as free");
                return Err(Error::Corrupted {
                    page: touched,
                    what,
                });
            }
            continue;
        }
        copied = true;
        match level.checked_sub(1).and_then(|above| path.step(above)) {
            None => tree.record.root = touched,
            Some(parent) => branch_mut::<P::Format>(pages.page_mut(parent.pgno)?, parent.pgno)?
                .set_child(parent.index, touched)
                .map_err(Error::at(parent.pgno))?,
        }
        if let Some(step) = path.step_mut(level) {
            step.pgno = touched;
        }
    }
    path.mark_private();
    Ok(())
}

fn branch_mut<F: Format>(bytes: &mut [u8], pgno: Pgno) -> Result<PageMut<'_, F>, Error> {
    PageMut::parse(bytes, pgno, PageKind::Branch).map_err(Error::at(pgno))
}

/// The child of a branch entry, checked to be a page the snapshot has.
#[inline]
pub(crate) fn child_at<'p, P: Pages<'p>>(
    pages: P,
    page: &Page<'p, P::Format>,
    pgno: Pgno,
    index: usize,
) -> Result<Pgno, Error> {
    let child = page.child(index).map_err(Error::at(pgno))?;
    if child < Pgno::FIRST_DATA || child > pages.last() {
        return Err(Error::at(pgno)(Malformed::PageOutOfRange(child)));
    }
    Ok(child)
}

/// The entry of a branch whose child covers `key`: the last whose separator is not greater. Entry 0 has no separator.
#[inline(always)]
fn child_index<F: Format>(
    page: &Page<'_, F>,
    order: KeyOrder,
    key: &[u8],
) -> Result<usize, Malformed> {
    let (index, exact) = lower_bound(page, order, key, 1)?;
    Ok(if exact { index } else { index - 1 })
}

#[inline(always)]
fn leaf_index<F: Format>(
    page: &Page<'_, F>,
    order: KeyOrder,
    key: &[u8],
) -> Result<(usize, bool), Malformed> {
    lower_bound(page, order, key, 0)
}

/// The first entry of a page that is not smaller than `key`, and whether it is equal.
pub(crate) fn lower_bound_in<F: Format>(
    page: &Page<'_, F>,
    order: KeyOrder,
    key: &[u8],
) -> Result<(usize, bool), Malformed> {
    lower_bound(page, order, key, 0)
}

/// The first entry from `from` on that is not smaller than `key`, and whether it is equal.
///
/// Each order has its own copy of the search, with the comparison inlined.
#[inline(always)]
fn lower_bound<F: Format>(
    page: &Page<'_, F>,
    order: KeyOrder,
    key: &[u8],
    from: usize,
) -> Result<(usize, bool), Malformed> {
    if page.is_empty() {
        return Err(Malformed::TooFewEntries(0));
    }
    match order {
        KeyOrder::Lexical => {
            let head = head(key);
            let compare = |other: &[u8]| lexical_from(other, head, key);
            page.search_by_word(from, head, lexical_word, compare)
        }
        KeyOrder::Reverse => page.search(from, |other| reverse(other, key)),
        KeyOrder::Integer => match integer_word(key) {
            Some(sought) => {
                let of_same_size = |len: usize, octets: [u8; 8]| {
                    (len == key.len()).then(|| integer_word_of(len, octets))
                };
                page.search_by_word(from, sought, of_same_size, |other| integer(other, key))
            }
            None => page.search(from, |other| integer(other, key)),
        },
        KeyOrder::Custom(order) => {
            // Programs may rely on the key sought coming first, as it does in the original.
            page.search(from, |other| {
                (order.call)(order.context, key, other).reverse()
            })
        }
    }
}
