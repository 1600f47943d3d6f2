//! Locks between the threads of a process, on futexes. There is no poison: a panic ends the
//! process.

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use rustix::thread::futex;

pub use super::once::{Once, OnceLock};

/// The result of taking a lock: always the guard.
pub type LockResult<T> = Result<T, PoisonError<T>>;

/// A lock whose holder panicked; never made.
#[derive(Debug)]
pub struct PoisonError<T>(T);

impl<T> PoisonError<T> {
    /// Returns the guard.
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// Why a lock was not taken at once.
#[derive(Debug)]
pub enum TryLockError<T> {
    /// Never so.
    Poisoned(PoisonError<T>),
    /// Another thread has it.
    WouldBlock,
}

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Taken, and a thread may sleep until it is free.
const AWAITED: u32 = 2;

/// A value that one thread uses at a time.
pub struct Mutex<T: ?Sized> {
    word: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the value moves with the mutex, and a guard gives it to one thread at a time.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: a guard gives the value to one thread at a time.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// Returns a free mutex with this value.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex {
            word: AtomicU32::new(FREE),
            value: UnsafeCell::new(value),
        }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock.
    /// # Errors
    /// None.
    #[inline]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        if !self.take() {
            wait_for(&self.word);
        }
        Ok(MutexGuard::of(self))
    }

    /// Takes the lock if it is free.
    /// # Errors
    /// [`TryLockError::WouldBlock`] if it is not.
    #[inline]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError<MutexGuard<'_, T>>> {
        if self.take() {
            Ok(MutexGuard::of(self))
        } else {
            Err(TryLockError::WouldBlock)
        }
    }

    /// Returns the value of a mutex that no other thread can have.
    /// # Errors
    /// None.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        Ok(self.value.get_mut())
    }

    #[inline]
    fn take(&self) -> bool {
        self.word
            .compare_exchange(FREE, TAKEN, Acquire, Relaxed)
            .is_ok()
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mutex")
    }
}

/// Sleeps until the lock is free, and takes it.
#[cold]
fn wait_for(word: &AtomicU32) {
    while word.swap(AWAITED, Acquire) != FREE {
        // An error means that the word has changed, or that a signal came: both end in a new look.
        let _ = futex::wait(word, futex::Flags::PRIVATE, AWAITED, None);
    }
}

#[cold]
fn wake(word: &AtomicU32, threads: u32) {
    let _ = futex::wake(word, futex::Flags::PRIVATE, threads);
}

/// The value of a mutex, held by this thread.
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    /// The thread that took it gives it back.
    thread: PhantomData<*const ()>,
}

// SAFETY: a shared guard lends the value only, which may be shared.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T: ?Sized> MutexGuard<'_, T> {
    #[inline]
    const fn of(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        MutexGuard {
            mutex,
            thread: PhantomData,
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this thread holds the lock while the guard lives.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread holds the lock while the guard lives, and the guard is borrowed for
        // changes.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MutexGuard")
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.mutex.word.swap(FREE, Release) == AWAITED {
            wake(&self.mutex.word, 1);
        }
    }
}

/// Lets threads sleep until another one tells them of a change.
#[derive(Debug, Default)]
pub struct Condvar(AtomicU32);

impl Condvar {
    /// Returns one that nobody waits for.
    pub const fn new() -> Condvar {
        Condvar(AtomicU32::new(0))
    }

    /// Gives the lock back, sleeps until another thread notifies it, and takes the lock again. May
    /// end early.
    /// # Errors
    /// None.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let seen = self.0.load(Relaxed);
        let mutex = guard.mutex;
        drop(guard);
        let _ = futex::wait(&self.0, futex::Flags::PRIVATE, seen, None);
        mutex.lock()
    }

    /// Tells all.
    pub fn notify_all(&self) {
        self.0.fetch_add(1, Relaxed);
        wake(&self.0, i32::MAX.cast_unsigned());
    }
}
