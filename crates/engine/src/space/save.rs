//! Writing the free list at commit.
//!
//! Saving changes what it saves: new records take pages, old records give theirs back. There are
//! two ways:
//!
//! ```text
//!   one round   the change fits the last leaf. Once that leaf is private, saving takes no page,
//!               so the records are known at once:
//!                 last leaf   ... | 907 | 908            908 was taken, and two of its pages are left
//!                             ... | 907 | 908: these | 910: the pages that this transaction freed
//!   rounds      reserve room for records until a round changes nothing; then fill in the numbers,
//!               which takes no page
//! ```

use alloc::vec::Vec;
use core::ops::Range;

use fulgurite_format::{
    FreeRecord, Malformed, NodeFlags, NodeValue, Page, PageKind, PageMut, Pgno, Txnid, layout,
};

use super::free_records::{listed_twice, record_before, record_id, run_at, write_record};
use super::page_order::sort_descending;
use super::pool::Pool;
use super::reclaimed_records::ReclaimedRecords;
use super::writer_pages::WriterPages;
use crate::boxed_error::BoxedError;
use crate::tree::{self, Pages, PagesMut, Path, Step};
use crate::{Error, KeyOrder, value};

/// Room reserved beyond the need of a small record, in page numbers: saving may free a few more
/// pages.
const SLACK: usize = 8;

/// Number of pages in the record that is taken first; a small transaction needs no more.
const NEWEST: usize = 32;
/// Number of pages in a short list.
const SMALL: usize = 64;
/// Number of pages up to which the rest is cut into small pieces; each piece needs a search.
const SMALL_PIECES: usize = 1 << 11;

/// Rounds after which saving must have settled. Each leaves the next less to do; two or three are
/// usual.
const ROUNDS_MAX: usize = 64;

/// Replaces the taken records by their rest, and lists the pages that this transaction freed.
pub(crate) fn save_free_list(pages: &mut WriterPages<'_>) -> Result<(), BoxedError> {
    debug_assert!(pages.outer.is_empty(), "nested transactions have ended");
    if save_in_one_round(pages)? {
        return Ok(());
    }
    pages.prepare_saving()?;
    delete_taken(pages)?;
    let own = pages.txnid().0;
    let ids = free_ids(pages)?;
    let mut reserved = ReservedRoom::default();
    // A round may take pages and free others, which changes the lists it has reserved room for.
    // Room is never given back, so the rounds end: each needs less new room than the one before.
    for _ in 0..ROUNDS_MAX {
        settle_loose(pages, ids.count > 0)?;
        let mut changed = false;
        if !pages.freed.is_empty() {
            changed |= ensure(pages, &mut reserved, own, pages.freed.len())?;
        }
        // Reserving room takes pages from the pool. Excess room is trimmed later.
        let (portions, len) = (Portions::of(pages, ids), pages.pool.len());
        for index in 0..portions.count {
            let key = ids.newest - index as u64;
            let count = portions.range(index, len).len();
            changed |= ensure(pages, &mut reserved, key, count)?;
        }
        if !changed && pages.loose.is_empty() {
            return fill(pages, &reserved, ids);
        }
    }
    Err(Error::Corrupted {
        page: pages.free.record.root,
        what: Malformed::FreeRecord("saving it comes to no end"),
    }
    .into())
}

/// The ids that can list the rest of the taken records. No record has them, and pages listed so may
/// be reused.
#[derive(Clone, Copy)]
struct FreeIds {
    /// The greatest of them.
    newest: u64,
    count: u64,
}

/// Returns ids for the rest of the taken records, which are deleted.
fn free_ids(pages: &WriterPages<'_>) -> Result<FreeIds, BoxedError> {
    let Some(newest) = pages.taken.newest() else {
        return Ok(FreeIds {
            newest: 0,
            count: 0,
        });
    };
    let mut path = Path::new();
    let view = pages.view();
    let below = if record_before(view, &pages.free, newest, &mut path)? {
        let leaf = tree::leaf_of(&path, &pages.free)?;
        record_id(view, leaf)?.0.0
    } else {
        0
    };
    let count = newest.0.checked_sub(below);
    let count = count.ok_or_else(|| Error::at(pages.free.record.root)(Malformed::KeyOrder))?;
    Ok(FreeIds {
        newest: newest.0,
        count,
    })
}

