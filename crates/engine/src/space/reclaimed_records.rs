//! The records of the free list that a transaction has taken. It looks for the next one from the
//! newest down.
//!
//! A transaction frees about as many pages as it needs. So the newest reusable record is mostly
//! enough for it, and is short. Old records may be long, if a reader held back the pages of many
//! transactions. Taking one of those means writing back its rest each time.
//!
//! ```text
//!   ids    1 ........... 400 ........ 700 ..... 900      committed
//!          not looked at | taken      | hole    | taken  may not be reused
//!                        low       high         next ->
//! ```
//!
//! A hole comes to be where a reader ends meanwhile. The writer looks at it before the records
//! below `low`, unless a newer hole follows.

use alloc::vec::Vec;
use fulgurite_format::Txnid;

/// The records that were taken, by the ids of the transactions that freed their pages.
#[derive(Debug, Default)]
pub(super) struct ReclaimedRecords {
    ids: Vec<Txnid>,
    /// The next record is below this one, if any was looked for.
    next: Option<Txnid>,
    /// From the lowest to the highest record that was taken before an older reader was found to
    /// have ended.
    before: Option<(Txnid, Txnid)>,
    /// There are no more records, of those below that id.
    all_below: Option<Txnid>,
}

impl ReclaimedRecords {
    /// Forgets them all, and keeps room for that many.
    pub(super) fn clear(&mut self, capacity: usize) {
        crate::memory::empty(&mut self.ids, capacity);
        self.next = None;
        self.before = None;
        self.all_below = None;
    }

    /// Returns true if nothing was taken, nor looked for.
    #[inline]
    pub(super) fn is_unused(&self) -> bool {
        self.ids.is_empty()
            && self.next.is_none()
            && self.before.is_none()
            && self.all_below.is_none()
    }

    /// The records, in the order in which they were taken.
    pub(super) fn ids(&self) -> &[Txnid] {
        &self.ids
    }

    pub(super) fn newest(&self) -> Option<Txnid> {
        self.ids.iter().max().copied()
    }

    /// Notes that there are no more records, of those below `oldest`.
    pub(super) const fn note_all(&mut self, oldest: Txnid) {
        self.all_below = Some(oldest);
    }

    /// Returns true if there are no more records, of those below `oldest`.
    pub(super) fn are_all(&self, oldest: Txnid) -> bool {
        self.all_below == Some(oldest)
    }

    /// Below which id the next record is, where those below `oldest` may be reused.
    pub(super) fn next(&self, oldest: Txnid) -> Txnid {
        debug_assert!(self.next.is_none_or(|next| next <= oldest));
        self.next.unwrap_or(oldest)
    }

    /// From here on those below `oldest` may be reused, more than before.
    pub(super) fn begin_at(&mut self, oldest: Txnid) {
        debug_assert!(
            self.next.is_none_or(|next| next <= oldest),
            "the bound of reusable records only rises"
        );
        self.next = Some(oldest);
        let lowest = self.ids.iter().min().copied();
        self.before = lowest.zip(self.newest());
    }

    /// Returns where to look instead of at this record, the next below. Returns `None` unless the
    /// record was taken before.
    pub(super) fn skip(&mut self, id: Txnid) -> Option<Txnid> {
        debug_assert!(self.before.is_none_or(|(low, high)| low <= high));
        let (low, _) = self
            .before
            .take_if(|(low, high)| *low <= id && id <= *high)?;
        self.next = Some(low);
        Some(low)
    }

    /// Notes a record as taken.
    pub(super) fn push(&mut self, id: Txnid) {
        debug_assert!(self.ids.last() != Some(&id), "a record is taken once");
        self.ids.push(id);
        self.next = Some(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes that many of these records, as [`super::super::WriterPages`] does.
    fn take(taken: &mut ReclaimedRecords, records: &[u64], oldest: u64, count: usize) {
        for _ in 0..count {
            let mut below = taken.next(Txnid(oldest));
            let found = loop {
                let found = records.iter().rev().find(|id| **id < below.0);
                match found.and_then(|id| taken.skip(Txnid(*id))) {
                    Some(next) => below = next,
                    None => break found,
                }
            };
            let Some(id) = found else { return };
            taken.push(Txnid(*id));
        }
    }

    #[test]
    fn the_newest_are_taken_first_and_none_twice() {
        let records = [1, 4, 5, 7, 9, 12, 13, 20];
        let mut taken = ReclaimedRecords::default();
        assert_eq!((taken.newest(), taken.next(Txnid(8))), (None, Txnid(8)));
        take(&mut taken, &records, 8, 2);
        assert_eq!(taken.ids(), [7, 5].map(Txnid));
        taken.begin_at(Txnid(13));
        take(&mut taken, &records, 13, 3);
        assert_eq!(taken.ids(), [7, 5, 12, 9, 4].map(Txnid));
        assert_eq!(taken.newest(), Some(Txnid(12)));
        taken.begin_at(Txnid(21));
        take(&mut taken, &records, 21, 1);
        taken.begin_at(Txnid(22));
        take(&mut taken, &records, 22, 9);
        assert_eq!(taken.ids(), [7, 5, 12, 9, 4, 20, 1].map(Txnid));
        taken.note_all(Txnid(22));
        assert!(taken.are_all(Txnid(22)) && !taken.are_all(Txnid(23)));
        taken.clear(4);
        assert!(!taken.are_all(Txnid(22)) && taken.is_unused());
        taken.note_all(Txnid(22));
        assert!(!taken.is_unused(), "the next transaction may find more");
        assert!(taken.ids().is_empty() && taken.next(Txnid(3)) == Txnid(3));
    }
}
