//! Work that is done once, and values that are set once.

use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::sync::Mutex;

/// Runs its work in the first call only.
#[derive(Debug)]
pub struct Once(OnceLock<()>);

impl Once {
    /// Returns one that has not run.
    #[expect(clippy::new_without_default, reason = "as the standard library's")]
    pub const fn new() -> Once {
        Once(OnceLock::new())
    }

    /// Runs `work` if nothing has run yet; waits for a thread that runs it.
    #[inline]
    pub fn call_once(&self, work: impl FnOnce()) {
        self.0.get_or_init(work);
    }
}

/// A value that is set once, and then shared.
pub struct OnceLock<T> {
    is_set: AtomicU8,
    setting: Mutex<()>,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value moves with its owner.
unsafe impl<T: Send> Send for OnceLock<T> {}
// SAFETY: one thread sets the value, under a lock, and all others only borrow it afterwards. Any of
// them may be the one that drops it.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// Returns one without a value.
    #[expect(clippy::new_without_default, reason = "as the standard library's")]
    pub const fn new() -> OnceLock<T> {
        OnceLock {
            is_set: AtomicU8::new(0),
            setting: Mutex::new(()),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Returns the value if it is set.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        if self.is_set.load(Acquire) == 0 {
            return None;
        }
        // SAFETY: the value was written before the mark, and is never changed again.
        let value = unsafe { &*self.value.get() };
        // SAFETY: as above.
        Some(unsafe { value.assume_init_ref() })
    }

    /// Sets the value, unless there is one.
    /// # Errors
    /// The value given, if there is one already.
    pub fn set(&self, value: T) -> Result<(), T> {
        let held = self.setting.lock();
        if self.is_set.load(Relaxed) != 0 {
            return Err(value);
        }
        // SAFETY: this thread holds the lock, and nobody has a reference before the mark is set.
        unsafe { (*self.value.get()).write(value) };
        self.is_set.store(1, Release);
        drop(held);
        Ok(())
    }

    /// Returns the value, and makes it before if there is none.
    #[inline]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        match self.get() {
            Some(value) => value,
            None => self.make(make),
        }
    }

    #[cold]
    fn make(&self, make: impl FnOnce() -> T) -> &T {
        let mut make = Some(make);
        fill(&self.is_set, &self.setting, &mut || {
            if let Some(make) = make.take() {
                let value = make();
                // SAFETY: `fill` runs this with the lock and before the mark is set. So nobody has
                // a reference.
                unsafe { (*self.value.get()).write(value) };
            }
        });
        // SAFETY: the mark is set, so that the value was written and stays.
        let value = unsafe { &*self.value.get() };
        // SAFETY: as above.
        unsafe { value.assume_init_ref() }
    }
}

/// Runs `write` with the lock, and sets the mark, unless that was done before. There is one copy of
/// this code for all types.
#[inline(never)]
fn fill(is_set: &AtomicU8, setting: &Mutex<()>, write: &mut dyn FnMut()) {
    let held = setting.lock();
    if is_set.load(Relaxed) == 0 {
        write();
        is_set.store(1, Release);
    }
    drop(held);
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        if *self.is_set.get_mut() != 0 {
            // SAFETY: the value was written, and nobody can borrow it any more.
            unsafe { self.value.get_mut().assume_init_drop() };
        }
    }
}

impl<T> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnceLock")
    }
}
