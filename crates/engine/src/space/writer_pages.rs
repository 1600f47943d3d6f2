//! The pages of a write transaction: those of the snapshot it began from, and its private ones.

use crate::hash::PgnoTable;
use alloc::boxed::Box;
use alloc::vec::Vec;
use fulgurite_format::{
    DatabaseFlags, Malformed, Page, PageKind, PageMut, Pgno, Txnid, layout, write_overflow_header,
};

use super::dirty_pages::{Checked, DirtyPage, DirtyPages};
use super::outer::OuterLevel;
use super::pool::Pool;
use super::reclaimed_records::ReclaimedRecords;
use super::view::PageView;
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::memory::{copy_into, empty, zeros};
use crate::opened::{Handle, Mapping, Window};
use crate::reader::EndMark;
use crate::tree::{Pages, PagesMut, Tree};

/// Lists of page numbers are kept for the next transaction up to that capacity.
const RETAINED_MAX: usize = 1 << 14;

/// A write transaction's pages.
#[derive(Debug)]
pub(crate) struct WriterPages<'env> {
    pub(super) environment: &'env Handle,
    /// The map, with the pages of the snapshot that the transaction began from.
    pub(super) window: Window<'env>,
    /// With a writable map, a private page whose nodes were checked; since then it had only sound
    /// changes. Pages in memory have their own mark.
    checked: Pgno,
    /// The last page in use, by this transaction's lights.
    pub(crate) last: Pgno,
    /// The last page when the transaction, or its innermost level, began: everything behind it is
    /// private.
    pub(super) base_last: Pgno,
    pub(super) txnid: Txnid,
    pub(super) dirty: DirtyPages,
    /// True if private pages are changed in a writable map, and not in memory.
    stores_in_map: bool,
    /// True if spare buffers were taken.
    pub(super) has_buffers: bool,
    /// Pages up to `base_last` in private use: taken from the free list, or by a level from the
    /// loose pages.
    pub(super) reclaimed: PgnoTable,
    /// The surroundings of the innermost level, if there are levels.
    pub(super) outer: Vec<OuterLevel>,
    /// Empty lists for the next level.
    pub(super) unused_level: Option<(PgnoTable, Vec<Pgno>)>,
    /// Private pages given up again.
    pub(super) loose: Vec<Pgno>,
    /// Pages from the free list, unused so far.
    pub(super) pool: Pool,
    /// Pages that were in use when the transaction, or its innermost level, began and that it no
    /// longer needs.
    pub(super) freed: Vec<Pgno>,
    /// Free-list records whose pages went to the pool.
    pub(super) taken: ReclaimedRecords,
    /// The free-list tree.
    pub(crate) free: Tree,
    /// Records below this id hold pages that no reader and no fallback snapshot needs.
    /// They are looked for once the free list is needed.
    pub(super) oldest: Option<Txnid>,
    /// The last page when the readers were last looked at, if they were since the transaction
    /// began.
    pub(super) readers_checked_at: Option<Pgno>,
    /// The last page when the policy for readers was last consulted.
    pub(super) consulted_at: Option<Pgno>,
    /// True if the transaction stores anything. It then leaves the reserve to transactions that
    /// only delete.
    pub(super) stores: bool,
    /// True if the transaction may use the reserve, whatever it stores.
    pub(super) uses_reserve: bool,
    /// Number of free pages that it leaves alone, because the disk has no reserve.
    pub(super) reserved_free: usize,
    /// While the free list is being saved nothing more is taken from it.
    pub(super) saving: bool,
    /// The last page of the snapshot that the transaction began from: the free list names none
    /// behind it.
    pub(super) snapshot_last: Pgno,
    /// There is something to commit even if no page was changed.
    pub(super) is_forced: bool,
    /// True if anything of this may differ from the state in which the transaction began.
    pub(super) is_used: bool,
}

