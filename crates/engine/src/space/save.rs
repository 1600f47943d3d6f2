//! Writing the free list at commit.
//!
//! Saving changes what is saved: new records take pages, old ones give theirs back. So room is reserved first, in
//! rounds, until a round changes nothing; then the numbers are filled in, which takes no page.

use std::collections::BTreeMap;

use fulgurite_format::{Format, FreeRecord, Malformed, NodeValue, PageKind, PageMut, Pgno, V09};

use super::writer_pages::WriterPages;
use crate::Error;
use crate::tree::{self, Pages, PagesMut, Path, Step};
use crate::value;

/// Room reserved beyond what a small record needs, in page numbers: saving may free a few more pages.
const SLACK: usize = 8;

/// Replaces the records whose pages were taken by what is left of them, and lists the pages this transaction freed.
pub(crate) fn save_free_list(pages: &mut WriterPages<'_>) -> Result<(), Error> {
    stock_up(pages)?;
    pages.saving = true;
    delete_taken(pages)?;
    let newest_taken = pages.taken.last().map(|id| id.0).filter(|id| *id > 0);
    let own = pages.txnid().0;
    let mut reserved: BTreeMap<u64, usize> = BTreeMap::new();
    loop {
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
            break;
        }
    }
    fill(pages, &reserved, newest_taken)
}

/// Takes as many free pages as saving may need while that is still allowed. Otherwise every commit that happens to have
/// used up exactly what it took would make the file a little longer, however many pages are free.
fn stock_up(pages: &mut WriterPages<'_>) -> Result<(), Error> {
    loop {
        // The path to each record that is added, the leaves that lose records, and a run for the pages freed.
        let own_record = FreeRecord::value_len(pages.freed.len()) / pages.view().page_size();
        let wanted =
            4 + 2 * usize::from(pages.free.record.depth) + pages.taken.len() / 8 + own_record;
        if pages.pool.len() + pages.loose.len() >= wanted || !pages.take_record()? {
            return Ok(());
        }
    }
}

/// Page numbers to a record, so that a record fits one overflow page where there are ids enough to number them.
fn portion_len(pages: &WriterPages<'_>, newest_taken: Option<u64>) -> usize {
    let fits = (pages.view().page_size() - V09::HEADER_LEN) / 8 - 1;
    let ids = newest_taken
        .map_or(1, |id| usize::try_from(id).unwrap_or(usize::MAX))
        .max(1);
    fits.max(pages.pool.len().div_ceil(ids))
}

/// Private pages that were given up again can serve the next transaction, if there is a record old enough for them.
fn settle_loose(pages: &mut WriterPages<'_>, newest_taken: Option<u64>) -> Result<(), Error> {
    let loose = std::mem::take(&mut pages.loose);
    if newest_taken.is_none() {
        pages.freed.extend(loose);
    } else if !loose.is_empty() && !pages.pool.add(loose.into_iter()) {
        return Err(listed_twice(pages));
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

fn run_at(pages: &WriterPages<'_>, path: &Path) -> Result<Option<(Pgno, u64)>, Error> {
    let Some(leaf) = path.leaf() else {
        return Ok(None);
    };
    let view = pages.view();
    let node = view
        .tree_page(leaf.pgno, PageKind::Leaf)?
        .leaf(leaf.index)
        .map_err(Error::at(leaf.pgno))?;
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
    let room = count + SLACK + count / 64;
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
    let doubled = |list: &[Pgno]| list.windows(2).any(|pair| matches!(pair, [a, b] if a == b));
    if doubled(&freed) || freed.iter().any(|pgno| pages.is_in_pool(*pgno)) {
        return Err(listed_twice(pages));
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

fn write_record(pages: &mut WriterPages<'_>, key: u64, list: &[Pgno]) -> Result<(), Error> {
    let free = pages.free;
    let mut path = Path::new();
    let octets = key.to_ne_bytes();
    tree::seek(pages.view(), &free, &octets, &mut path)?;
    let run = run_at(pages, &path)?;
    let leaf = path.leaf().ok_or(Error::BeyondEnd(free.record.root))?;
    let len = FreeRecord::value_len(list.len());
    trim_record(pages, leaf, &octets, run, len)?;
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

fn listed_twice(pages: &WriterPages<'_>) -> Error {
    Error::Corrupted {
        page: pages.free.record.root,
        what: Malformed::FreeRecord("a page is listed twice"),
    }
}
