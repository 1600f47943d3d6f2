//! The free pages of a snapshot, by the transaction that freed them. Some are reusable; readers
//! hold back the others.

use alloc::vec::Vec;
use fulgurite_format::Txnid;

use super::Sealed as _;
use crate::space::each_record;
use crate::tree::Pages as _;
use crate::{Database, Error, ReadTxn, Reader};

/// The free list of a snapshot, without the numbers of its pages; see [`ReadTxn::free_pages`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreePages {
    records: Vec<(Txnid, u64)>,
    snapshot: Txnid,
}

/// Pages that cannot be used again because of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeldPages {
    /// Pages that it holds back, alone or with others. The transaction of its snapshot and all
    /// later ones but the newest freed them.
    pub held: u64,
    /// Pages that could be reused if only this reader ended. There are none unless it has the
    /// oldest snapshot of all.
    pub freed_by_its_end: u64,
}

impl FreePages {
    /// Returns the transactions that freed pages, in their order, with the number of their pages
    /// that are still free. The number is that of the record. A writer that uses some of the pages
    /// may list the rest under another transaction whose pages it used too.
    #[must_use]
    pub fn records(&self) -> &[(Txnid, u64)] {
        &self.records
    }

    /// All free pages.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.sum(Txnid(0), Txnid(u64::MAX))
    }

    /// Returns the pages that the next write transaction can use, if no reader has an older
    /// snapshot than `oldest`. The pages that the newest transaction freed are not among them. A
    /// crash may lead back to the snapshot before it.
    #[must_use]
    pub fn reusable(&self, oldest: Option<Txnid>) -> u64 {
        let limit = oldest.map_or(self.snapshot, |oldest| oldest.min(self.snapshot));
        debug_assert!(
            limit <= self.snapshot,
            "the newest transaction's pages are kept"
        );
        self.sum(Txnid(0), limit)
    }

    /// Returns the pages that each of these readers holds back, in their order.
    #[must_use]
    pub fn held_by(&self, readers: &[Reader]) -> Vec<HeldPages> {
        let held_by = |(index, reader): (usize, &Reader)| {
            let Some(own) = reader.snapshot else {
                return HeldPages::default();
            };
            let others = readers.iter().enumerate().filter(|(at, _)| *at != index);
            let oldest_other = others.filter_map(|(_, other)| other.snapshot).min();
            let limit = oldest_other.map_or(self.snapshot, |id| id.min(self.snapshot));
            let held = self.sum(own, self.snapshot);
            let freed_by_its_end = self.sum(own, limit);
            debug_assert!(freed_by_its_end <= held, "only held pages become free");
            HeldPages {
                held,
                freed_by_its_end,
            }
        };
        readers.iter().enumerate().map(held_by).collect()
    }

    /// Pages of the records from `from` on up to, but not with, `to`.
    fn sum(&self, from: Txnid, to: Txnid) -> u64 {
        debug_assert!(self.records.is_sorted_by(|a, b| a.0 < b.0), "ids ascend");
        let within = self
            .records
            .iter()
            .filter(|(id, _)| from <= *id && *id < to);
        within.map(|(_, pages)| pages).sum()
    }
}

#[cfg(feature = "std")]
impl ReadTxn<'_> {
    /// Returns the number of free pages that transaction `from` and later ones have freed. Costs a
    /// look at each of their records.
    pub(crate) fn pages_freed_from(&self, from: Txnid) -> Result<u64, Error> {
        let free = self.tree(Database::FREE_LIST)?;
        let pages = self.pages();
        let mut total = 0u64;
        each_record(pages, &free, from, &mut |_, count| {
            total = total.saturating_add(count);
            pages.check_readable().is_ok()
        })?;
        pages.check_readable()?;
        Ok(total)
    }
}

impl ReadTxn<'_> {
    /// The free pages of the snapshot. Costs a look at each record of the free list. There is one
    /// for each transaction whose freed pages were not used again. Records of more than some 500
    /// pages cost one more page each.
    /// # Errors
    /// As [`crate::Snapshot::get`].
    pub fn free_pages(&self) -> Result<FreePages, Error> {
        let free = self.tree(Database::FREE_LIST)?;
        let pages = self.pages();
        let last = pages.last().0;
        let mut records = Vec::new();
        let mut total = 0u64;
        each_record(pages, &free, Txnid(0), &mut |id, count| {
            records.push((id, count));
            // Of more than there are some are listed twice: the sums are to stay numbers.
            total = total.saturating_add(count);
            total <= last && pages.check_readable().is_ok()
        })?;
        pages.check_readable()?;
        if total > last {
            let what = fulgurite_format::Malformed::FreeRecord("a page is listed twice");
            return Err(Error::at(free.record.root)(what).into());
        }
        debug_assert!(records.is_sorted_by(|a: &(Txnid, u64), b| a.0 < b.0));
        Ok(FreePages {
            records,
            snapshot: self.id(),
        })
    }
}
