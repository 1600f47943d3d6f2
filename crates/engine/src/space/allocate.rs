//! Where a writer's pages come from: the pool, the records of the free list, and the end of the
//! file.

use fulgurite_format::{FreeRecord, Malformed, Pgno, Txnid, layout};

use super::free_records::{listed_twice, record_before, record_id, record_of};
use super::view::PageView;
use super::writer_pages::WriterPages;
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::opened::RESERVE_PAGES;
use crate::reader::{EndMark, may_be_reused};
use crate::tree::Path;

/// Number of free page numbers that a search for a run reads before it takes fresh pages instead.
/// The commit has to write back all that was read.
const RUN_SEARCH_MAX: usize = 1 << 14;
/// After that many fresh pages a writer looks again whether old readers have gone.
const READERS_CHECK_PAGES: u64 = 256;

/// Number of pages that a usual small transaction changes.
const USUAL_PAGES: usize = 14;

impl WriterPages<'_> {
    /// Moves pages of reusable free-list records to the pool, until it has `wanted` more or the
    /// records end. Returns how many it moved.
    fn reclaim_records(&mut self, wanted: usize) -> Result<usize, BoxedError> {
        let known = self.pool.len();
        while self.pool.len() < known + wanted && self.reclaim_record()? {}
        Ok(self.pool.len() - known)
    }

    /// Moves the pages of the newest reusable free-list record to the pool. Returns `false` if
    /// there is none left.
    pub(super) fn reclaim_record(&mut self) -> Result<bool, BoxedError> {
        let oldest = match self.oldest {
            Some(oldest) => oldest,
            None => self.look_for_readers()?,
        };
        if self.taken.are_all(oldest) {
            return Ok(false);
        }
        let view = PageView {
            window: self.window,
            last: self.last,
            dirty: Some(&self.dirty),
            is_flat: self.outer.is_empty(),
            mark: EndMark::never(),
        };
        let mut path = Path::new();
        let mut below = self.taken.next(oldest);
        let (leaf, id, node) = loop {
            if !record_before(view, &self.free, below, &mut path)? {
                self.taken.note_all(oldest);
                return Ok(false);
            }
            let Some(leaf) = path.leaf() else {
                return Ok(false);
            };
            let (id, node) = record_id(view, leaf)?;
            if id >= below || !may_be_reused(id, oldest) {
                // Keys that do not descend lead in circles.
                return Ok(false);
            }
            match self.taken.skip(id) {
                Some(next) => below = next,
                None => break (leaf, id, node),
            }
        };
        let record = record_of(view, leaf, &node, self.snapshot_last)?;
        let is_new = self.reclaimed.is_empty() && self.outer.is_empty();
        if !is_new && record.iter().any(|pgno| self.is_reclaimed(pgno)) {
            return Err(listed_twice(leaf.pgno).into());
        }
        // Compaction may have moved the file's end; numbers behind it are no pages any more.
        let last = self.base_last;
        self.pool.add(record.iter().filter(|pgno| *pgno <= last));
        self.taken.push(id);
        Ok(true)
    }

    /// Takes pages from the free list, reading as much of it as that needs.
    fn reclaim(&mut self, count: u64) -> Result<Option<Pgno>, BoxedError> {
        debug_assert!(count > 0, "a run has pages");
        let mut read = 0;
        loop {
            self.settle_pool()?;
            if count == 1
                && !self.saving
                && self.pool.len() <= self.reserved_for_record()
                && self.reclaim_record()?
            {
                continue;
            }
            if !self.leaves_enough(count)? {
                if self.have_readers_gone()? {
                    continue;
                }
                return Ok(None);
            }
            if let Some(first) = self.pool.take(count) {
                return Ok(Some(first));
            }
            if self.saving {
                return Ok(None);
            }
            if count > 1 {
                if self.environment.runs().has_failed(self.txnid, count) {
                    return Ok(None);
                }
                if read >= RUN_SEARCH_MAX {
                    self.environment.runs().note_failure(self.txnid, count);
                    return Ok(None);
                }
            }
            // A search for a run costs as much as the pool is long. So the writer reads that many
            // more pages before the next search.
            let wanted = if count == 1 {
                1
            } else {
                self.pool.len().max(64)
            };
            let taken = self.reclaim_records(wanted)?;
            read += taken;
            if taken == 0 && !self.have_readers_gone()? {
                if count > 1 && read > 0 {
                    self.environment.runs().note_failure(self.txnid, count);
                }
                return Ok(None);
            }
        }
    }

    /// Returns true if as many pages stay free as are kept for deletions once that many are taken.
    #[inline]
    fn leaves_enough(&mut self, count: u64) -> Result<bool, BoxedError> {
        debug_assert!(count > 0, "a run has pages");
        if self.reserved_free == 0 || self.saving {
            return Ok(true);
        }
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let least = self.reserved_free.saturating_add(count);
        self.reclaim_records(least.saturating_sub(self.pool.len()))?;
        self.settle_pool()?;
        Ok(self.pool.len() >= least)
    }

    /// Returns how many pages of the pool are taken singly only if there are no others. They are
    /// the highest ones; the record of a large transaction finds a run among them. The file once
    /// grew by a run at its end for such a record. Taking its pages singly would make the file grow
    /// by another run.
    fn reserved_for_record(&self) -> usize {
        let page_size = self.page_size();
        let bytes = FreeRecord::value_len(self.freed.len());
        if bytes <= page_size {
            return 0;
        }
        // Eight times its length: of that many pages, mostly neighbours, some run is as long.
        8 * (layout::whole_pages(bytes as u64 - 1, page_size) as usize + 1)
    }

    /// Returns true if readers have ended or died, so that more pages may be reused.
    fn have_readers_gone(&mut self) -> Result<bool, BoxedError> {
        let recently = self
            .readers_checked_at
            .is_some_and(|last| self.last.0 < last.0 + READERS_CHECK_PAGES);
        let known = self.oldest;
        if recently || known.is_some_and(|oldest| oldest.0 + 1 >= self.txnid.0) {
            return Ok(false);
        }
        self.readers_checked_at = Some(self.last);
        Ok(Some(self.look_for_readers()?) > known)
    }

    pub(super) fn look_for_readers(&mut self) -> Result<Txnid, BoxedError> {
        self.is_used = true;
        let oldest = self.environment.oldest_reader(self.txnid)?;
        debug_assert!(oldest < self.txnid, "readers are older than the writer");
        if self.oldest.is_none_or(|known| known < oldest) {
            self.taken.begin_at(oldest);
        }
        self.oldest = Some(oldest);
        Ok(oldest)
    }

    pub(super) fn settle_pool(&mut self) -> Result<(), BoxedError> {
        if self.pool.settle() {
            Ok(())
        } else {
            Err(listed_twice(self.free.record.root).into())
        }
    }

    /// Collects free pages for saving the free list. Saving takes some itself but must not read the
    /// list meanwhile.
    pub(super) fn prepare_saving(&mut self) -> Result<(), BoxedError> {
        debug_assert!(!self.saving, "saving begins once");
        self.is_used = true;
        let enough = 8 + 4 * usize::from(self.free.record.depth);
        loop {
            let missing = enough.saturating_sub(self.pool.len() + self.loose.len());
            if self.reclaim_records(missing)? >= missing || !self.ask_readers()? {
                break;
            }
        }
        self.saving = true;
        self.settle_pool()
    }

    /// Collects free pages for copies of `count` pages of the free list's tree. Returns `false` if
    /// there are fewer and the readers must be asked first.
    pub(super) fn prepare_touching(&mut self, count: usize) -> Result<bool, BoxedError> {
        debug_assert!(count > 0 && !self.saving);
        let missing = count.saturating_sub(self.pool.len() + self.loose.len());
        if missing == 0 || self.reclaim_records(missing)? >= missing {
            return Ok(true);
        }
        Ok(self.environment.reader_policy().is_none())
    }

    /// Refuses pages from the free list that include the root of the list itself. Other pages in
    /// use are noticed when they are touched.
    pub(super) fn check_reclaimed(&self, first: Pgno, count: u64) -> Result<(), BoxedError> {
        debug_assert!(count > 0, "a run has pages");
        debug_assert!(
            first >= Pgno::FIRST_DATA,
            "the free list names no meta page"
        );
        let in_use = |pgno: Pgno| first <= pgno && pgno.0 < first.0 + count;
        if in_use(self.free.record.root) && !self.free.record.root.is_none() {
            let what = Malformed::FreeRecord("a page in use is listed as free");
            return Err(Error::Corrupted {
                page: self.free.record.root,
                what,
            }
            .into());
        }
        Ok(())
    }

    /// Makes room for the pages of a usual small transaction, at its first page. So lists and
    /// tables do not grow in steps.
    fn reserve_lists(&mut self) {
        self.dirty.reserve(USUAL_PAGES);
        self.reclaimed.reserve(USUAL_PAGES);
        self.freed.reserve(USUAL_PAGES);
        self.pool.reserve(2 * USUAL_PAGES);
    }

    /// Takes a page for the copy of another. Mostly it is the next one of the pool.
    #[inline(always)]
    pub(super) fn allocate_page(&mut self) -> Result<Pgno, BoxedError> {
        let takes_next = self.has_buffers
            && self.loose.is_empty()
            && self.reserved_free == 0
            && self.pool.len() > self.reserved_for_record();
        match self.pool.next().filter(|_| takes_next) {
            Some(next) if next != self.free.record.root => {
                self.is_used = true;
                self.pool.take(1);
                self.reclaimed.insert(next);
                Ok(next)
            }
            _ => self.allocate_pages(1),
        }
    }

    pub(super) fn allocate_pages(&mut self, count: u64) -> Result<Pgno, BoxedError> {
        debug_assert!(count > 0, "a run has pages");
        self.is_used = true;
        if !self.has_buffers {
            self.has_buffers = true;
            let page_size = self.page_size();
            self.dirty.take_buffers(page_size);
            self.reserve_lists();
        }
        if count == 1
            && let Some(pgno) = self.loose.pop()
        {
            if !self.outer.is_empty() && !self.is_private(pgno) {
                self.reclaimed.insert(pgno);
            }
            return Ok(pgno);
        }
        loop {
            if let Some(first) = self.reclaim(count)? {
                self.check_reclaimed(first, count)?;
                if count == 1 {
                    self.reclaimed.insert(first);
                } else {
                    self.reclaimed.extend((first.0..first.0 + count).map(Pgno));
                }
                return Ok(first);
            }
            if !self.consult_policy()? {
                break;
            }
        }
        let first = Pgno(self.last.0 + 1);
        let Some(last) = self.last.0.checked_add(count) else {
            return Err(Error::MapFull(u64::MAX).into());
        };
        self.environment.make_room(self.last, last, self.stores)?;
        self.last = Pgno(last);
        debug_assert!(first > self.base_last, "fresh pages are private");
        Ok(first)
    }

    /// The transaction stores something from now on.
    #[inline]
    pub(crate) fn will_store(&mut self) {
        if !self.stores {
            self.begin_storing();
        }
    }

    #[inline(never)]
    fn begin_storing(&mut self) {
        if self.uses_reserve {
            return;
        }
        self.stores = true;
        self.is_used = true;
        let missing = self.environment.keep_room(self.last);
        debug_assert!(
            missing <= RESERVE_PAGES,
            "the reserve is all that can be missing"
        );
        self.reserved_free = usize::try_from(missing).unwrap_or(usize::MAX);
    }

    /// The transaction may use the reserve from now on, although it stores something.
    pub(crate) fn use_reserve(&mut self) {
        self.uses_reserve = true;
        self.is_used = true;
        self.stores = false;
        self.reserved_free = 0;
    }
}
