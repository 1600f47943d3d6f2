//! Writing the free list at commit.
//!
//! Saving changes what is saved: new records take pages, old ones give theirs back. So room is reserved first, in
//! rounds, until a round changes nothing; then the numbers are filled in, which takes no page. Small transactions do without:
//! see `save_short`.

use std::collections::BTreeMap;
use std::ops::Range;

use fulgurite_format::{FreeRecord, Malformed, NodeValue, PageKind, PageMut, Pgno, layout};

use super::save_short::save_at_once;
use super::writer_pages::{WriterPages, listed_twice, record_before, record_id};
use crate::Error;
use crate::tree::{self, Pages, PagesMut, Path, Step};
use crate::value;

/// Room reserved beyond what a small record needs, in page numbers: saving may free a few more pages.
const SLACK: usize = 8;

/// So many page numbers are in the record that is taken first: a small transaction needs no more.
pub(super) const NEWEST: usize = 32;
/// So many page numbers are a short list.
const SMALL: usize = 64;
/// What is left of more is not cut into small pieces: each has to be found its place.
const SMALL_PIECES: usize = 1 << 11;

/// Rounds after which saving must have settled. Each leaves the next less to do; two or three are usual.
const ROUNDS_MAX: usize = 64;

/// Replaces the records whose pages were taken by what is left of them, and lists the pages this transaction freed.
pub(crate) fn save_free_list(pages: &mut WriterPages<'_>) -> Result<(), Error> {
    if save_at_once(pages)? {
        return Ok(());
    }
    pages.prepare_saving()?;
    delete_taken(pages)?;
    let own = pages.txnid().0;
    let ids = free_ids(pages)?;
    let mut reserved: BTreeMap<u64, usize> = BTreeMap::new();
    for _ in 0..ROUNDS_MAX {
        settle_loose(pages, ids.count > 0)?;
        let mut changed = false;
        if !pages.freed.is_empty() {
            changed |= ensure(pages, &mut reserved, own, pages.freed.len())?;
        }
        // Reserving room takes pages from the pool; what is too much then is trimmed.
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
    })
}

/// The ids that what is left of taken records can be listed with: no record has them, and pages listed so may be reused.
#[derive(Clone, Copy)]
struct FreeIds {
    /// The greatest of them.
    newest: u64,
    count: u64,
}

