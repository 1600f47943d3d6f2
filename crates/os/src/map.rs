//! The data file's mapping: address space reserved once, up to a bound, so that the file grows
//! below live readers.
//!
//! ```text
//!   |<------------- reservation, never moved ------------->|
//!   |<--- file today --->|<--- becomes readable as the file grows --->|
//! ```

use crate::platform::io;
use core::ptr;
use core::ptr::NonNull;
use core::sync::atomic::AtomicU64;

use crate::word::{load_words, store_words};
use rustix::mm::{
    Advice, MapFlags, MprotectFlags, MsyncFlags, ProtFlags, madvise, mmap, mprotect, msync, munmap,
};

use crate::File;
use crate::bus_guard::Guard;
use crate::file::retried;
use crate::seam::{self, Call, FileRole};

/// The error number of [`Map::reserve_at`] when something is there already.
pub const ADDRESS_TAKEN: i32 = libc::EEXIST;

/// A shared mapping of a data file that may reach far behind the file's end.
///
/// No byte behind the end of the file may be touched. The system answers with a bus error, which
/// the guard turns into zeros. A borrower has to know the file's length.
#[derive(Debug)]
pub struct Map {
    base: NonNull<u8>,
    len: usize,
    /// Bytes behind `len` that belong to the mapping and are inaccessible.
    barrier: usize,
    writable: bool,
    /// True if the system was told to read nothing ahead.
    random: bool,
    guard: Option<Guard>,
}

// SAFETY: a `Map` owns its mapping until drop, and no thread has a special claim on it. Each borrow
// states why it may read or write.
unsafe impl Send for Map {}
// SAFETY: the methods of a `Map` only lend bytes, under contracts that exclude races. The fields
// never change after opening.
unsafe impl Sync for Map {}

impl Map {
    /// Reserves `len` bytes of address space over `file`, or as much as the process may have. It
    /// halves the wish down to `len_min` while the system refuses.
    /// # Errors
    /// The system's, when even `len_min` is refused.
    pub fn reserve(file: &File, len: usize, len_min: usize, writable: bool) -> io::Result<Map> {
        let mut wish = len.max(len_min);
        loop {
            match Self::over(file, wish, writable, None) {
                Ok(map) => return Ok(map),
                Err(_) if wish / 2 >= len_min && wish > len_min => wish = (wish / 2).max(len_min),
                Err(error) => return Err(error),
            }
        }
    }

    /// Reserves `len` bytes of address space over `file`, beginning at `address`.
    /// # Errors
    /// The system's; `EEXIST` if anything is there.
    pub fn reserve_at(file: &File, len: usize, writable: bool, address: usize) -> io::Result<Map> {
        let map = Self::over(file, len, writable, Some(address))?;
        if map.address() == address {
            Ok(map)
        } else {
            // Systems before Linux 4.17 take the address for a wish.
            Err(rustix::io::Errno::EXIST.into())
        }
    }

    fn over(file: &File, len: usize, writable: bool, address: Option<usize>) -> io::Result<Map> {
        let mut protection = ProtFlags::READ;
        if writable {
            protection |= ProtFlags::WRITE;
        }
        let mut flags = MapFlags::SHARED | MapFlags::NORESERVE;
        let mut at = ptr::null_mut();
        if let Some(address) = address {
            flags |= MapFlags::FIXED_NOREPLACE;
            at = ptr::without_provenance_mut(address);
        }
        seam::ask(file.role(), Call::Map)?;
        // SAFETY: the mapping replaces none, so it aliases nothing of ours.
        let base = unsafe { mmap(at, len, protection, flags, file, 0) }?;
        let base = NonNull::new(base.cast::<u8>())
            .ok_or_else(|| io::Error::other("mapping at address zero"))?;
        Ok(Map {
            base,
            len,
            barrier: 0,
            writable,
            random: false,
            guard: Guard::over(base, len, writable),
        })
    }

