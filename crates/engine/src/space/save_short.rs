//! Writing the free list at commit where it changes little: in one step, on the last leaf of its tree.
//!
//! A small transaction takes a record or two, which were written lately, and lists as many pages with a record of its own. All
//! of these stand on the last leaf, mostly. Once that leaf is private saving takes and gives up no page any more, so what is
//! to be written is known at once, and no rounds are needed:
//!
//! ```text
//!   last leaf   ... | 907 | 908            908 was taken, and two of its pages are left
//!               ... | 907 | 908: these | 910: what this transaction freed
//! ```

use fulgurite_format::{FreeRecord, Malformed, NodeFlags, NodeValue, Page, PageKind, layout};
use fulgurite_format::{PageMut, Pgno, Txnid};

use super::save::{NEWEST, order_freed, settle_loose};
use super::writer_pages::WriterPages;
use crate::tree::{self, Pages, PagesMut, Path, Step};
use crate::{Error, KeyOrder};

/// So many pages that are left are one record, which the next transaction takes first.
const LEFT_MAX: usize = NEWEST + NEWEST / 2;

/// Does all that saving has to do if that is little; else `false`, and saving in rounds goes on from there: the way to the last
/// leaf may be private then, records taken for that, and what was given up again may be with the free pages.
pub(super) fn save_at_once(pages: &mut WriterPages<'_>) -> Result<bool, Error> {
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
    pages.check_nodes(leaf.pgno, PageKind::Leaf)?;
    let Some(entries) = entries_after(pages, leaf, path.len() == 1)? else {
        pages.saving = false;
        return Ok(false);
    };
    let mut freed = std::mem::take(&mut pages.freed);
    order_freed(pages, &mut freed)?;
    let pool = std::mem::take(&mut pages.pool);
    let taken = std::mem::take(&mut pages.taken);
    let own = pages.txnid();
    let changed = PageMut::parse(pages.page_mut(leaf.pgno)?, leaf.pgno, PageKind::Leaf).and_then(
        |mut page| {
            let before = page.view().len();
            for id in taken.ids() {
                let (index, _) = place_of(&page.view(), *id)?;
                page.remove(index)?;
            }
            if let Some(newest) = taken.newest().filter(|_| pool.len() > 0) {
                let (index, _) = place_of(&page.view(), newest)?;
                put_record(&mut page, index, newest, pool.pages())?;
            }
            let behind = page.view().len();
            put_record(&mut page, behind, own, &freed)?;
            Ok((before, page.view().len()))
        },
    );
    let (before, after) = changed.map_err(Error::at(leaf.pgno))?;
    debug_assert_eq!(after, entries);
    let others = pages.free.record.entries.saturating_sub(before as u64);
    pages.free.record.entries = others.saturating_add(after as u64);
    (pages.freed, pages.pool, pages.taken) = (freed, pool, taken);
    Ok(true)
}

/// How many entries the leaf has once it has its new records in place of those that were taken; `None` if these are not all
/// on it, or the new ones are too long, or the leaf has then to be joined with another.
fn entries_after(
    pages: &WriterPages<'_>,
    leaf: Step,
    is_root: bool,
) -> Result<Option<usize>, Error> {
    let page = pages.view().tree_page(leaf.pgno, PageKind::Leaf)?;
    if leaf.index != page.len() || pages.pool.len() > LEFT_MAX {
        return Ok(None);
    }
    let (mut room, mut entries) = (page.free_space(), page.len());
    for id in pages.taken.ids() {
        let (index, exact) = place_of(&page, *id).map_err(Error::at(leaf.pgno))?;
        if !exact {
            return Ok(None);
        }
        let node = page.leaf(index).map_err(Error::at(leaf.pgno))?;
        if node.flags != NodeFlags(0) {
            return Ok(None);
        }
        room += entry_len(node.data.len());
        entries -= 1;
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
    let used = page_size - layout::HEADER_LEN - room;
    Ok((entries > 0 && (is_root || used >= page_size / 4)).then_some(entries))
}

/// What a record takes of a leaf, with its offset.
fn entry_len(value_len: usize) -> usize {
    2 + layout::leaf_node_len(size_of::<Txnid>(), value_len)
}

/// Where a record is on the leaf, or would be.
fn place_of(page: &Page<'_>, id: Txnid) -> Result<(usize, bool), Malformed> {
    if page.is_empty() {
        return Ok((0, false));
    }
    tree::lower_bound_in(page, KeyOrder::Integer, &key_of(id))
}

/// Adds a record that lists these pages, if there are any.
fn put_record(
    page: &mut PageMut<'_>,
    index: usize,
    id: Txnid,
    list: &[Pgno],
) -> Result<(), Malformed> {
    if list.is_empty() {
        return Ok(());
    }
    let len = FreeRecord::value_len(list.len());
    if !page.insert(index, &key_of(id), NodeValue::Reserved(len))? {
        return Err(Malformed::NodeSum);
    }
    FreeRecord::write(page.data_mut(index)?, list);
    Ok(())
}

fn key_of(id: Txnid) -> [u8; 8] {
    id.0.to_ne_bytes()
}
