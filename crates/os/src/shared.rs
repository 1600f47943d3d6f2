//! The lock file's mapping: words that several processes change at once.

use crate::platform::io;
use core::ptr;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, AtomicU64};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::bus_guard::Guard;
use crate::seam::{self, Call};
use crate::{File, FileRole, SharedMutex};

/// A shared, writable mapping of a small file. Only atomics and process-shared mutexes are ever
/// lent from it.
///
/// Callers ask for aligned offsets inside the mapping. For any other offset they get spare words,
/// which no file has. So a fault of this program reaches no other process, and needs no panic.
#[derive(Debug)]
pub struct SharedMap {
    base: NonNull<u8>,
    len: usize,
    guard: Option<Guard>,
}

// SAFETY: the mapping lives until drop, and it may be unmapped from any thread.
unsafe impl Send for SharedMap {}
// SAFETY: the mapping is shared memory that lives until drop, and every access to it is atomic. No
// method returns a plain reference to the bytes.
unsafe impl Sync for SharedMap {}

impl SharedMap {
    /// Maps the first `len` bytes of `file`, which must be that long.
    /// # Errors
    /// The system's.
    pub fn new(file: &File, len: usize) -> io::Result<SharedMap> {
        let flags = ProtFlags::READ | ProtFlags::WRITE;
        seam::ask(file.role(), Call::Map)?;
        // SAFETY: a fresh mapping at an address of the kernel's choice aliases nothing of ours.
        let base = unsafe { mmap(ptr::null_mut(), len, flags, MapFlags::SHARED, file, 0) }?;
        let base = NonNull::new(base.cast::<u8>())
            .ok_or_else(|| io::Error::other("mapping at address zero"))?;
        Ok(SharedMap {
            base,
            len,
            guard: Guard::over(base, len, true),
        })
    }

    /// Returns true if a touched page was missing in the file. No other process sees stores to it.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.guard.as_ref().is_some_and(Guard::is_lost)
    }

    /// Length in bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the mapping is empty; it never is.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The 32-bit word at `offset`.
    #[must_use]
    #[inline(always)]
    pub fn word32(&self, offset: usize) -> &AtomicU32 {
        let at = self.checked(offset, 4, 4).cast::<u32>();
        // SAFETY: `checked` has verified bounds and alignment, and the mapping lives as long as
        // `self`. This process accesses it atomically only.
        unsafe { AtomicU32::from_ptr(at.as_ptr()) }
    }

    /// The 64-bit word at `offset`.
    #[must_use]
    #[inline(always)]
    pub fn word64(&self, offset: usize) -> &AtomicU64 {
        let at = self.checked(offset, 8, 8).cast::<u64>();
        // SAFETY: `checked` has verified bounds and alignment, and the mapping lives as long as
        // `self`. This process accesses it atomically only.
        unsafe { AtomicU64::from_ptr(at.as_ptr()) }
    }

    /// `N` 64-bit words from `offset` on.
    #[must_use]
    #[inline(always)]
    pub fn words<const N: usize>(&self, offset: usize) -> &[AtomicU64; N] {
        const { assert!(N <= SPARE.len(), "the spare words suffice") };
        let at = self.checked(offset, 8 * N, 8).cast::<[AtomicU64; N]>();
        // SAFETY: `checked` has verified bounds and alignment, and the mapping lives as long as
        // `self`. The words are atomics, so that other processes may change them.
        unsafe { at.as_ref() }
    }

    /// The process-shared mutex at `offset`.
    #[must_use]
    #[inline]
    pub fn mutex(&self, offset: usize) -> SharedMutex<'_> {
        let at = self.checked(offset, size_of::<libc::pthread_mutex_t>(), 8);
        SharedMutex::new(at.cast())
    }

    #[inline(always)]
    fn checked(&self, offset: usize, len: usize, align: usize) -> NonNull<u8> {
        debug_assert!(len <= size_of_val(&SPARE), "the spare words suffice");
        let is_inside = offset.checked_add(len).is_some_and(|end| end <= self.len);
        if !is_inside || !offset.is_multiple_of(align) {
            return spare();
        }
        // SAFETY: `is_inside` keeps the range inside the mapping.
        unsafe { self.base.add(offset) }
    }
}

/// The words for offsets that are not in a mapping.
static SPARE: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

#[cold]
#[inline(never)]
fn spare() -> NonNull<u8> {
    debug_assert!(
        false,
        "a shared word is unaligned or lies outside the lock file"
    );
    NonNull::from(&SPARE).cast()
}

impl Drop for SharedMap {
    fn drop(&mut self) {
        drop(self.guard.take());
        if seam::ask(FileRole::Lock, Call::Unmap).is_err() {
            return;
        }
        // SAFETY: this value owns the mapping of that length. Borrows of it end before `self` does.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.len) };
    }
}