    /// Makes a second mapping of the first `len` bytes of `file`, or a little more. A writer stores
    /// pages through it instead of writing them. Forked children do not get it.
    ///
    /// An inaccessible page follows it. By that page [`crate::other_maps`] tells it from the map of
    /// a process that stores without asking for the file's length.
    /// # Errors
    /// The system's. `Unsupported` if guards are off, see [`crate::set_bus_guard`]: a full disk
    /// would end the process.
    pub fn to_store(file: &File, len: usize) -> io::Result<Map> {
        let barrier = crate::page_size();
        let len = usize::try_from(crate::whole_system_pages(len as u64))
            .map_err(|_| io::ErrorKind::InvalidInput)?;
        let whole = len
            .checked_add(barrier)
            .ok_or(io::ErrorKind::InvalidInput)?;
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        seam::ask(file.role(), Call::Map)?;
        // SAFETY: the mapping replaces none, so it aliases nothing of ours.
        let base = unsafe { mmap(ptr::null_mut(), whole, ProtFlags::empty(), flags, file, 0) }?;
        let base = NonNull::new(base.cast::<u8>())
            .ok_or_else(|| io::Error::other("mapping at address zero"))?;
        let map = Map {
            base,
            len,
            barrier,
            writable: true,
            random: false,
            guard: Guard::over(base, len, true),
        };
        if map.guard.is_none() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let usable = MprotectFlags::READ | MprotectFlags::WRITE;
        // SAFETY: the mapping was just made here, and nothing of it is lent yet.
        unsafe { mprotect(base.as_ptr().cast(), len, usable) }?;
        // SAFETY: the mapping was just made here, and the advice changes no contents.
        unsafe { madvise(base.as_ptr().cast(), whole, Advice::LinuxDontFork) }?;
        Ok(map)
    }