impl<'env> WriterPages<'env> {
    pub(crate) fn new(environment: &'env Handle, last: Pgno, txnid: Txnid, free: Tree) -> Self {
        debug_assert!(last.0 >= 1, "the meta pages are in use");
        WriterPages {
            environment,
            window: environment.mapping().window(last),
            checked: Pgno::NONE,
            last,
            base_last: last,
            txnid,
            dirty: DirtyPages::default(),
            stores_in_map: environment.has_writable_map(),
            has_buffers: false,
            reclaimed: PgnoTable::default(),
            outer: Vec::new(),
            unused_level: None,
            loose: Vec::new(),
            pool: Pool::default(),
            freed: Vec::new(),
            taken: ReclaimedRecords::default(),
            free,
            oldest: None,
            readers_checked_at: None,
            consulted_at: None,
            stores: false,
            uses_reserve: false,
            reserved_free: 0,
            saving: false,
            snapshot_last: last,
            is_forced: false,
            is_used: false,
        }
    }

    /// Restarts from another snapshot and keeps its memory.
    pub(crate) fn begin_again(&mut self, last: Pgno, txnid: Txnid, free: Tree) {
        debug_assert!(
            self.dirty.is_empty(),
            "the last transaction's pages are forgotten"
        );
        debug_assert!(self.outer.is_empty() && self.freed.is_empty());
        debug_assert!(last.0 >= 1, "the meta pages are in use");
        self.window = self.environment.mapping().window(last);
        self.checked = Pgno::NONE;
        self.last = last;
        self.base_last = last;
        self.snapshot_last = last;
        self.txnid = txnid;
        self.free = free;
        self.oldest = None;
        self.readers_checked_at = None;
        self.consulted_at = None;
        self.stores = false;
        self.uses_reserve = false;
        self.reserved_free = 0;
        self.saving = false;
        self.is_forced = false;
        self.is_used = false;
    }

    /// Returns true if the state is that after [`Self::begin_again`]: no page was taken, changed,
    /// freed or searched.
    #[inline]
    pub(crate) fn are_as_begun(&self) -> bool {
        debug_assert!(
            self.is_used || self.have_no_traces(),
            "every change goes with a note of it"
        );
        !self.is_used
    }

    /// Returns true if all fields have their first values.
    fn have_no_traces(&self) -> bool {
        self.last == self.base_last
            && self.last == self.snapshot_last
            && self.checked == Pgno::NONE
            && self.oldest.is_none()
            && self.readers_checked_at.is_none()
            && self.consulted_at.is_none()
            && !(self.stores || self.uses_reserve || self.saving || self.is_forced)
            && self.dirty.is_empty()
            && self.reclaimed.is_empty()
            && self.outer.is_empty()
            && self.pool.is_unused()
            && self.loose.is_empty()
            && self.freed.is_empty()
            && self.taken.is_unused()
    }

    /// Returns true if the snapshot is read through this map and the map is read-only. With a
    /// writable map the file's length must be asked each time.
    #[inline]
    pub(crate) fn are_of(&self, mapping: &Mapping) -> bool {
        core::ptr::eq(self.window.mapping(), mapping) && !mapping.map().is_writable()
    }

    /// Forgets all pages, and keeps as much memory as a transaction usually needs.
    pub(crate) fn forget_all(&mut self) {
        self.dirty.clear(self.page_size());
        if self.reclaimed.capacity() > RETAINED_MAX {
            self.reclaimed = PgnoTable::default();
        }
        self.reclaimed.clear();
        self.outer.clear();
        self.pool.clear(RETAINED_MAX);
        for list in [&mut self.loose, &mut self.freed] {
            empty(list, RETAINED_MAX);
        }
        self.taken.clear(RETAINED_MAX);
    }

    pub(crate) const fn txnid(&self) -> Txnid {
        self.txnid
    }

    /// Returns true if nothing of the snapshot was changed; pages taken from the free list are in
    /// no use then.
    pub(crate) fn is_untouched(&self) -> bool {
        self.last == self.base_last && self.freed.is_empty() && !self.is_forced
    }

    pub(crate) fn page_size(&self) -> usize {
        self.environment.mapping().page_size()
    }

