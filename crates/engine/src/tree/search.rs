//! From a key to its position.
//!
//! Each search exists twice. The fast form returns options, because results with errors cost
//! registers in the innermost loop of every read. It gives up on damage and in rare orders. The
//! checked form then repeats the search and reports the error.

use fulgurite_format::{LeafNode, LexicalKey, Malformed, Page, PageKind, PageMut, Pgno};
use fulgurite_os::{prefetch_at_offset, prefetch_lines};

use super::{Pages, PagesMut, Path, Step, Tree};
use crate::boxed_error::BoxedError;
use crate::order::{integer_word, integer_word_of, lexical, odd_integers, reverse};
use crate::{Error, KeyOrder};

/// The leaf entry with this key, if there is one, in a tree whose leaves have nodes. Touches
/// `depth` pages and allocates nothing.
#[inline]
pub(crate) fn find<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    key: &[u8],
) -> Result<Option<(Pgno, LeafNode<'p>)>, BoxedError> {
    if tree.record.root.is_none() {
        return Ok(None);
    }
    match find_fast(|pgno| pages.lend(pgno), tree, key) {
        Some(Some(entry)) => entry.node().map(Some),
        Some(None) => Ok(None),
        None => find_checked(pages, tree, key),
    }
}

/// The entry with the target key; its node is still unchecked.
pub(crate) struct LeafEntry<'p> {
    pub(crate) pgno: Pgno,
    pub(crate) leaf: Page<'p>,
    pub(crate) index: usize,
}

impl<'p> LeafEntry<'p> {
    /// The leaf's number and the entry's node, checked.
    #[inline]
    pub(crate) fn node(&self) -> Result<(Pgno, LeafNode<'p>), BoxedError> {
        let node = self.leaf.leaf(self.index).map_err(Error::at(self.pgno))?;
        Ok((self.pgno, node))
    }
}

/// As [`find`], in the common orders and where nothing is wrong: options are lighter than results.
/// In an empty tree, too, it finds nothing out.
#[inline(always)]
pub(crate) fn find_fast<'p>(
    lend: impl Fn(Pgno) -> Option<&'p [u8]>,
    tree: &Tree,
    key: &[u8],
) -> Option<Option<LeafEntry<'p>>> {
    match tree.order {
        KeyOrder::Lexical => find_by(lend, tree, &LexicalKey::of(key)),
        KeyOrder::Integer | KeyOrder::PackedInteger => find_integer(lend, tree, key),
        KeyOrder::Reverse | KeyOrder::Custom(_) => None,
    }
}

/// Finds the leaf for a key, in the order of bytes, on undamaged pages.
#[inline(always)]
pub(crate) fn leaf_for<'p>(
    lend: impl Fn(Pgno) -> Option<&'p [u8]>,
    tree: &Tree,
    sought: &LexicalKey<'_>,
) -> Option<(Pgno, Page<'p>)> {
    let mut pgno = tree.record.root;
    for _ in 1..tree.record.depth {
        let page = Page::parse(lend(pgno)?, pgno, PageKind::Branch).ok()?;
        pgno = page.child_if_sound(page.branch_for(sought)?)?;
        if pgno < Pgno::FIRST_DATA {
            return None;
        }
    }
    let bytes = lend(pgno)?;
    let leaf = Page::parse(bytes, pgno, PageKind::Leaf).ok()?;
    prefetch_probes(bytes, &leaf);
    Some((pgno, leaf))
}

#[inline(never)]
fn find_integer<'p>(
    lend: impl Fn(Pgno) -> Option<&'p [u8]>,
    tree: &Tree,
    key: &[u8],
) -> Option<Option<LeafEntry<'p>>> {
    let (word, order) = (integer_word(key)?, tree.order);
    find_by(lend, tree, IntegerKey { key, word, order })
}

/// A key together with its order: finds its position in a page.
trait KeySearch: Copy {
    /// As [`Page::position_of`].
    fn place(self, page: &Page<'_>, from: usize) -> Option<(usize, bool)>;
}

impl KeySearch for &LexicalKey<'_> {
    #[inline(always)]
    fn place(self, page: &Page<'_>, from: usize) -> Option<(usize, bool)> {
        page.position_of(from, self)
    }
}