    /// Returns true if a touched page was missing in the file. Zeros replace it, and stores to it
    /// are lost. Never so without a guard, see [`crate::set_bus_guard`].
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.guard.as_ref().is_some_and(Guard::is_lost)
    }

    /// Where the mapping begins.
    #[must_use]
    pub fn address(&self) -> usize {
        self.base.addr().get()
    }

    /// Returns true if bytes can be borrowed for writing.
    #[must_use]
    pub const fn is_writable(&self) -> bool {
        self.writable
    }

    /// Returns true if the system reads ahead in sequential reads through it.
    #[must_use]
    pub const fn reads_ahead(&self) -> bool {
        !self.random
    }

    /// Reserved length in bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns true if nothing is reserved; never so.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Borrows `len` bytes at `offset`; `None` outside the reservation.
    ///
    /// # Safety
    /// The range is inside the file, and no byte of it changes while the borrow lives. It belongs
    /// to a page that a pinned snapshot reaches, or to the one writer's own transaction.
    #[must_use]
    #[inline]
    pub unsafe fn bytes(&self, offset: usize, len: usize) -> Option<&[u8]> {
        if offset.checked_add(len)? > self.len {
            return None;
        }
        // SAFETY: the check above keeps the range inside the reservation. By the contract of this
        // function it is inside the file and unchanged while borrowed.
        Some(unsafe { self.bytes_inside(offset, len) })
    }

    /// As [`Map::bytes`], of a range inside the reservation.
    ///
    /// # Safety
    /// The range is inside the reservation; otherwise as for [`Map::bytes`].
    #[must_use]
    #[inline(always)]
    pub unsafe fn bytes_inside(&self, offset: usize, len: usize) -> &[u8] {
        // SAFETY: by the contract of this function the range is inside the reservation.
        let at = unsafe { self.base.add(offset) };
        // SAFETY: by the contract of this function the range is inside the reservation and the
        // file, and unchanged while borrowed.
        unsafe { core::slice::from_raw_parts(at.as_ptr(), len) }
    }

    /// Borrows `len` bytes at `offset` for writing; `None` outside the reservation or in a
    /// read-only mapping.
    ///
    /// # Safety
    /// The range is inside the file, and no other thread or process reads or writes it while the
    /// borrow lives. It belongs to a page private to the one writer's transaction.
    #[must_use]
    #[expect(
        clippy::mut_from_ref,
        reason = "the promise of exclusivity is the caller's, per page, not per mapping"
    )]
    pub unsafe fn bytes_mut(&self, offset: usize, len: usize) -> Option<&mut [u8]> {
        if !self.writable || offset.checked_add(len)? > self.len {
            return None;
        }
        // SAFETY: the check above keeps the range inside the reservation.
        let at = unsafe { self.base.add(offset) };
        // SAFETY: the check above keeps the range inside the reservation. By the contract of this
        // function it is inside the file, and no other thread or process uses it.
        Some(unsafe { core::slice::from_raw_parts_mut(at.as_ptr(), len) })
    }

    /// Returns where `len` bytes at `offset` begin, for the system to read. No reference is made,
    /// so they may change meanwhile, or be missing. `None` outside the reservation.
    pub(crate) fn for_system(&self, offset: usize, len: usize) -> Option<NonNull<u8>> {
        if offset.checked_add(len)? > self.len {
            return None;
        }
        // SAFETY: the check above keeps the range inside the reservation.
        Some(unsafe { self.base.add(offset) })
    }

    /// Copies bytes that another process may be changing, word by word, as many as fill whole
    /// words. The caller must find out if they belong together.
    ///
    /// # Safety
    /// The range is inside the file, and no thread of this process holds a plain reference to it.
    /// # Errors
    /// `InvalidInput` when the range is unaligned or leaves the reservation.
    #[inline]
    pub unsafe fn copy_words(&self, offset: usize, bytes: &mut [u8]) -> io::Result<()> {
        let first = self.words(offset, bytes.len() / 8)?;
        let words = (0..bytes.len() / 8).map(|index| {
            // SAFETY: `words` has checked that all words are inside the reservation.
            let at = unsafe { first.add(index) };
            // SAFETY: `words` has checked the alignment and the bounds. By the contract of this
            // function the word is inside the file and accessed atomically only.
            unsafe { AtomicU64::from_ptr(at.as_ptr()) }
        });
        load_words(words, bytes);
        Ok(())
    }

    /// Stores words one after the other, so that the caller that sees the last one sees them all.
    ///
    /// # Safety
    /// The range is inside the file, and no thread of this process holds a plain reference to it.
    /// # Errors
    /// `InvalidInput` when the range is unaligned or leaves the reservation, or the mapping is
    /// read-only.
    pub unsafe fn store_words(&self, offset: usize, words: &[u64]) -> io::Result<()> {
        if !self.writable {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let first = self.words(offset, words.len())?;
        let places = (0..words.len()).map(|index| {
            // SAFETY: `words` has checked that all words are inside the reservation.
            let at = unsafe { first.add(index) };
            // SAFETY: `words` has checked the alignment and the bounds. By the contract of this
            // function the word is inside the file and accessed atomically only.
            unsafe { AtomicU64::from_ptr(at.as_ptr()) }
        });
        store_words(places, words);
        Ok(())
    }

    /// Where that many words begin.
    #[inline]
    fn words(&self, offset: usize, count: usize) -> io::Result<NonNull<u64>> {
        let end = count.checked_mul(8).and_then(|len| len.checked_add(offset));
        if !offset.is_multiple_of(8) || end.is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: the check above keeps the words inside the reservation.
        Ok(unsafe { self.base.add(offset) }.cast())
    }

    /// Tells the system that reads will be random, so that it reads no neighbours ahead.
    pub fn advise_random(&mut self) {
        self.random = true;
        if seam::ask(FileRole::Data, Call::Advise).is_err() {
            return;
        }
        // SAFETY: advice on our own mapping changes no contents.
        let _ = unsafe { madvise(self.base.as_ptr().cast(), self.len, Advice::Random) };
    }

    /// Flushes `len` bytes at `offset` (rounded out to system pages) to the file.
    /// # Errors
    /// The system's.
    pub fn flush(&self, offset: usize, len: usize, wait: bool) -> io::Result<()> {
        let start = offset & !(crate::page_size() - 1);
        let end = offset.saturating_add(len).min(self.len);
        let flags = if wait {
            MsyncFlags::SYNC
        } else {
            MsyncFlags::ASYNC
        };
        // SAFETY: `min` keeps the offset inside the reservation or at its end.
        let at = unsafe { self.base.add(start.min(self.len)) };
        retried(|| {
            seam::ask(FileRole::Data, Call::Flush)?;
            // SAFETY: the range is part of this mapping, and flushing changes no contents.
            Ok(unsafe { msync(at.as_ptr().cast(), end.saturating_sub(start), flags) }?)
        })
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        drop(self.guard.take());
        if seam::ask(FileRole::Data, Call::Unmap).is_err() {
            return;
        }
        // SAFETY: this value owns the mapping of that length. Borrows of it end before `self` does.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.len + self.barrier) };
    }
}
