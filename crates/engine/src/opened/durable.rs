//! Makes data durable, and handles failures of that.
//!
//! After a failed flush it is unknown what reached the disk, and a second flush proves nothing. The
//! system may have forgotten the unwritten pages, and reports success the second time. So a failed
//! flush is the last one: this process writes no more to the environment, and reads on. Once all
//! its handles are closed, the environment can be opened again. The failed transaction wrote only
//! to pages that no snapshot uses; the next writer overwrites them.
//!
//! ```text
//!   flush of pages fails      nothing is committed; flush_failed: no writing any more
//!   meta page fails           the old page is put back, as durably:
//!      and that succeeds         nothing is committed; flush_failed
//!      and that fails too        the outcome is unknown; failed: no use any more. If the file has the
//!                                new page, the next writers build on it, so that no page that it
//!                                reaches is overwritten
//! ```

use core::sync::atomic::Ordering;
use fulgurite_os::platform::io;
use fulgurite_os::platform::sync::{MutexGuard, PoisonError};
use fulgurite_os::platform::time::Instant;

use fulgurite_format::{META_PAGES, Meta, Txnid};

use super::shared::Shared;
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::reader::SlotTable as _;

/// A meta page that takes the place of another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MetaReplacement<'m> {
    /// Where.
    pub(crate) page: u64,
    pub(crate) new: &'m Meta,
    /// The current contents, put back if the new page cannot be written.
    pub(crate) old: &'m Meta,
    /// True if it is durable on return.
    pub(crate) durable: bool,
    /// True if the flush of a writable map is waited for.
    pub(crate) waits: bool,
}

impl Shared {
    /// Writes back the system's dirty pages of the data file.
    pub(super) fn flush(&self, wait: bool) -> Result<(), BoxedError> {
        let flushed = self.try_flush(wait);
        #[cfg(feature = "std")]
        if flushed.is_err()
            && let Some(checkpoints) = &self.checkpoints
        {
            checkpoints.distrust();
        }
        flushed
    }

    fn try_flush(&self, wait: bool) -> Result<(), BoxedError> {
        let _one_at_a_time = self.flushing();
        // Another thread's flush may have failed. It may have lost our pages, and this flush would
        // not notice.
        self.check_writable()?;
        let mapping = self.mapping();
        let begun = Instant::now();
        let flushed = if mapping.map().is_writable() {
            let len = usize::try_from(self.size.bytes()).unwrap_or(usize::MAX);
            mapping.flush_map(0, len, wait)
        } else {
            mapping.file().sync()
        };
        self.flush_times.add(begun.elapsed());
        flushed.map_err(|source| {
            self.flush_failed.store(true, Ordering::SeqCst);
            Error::io("making the data file durable")(source)
        })
    }

    /// Writes a meta page. If that fails the old one is there again, or the environment is marked
    /// as failed.
    pub(super) fn replace_meta(&self, replacement: MetaReplacement<'_>) -> Result<(), BoxedError> {
        let _one_at_a_time = self.flushing();
        self.check_writable()?;
        let begun = replacement.durable.then(Instant::now);
        let put = self.put_meta(&replacement, replacement.new);
        if let Some(begun) = begun {
            self.flush_times.add(begun.elapsed());
        }
        let Err(error) = put else {
            return Ok(());
        };
        self.flush_failed.store(true, Ordering::SeqCst);
        if self.put_back(&replacement).is_err() {
            self.failed.store(true, Ordering::SeqCst);
            self.adopt_unknown(&replacement);
        }
        Err(error)
    }

    /// Puts the old page back. The old id is written first, alone. While the page has the newest
    /// id, it must describe the new snapshot, even if the power fails in between.
    fn put_back(&self, replacement: &MetaReplacement<'_>) -> Result<(), BoxedError> {
        let MetaReplacement { new, old, .. } = *replacement;
        if old.txnid < new.txnid {
            let demoted = Meta {
                txnid: old.txnid,
                ..*new
            };
            self.put_meta(replacement, &demoted)?;
        }
        self.put_meta(replacement, old)
    }

    fn put_meta(&self, replacement: &MetaReplacement<'_>, meta: &Meta) -> Result<(), BoxedError> {
        let mapping = self.mapping();
        let (page, page_size) = (replacement.page, mapping.page_size());
        let written = if mapping.map().is_writable() {
            mapping.store_commit(meta, page)?;
            // Was it stored where others see it?
            self.check_maps()?;
            match replacement.durable {
                true => mapping.flush_map(page as usize * page_size, page_size, replacement.waits),
                false => Ok(()),
            }
        } else {
            let at = page * page_size as u64 + Meta::COMMIT_AT as u64;
            let bytes = meta.to_commit_bytes();
            mapping.file().write_meta(at, &bytes, replacement.durable)
        };
        written
            .map_err(|source: io::Error| Error::Io {
                doing: "writing a meta page",
                source,
            })
            .map_err(BoxedError::from)
    }

    /// The new page may be on the disk, or not. A process that takes it for written overwrites no
    /// page that either meta page reaches.
    fn adopt_unknown(&self, replacement: &MetaReplacement<'_>) {
        let Some(lock) = &self.lock else { return };
        let (mapping, new) = (self.mapping(), replacement.new);
        // Not when a snapshot is being abandoned: there the old page is the newer one.
        if new.txnid < replacement.old.txnid {
            return;
        }
        if mapping.map().is_writable() {
            let _ = mapping.store_commit(new, replacement.page);
        }
        let stands = mapping.read_meta(replacement.page);
        if stands.is_ok_and(|found| found.to_commit_bytes() == new.to_commit_bytes()) {
            lock.store_last_txnid(new.txnid);
        }
    }

    /// Makes the abandoned snapshot unreachable before any of its pages is overwritten; only for
    /// the writer. Its meta page becomes an older one with the trees of the restored snapshot.
    ///
    /// The id is written first, alone. While the page has the newest id, it must describe that
    /// transaction's snapshot, even if the power fails in between. A commit has it the other way
    /// round.
    #[cold]
    pub(super) fn abandon_newer(&self) -> Result<(), BoxedError> {
        let base = self.committed_meta()?;
        let older = Meta {
            txnid: Txnid(base.txnid.0.saturating_sub(1)),
            ..base
        };
        let page = (base.txnid.0 + 1) % META_PAGES;
        let newer = self.mapping().read_meta(page)?;
        let demoted = Meta {
            txnid: older.txnid,
            ..newer
        };
        for new in [&demoted, &older] {
            self.replace_meta(MetaReplacement {
                page,
                new,
                // If either fails nothing has been abandoned: the caller that goes back again must
                // find the same snapshot.
                old: &newer,
                durable: true,
                waits: true,
            })?;
        }
        self.abandoned.store(false, Ordering::SeqCst);
        Ok(())
    }

    fn flushing(&self) -> MutexGuard<'_, ()> {
        self.flushing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
