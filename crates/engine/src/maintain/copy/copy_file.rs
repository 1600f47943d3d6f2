//! The file of a copy. It becomes an environment only after everything else in it is durable.
//!
//! ```text
//!   other pages              written as they come -> synced
//!   the newer meta page      withheld in memory ----------> written, synced
//!   the older meta page      withheld in memory ------------------> written, synced -> directory synced
//! ```
//!
//! So after a power loss an incomplete copy has a meta page missing or zero, and opening it fails.
//! With the meta pages written first, it could look complete and have pages of zeros. With both
//! written together, the older one could be there without the newer.

use alloc::vec::Vec;
use fulgurite_os::platform::io;
use fulgurite_os::platform::io::Write;
use fulgurite_os::platform::path::Path;

use fulgurite_format::{META_PAGES, Meta, Txnid};
use fulgurite_os::{Access, DataFile, File, FileRole, Map};

use super::sink::CopySink;
use crate::boxed_error::BoxedError;
use crate::opened::directory_of;
use crate::{Environment, Error};

/// A new file that receives a copy from its beginning on.
pub(super) struct CopyFile<'p> {
    path: &'p Path,
    file: DataFile,
    /// The meta pages, as far as they have come.
    head: Vec<u8>,
    head_len: usize,
    /// The offset of the next byte.
    at: u64,
    /// Called before each write.
    watch: &'p mut dyn FnMut(u64) -> io::Result<()>,
}

impl<'p> CopyFile<'p> {
    /// Makes the file, which must not exist.
    pub(super) fn create(
        path: &'p Path,
        environment: &Environment,
        watch: &'p mut dyn FnMut(u64) -> io::Result<()>,
    ) -> Result<CopyFile<'p>, BoxedError> {
        let pages = File::open(FileRole::Copy, path, Access::MakeNew)
            .map_err(Error::io("making the file of the copy"))?;
        let mapping = environment.handle().mapping();
        let head_len = META_PAGES as usize * mapping.page_size();
        Ok(CopyFile {
            path,
            file: DataFile::new(pages, None, mapping.file().copy_observer()),
            head: Vec::with_capacity(head_len),
            head_len,
            at: 0,
            watch,
        })
    }

    /// Makes the pages durable, then writes the meta pages, then makes them durable.
    pub(super) fn finish(self) -> Result<(), BoxedError> {
        self.write_metas()
            .map_err(Error::io("making the copy durable"))
    }

    fn write_metas(&self) -> io::Result<()> {
        self.file.sync()?;
        let page_size = self.head_len / META_PAGES as usize;
        let mut pages: Vec<(usize, &[u8])> =
            self.head.chunks(page_size.max(1)).enumerate().collect();
        let txnid = |page: &[u8]| Meta::read(page).map_or(Txnid(0), |meta| meta.txnid);
        if pages.is_sorted_by(|(_, a), (_, b)| txnid(a) < txnid(b)) {
            pages.reverse();
        }
        for (pgno, page) in pages {
            self.file.write_at((pgno * page_size) as u64, page)?;
            self.file.sync()?;
        }
        self.file.sync_directory(directory_of(self.path))
    }
}

impl Write for CopyFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.watch)(self.at)?;
        let withheld = bytes.len().min(self.head_len - self.head.len());
        let (head, rest) = bytes.split_at_checked(withheld).unwrap_or_default();
        self.head.extend_from_slice(head);
        self.at += head.len() as u64;
        if !rest.is_empty() {
            self.file.write_at(self.at, rest)?;
            self.at += rest.len() as u64;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl CopySink for CopyFile<'_> {
    fn copy_range(&mut self, map: &Map, from: usize, len: usize) -> io::Result<usize> {
        if self.head.len() < self.head_len {
            return Ok(0);
        }
        (self.watch)(self.at)?;
        let carried = self.file.copy_range_at(self.at, map, from, len)?;
        self.at += carried as u64;
        Ok(carried)
    }
}
