//! The file of a copy: nothing in it says that it is an environment before everything else in it is durable.
//!
//! ```text
//!   other pages              written as they come -> synced
//!   the newer meta page      withheld in memory ----------> written, synced
//!   the older meta page      withheld in memory ---------------------------> written, synced -> directory synced
//! ```
//!
//! A copy that is cut off by a power loss is so no environment: one of its first pages is missing or zeros, and opening it
//! is refused. Had they been written first, it might look like a whole one with pages of zeros in it; had they been written
//! together, the older one might be there without the newer, whose place then says nothing.

use std::io::{self, Write};
use std::path::Path;

use fulgurite_format::{META_PAGES, Meta, Txnid};
use fulgurite_os::{Access, DataFile, File, FileRole, Map};

use super::outlet::Outlet;
use crate::env::directory_of;
use crate::{Environment, Error};

/// A new file that a copy is written to from its beginning on.
pub(super) struct Target<'p> {
    path: &'p Path,
    file: DataFile,
    /// The meta pages, as far as they have come.
    head: Vec<u8>,
    head_len: usize,
    /// Where the next octets go.
    at: u64,
    /// Told of each write before it is made.
    watch: &'p mut dyn FnMut(u64) -> io::Result<()>,
}

impl<'p> Target<'p> {
    /// Makes the file, which must not exist.
    pub(super) fn create(
        path: &'p Path,
        environment: &Environment,
        watch: &'p mut dyn FnMut(u64) -> io::Result<()>,
    ) -> Result<Target<'p>, Error> {
        let pages = File::open(FileRole::Copy, path, Access::MakeNew)
            .map_err(Error::io("making the file of the copy"))?;
        let mapping = environment.handle().mapping();
        let head_len = META_PAGES as usize * mapping.page_size();
        Ok(Target {
            path,
            file: DataFile::new(pages, None, mapping.file().copy_observer()),
            head: Vec::with_capacity(head_len),
            head_len,
            at: 0,
            watch,
        })
    }

    /// Makes the copy durable, then an environment, then that durable.
    pub(super) fn finish(self) -> Result<(), Error> {
        self.write_metas()
            .map_err(Error::io("making the copy durable"))
    }

    fn write_metas(&self) -> io::Result<()> {
        self.file.sync()?;
        let page_size = self.head_len / META_PAGES as usize;
        let mut pages: Vec<(usize, &[u8])> = self.head.chunks(page_size).enumerate().collect();
        let txnid = |page: &[u8]| Meta::read(page).map_or(Txnid(0), |meta| meta.txnid);
        pages.sort_by_key(|(_, page)| std::cmp::Reverse(txnid(page)));
        for (pgno, page) in pages {
            self.file.write_at((pgno * page_size) as u64, page)?;
            self.file.sync()?;
        }
        self.file.sync_directory(directory_of(self.path))
    }
}

impl Write for Target<'_> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        (self.watch)(self.at)?;
        let withheld = octets.len().min(self.head_len - self.head.len());
        let (head, rest) = octets.split_at(withheld);
        self.head.extend_from_slice(head);
        self.at += head.len() as u64;
        if !rest.is_empty() {
            self.file.write_at(self.at, rest)?;
            self.at += rest.len() as u64;
        }
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Outlet for Target<'_> {
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
