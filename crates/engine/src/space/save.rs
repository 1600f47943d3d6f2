//! Writing the free list at commit.
//!
//! Saving changes what is saved: new records take pages, old ones give theirs back. So room is reserved first, in
//! rounds, until a round changes nothing; then the numbers are filled in, which takes no page.

use std::collections::BTreeMap;

use fulgurite_format::{Format, FreeRecord, Malformed, NodeValue, PageKind, PageMut, Pgno, V09};

use super::writer_pages::{WriterPages, listed_twice};
use crate::Error;
use crate::tree::{self, Pages, PagesMut, Path, Step};
use crate::value;

/// Room reserved beyond what a small record needs, in page numbers: saving may free a few more pages.
const SLACK: usize = 8;

/// So many page numbers are a short list.
const SMALL: usize = 64;
/// What is left of more is not cut into small pieces: each has to be found its place.
const SMALL_PIECES: usize = 1 << 11;

/// Rounds after which saving must have settled. Each leaves the next less to do; two or three are usual.
const ROUNDS_MAX: usize = 64;

/// Replaces the records whose pages were taken by what is left of them, and lists the pages this transaction freed.
pub(crate) fn save_free_list(pages: &mut WriterPages<'_>) -> Result<(), Error> {
    pages.prepare_saving()?;
    delete_taken(pages)?;
    let newest_taken = pages.taken.last().map(|id| id.0).filter(|id| *id > 0);
    let own = pages.txnid().0;
    let mut reserved: BTreeMap<u64, usize> = BTreeMap::new();
    for _ in 0..ROUNDS_MAX {
        settle_loose(pages, newest_taken)?;
        let mut changed = false;
        if !pages.freed.is_empty() {
            changed |= ensure(pages, &mut reserved, own, pages.freed.len())?;
        }
        let portion = portion_len(pages, newest_taken);
        for index in 0..pages.pool.len().div_ceil(portion) {
            let key = newest_taken.unwrap_or(own) - index as u64;
            let len = portion.min(pages.pool.len().saturating_sub(index * portion));
            changed |= ensure(pages, &mut reserved, key, len)?;
        }
        if !changed && pages.loose.is_empty() {
            return fill(pages, &reserved, newest_taken);
        }
    }
    Err(Error::Corrupted {
        page: pages.free.record.root,
        what: Malformed::FreeRecord("saving it comes to no end"),
    })
}

/// Page numbers that a record holds which takes one overflow page.
fn one_page(pages: &WriterPages<'_>) -> usize {
    (pages.view().page_size() - V09::HEADER_LEN) / 8 - 1
}

/// Page numbers to a record. A short list is cut into small pieces where there are ids enough to number them: whoever takes
/// pages takes a record, and writes back what is left of it. A piece of a longer one fits one overflow page.
fn portion_len(pages: &WriterPages<'_>, newest_taken: Option<u64>) -> usize {
    let len = pages.pool.len();
    let ids = newest_taken
        .map_or(1, |id| usize::try_from(id).unwrap_or(usize::MAX))
        .max(1);
    let least = len.div_ceil(ids);
    if len <= SMALL_PIECES && least <= SMALL {
        return SMALL.min(one_page(pages));
    }
    one_page(pages).max(least)
}

/// Private pages that were given up again can serve the next transaction, if there is a record old enough for them;
/// else they are listed with the others that this one freed.
fn settle_loose(pages: &mut WriterPages<'_>, newest_taken: Option<u64>) -> Result<(), Error> {
    let loose = std::mem::take(&mut pages.loose);
    pages.pool.add(loose.into_iter());
    pages.settle_pool()?;
    if newest_taken.is_none() {
        let rest = pages.pool.drain();
        pages.freed.extend(rest);
    }
    Ok(())
}

fn delete_taken(pages: &mut WriterPages<'_>) -> Result<(), Error> {
    let mut free = pages.free;
    let mut path = Path::new();
    for index in 0..pages.taken.len() {
        let Some(id) = pages.taken.get(index).copied() else {
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
    newest_taken: Option<u64>,
) -> Result<(), Error> {
    let own = pages.txnid().0;
    let mut freed = std::mem::take(&mut pages.freed);
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
    if doubled(&freed) || freed.iter().any(|pgno| pages.pool.contains(*pgno)) {
        return Err(listed_twice(pages.free.record.root));
    }
    let pool = pages.pool.pages().to_vec();
    let portion = portion_len(pages, newest_taken);
    // The lowest numbers go to the oldest record: they are taken first.
    let mut portions: Vec<&[Pgno]> = pool.chunks(portion).collect();
    let newest = newest_taken.unwrap_or(own);
    for key in reserved.keys().rev() {
        let list: &[Pgno] = if *key == own {
            &freed
        } else {
            let index = usize::try_from(newest - key).unwrap_or(usize::MAX);
            portions
                .get_mut(index)
                .map_or(&[][..], |list| std::mem::take(list))
        };
        write_record(pages, *key, list)?;
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
            .run_mut(first, V09::HEADER_LEN + len)?
            .get_mut(V09::HEADER_LEN..)
            .ok_or(Error::BeyondEnd(first))?,
        None => value::leaf_data(pages, leaf)?,
    };
    FreeRecord::write(value, list.iter().copied());
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
    let trimmed = PageMut::<V09>::parse(bytes, leaf.pgno, PageKind::Leaf).and_then(|mut page| {
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