#[derive(Clone, Copy)]
struct IntegerKey<'k> {
    key: &'k [u8],
    word: u64,
    /// The order of keys whose sizes differ.
    order: KeyOrder,
}

impl KeySearch for IntegerKey<'_> {
    #[inline(always)]
    fn place(self, page: &Page<'_>, from: usize) -> Option<(usize, bool)> {
        let IntegerKey { key, word, order } = self;
        let of_same_size =
            |len: usize, bytes: [u8; 8]| (len == key.len()).then(|| integer_word_of(len, bytes));
        page.position_by_word(from, word, of_same_size, |other| {
            odd_integers(order, other, key)
        })
    }
}

#[inline(always)]
fn find_by<'p>(
    lend: impl Fn(Pgno) -> Option<&'p [u8]>,
    tree: &Tree,
    seeker: impl KeySearch,
) -> Option<Option<LeafEntry<'p>>> {
    let mut pgno = tree.record.root;
    for _ in 1..tree.record.depth {
        let page = Page::parse(lend(pgno)?, pgno, PageKind::Branch).ok()?;
        let (index, exact) = seeker.place(&page, 1)?;
        pgno = page.child_if_sound(index - usize::from(!exact))?;
        if pgno < Pgno::FIRST_DATA {
            return None;
        }
    }
    let bytes = lend(pgno)?;
    let leaf = Page::parse(bytes, pgno, PageKind::Leaf).ok()?;
    prefetch_probes(bytes, &leaf);
    let (index, exact) = seeker.place(&leaf, 0)?;
    if !exact {
        return (!leaf.is_empty()).then_some(None);
    }
    Some(Some(LeafEntry { pgno, leaf, index }))
}

/// Prefetches all entries that the first three steps of a search in a page may look at. The search
/// then waits for memory once instead of three times. Leaves are seldom in a cache, and each entry
/// is in its own cache line.
///
/// The offsets are unchecked: prefetching a wrong address does no harm.
#[inline(always)]
pub(crate) fn prefetch_probes(bytes: &[u8], page: &Page<'_>) {
    for probe in first_probes(page.len()) {
        if let Some(offset) = page.raw_offset(probe) {
            prefetch_at_offset(bytes, offset);
        }
    }
}

/// Returns the entries that the first three steps of a search among `end` entries may look at. A
/// step looks at the middle, and continues before or behind it.
#[inline(always)]
pub(super) const fn first_probes(end: usize) -> [usize; 7] {
    let half = end / 2;
    let (low, high) = (half / 2, (half + 1 + end) / 2);
    [
        half,
        low,
        high,
        low / 2,
        (low + 1 + half) / 2,
        (half + 1 + high) / 2,
        (high + 1 + end) / 2,
    ]
}

