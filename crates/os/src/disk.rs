//! The data file's descriptors: positioned writes, flushes, growth, each reported to an observer if
//! there is one.

use crate::platform::io;
use crate::platform::path::Path;
use alloc::sync::Arc;
use core::fmt;

use crate::seam::Call;
use crate::{Access, File, FileRole, Map};

/// Sees every change of a data file in order, before it happens. A test rebuilds from it the state
/// after a power loss.
pub trait DiskObserver: Send + Sync {
    /// `bytes` are about to be written at `offset`; `synchronous` writes are durable when they
    /// return.
    fn write(&self, offset: u64, bytes: &[u8], synchronous: bool);
    /// All earlier writes are about to be made durable.
    fn sync(&self);
    /// The file is about to get this length in bytes.
    fn resize(&self, len: u64);
    /// `len` bytes from `offset` on are about to be given back to the file system: they read as
    /// zeros afterwards.
    fn punch(&self, offset: u64, len: u64) {
        let zeros = [0; 1 << 12];
        let mut done = 0;
        while done < len {
            let part = usize::try_from(len - done).unwrap_or(usize::MAX);
            let part = zeros.get(..part).unwrap_or(&zeros);
            self.write(offset + done, part, false);
            done += part.len() as u64;
        }
    }
    /// Words are about to be stored at `offset` through a writable map, one after the other.
    /// Changes of pages through the map are not reported. An observer that needs them reads the
    /// file, which shows them at once.
    fn store(&self, offset: u64, words: &[u64]) {
        let _ = (offset, words);
    }
    /// The bytes at `offset` are about to be flushed from a writable map; durable afterwards if
    /// `wait`.
    fn flush_map(&self, offset: u64, len: u64, wait: bool) {
        let _ = (offset, len, wait);
    }
    /// The file's name in its directory is about to be made durable.
    fn sync_directory(&self) {}
    /// A copy of the file is about to be made. Returns the observer of the copy's file.
    fn copy(&self) -> Option<Arc<dyn DiskObserver>> {
        None
    }
    /// The file that describes the checkpoint is opened. Returns its observer.
    fn checkpoint(&self) -> Option<Arc<dyn DiskObserver>> {
        None
    }
}

/// An open data file: one descriptor for pages and, in a writable environment, a synchronous one
/// for meta pages.
pub struct DataFile {
    pages: File,
    meta: Option<File>,
    observer: Option<Arc<dyn DiskObserver>>,
}

impl fmt::Debug for DataFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataFile")
            .field("pages", &self.pages)
            .field("meta", &self.meta)
            .finish_non_exhaustive()
    }
}

impl DataFile {
    /// Joins the descriptors. `meta` is open with synchronous writes, and missing if nothing may be
    /// written.
    #[must_use]
    pub fn new(
        pages: File,
        meta: Option<File>,
        observer: Option<Arc<dyn DiskObserver>>,
    ) -> DataFile {
        DataFile {
            pages,
            meta,
            observer,
        }
    }

    /// The descriptor of the pages.
    #[must_use]
    pub fn pages(&self) -> &File {
        &self.pages
    }

