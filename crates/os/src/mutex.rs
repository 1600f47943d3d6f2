//! Robust, process-shared mutexes: glibc's own, in the lock file, shared with every other user of
//! the format.

use crate::platform::io;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::seam::{self, Call, FileRole};

/// The error number of a mutex whose owner died and whose successor gave up.
pub const NOT_RECOVERABLE: i32 = libc::ENOTRECOVERABLE;

/// Where in a mutex of glibc's its kind is.
const KIND_AT: Option<usize> = if cfg!(all(target_env = "gnu", target_pointer_width = "64")) {
    Some(16)
} else {
    None
};
/// Shared by processes, robust or not.
const KINDS: [u32; 2] = [0x90, 0x80];

/// How a lock was got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockOutcome {
    /// The last holder gave it back.
    Clean,
    /// The last holder died with it. Repair the guarded data, then call
    /// [`SharedMutex::mark_consistent`].
    OwnerDied,
}

/// A mutex that is in a [`crate::SharedMap`].
#[derive(Debug, Clone, Copy)]
pub struct SharedMutex<'map> {
    raw: NonNull<libc::pthread_mutex_t>,
    map: PhantomData<&'map ()>,
}

impl<'map> SharedMutex<'map> {
    pub(crate) fn new(raw: NonNull<libc::pthread_mutex_t>) -> SharedMutex<'map> {
        SharedMutex {
            raw,
            map: PhantomData,
        }
    }

    /// Makes the mutex anew over any bytes.
    ///
    /// # Safety
    /// No thread of any process holds the mutex, waits for it or takes it meanwhile.
    /// # Errors
    /// The system's.
    pub unsafe fn initialise(self) -> io::Result<()> {
        seam::ask(FileRole::Lock, Call::MutexMake)?;
        let mut attributes = MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
        // SAFETY: `attributes` has room for the attributes, which the call writes.
        check(unsafe { libc::pthread_mutexattr_init(attributes.as_mut_ptr()) })?;
        // SAFETY: `pthread_mutexattr_init` has initialised the attributes.
        let shared = check(unsafe {
            libc::pthread_mutexattr_setpshared(
                attributes.as_mut_ptr(),
                libc::PTHREAD_PROCESS_SHARED,
            )
        });
        // SAFETY: `pthread_mutexattr_init` has initialised the attributes.
        let robust = check(unsafe {
            libc::pthread_mutexattr_setrobust(attributes.as_mut_ptr(), libc::PTHREAD_MUTEX_ROBUST)
        });
        let made = shared.and(robust).and_then(|()| {
            // SAFETY: the mutex is in a live mapping and `attributes` is initialised. By the
            // contract of this function no thread uses the mutex.
            check(unsafe { libc::pthread_mutex_init(self.raw.as_ptr(), attributes.as_ptr()) })
        });
        // SAFETY: `pthread_mutexattr_init` has initialised the attributes, and they are not used
        // again.
        unsafe { libc::pthread_mutexattr_destroy(attributes.as_mut_ptr()) };
        made
    }

    /// Returns true if the bytes are a mutex as [`SharedMutex::initialise`] and the original make
    /// them. The C library asserts much about a mutex of its other kinds, and ends the process if
    /// an assertion fails.
    #[inline]
    fn is_sound(self) -> bool {
        // The C library decides where the word is stored. For unknown libraries the check passes.
        let Some(at) = KIND_AT else {
            return true;
        };
        // SAFETY: the kind is a word inside the mutex, which is in a live mapping.
        let word = unsafe { self.raw.as_ptr().cast::<u8>().add(at) };
        // SAFETY: the word is aligned, because the mutex is, and it is in a live mapping. It is
        // read atomically.
        let kind = unsafe { AtomicU32::from_ptr(word.cast()) };
        KINDS.contains(&kind.load(Ordering::Relaxed))
    }

    /// Waits for the lock.
    /// # Errors
    /// `EINVAL` if there is no mutex. `ENOTRECOVERABLE` if an owner died and its successor gave up.
    /// Other system errors.
    #[inline(always)]
    pub fn lock(self) -> io::Result<LockOutcome> {
        if !self.is_sound() {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        seam::ask(FileRole::Lock, Call::MutexLock)?;
        // SAFETY: the mutex is in a live mapping, and `is_sound` has seen a kind that the C library
        // accepts.
        match unsafe { libc::pthread_mutex_lock(self.raw.as_ptr()) } {
            0 => Ok(LockOutcome::Clean),
            libc::EOWNERDEAD => Ok(LockOutcome::OwnerDied),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }

    /// As [`SharedMutex::lock`], but returns `None` instead of waiting for a holder.
    /// # Errors
    /// As [`SharedMutex::lock`].
    pub fn try_lock(self) -> io::Result<Option<LockOutcome>> {
        if !self.is_sound() {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        seam::ask(FileRole::Lock, Call::MutexLock)?;
        // SAFETY: the mutex is in a live mapping, and `is_sound` has seen a kind that the C library
        // accepts.
        match unsafe { libc::pthread_mutex_trylock(self.raw.as_ptr()) } {
            0 => Ok(Some(LockOutcome::Clean)),
            libc::EOWNERDEAD => Ok(Some(LockOutcome::OwnerDied)),
            libc::EBUSY => Ok(None),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }

    /// Returns true if the last holder ended with the lock, and no thread has taken it since.
    #[must_use]
    pub fn is_owner_dead(self) -> bool {
        // The kernel marks the first word of glibc's mutex when its owner ends (the robust futexes
        // of futex(2)).
        let word = self.raw.cast::<AtomicU32>();
        // SAFETY: the mutex is in a live mapping, and its first word is only ever used atomically.
        unsafe { word.as_ref() }.load(Ordering::Acquire) & libc::FUTEX_OWNER_DIED != 0
    }

    /// Declares the guarded data repaired after [`LockOutcome::OwnerDied`].
    /// # Errors
    /// The system's.
    pub fn mark_consistent(self) -> io::Result<()> {
        seam::ask(FileRole::Lock, Call::MutexRepair)?;
        // SAFETY: the mutex is glibc's, in a live mapping, and this thread holds it.
        check(unsafe { libc::pthread_mutex_consistent(self.raw.as_ptr()) })
    }

    /// Gives the lock back; must be called by the thread that took it.
    #[inline]
    pub fn unlock(self) {
        // SAFETY: the mutex is in a live mapping. Unlocking a mutex that this thread does not hold
        // only returns an error.
        unsafe { libc::pthread_mutex_unlock(self.raw.as_ptr()) };
    }
}

fn check(code: libc::c_int) -> io::Result<()> {
    match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}