/// Ids for what is left of the records that were taken, which are deleted.
fn free_ids(pages: &WriterPages<'_>) -> Result<FreeIds, Error> {
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
        record_id(view, leaf)?.0
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

/// How the pages that are left are shared out among records: whoever takes pages takes a record, and writes back what is
/// left of it. So the newest, which is taken first, is a short one, and the others of a long list fit one overflow page each.
/// Where there are too few ids for that the last record has all the rest, which is left alone then.
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
            1 + (len - newest).div_ceil(each)
        };
        Portions {
            newest,
            each,
            count: usize::try_from(ids.count).map_or(wanted, |ids| wanted.min(ids)),
        }
    }

    /// Which pages of so many, from the lowest up, the record has that is the `index`th from the newest.
    fn range(&self, index: usize, len: usize) -> Range<usize> {
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

/// Private pages that were given up again can serve the next transaction, if there is a record old enough for them;
/// else they are listed with the others that this one freed.
pub(super) fn settle_loose(pages: &mut WriterPages<'_>, is_any_old: bool) -> Result<(), Error> {
    pages.pool.add(pages.loose.drain(..));
    pages.settle_pool()?;
    if !is_any_old && pages.pool.len() > 0 {
        let rest = pages.pool.drain();
        pages.freed.extend(rest);
    }
    Ok(())
}

fn delete_taken(pages: &mut WriterPages<'_>) -> Result<(), Error> {
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

pub(super) fn run_at(pages: &WriterPages<'_>, path: &Path) -> Result<Option<(Pgno, u64)>, Error> {
    let Some(leaf) = path.leaf() else {
        return Ok(None);
    };
    let view = pages.view();
    let node = view.leaf_node(leaf)?;
    node.overflow()
        .map(|_| value::run_of(view, leaf.pgno, &node))
        .transpose()
}

/// Makes sure that the record `key` has room for `count` numbers; tells whether anything had to be changed.
fn ensure(
    pages: &mut WriterPages<'_>,
    reserved: &mut BTreeMap<u64, usize>,
    key: u64,
    count: usize,
) -> Result<bool, Error> {
    if reserved.get(&key).is_some_and(|room| *room >= count) {
        return Ok(false);
    }
    // Room to spare must not push a record over the end of its page.
    let one_page = one_page(pages);
    let room = if count <= SMALL && !reserved.contains_key(&key) {
        // A short list mostly is what it will be, and a record without room to spare needs not be trimmed.
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
    let octets = key.to_ne_bytes();
    let exact = tree::seek(pages.view(), &free, &octets, &mut path)?;
    let placed = value::place_value(
        pages,
        &mut free,
        &mut path,
        exact,
        &octets,
        FreeRecord::value_len(room),
    );
    placed.map(|_| ())?;
    pages.free = free;
    reserved.insert(key, room);
    Ok(true)
}

fn fill(
    pages: &mut WriterPages<'_>,
    reserved: &BTreeMap<u64, usize>,
    ids: FreeIds,
) -> Result<(), Error> {
    let own = pages.txnid().0;
    let mut freed = std::mem::take(&mut pages.freed);
    order_freed(pages, &mut freed)?;
    let pool = pages.pool.pages().to_vec();
    let portions = Portions::of(pages, ids);
    for key in reserved.keys().rev() {
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

/// Brings what this transaction freed into the order of a record, and notes how many neighbours there are among it.
pub(super) fn order_freed(pages: &WriterPages<'_>, freed: &mut [Pgno]) -> Result<(), Error> {
    freed.sort_unstable_by(|a, b| b.cmp(a));
    let longest = freed
        .chunk_by(|a, b| a.0 == b.0 + 1)
        .map(<[Pgno]>::len)
        .max();
    pages
        .environment
        .runs()
        .note_freed(pages.txnid(), longest.unwrap_or(0) as u64);
    let doubled = |list: &[Pgno]| list.windows(2).any(|pair| matches!(pair, [a, b] if a == b));
    if doubled(freed) || freed.iter().any(|pgno| pages.pool.contains(*pgno)) {
        return Err(listed_twice(pages.free.record.root));
    }
    Ok(())
}

/// Gives a record other numbers, no more than it had. The free list is not read from meanwhile.
pub(super) fn rewrite_record(
    pages: &mut WriterPages<'_>,
    key: u64,
    list: &[Pgno],
) -> Result<(), Error> {
    let mut free = pages.free;
    let mut path = Path::new();
    let octets = key.to_ne_bytes();
    let exact = tree::seek(pages.view(), &free, &octets, &mut path)?;
    let len = FreeRecord::value_len(list.len());
    value::place_value(pages, &mut free, &mut path, exact, &octets, len)?;
    pages.free = free;
    write_record(pages, key, list)
}

fn write_record(pages: &mut WriterPages<'_>, key: u64, list: &[Pgno]) -> Result<(), Error> {
    let free = pages.free;
    let mut path = Path::new();
    let octets = key.to_ne_bytes();
    tree::seek(pages.view(), &free, &octets, &mut path)?;
    let run = run_at(pages, &path)?;
    let leaf = path.leaf().ok_or(Error::BeyondEnd(free.record.root))?;
    let len = FreeRecord::value_len(list.len());
    if pages.view().leaf_node(leaf)?.value_len != len {
        trim_record(pages, leaf, &octets, run, len)?;
    }
    let value = match run {
        Some((first, _)) => pages
            .run_mut(first, layout::HEADER_LEN + len)?
            .get_mut(layout::HEADER_LEN..)
            .ok_or(Error::BeyondEnd(first))?,
        None => value::leaf_data(pages, leaf)?,
    };
    FreeRecord::write(value, list);
    Ok(())
}

/// Takes back the room that was reserved too much: some builds of the original refuse records longer than their count.
/// Shrinking a node needs no page, and an overflow run may be longer than its value.
fn trim_record(
    pages: &mut WriterPages<'_>,
    leaf: Step,
    key: &[u8],
    run: Option<(Pgno, u64)>,
    len: usize,
) -> Result<(), Error> {
    let value = match run {
        Some((first, _)) => NodeValue::Overflow {
            first,
            len: u32::try_from(len).map_err(|_| Error::ValueLength(len))?,
        },
        None => NodeValue::Reserved(len),
    };
    pages.check_nodes(leaf.pgno, PageKind::Leaf)?;
    let bytes = pages.page_mut(leaf.pgno)?;
    let trimmed = PageMut::parse(bytes, leaf.pgno, PageKind::Leaf).and_then(|mut page| {
        page.remove(leaf.index)?;
        page.insert(leaf.index, key, value)
    });
    match trimmed {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::BeyondEnd(leaf.pgno)),
        Err(what) => Err(Error::Corrupted {
            page: leaf.pgno,
            what,
        }),
    }
}
