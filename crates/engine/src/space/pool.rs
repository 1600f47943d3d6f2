//! Free pages, sorted so that runs can be found.

use super::page_order::sort_descending;
use crate::hash::PgnoTable;
use crate::memory::empty;
use alloc::vec::Vec;
use core::num::NonZeroUsize;

use fulgurite_format::Pgno;

/// Free pages, taken from the lowest number up.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    /// Descending once settled, so that the lowest is cheap to take.
    pages: Vec<Pgno>,
    /// True if pages were added since the last settling.
    unsettled: bool,
    /// No run of this length or longer is in the pool; known from the last search.
    no_run_of: Option<u64>,
}

impl Pool {
    /// Returns true if nothing was put into it, nor sought in it.
    #[inline]
    pub(crate) fn is_unused(&self) -> bool {
        self.pages.is_empty() && !self.unsettled && self.no_run_of.is_none()
    }

    /// Makes room for a number of pages.
    pub(crate) fn reserve(&mut self, pages: usize) {
        self.pages.reserve(pages);
    }

    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }

    /// The pages, descending.
    pub(crate) fn pages(&self) -> &[Pgno] {
        debug_assert!(!self.unsettled);
        &self.pages
    }

    /// Returns the page that is taken next, if the pool is settled.
    #[inline]
    pub(crate) fn next(&self) -> Option<Pgno> {
        self.pages.last().copied().filter(|_| !self.unsettled)
    }

    pub(crate) fn contains(&self, pgno: Pgno) -> bool {
        self.pages()
            .binary_search_by(|other| pgno.cmp(other))
            .is_ok()
    }

    /// Adds pages, to be brought into order by [`Pool::settle`]. Pages that fit between two pages
    /// of the pool are inserted there, and the pool stays in order.
    pub(crate) fn add(&mut self, more: impl Iterator<Item = Pgno>) {
        let known = self.pages.len();
        self.pages.extend(more);
        if self.pages.len() == known {
            return;
        }
        self.no_run_of = None;
        self.unsettled = self.unsettled || !self.put_in_place(known);
        debug_assert!(self.unsettled || self.pages.first() >= self.pages.last());
    }

    /// Moves the pages from `known` on to their place, if they fit between two others. The others
    /// are in order.
    fn put_in_place(&mut self, known: usize) -> bool {
        debug_assert!(known <= self.pages.len());
        let Some((old, new)) = self.pages.split_at_mut_checked(known) else {
            return false;
        };
        if !new.is_sorted_by(|a, b| a > b) {
            sort_descending(new);
        }
        let (Some(high), Some(low)) = (new.first(), new.last()) else {
            return true;
        };
        let place = old.partition_point(|pgno| pgno > high);
        let is_apart = old.get(place).is_none_or(|next| next < low);
        if !is_apart || !new.is_sorted_by(|a, b| a > b) {
            return false;
        }
        let count = new.len();
        if let Some(tail) = self.pages.get_mut(place..) {
            tail.rotate_right(count);
        }
        true
    }

    /// Brings added pages into order; `false` if a page is there twice. Pages that were added in
    /// order merge fast.
    #[must_use]
    pub(crate) fn settle(&mut self) -> bool {
        if !self.unsettled {
            return true;
        }
        sort_descending(&mut self.pages);
        let distinct = self.pages.is_sorted_by(|a, b| a > b);
        self.unsettled = !distinct;
        debug_assert!(
            self.pages.first() >= self.pages.last(),
            "the lowest page is last"
        );
        distinct
    }

    /// Drops the pages behind `last`, and those among `gone`. Costs a search for each of `gone`
    /// where none of them is there.
    pub(crate) fn drop_pages(&mut self, last: Pgno, gone: &PgnoTable) {
        if !self.unsettled {
            let behind = self.pages.partition_point(|pgno| *pgno > last);
            let behind = behind.min(self.pages.len());
            self.pages.rotate_left(behind);
            self.pages.truncate(self.pages.len() - behind);
            if !gone.iter().any(|pgno| self.contains(*pgno)) {
                return;
            }
        }
        self.pages
            .retain(|pgno| *pgno <= last && !gone.contains(pgno));
    }

    /// Takes `count` consecutive pages, if there are such. The pool is settled.
    pub(crate) fn take(&mut self, count: u64) -> Option<Pgno> {
        debug_assert!(count > 0, "a run has pages");
        debug_assert!(!self.unsettled);
        if count == 1 {
            return self.pages.pop();
        }
        if self.no_run_of.is_some_and(|known| count >= known) {
            return None;
        }
        let width = NonZeroUsize::new(usize::try_from(count).ok()?)?;
        let found =
            self.pages
                .windows(width.get())
                .rposition(|run| match (run.first(), run.last()) {
                    (Some(high), Some(low)) => high.0 - low.0 == count - 1,
                    _ => false,
                });
        let Some(start) = found else {
            self.no_run_of = Some(count);
            return None;
        };
        self.take_run(start, width.get())
    }

    /// Takes the pages of a run out; returns the first one, which is the last in the list.
    fn take_run(&mut self, start: usize, width: usize) -> Option<Pgno> {
        let first = self.pages.get(start + width - 1).copied();
        let behind = self.pages.get_mut(start..)?;
        if width <= behind.len() {
            behind.rotate_left(width);
        }
        self.pages.truncate(self.pages.len() - width);
        first
    }

    /// How many of the pages are not behind `mark`. The pool is settled.
    pub(crate) fn count_to(&self, mark: Pgno) -> usize {
        let behind = self.pages().partition_point(|pgno| *pgno > mark);
        self.pages.len() - behind
    }

    /// Takes the highest `count` consecutive pages up to `mark`, if there are such. The lowest are
    /// left for single pages. The pool is settled.
    pub(crate) fn take_up_to(&mut self, count: u64, mark: Pgno) -> Option<Pgno> {
        debug_assert!(count > 0, "a run has pages");
        debug_assert!(!self.unsettled, "runs are found in order only");
        if count == 1 {
            return self.pages.pop_if(|lowest| *lowest <= mark);
        }
        let width = NonZeroUsize::new(usize::try_from(count).ok()?)?;
        let behind = self.pages().partition_point(|pgno| *pgno > mark);
        let low = self.pages.get(behind..)?;
        let is_run = |run: &[Pgno]| match (run.first(), run.last()) {
            (Some(high), Some(low)) => high.0 - low.0 == count - 1,
            _ => false,
        };
        let start = behind + low.windows(width.get()).position(is_run)?;
        self.take_run(start, width.get())
    }

    /// Takes the lowest `count` consecutive pages that end before `limit`, if there are such. The
    /// pool is settled.
    pub(crate) fn take_before(&mut self, count: u64, limit: Pgno) -> Option<Pgno> {
        debug_assert!(count > 0, "a run has pages");
        let found = self.take(count)?;
        if found.0 + count <= limit.0 {
            return Some(found);
        }
        self.add((found.0..found.0 + count).map(Pgno));
        let is_sound = self.settle();
        debug_assert!(is_sound, "they were there once");
        None
    }

    /// Empties the pool, and keeps room for that many pages.
    pub(crate) fn clear(&mut self, capacity: usize) {
        empty(&mut self.pages, capacity);
        self.unsettled = false;
        self.no_run_of = None;
    }

    /// Empties the pool.
    pub(crate) fn drain(&mut self) -> Vec<Pgno> {
        self.unsettled = false;
        self.no_run_of = None;
        core::mem::take(&mut self.pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool_of(numbers: &[u64]) -> Pool {
        let mut pool = Pool::default();
        pool.add(numbers.iter().copied().map(Pgno));
        assert!(pool.settle());
        pool
    }

    #[test]
    fn single_pages_come_from_the_lowest_up() {
        let mut pool = pool_of(&[9, 4, 30, 2]);
        let taken: Vec<_> = std::iter::from_fn(|| pool.take(1)).collect();
        assert_eq!(taken, [2, 4, 9, 30].map(Pgno));
    }

    #[test]
    fn the_lowest_run_that_fits_is_taken_whole() {
        let mut pool = pool_of(&[20, 21, 22, 23, 5, 6, 8, 9, 10]);
        assert_eq!(pool.take(3), Some(Pgno(8)));
        assert_eq!(pool.take(5), None);
        assert_eq!(pool.take(4), Some(Pgno(20)));
        assert_eq!(pool.pages(), [Pgno(6), Pgno(5)]);
    }

    #[test]
    fn runs_up_to_a_mark_leave_the_lowest_pages_alone() {
        let mut pool = pool_of(&[2, 3, 7, 8, 9, 12, 13, 14, 15]);
        assert_eq!(pool.count_to(Pgno(9)), 5);
        assert_eq!(pool.take_up_to(2, Pgno(12)), Some(Pgno(8)));
        assert_eq!(pool.take_up_to(3, Pgno(12)), None);
        assert_eq!(pool.take_up_to(3, Pgno(14)), Some(Pgno(12)));
        assert_eq!(pool.pages(), [15, 7, 3, 2].map(Pgno));
        assert_eq!(pool.take_before(2, Pgno(3)), None);
        assert_eq!(pool.take_before(2, Pgno(4)), Some(Pgno(2)));
        pool.add([Pgno(2), Pgno(3)].into_iter());
        assert!(pool.settle());
        assert_eq!(pool.take_up_to(1, Pgno(1)), None);
        assert_eq!(pool.take_up_to(1, Pgno(9)), Some(Pgno(2)));
    }

    #[test]
    fn a_failed_search_is_remembered_until_pages_come() {
        let mut pool = pool_of(&[3, 5]);
        assert_eq!(pool.take(2), None);
        pool.add([Pgno(4)].into_iter());
        assert!(pool.settle());
        assert_eq!(pool.take(3), Some(Pgno(3)));
    }

    #[test]
    fn a_page_that_is_there_twice_is_noticed() {
        let mut pool = pool_of(&[3, 5]);
        pool.add([Pgno(7), Pgno(5)].into_iter());
        assert!(!pool.settle());
        assert!(!pool.settle(), "and stays noticed");
    }

    fn table_of(numbers: &[u64]) -> PgnoTable {
        let mut table = PgnoTable::default();
        table.extend(numbers.iter().copied().map(Pgno));
        table
    }

    #[test]
    fn pages_can_be_dropped() {
        for more in [&[4][..], &[4, 9]] {
            let mut pool = pool_of(&[3, 5, 8, 12, 13]);
            pool.add(more.iter().copied().map(Pgno));
            pool.drop_pages(Pgno(9), &table_of(&[7, 2]));
            pool.drop_pages(Pgno(8), &table_of(&[5]));
            assert!(pool.settle());
            assert_eq!(pool.pages(), [Pgno(8), Pgno(4), Pgno(3)]);
        }
    }

    #[test]
    fn pages_added_at_one_place_keep_the_pool_sorted() {
        let mut pool = pool_of(&[3, 9, 20]);
        for more in [&[1, 2][..], &[6, 4, 5], &[30], &[]] {
            pool.add(more.iter().copied().map(Pgno));
            assert!(!pool.unsettled);
        }
        assert_eq!(pool.pages(), [30, 20, 9, 6, 5, 4, 3, 2, 1].map(Pgno));
        pool.add([Pgno(25), Pgno(7)].into_iter());
        assert!(pool.unsettled && pool.settle());
        for twice in [&[Pgno(7)][..], &[Pgno(8), Pgno(8)], &[Pgno(40), Pgno(30)]] {
            let mut pool = pool_of(&[3, 7, 20, 30]);
            pool.add(twice.iter().copied());
            assert!(!pool.settle());
        }
    }
}