/// As [`find`], in a tree that has a root.
#[inline(never)]
fn find_checked<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    key: &[u8],
) -> Result<Option<(Pgno, LeafNode<'p>)>, BoxedError> {
    debug_assert!(!tree.record.root.is_none());
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

/// Finds the position of `key`: the path to the first leaf entry that is not smaller. It may be one
/// behind the leaf's last entry. Tells whether the entry has exactly this key. In an empty tree the
/// way is empty. Pages that are seen to be private are marked as such.
pub(crate) fn seek<'p, P: Pages<'p>>(
    pages: P,
    tree: &Tree,
    key: &[u8],
    path: &mut Path,
) -> Result<bool, BoxedError> {
    path.clear();
    let mut pgno = tree.record.root;
    if pgno.is_none() {
        return Ok(false);
    }
    if tree.order == KeyOrder::Lexical
        && let Some(exact) = seek_fast(pages, tree, key, path)
    {
        return Ok(exact);
    }
    path.clear();
    for _ in 1..tree.record.depth {
        let page = pages.tree_page(pgno, PageKind::Branch)?;
        let index = child_index(&page, tree.order, key).map_err(Error::at(pgno))?;
        path.push(Step { pgno, index })?;
        pgno = child_at(pages, &page, pgno, index)?;
    }
    debug_assert_eq!(path.len() + 1, usize::from(tree.record.depth));
    let page = pages.tree_page_inlined(pgno, tree.leaf)?;
    let (index, exact) = leaf_index(&page, tree.order, key).map_err(Error::at(pgno))?;
    path.push(Step { pgno, index })?;
    Ok(exact)
}

/// As [`seek`], in the order of bytes and where nothing is wrong.
#[inline]
fn seek_fast<'p, P: Pages<'p>>(pages: P, tree: &Tree, key: &[u8], path: &mut Path) -> Option<bool> {
    let sought = LexicalKey::of(key);
    let mut pgno = tree.record.root;
    let (mut private, mut is_private) = (0, true);
    let steps = path.begin(usize::from(tree.record.depth))?;
    let (last, branches) = steps.split_last_mut()?;
    for step in branches {
        let (bytes, is_marked) = pages.lend_marked(pgno)?;
        is_private &= is_marked;
        private += usize::from(is_private);
        let page = Page::parse(bytes, pgno, PageKind::Branch).ok()?;
        let (index, exact) = page.position_of(1, &sought)?;
        let index = index - usize::from(!exact);
        *step = Step { pgno, index };
        pgno = page.child_if_sound(index)?;
        if pgno < Pgno::FIRST_DATA {
            return None;
        }
    }
    let (bytes, is_marked) = pages.lend_marked(pgno)?;
    private += usize::from(is_private & is_marked);
    let page = Page::parse(bytes, pgno, tree.leaf).ok()?;
    if !is_marked {
        // This transaction has copied or changed a private page, so it is in a cache.
        prefetch_probes(bytes, &page);
    }
    let (index, exact) = page.position_of(0, &sought)?;
    *last = Step { pgno, index };
    debug_assert_eq!(path.len(), usize::from(tree.record.depth));
    path.mark_private(private);
    Some(exact)
}

/// Makes all pages on the path private, from the root down.
///
/// A private page can only be reached by private pages. A private page below a page of the base
/// snapshot came from a free list that names pages in use. An error now is better than two users of
/// one page.
#[inline]
pub(crate) fn touch_path<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
) -> Result<(), BoxedError> {
    debug_assert!(path.len() <= usize::from(tree.record.depth));
    if path.private_levels() < path.len() {
        return touch_rest(pages, tree, path);
    }
    Ok(())
}

/// Makes the pages of a path private that are not known to be.
#[inline(never)]
fn touch_rest<P: PagesMut>(
    pages: &mut P,
    tree: &mut Tree,
    path: &mut Path,
) -> Result<(), BoxedError> {
    prefetch_leaf_nodes(pages.view(), path);
    let private = path.private_levels();
    let steps = path.steps_mut();
    let above = private.checked_sub(1).and_then(|above| steps.get(above));
    let (mut parent, mut copied) = (above.copied(), false);
    for (level, step) in steps.iter_mut().enumerate().skip(private) {
        let touched = pages.touch(step.pgno, tree.kind_at(level))?;
        if touched != step.pgno {
            copied = true;
            match parent {
                None => tree.record.root = touched,
                Some(parent) => branch_mut(pages.page_mut(parent.pgno)?, parent.pgno)?
                    .set_child(parent.index, touched)
                    .map_err(Error::at(parent.pgno))?,
            }
            step.pgno = touched;
        } else if copied {
            let what = Malformed::FreeRecord("a page in use is listed as free");
            return Err(Error::Corrupted {
                page: touched,
                what,
            }
            .into());
        }
        parent = Some(*step);
    }
    path.mark_private(path.len());
    Ok(())
}

