//! The service of the writer's pages for compaction: low free pages as targets, and a free list
//! without its tail.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use fulgurite_format::{FreeRecord, Malformed, Pgno, Txnid, write_overflow_header};

use super::free_records::{record_at, rewrite_record, run_at};
use super::writer_pages::WriterPages;
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::reader::may_be_reused;
use crate::tree::{self, Pages, PagesMut, Path, Step};
use crate::value;

/// The free pages at the end of the file.
#[derive(Debug, Default)]
pub(crate) struct FreeTail {
    /// Number of last pages of the file that are on the free list.
    pub(crate) pages: u64,
    /// The records that name any of them.
    records: Vec<Txnid>,
}

impl WriterPages<'_> {
    /// Moves records of the free list to the pool. It stops when the pool has `wanted` pages up to
    /// `mark`, or `read_max` pages, or the list ends. Returns how many pages up to
    /// `mark` the pool has.
    pub(crate) fn gather_low(
        &mut self,
        mark: Pgno,
        wanted: usize,
        read_max: usize,
    ) -> Result<usize, BoxedError> {
        loop {
            self.settle_pool()?;
            let low = self.pool.count_to(mark);
            if low >= wanted || self.pool.len() >= read_max || !self.reclaim_record()? {
                return Ok(low);
            }
        }
    }

    /// Returns how many free pages up to `mark` the pool has.
    pub(crate) fn low_pages(&mut self, mark: Pgno) -> Result<usize, BoxedError> {
        self.settle_pool()?;
        Ok(self.pool.count_to(mark))
    }

    /// Returns the oldest snapshot that is read, as far as the transaction knows.
    pub(crate) fn oldest(&mut self) -> Result<Txnid, BoxedError> {
        match self.oldest {
            Some(oldest) => Ok(oldest),
            None => self.look_for_readers(),
        }
    }

    /// Lets the transaction be committed even if nothing else is changed.
    pub(crate) const fn force_commit(&mut self) {
        self.is_forced = true;
        self.is_used = true;
    }

    /// While this is on, nothing is read from the free list: its tree is being changed. Returns the
    /// old state.
    pub(crate) const fn hold_free_list(&mut self, hold: bool) -> bool {
        self.is_used = true;
        core::mem::replace(&mut self.saving, hold)
    }

    /// Moves an overflow run to free pages up to `mark`, or else to the first free pages before it.
    /// Returns `None` if there is no such run among the free pages. Reads at most `read_max` of
    /// them.
    pub(crate) fn move_run(
        &mut self,
        first: Pgno,
        count: u64,
        mark: Pgno,
        read_max: usize,
    ) -> Result<Option<Pgno>, BoxedError> {
        debug_assert!(count > 0 && first >= Pgno::FIRST_DATA);
        self.settle_pool()?;
        let mut found = self.pool.take_up_to(count, mark);
        if found.is_none() {
            self.gather_low(mark, usize::MAX, read_max)?;
            found = self.pool.take_up_to(count, mark);
        }
        if found.is_none() {
            found = self.pool.take_before(count, first);
        }
        let Some(own) = found else {
            return Ok(None);
        };
        self.check_reclaimed(own, count)?;
        self.reclaimed.extend((own.0..own.0 + count).map(Pgno));
        let len = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(self.page_size()))
            .ok_or(Error::BeyondEnd(first))?;
        let mut copy: Box<[u8]> = self.view().run(first, len)?.into();
        let pages = u32::try_from(count).map_err(|_| Error::BeyondEnd(first))?;
        write_overflow_header(&mut copy, own, pages);
        self.put_run(own, copy)?;
        self.release(first, count)?;
        Ok(Some(own))
    }

    /// Looks for the free pages at the end of the file, of the last `pages_max` pages. Reads every
    /// reusable record of the free list, each only as far as it lists such pages. Changes nothing.
    pub(crate) fn free_tail(&mut self, pages_max: u64) -> Result<FreeTail, BoxedError> {
        let oldest = self.oldest()?;
        let last = self.last;
        let from = Pgno(last.0.saturating_sub(pages_max).max(1) + 1);
        let mut is_free = vec![false; usize::try_from(last.0 + 1 - from.0).unwrap_or(0)];
        let mut records = Vec::new();
        let mut before = None;
        let free = self.free;
        let mut path = Path::new();
        let mut found = tree::first(self.view(), &free, &mut path)?;
        while let Some(leaf) = path.leaf().filter(|_| found) {
            let (id, record) = self.record_at(leaf)?;
            if !may_be_reused(id, oldest) {
                break;
            }
            if before.replace(id).is_some_and(|before| before >= id) {
                return Err(Error::at(leaf.pgno)(Malformed::KeyOrder));
            }
            let mut highest = None;
            for pgno in record.iter().take_while(|pgno| *pgno >= from) {
                highest = highest.or(Some(pgno));
                if let Some(mark) = is_free.get_mut((pgno.0 - from.0) as usize) {
                    *mark = true;
                }
            }
            records.extend(highest.map(|highest| (id, highest)));
            found = tree::next(self.view(), &free, &mut path)? != tree::LeafStep::AtEnd;
        }
        let pages = is_free.iter().rev().take_while(|free| **free).count() as u64;
        let records = records
            .into_iter()
            .filter(|(_, highest)| highest.0 + pages > last.0);
        Ok(FreeTail {
            pages,
            records: records.map(|(id, _)| id).collect(),
        })
    }

    /// Ends the file's pages before its free tail. They leave the free list, and the last page
    /// becomes a lower one. Nothing may have been changed before.
    pub(crate) fn cut(&mut self, tail: &FreeTail) -> Result<(), BoxedError> {
        debug_assert!(tail.pages < self.last.0, "the meta pages stay");
        debug_assert!(self.is_untouched(), "the tail is cut before any change");
        let last = Pgno(self.last.0 - tail.pages);
        self.last = last;
        self.base_last = last;
        self.is_forced = true;
        self.is_used = true;
        // The list's own pages are collected before it is changed, as when it is saved.
        let wanted = 8 + 2 * tail.records.len() + 4 * usize::from(self.free.record.depth);
        self.gather_low(last, wanted, wanted.saturating_mul(64))?;
        let held = self.hold_free_list(true);
        for id in &tail.records {
            if !self.taken.ids().contains(id) {
                self.keep_up_to(*id, last)?;
            }
        }
        self.hold_free_list(held);
        Ok(())
    }

    /// Strikes pages behind `last` from a record of the free list, and the record if it has no
    /// others.
    fn keep_up_to(&mut self, id: Txnid, last: Pgno) -> Result<(), BoxedError> {
        debug_assert!(self.saving, "nothing is read from the list meanwhile");
        let mut path = Path::new();
        let mut free = self.free;
        let key = id.0.to_ne_bytes();
        let found = tree::seek(self.view(), &free, &key, &mut path)?;
        let Some(leaf) = path.leaf().filter(|_| found) else {
            return Ok(());
        };
        let (_, record) = self.record_at(leaf)?;
        let kept: Vec<Pgno> = record.iter().filter(|pgno| *pgno <= last).collect();
        if !kept.is_empty() {
            return rewrite_record(self, id.0, &kept);
        }
        let run = run_at(self, &path)?;
        tree::touch_path(self, &mut free, &mut path)?;
        value::release_value(self, &mut free.record, run)?;
        tree::remove(self, &mut free, &mut path)?;
        self.free = free;
        Ok(())
    }

    /// A record of the free list.
    pub(crate) fn record_at(&self, leaf: Step) -> Result<(Txnid, FreeRecord<'_>), BoxedError> {
        record_at(self.view(), leaf, self.snapshot_last)
    }
}

/// Lets a leaf entry say where its overflow run is now; the leaf is private.
pub(crate) fn refer_to(
    pages: &mut WriterPages<'_>,
    leaf: Step,
    to: Pgno,
) -> Result<(), BoxedError> {
    let data = value::leaf_data(pages, leaf)?;
    match data.first_chunk_mut() {
        Some(word) => *word = to.0.to_le_bytes(),
        None => return Err(Error::at(leaf.pgno)(Malformed::Truncated)),
    }
    Ok(())
}