/// Page numbers that a record holds which takes one overflow page.
fn one_page(pages: &WriterPages<'_>) -> usize {
    (pages.view().page_size() - layout::HEADER_LEN) / 8 - 1
}

/// The distribution of the remaining pages over records. A writer that takes pages takes a whole
/// record, and writes back its rest. So the newest record, which is taken first, is short. The
/// others of a long list fit one overflow page each. Where there are too few ids for that the last
/// record has all the rest, which is left alone then.
struct Portions {
    newest: usize,
    each: usize,
    count: usize,
}

impl Portions {
    fn of(pages: &WriterPages<'_>, ids: FreeIds) -> Portions {
        let len = pages.pool.len();
        let one_page = one_page(pages);
        let newest = NEWEST.min(one_page);
        let each = if len <= SMALL_PIECES { SMALL } else { one_page };
        let wanted = if len <= newest + newest / 2 {
            usize::from(len > 0)
        } else {
            1 + (len - newest).div_ceil(each.max(1))
        };
        debug_assert!(newest > 0 && each > 0, "each record lists pages");
        Portions {
            newest,
            each,
            count: usize::try_from(ids.count).map_or(wanted, |ids| wanted.min(ids)),
        }
    }

    /// Returns the range of the `len` pages, from the lowest up, for the `index`th record from the
    /// newest.
    fn range(&self, index: usize, len: usize) -> Range<usize> {
        debug_assert!(index < self.count);
        let start = |index: usize| match index.checked_sub(1) {
            None => 0,
            Some(others) => self.newest + others * self.each,
        };
        let end = if index + 1 < self.count {
            start(index + 1)
        } else {
            len
        };
        start(index)..end
    }
}

/// Adds freed private pages to the pool for the next transaction, if a record is old enough for
/// them. Otherwise they are listed with the pages that this transaction freed.
fn settle_loose(pages: &mut WriterPages<'_>, is_any_old: bool) -> Result<(), BoxedError> {
    pages.pool.add(pages.loose.drain(..));
    pages.settle_pool()?;
    debug_assert!(pages.loose.is_empty(), "the pool has them");
    if !is_any_old && pages.pool.len() > 0 {
        let rest = pages.pool.drain();
        pages.freed.extend(rest);
    }
    Ok(())
}

fn delete_taken(pages: &mut WriterPages<'_>) -> Result<(), BoxedError> {
    let mut free = pages.free;
    let mut path = Path::new();
    for index in 0..pages.taken.ids().len() {
        let Some(id) = pages.taken.ids().get(index).copied() else {
            break;
        };
        if !tree::seek(pages.view(), &free, &id.0.to_ne_bytes(), &mut path)? {
            continue;
        }
        let run = run_at(pages, &path)?;
        tree::touch_path(pages, &mut free, &mut path)?;
        value::release_value(pages, &mut free.record, run)?;
        tree::remove(pages, &mut free, &mut path)?;
    }
    pages.free = free;
    Ok(())
}

/// The room of each record that this commit writes, in numbers of pages. The keys come and lie in
/// descending order.
#[derive(Default)]
struct ReservedRoom(Vec<(u64, usize)>);

impl ReservedRoom {
    fn of(&self, key: u64) -> Option<usize> {
        let (_, room) = self.0.get(self.search(key).ok()?)?;
        Some(*room)
    }

    fn set(&mut self, key: u64, room: usize) {
        match self.search(key) {
            Ok(found) => self.0[found].1 = room,
            Err(gap) => self.0.insert(gap, (key, room)),
        }
    }

    fn search(&self, key: u64) -> Result<usize, usize> {
        self.0.binary_search_by(|(own, _)| key.cmp(own))
    }
}

/// Makes sure that the record `key` has room for `count` numbers; tells whether anything had to be
/// changed.
fn ensure(
    pages: &mut WriterPages<'_>,
    reserved: &mut ReservedRoom,
    key: u64,
    count: usize,
) -> Result<bool, BoxedError> {
    let before = reserved.of(key);
    if before.is_some_and(|room| room >= count) {
        return Ok(false);
    }
    // Room to spare must not push a record over the end of its page.
    let one_page = one_page(pages);
    let room = if count <= SMALL && before.is_none() {
        // The list rarely grows further, and a record without spare room needs no trimming.
        count
    } else {
        count + SLACK + count / 64
    };
    let room = if count <= one_page {
        room.min(one_page)
    } else {
        room
    };
    let mut free = pages.free;
    let mut path = Path::new();
    let bytes = key.to_ne_bytes();
    let exact = tree::seek(pages.view(), &free, &bytes, &mut path)?;
    let placed = value::place_value(
        pages,
        &mut free,
        &mut path,
        exact,
        &bytes,
        FreeRecord::value_len(room),
    );
    placed.map(|_| ())?;
    pages.free = free;
    debug_assert!(room >= count, "a record has room for its pages");
    reserved.set(key, room);
    Ok(true)
}

