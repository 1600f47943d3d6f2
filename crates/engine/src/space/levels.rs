//! Levels: nested transactions, from the point of view of pages.
//!
//! ```text
//!   snapshot        pages up to its last               never changed: copied by the transaction
//!   transaction     its private pages                  never changed while a level lasts: copied by the level
//!     level 1       pages taken since it began         never changed while a deeper level lasts
//!       level 2     pages taken since it began         changed in place
//! ```
//!
//! A level is to the transaction around it as a transaction is to its snapshot. A page is private
//! only if the innermost level took it. Any other page is copied before it is changed, and the
//! level lists it as freed. So pages outside the level never change, in memory or in the file.
//! Undoing a level forgets the pages that it took. Committing it frees the pages that it listed.
//! There is no second kind of page, and pages of a level are written early like all others.

use crate::hash::PgnoTable;
use alloc::vec::Vec;
use fulgurite_format::Pgno;

use super::free_records::listed_twice;
use super::outer::OuterLevel;
use super::page_order::sort_ascending;
use super::writer_pages::WriterPages;
use crate::boxed_error::BoxedError;

/// Lists of page numbers are kept for the next level up to that capacity.
const RETAINED_MAX: usize = 1 << 10;

impl WriterPages<'_> {
    /// Begins a level: from now on all pages in use count as belonging to a snapshot.
    pub(crate) fn begin_level(&mut self) {
        self.is_used = true;
        let (reclaimed, freed) = self.unused_level.take().unwrap_or_default();
        self.outer.push(OuterLevel {
            base_last: core::mem::replace(&mut self.base_last, self.last),
            reclaimed: core::mem::replace(&mut self.reclaimed, reclaimed),
            freed: core::mem::replace(&mut self.freed, freed),
        });
    }

    /// Makes the changes of the innermost level part of its surroundings.
    pub(crate) fn commit_level(&mut self) -> Result<(), BoxedError> {
        let Some(outer) = self.outer.pop() else {
            return Ok(());
        };
        debug_assert!(
            outer.base_last <= self.base_last,
            "levels begin one after the other"
        );
        self.base_last = outer.base_last;
        let mut taken = core::mem::replace(&mut self.reclaimed, outer.reclaimed);
        self.reclaimed.extend(taken.drain());
        let mut own = core::mem::replace(&mut self.freed, outer.freed);
        own.retain(|pgno| {
            let is_own = *pgno > self.base_last || self.reclaimed.contains(pgno);
            if !is_own {
                self.freed.push(*pgno);
            }
            is_own
        });
        sort_ascending(&mut own);
        if own.windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
            return Err(listed_twice(self.free.record.root).into());
        }
        let mut left = &*own;
        while !left.is_empty() {
            let follows = |pair: &[Pgno]| matches!(pair, [a, b] if b.0 == a.0 + 1);
            let len = 1 + left.windows(2).take_while(|pair| follows(pair)).count();
            let (run, others) = left.split_at_checked(len).unwrap_or((left, &[]));
            left = others;
            self.forget(run.iter().copied());
            match run {
                [page] => self.loose.push(*page),
                run => self.pool.add(run.iter().copied()),
            }
        }
        self.keep_for_levels(taken, own);
        Ok(())
    }

    /// Keeps memory for the next level.
    fn keep_for_levels(&mut self, mut taken: PgnoTable, mut freed: Vec<Pgno>) {
        if taken.capacity() <= RETAINED_MAX && freed.capacity() <= RETAINED_MAX {
            taken.clear();
            freed.clear();
            self.unused_level = Some((taken, freed));
        }
    }

    /// Undoes the changes of the innermost level. Pages that it read from the free list stay in the
    /// pool for later use.
    pub(crate) fn abort_level(&mut self) {
        let Some(outer) = self.outer.pop() else {
            return;
        };
        debug_assert!(
            outer.base_last <= self.base_last,
            "levels begin one after the other"
        );
        let last = core::mem::replace(&mut self.last, self.base_last);
        self.forget((self.last.0 + 1..=last.0).map(Pgno));
        self.base_last = outer.base_last;
        let freed = core::mem::replace(&mut self.freed, outer.freed);
        let taken = core::mem::replace(&mut self.reclaimed, outer.reclaimed);
        self.forget(taken.iter().copied());
        // Pages that the level took and gave up again must not be there twice.
        let last = self.last;
        self.loose
            .retain(|pgno| *pgno <= last && !taken.contains(pgno));
        self.pool.drop_pages(last, &taken);
        let back = taken.iter().copied().filter(|pgno| *pgno <= self.last);
        self.pool.add(back);
        debug_assert!(self.base_last <= self.last);
        self.keep_for_levels(taken, freed);
    }

    /// Drops the buffers of pages, without writing them.
    fn forget(&mut self, pages: impl Iterator<Item = Pgno>) {
        let page_size = self.page_size();
        for pgno in pages {
            self.dirty.remove(pgno, page_size);
        }
    }
}