    /// Returns true if a page came from the free list, in this level or around it.
    pub(super) fn is_reclaimed(&self, pgno: Pgno) -> bool {
        self.reclaimed.contains(&pgno)
            || self
                .outer
                .iter()
                .any(|outer| outer.reclaimed.contains(&pgno))
    }

    /// Forgets that a page was checked: it is given other contents.
    fn forget_check(&mut self, pgno: Pgno) {
        if self.checked == pgno {
            self.checked = Pgno::NONE;
        }
    }

    /// Returns true if the transaction, or its innermost level, took this page: then it is changed
    /// in place.
    #[inline]
    pub(super) fn is_private(&self, pgno: Pgno) -> bool {
        pgno > self.base_last || self.reclaimed.contains(&pgno)
    }

    /// Returns true if the private pages in memory exceed the limit: some must be written before
    /// more is changed.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.dirty.bytes() > self.environment.dirty_bytes_max()
    }

    /// A page that is private already and in memory.
    #[inline]
    pub(crate) fn private_page(&mut self, pgno: Pgno) -> Option<&mut [u8]> {
        if self.is_private(pgno) {
            self.dirty.get_mut(pgno)
        } else {
            None
        }
    }

    /// Writes private pages to their places if too many are in memory. No page may be on loan.
    #[inline]
    pub(crate) fn spill_if_full(&mut self) -> Result<(), BoxedError> {
        if self.is_full() {
            return self.write_out();
        }
        Ok(())
    }

    /// Writes all private pages to their places.
    pub(crate) fn write_out(&mut self) -> Result<(), BoxedError> {
        debug_assert!(!self.environment.is_read_only());
        self.environment.before_change()?;
        let page_size = self.page_size();
        let mut page_store = self.environment.page_store(self.txnid, self.snapshot_last);
        self.dirty.write_out(&mut page_store, page_size)
    }

    /// Takes a page for the copy of another.
    #[inline(always)]
    fn allocate_copy(&mut self, old: Pgno) -> Result<Pgno, BoxedError> {
        debug_assert!(!self.is_private(old), "a private page is changed in place");
        let own = self.allocate_page()?;
        if own == old {
            return Err(listed_in_use(old).into());
        }
        Ok(own)
    }

    /// Gives private pages their contents.
    pub(super) fn put_run(&mut self, first: Pgno, bytes: Box<[u8]>) -> Result<(), BoxedError> {
        debug_assert!(
            self.is_private(first),
            "only private pages get new contents"
        );
        self.forget_check(first);
        if self.stores_in_map {
            self.environment.before_change()?;
            let run = self.environment.mapping().run_mut(first, bytes.len())?;
            run.copy_from_slice(&bytes);
        } else {
            self.dirty.insert(first, bytes)?;
        }
        Ok(())
    }

    /// Fails unless the innermost level took this page.
    fn check_private(&self, pgno: Pgno) -> Result<(), BoxedError> {
        if self.is_private(pgno) {
            return Ok(());
        }
        Err(listed_in_use(pgno).into())
    }

    /// A private page, or a run of `len` bytes, in memory. One that was written early is fetched
    /// back.
    #[inline(always)]
    fn dirty_page(&mut self, first: Pgno, len: usize) -> Result<&mut DirtyPage, BoxedError> {
        if !self.outer.is_empty() {
            // Pages of the surroundings may be in memory too.
            self.check_private(first)?;
        }
        let (environment, base_last) = (self.environment, self.base_last);
        let reclaimed = &self.reclaimed;
        self.dirty.get_mut_or_load(first, || {
            if first <= base_last && !reclaimed.contains(&first) {
                return Err(listed_in_use(first).into());
            }
            environment.mapping().run(first, len)
        })
    }

    /// Copies a page in memory that surrounds the innermost level.
    #[cold]
    fn touch_dirty(&mut self, pgno: Pgno, kind: PageKind) -> Result<Pgno, BoxedError> {
        debug_assert!(
            !self.outer.is_empty(),
            "the page is private to the surroundings"
        );
        let own = self.allocate_copy(pgno)?;
        self.forget_check(own);
        let copy = self
            .dirty
            .copy(pgno, own)
            .ok_or_else(Error::beyond_end(pgno))?;
        PageMut::renumber(copy, own, kind);
        self.freed.push(pgno);
        Ok(own)
    }
}

