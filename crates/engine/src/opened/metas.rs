//! Reading meta pages that a committing process may be writing.

use alloc::vec::Vec;
use fulgurite_format::{META_PAGES, Meta, Pgno, Txnid};

use super::Mapping;
use crate::Error;
use crate::boxed_error::BoxedError;

impl Mapping {
    /// The meta page that transaction `id` wrote, or `None` if another is there.
    ///
    /// A reader may meet a page that is being written. It must rule that out before it believes the
    /// answer, even an error.
    #[inline]
    pub(crate) fn meta_of(&self, id: Txnid) -> Result<Option<Meta>, BoxedError> {
        let pgno = id.0 % META_PAGES;
        let meta = self.read_meta(pgno)?;
        if meta.txnid != id {
            return Ok(None);
        }
        self.check_meta(pgno, &meta)?;
        Ok(Some(meta))
    }

    /// The newer of the two meta pages.
    pub(crate) fn newest_meta(&self) -> Result<Meta, BoxedError> {
        let (first, second) = (self.read_meta(0)?, self.read_meta(1)?);
        let (pgno, meta) = if second.txnid > first.txnid {
            (1, second)
        } else {
            (0, first)
        };
        self.check_meta(pgno, &meta)?;
        Ok(meta)
    }

    /// The older of the two meta pages: the one before the last commit, if there was one.
    pub(crate) fn older_meta(&self) -> Result<Meta, BoxedError> {
        let (first, second) = (self.read_meta(0)?, self.read_meta(1)?);
        let (pgno, meta) = if second.txnid > first.txnid {
            (0, first)
        } else {
            (1, second)
        };
        self.check_meta(pgno, &meta)?;
        Ok(meta)
    }

    /// Writes the part of a meta page that a commit changes to a writable map.
    pub(crate) fn store_commit(&self, meta: &Meta, pgno: u64) -> Result<(), BoxedError> {
        let bytes = meta.to_commit_bytes();
        let (words, _) = bytes.as_chunks();
        let words: Vec<u64> = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        // The id is the last word, because it makes the page the newest.
        self.store_meta(pgno, Meta::COMMIT_AT, &words)
    }

    /// One meta page as it is.
    #[inline]
    pub(crate) fn read_meta(&self, pgno: u64) -> Result<Meta, BoxedError> {
        let mut bytes = [0; Meta::LEN];
        self.copy_meta(pgno, &mut bytes)?;
        Meta::read(&bytes)
            .map_err(|_| Error::Corrupted {
                page: Pgno(pgno),
                what: fulgurite_format::Malformed::Kind {
                    found: 0,
                    wanted: "a meta page",
                },
            })
            .map_err(BoxedError::from)
    }

    #[inline]
    fn check_meta(&self, pgno: u64, meta: &Meta) -> Result<(), BoxedError> {
        if meta.page_size() != self.page_size() {
            let what = fulgurite_format::Malformed::TreeRecord;
            return Err(Error::Corrupted {
                page: Pgno(pgno),
                what,
            }
            .into());
        }
        meta.check().map_err(Error::at(Pgno(pgno)))
    }
}
