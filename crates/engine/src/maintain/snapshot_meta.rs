//! The meta page of a pinned snapshot.

use alloc::vec::Vec;
use fulgurite_format::{META_PAGES, Meta, Pgno, Txnid};

use crate::boxed_error::BoxedError;
use crate::opened::Database;
use crate::tree::Pages as _;
use crate::txn::Sealed as _;
use crate::{Error, ReadTxn};

impl ReadTxn<'_> {
    /// Returns the two meta pages of a file that holds this snapshot alone.
    ///
    /// Each has the length of a page. One is the page that the snapshot was committed with. The
    /// other says the same with a transaction id that is lower by one.
    /// # Errors
    /// [`Error::Corrupted`] for a damaged meta page; [`Error::TransactionFailed`] when the
    /// transaction is reset.
    pub fn meta_pages(&self) -> Result<[Vec<u8>; 2], Error> {
        let meta = self.meta()?;
        let mut pages = [Vec::new(), Vec::new()];
        for (page, pgno) in pages.iter_mut().zip(0..) {
            *page = meta_for_page(&meta, pgno).to_page(Pgno(pgno));
        }
        Ok(pages)
    }

    /// Returns the last page that belongs to the snapshot, free pages included.
    #[must_use]
    pub fn last_page(&self) -> Pgno {
        self.pages().last()
    }

    /// Returns the contents of the meta page when the snapshot was pinned.
    pub(crate) fn meta(&self) -> Result<Meta, BoxedError> {
        // A younger transaction may have overwritten the page. Then the map size may be larger,
        // which does no harm; all other fields come from the pinned snapshot.
        let mapping = self.environment().mapping();
        let page = mapping.read_meta(self.id().0 % META_PAGES)?;
        Ok(Meta {
            free: self.tree(Database::FREE_LIST)?.record,
            main: self.tree(Database::MAIN)?.record,
            last: self.pages().last(),
            txnid: self.id(),
            ..page
        })
    }
}

/// Returns `meta` for meta page `pgno` of a file with one snapshot. On the page that the
/// transaction id does not select, the id is lower by one.
pub(super) fn meta_for_page(meta: &Meta, pgno: u64) -> Meta {
    let before = u64::from(pgno != meta.txnid.0 % META_PAGES);
    Meta {
        txnid: Txnid(meta.txnid.0.saturating_sub(before)),
        ..*meta
    }
}