/// Prefetches the nodes of the leaf, which is copied once the branches above it are. The branches
/// are mostly in a cache.
fn prefetch_leaf_nodes<'p, P: Pages<'p>>(pages: P, path: &Path) {
    if path.len() > 1
        && let Some(leaf) = path.leaf()
        && let Some(bytes) = pages.lend(leaf.pgno)
        && let Ok(page) = Page::parse(bytes, leaf.pgno, PageKind::Leaf)
        && let Some(nodes) = bytes.get(page.header().nodes_at()..)
    {
        prefetch_lines(nodes);
    }
}

fn branch_mut(bytes: &mut [u8], pgno: Pgno) -> Result<PageMut<'_>, BoxedError> {
    debug_assert!(pgno >= Pgno::FIRST_DATA);
    PageMut::parse(bytes, pgno, PageKind::Branch).map_err(Error::at(pgno))
}

/// The child of a branch entry, checked to be a page the snapshot has.
#[inline]
pub(crate) fn child_at<'p, P: Pages<'p>>(
    pages: P,
    page: &Page<'p>,
    pgno: Pgno,
    index: usize,
) -> Result<Pgno, BoxedError> {
    let child = page.child(index).map_err(Error::at(pgno))?;
    if child < Pgno::FIRST_DATA || child > pages.last() {
        return Err(Error::at(pgno)(Malformed::PageOutOfRange(child)));
    }
    Ok(child)
}

/// The entry of a branch whose child covers `key`: the last whose separator is not greater. Entry 0
/// has no separator.
#[inline(always)]
fn child_index(page: &Page<'_>, order: KeyOrder, key: &[u8]) -> Result<usize, Malformed> {
    let (index, exact) = lower_bound_from(page, order, key, 1)?;
    debug_assert!(index > 0, "entry 0 of a branch is not searched");
    Ok(if exact { index } else { index - 1 })
}

#[inline(always)]
fn leaf_index(page: &Page<'_>, order: KeyOrder, key: &[u8]) -> Result<(usize, bool), Malformed> {
    lower_bound_from(page, order, key, 0)
}

/// The first entry of a page that is not smaller than `key`, and whether it is equal.
pub(crate) fn lower_bound(
    page: &Page<'_>,
    order: KeyOrder,
    key: &[u8],
) -> Result<(usize, bool), Malformed> {
    lower_bound_from(page, order, key, 0)
}

/// The first entry from `from` on that is not smaller than `key`, and whether it is equal.
///
/// Each order has its own copy of the search, with the comparison inlined. The usual order's is
/// part of the caller.
#[inline(always)]
fn lower_bound_from(
    page: &Page<'_>,
    order: KeyOrder,
    key: &[u8],
    from: usize,
) -> Result<(usize, bool), Malformed> {
    if page.is_empty() {
        return Err(Malformed::TooFewEntries(0));
    }
    debug_assert!(from <= 1, "only entry 0 of a branch is left out");
    if matches!(order, KeyOrder::Lexical)
        && let Some(place) = page.position_of(from, &LexicalKey::of(key))
    {
        return Ok(place);
    }
    search_by_key(page, order, key, from)
}

/// Searches a page whose order is not the usual one, or which is damaged.
#[inline(never)]
fn search_by_key(
    page: &Page<'_>,
    order: KeyOrder,
    key: &[u8],
    from: usize,
) -> Result<(usize, bool), Malformed> {
    match order {
        KeyOrder::Lexical => page.search(from, |other| lexical(other, key)),
        KeyOrder::Reverse => page.search(from, |other| reverse(other, key)),
        KeyOrder::Integer | KeyOrder::PackedInteger => match integer_word(key) {
            Some(sought) => {
                let of_same_size = |len: usize, bytes: [u8; 8]| {
                    (len == key.len()).then(|| integer_word_of(len, bytes))
                };
                page.search_by_word(from, sought, of_same_size, |other| {
                    odd_integers(order, other, key)
                })
            }
            None => page.search(from, |other| odd_integers(order, other, key)),
        },
        KeyOrder::Custom(order) => {
            // Programs may rely on the key sought coming first, as it does in the original.
            page.search(from, |other| {
                (order.call)(order.context, key, other).reverse()
            })
        }
    }
}
