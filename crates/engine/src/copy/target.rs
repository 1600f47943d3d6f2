//! The file of a copy: nothing in it says that it is an environment before everything else in it is durable.
//!
//! ```text
//!   meta pages    withheld in memory   ------------------------------>  written, synced  -> directory synced
//!   other pages   written as they come  ->  synced once they are all there
//! ```
//!
//! A copy that is cut off by a power loss is so no environment: its first pages are missing or zeros, and opening it is
//! refused. Had they been written first, it might look like a whole one with pages of zeros in it.

use std::io::{self, Write};
use std::path::Path;

use fulgurite_format::META_PAGES;
use fulgurite_os::{Access, DataFile, File, FileRole};

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
}

impl<'p> Target<'p> {
    /// Makes the file, which must not exist.
    pub(super) fn create(path: &'p Path, environment: &Environment) -> Result<Target<'p>, Error> {
        let pages = File::open(FileRole::Copy, path, Access::MakeNew)
            .map_err(Error::io("making the file of the copy"))?;
        let mapping = environment.mapping();
        let head_len = META_PAGES as usize * mapping.page_size();
        Ok(Target {
            path,
            file: DataFile::new(pages, None, mapping.file().copy_observer()),
            head: Vec::with_capacity(head_len),
            head_len,
            at: 0,
        })
    }

    /// Makes the copy durable, then an environment, then that durable.
    pub(super) fn finish(self) -> Result<(), Error> {
        self.file
            .sync()
            .and_then(|()| self.file.write_at(0, &self.head))
            .and_then(|()| self.file.sync())
            .and_then(|()| self.file.sync_directory(directory_of(self.path)))
            .map_err(Error::io("making the copy durable"))
    }
}

impl Write for Target<'_> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
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