fn fill(
    pages: &mut WriterPages<'_>,
    reserved: &ReservedRoom,
    ids: FreeIds,
) -> Result<(), BoxedError> {
    debug_assert!(pages.loose.is_empty(), "filling in numbers takes no page");
    let own = pages.txnid().0;
    let mut freed = core::mem::take(&mut pages.freed);
    order_freed(pages, &mut freed)?;
    let pool = pages.pool.pages().to_vec();
    let portions = Portions::of(pages, ids);
    for (key, _) in &reserved.0 {
        let list: &[Pgno] = if *key == own {
            &freed
        } else {
            // The lowest numbers go to the newest record: they are taken first.
            let index = usize::try_from(ids.newest - key).unwrap_or(usize::MAX);
            if index < portions.count {
                let range = portions.range(index, pool.len());
                pool.get(pool.len() - range.end..pool.len() - range.start)
                    .unwrap_or_default()
            } else {
                &[]
            }
        };
        write_record(pages, *key, list)?;
    }
    Ok(())
}

/// Sorts the freed pages as a record lists them, and notes the longest run among them.
fn order_freed(pages: &WriterPages<'_>, freed: &mut [Pgno]) -> Result<(), BoxedError> {
    sort_descending(freed);
    let (mut longest, mut run, mut before) = (0, 0, Pgno(0));
    for pgno in freed.iter() {
        run = if before.0 == pgno.0 + 1 { run + 1 } else { 1 };
        longest = longest.max(run);
        before = *pgno;
    }
    pages.environment.runs().note_freed(pages.txnid(), longest);
    let doubled = |list: &[Pgno]| list.windows(2).any(|pair| matches!(pair, [a, b] if a == b));
    if doubled(freed) || freed.iter().any(|pgno| pages.pool.contains(*pgno)) {
        return Err(listed_twice(pages.free.record.root).into());
    }
    Ok(())
}

/// Number of remaining pages that fit one record, which the next transaction takes first.
const LEFT_MAX: usize = NEWEST + NEWEST / 2;

/// Saves the free list in one round if the change is small. Returns `false` otherwise, and saving
/// in rounds goes on from there. By then the path to the last leaf may be private and records may
/// be taken. Freed private pages may be in the pool.
fn save_in_one_round(pages: &mut WriterPages<'_>) -> Result<bool, BoxedError> {
    let mut free = pages.free;
    let at_hand = pages.pool.len() + pages.loose.len();
    if at_hand > LEFT_MAX || free.record.root.is_none() {
        return Ok(false);
    }
    if at_hand == 0 && pages.freed.is_empty() && pages.taken.ids().is_empty() {
        // There may be nothing to write, which takes no page.
        return Ok(false);
    }
    if !pages.prepare_touching(usize::from(free.record.depth))? {
        return Ok(false);
    }
    let mut path = Path::new();
    if tree::seek(pages.view(), &free, &key_of(pages.txnid()), &mut path)? {
        return Ok(false);
    }
    pages.saving = true;
    tree::touch_path(pages, &mut free, &mut path)?;
    pages.free = free;
    settle_loose(pages, !pages.taken.ids().is_empty())?;
    let leaf = tree::leaf_of(&path, &free)?;
    let Some(plan) = plan_leaf(pages, leaf, path.len() == 1)? else {
        pages.saving = false;
        return Ok(false);
    };
    let mut freed = core::mem::take(&mut pages.freed);
    order_freed(pages, &mut freed)?;
    let pool = core::mem::take(&mut pages.pool);
    let taken = core::mem::take(&mut pages.taken);
    let own = pages.txnid();
    let mut page = pages.sound_page_mut(leaf.pgno, PageKind::Leaf)?;
    let before = page.view().len();
    replace_records(&mut page, plan, &taken, &pool, (own, freed.as_slice()))
        .map_err(Error::at(leaf.pgno))?;
    let after = page.view().len();
    debug_assert_eq!(after, plan.entries);
    let others = pages.free.record.entries.saturating_sub(before as u64);
    pages.free.record.entries = others.saturating_add(after as u64);
    (pages.freed, pages.pool, pages.taken) = (freed, pool, taken);
    Ok(true)
}