    /// Returns true if meta pages can be written, and so anything.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.meta.is_some()
    }

    /// Length of the file in bytes.
    /// # Errors
    /// The system's.
    pub fn len(&self) -> io::Result<u64> {
        self.pages.len()
    }

    /// Returns true if the file has no bytes.
    /// # Errors
    /// The system's.
    pub fn is_empty(&self) -> io::Result<bool> {
        self.pages.is_empty()
    }

    /// Reads at most `buffer.len()` bytes at `offset`, fewer only at the end of the file; returns
    /// how many.
    /// # Errors
    /// The system's.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.pages.read_at(offset, buffer)
    }

    /// Writes all of `bytes` at `offset`.
    /// # Errors
    /// The system's, a full disk among them.
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.report(|observer| observer.write(offset, bytes, false));
        self.pages.write_at(Call::Write, offset, bytes)
    }

    /// Writes bytes of another file's map at `offset`; see [`File::copy_range`]. Copies nothing if
    /// there is an observer, which must see every write.
    /// # Errors
    /// The system's, a full disk among them.
    pub fn copy_range_at(
        &self,
        offset: u64,
        map: &Map,
        from: usize,
        len: usize,
    ) -> io::Result<usize> {
        if self.observer.is_some() {
            return Ok(0);
        }
        self.pages.copy_range(Some(offset), map, from, len)
    }

    /// Returns how many bytes of the file's beginning [`File::copy_range`] may take from a map. The
    /// file system allocates no room for them.
    /// # Errors
    /// The system's.
    pub fn filled_len(&self) -> io::Result<u64> {
        self.pages.filled_len()
    }

    /// Writes `parts` one after the other from `offset` on, in as few calls as the system allows.
    /// # Errors
    /// The system's, a full disk among them.
    pub fn write_vectored_at(&self, offset: u64, parts: &[&[u8]]) -> io::Result<()> {
        self.report(|observer| {
            let mut at = offset;
            for part in parts {
                observer.write(at, part, false);
                at += part.len() as u64;
            }
        });
        self.pages.write_vectored_at(offset, parts)
    }

    /// Stores `bytes` at `offset` through a map of this file that [`Map::to_store`] made. Returns
    /// `false` if the caller must write them instead. Others see them at once, as if they had been
    /// written. The caller asks [`Map::is_lost`] before it relies on the store.
    ///
    /// # Safety
    /// The range is inside the file, and no other thread or process reads or writes it meanwhile.
    /// It belongs to pages private to the one writer's transaction.
    /// # Errors
    /// The error that a test injects.
    pub unsafe fn store_at(&self, map: &Map, offset: u64, bytes: &[u8]) -> io::Result<bool> {
        let Ok(at) = usize::try_from(offset) else {
            return Ok(false);
        };
        self.report(|observer| observer.write(offset, bytes, false));
        if self.pages.ask_to_store(bytes.len())? < bytes.len() {
            return Ok(false);
        }
        // SAFETY: by the contract of this function the range is inside the file. No other thread
        // or process uses it meanwhile.
        match unsafe { map.bytes_mut(at, bytes.len()) } {
            Some(room) => {
                room.copy_from_slice(bytes);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Returns the length of the file's beginning that has no holes, in bytes. A store there needs
    /// no new room on the disk, as a rule.
    /// # Errors
    /// The system's.
    pub fn solid_len(&self) -> io::Result<u64> {
        self.pages.solid_len()
    }

    /// Writes a piece of a meta page; durable on return if `synchronous` and the environment has
    /// the descriptor for it.
    /// # Errors
    /// The system's.
    pub fn write_meta(&self, offset: u64, bytes: &[u8], synchronous: bool) -> io::Result<()> {
        let file = match &self.meta {
            Some(meta) if synchronous => meta,
            _ => &self.pages,
        };
        self.report(|observer| observer.write(offset, bytes, synchronous));
        file.write_at(Call::WriteMeta, offset, bytes)
    }

    /// Makes all earlier writes durable.
    /// # Errors
    /// The system's; after one, the disk's contents are unknown.
    pub fn sync(&self) -> io::Result<()> {
        self.report(|observer| observer.sync());
        self.pages.sync_data()
    }

    /// Flushes `len` bytes at `offset` of a writable `map` of this file, rounded out to system
    /// pages. They are durable on return if `wait`.
    /// # Errors
    /// The system's.
    pub fn flush_map(&self, map: &Map, offset: usize, len: usize, wait: bool) -> io::Result<()> {
        self.report(|observer| observer.flush_map(offset as u64, len as u64, wait));
        map.flush(offset, len, wait)
    }

    /// Reports that words are about to be stored through a writable map.
    pub fn note_store(&self, offset: usize, words: &[u64]) {
        if let Some(observer) = &self.observer {
            observer.store(offset as u64, words);
        }
    }

    /// Makes the file's name in `directory` durable.
    /// # Errors
    /// The system's.
    pub fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.report(|observer| observer.sync_directory());
        File::open(FileRole::Directory, directory, Access::Read)?.sync_all()
    }

    /// Returns the observer for the file of a copy.
    #[must_use]
    pub fn copy_observer(&self) -> Option<Arc<dyn DiskObserver>> {
        self.observer.as_ref().and_then(|observer| observer.copy())
    }

    /// Takes room on the disk for `len` bytes from `offset` on. They may be behind the end of the
    /// file, whose length does not change. Returns `false` if the file system cannot do that.
    /// # Errors
    /// The system's, a full disk among them.
    pub fn allocate(&self, offset: u64, len: u64) -> io::Result<bool> {
        self.pages.allocate(offset, len)
    }

    /// Gives `len` bytes from `offset` on back to the file system, in a file of unchanged length.
    /// They read as zeros.
    /// # Errors
    /// The system's; above all where the file system has no holes.
    pub fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        self.report(|observer| observer.punch(offset, len));
        self.pages.punch(offset, len)
    }

    /// Makes the file at least `len` bytes long, and never shorter, the caller that else changes
    /// its length meanwhile.
    /// # Errors
    /// The system's, a full disk among them.
    pub fn grow_to(&self, len: u64) -> io::Result<()> {
        self.report(|observer| observer.resize(len));
        self.pages.grow_to(len)
    }

    /// Sets the file's length in bytes.
    /// # Errors
    /// The system's, a full disk among them.
    pub fn resize(&self, len: u64) -> io::Result<()> {
        self.report(|observer| observer.resize(len));
        self.pages.resize(len)
    }

    fn report(&self, what: impl FnOnce(&dyn DiskObserver)) {
        if let Some(observer) = &self.observer {
            what(observer.as_ref());
        }
    }
}