impl Drop for WriterPages<'_> {
    fn drop(&mut self) {
        if self.has_buffers {
            self.dirty.return_buffers();
        }
    }
}

impl PagesMut for WriterPages<'_> {
    type View<'a>
        = PageView<'a>
    where
        Self: 'a;

    #[inline]
    fn view(&self) -> PageView<'_> {
        debug_assert!(
            self.base_last <= self.last,
            "pages are added behind the base"
        );
        PageView {
            window: self.window,
            last: self.last,
            dirty: Some(&self.dirty),
            is_flat: self.outer.is_empty(),
            mark: EndMark::never(),
        }
    }

    fn touch(&mut self, pgno: Pgno, kind: PageKind) -> Result<Pgno, BoxedError> {
        if self.is_private(pgno) {
            return Ok(pgno);
        }
        if !self.outer.is_empty() && self.dirty.get(pgno).is_some() {
            return self.touch_dirty(pgno, kind);
        }
        let old = match self.window.page(pgno) {
            Some(page) => page,
            None => self.environment.mapping().run(pgno, self.page_size())?,
        };
        Page::parse(old, pgno, kind).map_err(Error::at(pgno))?;
        let own = self.allocate_copy(pgno)?;
        self.forget_check(own);
        let copy = if self.stores_in_map {
            self.environment.before_change()?;
            let copy = self.environment.mapping().run_mut(own, old.len())?;
            copy_into(copy, old);
            copy
        } else {
            self.dirty.insert_copy(own, old)?
        };
        PageMut::renumber(copy, own, kind);
        self.freed.push(pgno);
        Ok(own)
    }

    fn page_mut(&mut self, pgno: Pgno) -> Result<&mut [u8], BoxedError> {
        self.run_mut(pgno, self.page_size())
    }

    fn run_mut(&mut self, first: Pgno, len: usize) -> Result<&mut [u8], BoxedError> {
        debug_assert!(len > 0);
        if self.stores_in_map {
            self.check_private(first)?;
            return self.environment.mapping().run_mut(first, len);
        }
        let page = self.dirty_page(first, len)?;
        if page.checked == Checked::SubPages {
            // Unchecked ones may come.
            page.checked = Checked::Nodes;
        }
        page.bytes
            .get_mut(..len)
            .ok_or_else(Error::beyond_end(first))
    }

    fn sound_page_mut(&mut self, pgno: Pgno, kind: PageKind) -> Result<PageMut<'_>, BoxedError> {
        if self.stores_in_map {
            if self.checked != pgno {
                let page = self.view().tree_page(pgno, kind)?;
                page.check_nodes().map_err(Error::at(pgno))?;
                self.checked = pgno;
            }
            return PageMut::parse(self.page_mut(pgno)?, pgno, kind).map_err(Error::at(pgno));
        }
        let DirtyPage { bytes, checked, .. } = self.dirty_page(pgno, self.page_size())?;
        let page = PageMut::parse(bytes, pgno, kind).map_err(Error::at(pgno))?;
        if *checked == Checked::Nothing {
            page.view().check_nodes().map_err(Error::at(pgno))?;
        }
        *checked = Checked::Nodes;
        Ok(page)
    }

    fn sound_leaf_mut(&mut self, pgno: Pgno) -> Result<(PageMut<'_>, bool), BoxedError> {
        if self.stores_in_map {
            return Ok((self.sound_page_mut(pgno, PageKind::Leaf)?, false));
        }
        let DirtyPage { bytes, checked, .. } = self.dirty_page(pgno, self.page_size())?;
        let page = PageMut::parse(bytes, pgno, PageKind::Leaf).map_err(Error::at(pgno))?;
        if *checked == Checked::Nothing {
            page.view().check_nodes().map_err(Error::at(pgno))?;
            *checked = Checked::Nodes;
        }
        if *checked == Checked::Nodes && page.view().has_sound_sub_pages() {
            *checked = Checked::SubPages;
        }
        Ok((page, *checked == Checked::SubPages))
    }

    fn allocate(&mut self, count: u64) -> Result<Pgno, BoxedError> {
        debug_assert!(count > 0, "a run has pages");
        let first = self.allocate_pages(count)?;
        self.forget_check(first);
        if self.stores_in_map {
            self.environment.before_change()?;
        } else {
            let page_size = self.page_size();
            if count == 1 {
                self.dirty.insert_page(first, page_size)?;
                return Ok(first);
            }
            let len = usize::try_from(count)
                .ok()
                .and_then(|count| count.checked_mul(page_size));
            let len = len.ok_or(Error::MapFull(u64::MAX))?;
            self.dirty.insert(first, zeros(len)?.into())?;
        }
        Ok(first)
    }

    fn store_run(&mut self, count: u64, value: &[u8]) -> Result<Pgno, BoxedError> {
        debug_assert!(count > 0, "a run has pages");
        let first = self.allocate_pages(count)?;
        self.forget_check(first);
        let page_size = self.page_size();
        let len = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(page_size))
            .ok_or(Error::MapFull(u64::MAX))?;
        let mut header = [0; layout::HEADER_LEN];
        write_overflow_header(&mut header, first, count as u32);
        if self.stores_in_map {
            self.environment.before_change()?;
            let run = self.environment.mapping().run_mut(first, len)?;
            if let Some((head, room)) = run.split_first_chunk_mut() {
                *head = header;
                copy_into(room, value);
            }
            return Ok(first);
        }
        let offset = first.0 * page_size as u64;
        if first <= self.snapshot_last && count > 1 {
            self.environment.before_change()?;
            let page_store = self.environment.page_store(self.txnid, self.snapshot_last);
            // A copy in memory would be of no use: a run is never changed.
            if page_store.reaches(offset, len) {
                return page_store
                    .put_run(offset, &[&header, value], len)
                    .map(|()| first);
            }
        }
        self.dirty.insert_run(first, len, &[&header, value])?;
        Ok(first)
    }

    fn release(&mut self, first: Pgno, count: u64) -> Result<(), BoxedError> {
        debug_assert!(count > 0, "a run has pages");
        debug_assert!(first >= Pgno::FIRST_DATA, "meta pages are never freed");
        self.is_used = true;
        // Giving up more pages than there are, a damaged tree leads in circles.
        if (self.freed.len() + self.loose.len()) as u64 > self.last.0 {
            return Err(Error::at(first)(Malformed::Cycle));
        }
        let pages = (first.0..first.0 + count).map(Pgno);
        if !self.is_private(first) {
            // The snapshot's last page and the length of a run may be wrong. A freed page was in
            // the file, or the surroundings of the innermost level allocated it.
            let allocated = self.last.0.saturating_sub(self.snapshot_last.0);
            let freed = (self.freed.len() as u64).saturating_add(count);
            if self.view().are_fewer_than(freed.saturating_sub(allocated)) {
                return Err(Error::at(first)(Malformed::Cycle));
            }
            self.freed.extend(pages);
            return Ok(());
        }
        self.dirty.remove(first, self.page_size());
        if count == 1 {
            self.loose.push(first);
        } else {
            // A run stays one: overwriting a large value again and again must not use up the file.
            self.pool.add(pages);
        }
        Ok(())
    }
}

/// A page that is not private was taken for a private one.
#[cold]
fn listed_in_use(page: Pgno) -> Error {
    let what = Malformed::FreeRecord("a page in use is listed as free");
    Error::Corrupted { page, what }
}

/// The free-list tree of a snapshot.
pub(crate) fn free_tree(record: fulgurite_format::TreeRecord) -> Tree {
    debug_assert!(record.flags.has(DatabaseFlags::INTEGER_KEY));
    Tree::plain(record, crate::KeyOrder::Integer)
}