/// Replaces the taken records on their leaf by the rest of them, and adds the record of this
/// transaction.
fn replace_records(
    page: &mut PageMut<'_>,
    plan: LeafPlan,
    taken: &ReclaimedRecords,
    pool: &Pool,
    (own, freed): (Txnid, &[Pgno]),
) -> Result<(), Malformed> {
    let index_of = |page: &PageMut<'_>, id| match plan.taken_at {
        Some(index) => Ok(index),
        None => record_index(&page.view(), id).map(|(index, _)| index),
    };
    for id in taken.ids() {
        page.remove(index_of(page, *id)?)?;
    }
    if let Some(newest) = taken.newest().filter(|_| pool.len() > 0) {
        put_record(page, index_of(page, newest)?, newest, pool.pages())?;
    }
    let behind = page.view().len();
    put_record(page, behind, own, freed)
}

/// The change of the free list's last leaf.
#[derive(Debug, Clone, Copy)]
struct LeafPlan {
    /// Number of entries on the leaf afterwards.
    entries: usize,
    /// The entry of the taken record, if there is one. Its rest comes to the same place.
    taken_at: Option<usize>,
}

/// Plans how new records replace the taken ones on the leaf. Returns `None` if a taken record is on
/// another leaf or a new one is too long. The same holds if the leaf would have to be merged.
fn plan_leaf(
    pages: &WriterPages<'_>,
    leaf: Step,
    is_root: bool,
) -> Result<Option<LeafPlan>, BoxedError> {
    debug_assert!(pages.loose.is_empty());
    let page = pages.view().tree_page_inlined(leaf.pgno, PageKind::Leaf)?;
    if leaf.index != page.len() || pages.pool.len() > LEFT_MAX {
        return Ok(None);
    }
    let (mut room, mut entries) = (page.free_space(), page.len());
    let mut taken_at = None;
    for id in pages.taken.ids() {
        let (index, exact) = record_index(&page, *id).map_err(Error::at(leaf.pgno))?;
        if !exact {
            return Ok(None);
        }
        let node = page.leaf(index).map_err(Error::at(leaf.pgno))?;
        if node.flags != NodeFlags(0) {
            return Ok(None);
        }
        room += entry_len(node.data.len());
        entries -= 1;
        taken_at = Some(index);
    }
    let (page_size, node_max) = (pages.page_size(), layout::node_max(pages.page_size()));
    for count in [pages.freed.len(), pages.pool.len()] {
        if count == 0 {
            continue;
        }
        let len = entry_len(FreeRecord::value_len(count));
        if len > room || len > node_max {
            return Ok(None);
        }
        room -= len;
        entries += 1;
    }
    // The nodes of a damaged leaf may claim more than the page. The change checks them next.
    let used = page_size.saturating_sub(layout::HEADER_LEN + room);
    let is_enough = entries > 0 && (is_root || used >= page_size / 4);
    Ok(is_enough.then_some(LeafPlan {
        entries,
        taken_at: taken_at.filter(|_| pages.taken.ids().len() == 1),
    }))
}

/// Returns the bytes that a record takes on a leaf, with its offset.
fn entry_len(value_len: usize) -> usize {
    2 + layout::leaf_node_len(size_of::<Txnid>(), value_len)
}

/// Where a record is on the leaf, or would be.
fn record_index(page: &Page<'_>, id: Txnid) -> Result<(usize, bool), Malformed> {
    if page.is_empty() {
        return Ok((0, false));
    }
    tree::lower_bound(page, KeyOrder::Integer, &key_of(id))
}

/// Adds a record that lists these pages, if there are any.
fn put_record(
    page: &mut PageMut<'_>,
    index: usize,
    id: Txnid,
    list: &[Pgno],
) -> Result<(), Malformed> {
    debug_assert!(list.is_sorted_by(|a, b| a > b), "a record descends");
    if list.is_empty() {
        return Ok(());
    }
    let len = FreeRecord::value_len(list.len());
    if !page.insert(index, &key_of(id), NodeValue::Reserved(len))? {
        return Err(Malformed::NodeSum);
    }
    FreeRecord::write(page.data_mut(index)?, list)
}

fn key_of(id: Txnid) -> [u8; 8] {
    id.0.to_ne_bytes()
}
