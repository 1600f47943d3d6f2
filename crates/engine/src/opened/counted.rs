//! Shared ownership of a value that others watch: [`Strong`] keeps it, [`Watch`] finds it while it
//! lives.
//!
//! They are `Arc` and `Weak` without their panics. Those panic where a count overflows, and so a
//! compiled library has a path to a panic. Here the count is an own one, and a value whose count is
//! at its end is not found.

use alloc::sync::Arc;
use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;
use core::ops::Deref;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicUsize, fence};

struct Counted<T> {
    /// The number of [`Strong`]; 0 before the value is there, and after it is gone.
    owners: AtomicUsize,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value moves with its owner.
unsafe impl<T: Send> Send for Counted<T> {}
// SAFETY: owners only share the value. The last of them, on any thread, drops it alone.
unsafe impl<T: Send + Sync> Sync for Counted<T> {}

// Only `Strong::new` changes the value, before anyone else sees it.
impl<T: UnwindSafe> UnwindSafe for Counted<T> {}
impl<T: RefUnwindSafe> RefUnwindSafe for Counted<T> {}

/// An owner of the value.
pub(super) struct Strong<T>(Arc<Counted<T>>);

/// A reference that does not keep the value.
pub(super) struct Watch<T>(Arc<Counted<T>>);

impl<T> Strong<T> {
    /// Makes a value that can hand out references to itself. They find it once it is made.
    pub(super) fn new(make: impl FnOnce(Watch<T>) -> T) -> Strong<T> {
        let counted = Arc::new(Counted {
            owners: AtomicUsize::new(0),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        });
        let value = make(Watch(Arc::clone(&counted)));
        // SAFETY: there is no owner yet, and only owners use the value.
        let place = unsafe { &mut *counted.value.get() };
        place.write(value);
        counted.owners.store(1, Release);
        Strong(counted)
    }

    /// Returns a reference that does not keep the value.
    pub(super) fn watch(&self) -> Watch<T> {
        Watch(Arc::clone(&self.0))
    }
}

impl<T> Watch<T> {
    /// Returns a further owner, if there is one.
    pub(super) fn owner(&self) -> Option<Strong<T>> {
        let more = |owners: usize| match owners {
            0 => None,
            _ => owners.checked_add(1),
        };
        // The value was written before the count that is read here.
        self.0.owners.fetch_update(Acquire, Relaxed, more).ok()?;
        Some(Strong(Arc::clone(&self.0)))
    }

    /// Returns true while the value has an owner.
    pub(super) fn is_owned(&self) -> bool {
        self.0.owners.load(Relaxed) > 0
    }
}

impl<T> Deref for Strong<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the value is there as long as it has an owner, and owners only share it.
        let value = unsafe { &*self.0.value.get() };
        // SAFETY: as above.
        unsafe { value.assume_init_ref() }
    }
}

impl<T> Drop for Strong<T> {
    fn drop(&mut self) {
        if self.0.owners.fetch_sub(1, Release) != 1 {
            return;
        }
        // All that other owners did with the value comes before its end.
        fence(Acquire);
        // SAFETY: this was the last owner, and a count of zero never rises.
        let value = unsafe { &mut *self.0.value.get() };
        // SAFETY: the value was written before there was an owner.
        unsafe { value.assume_init_drop() };
    }
}

impl<T: fmt::Debug> fmt::Debug for Strong<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> fmt::Debug for Watch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::AcqRel;
    use std::thread;

    struct Noted<'a> {
        gone: &'a AtomicBool,
        watch: Watch<Noted<'a>>,
    }

    impl Drop for Noted<'_> {
        fn drop(&mut self) {
            assert!(!self.gone.swap(true, AcqRel), "dropped once");
        }
    }

    #[test]
    fn a_value_lives_as_long_as_its_last_owner() {
        let gone = AtomicBool::new(false);
        let first = Strong::new(|watch| {
            assert!(watch.owner().is_none(), "it is not made yet");
            Noted { gone: &gone, watch }
        });
        let watch = Strong::watch(&first);
        let second = first.watch.owner().expect("it lives");
        drop(first);
        assert!(watch.is_owned() && !gone.load(Acquire));
        drop(second);
        assert!(!watch.is_owned() && gone.load(Acquire));
        assert!(watch.owner().is_none());
    }

    #[test]
    fn threads_find_it_or_do_not() {
        for _ in 0..100 {
            let gone = AtomicBool::new(false);
            let first = Strong::new(|watch| Noted { gone: &gone, watch });
            thread::scope(|scope| {
                for _ in 0..3 {
                    let watch = first.watch();
                    scope.spawn(move || {
                        while let Some(owner) = watch.owner() {
                            assert!(!owner.gone.load(Acquire), "an owner keeps it");
                        }
                    });
                }
                drop(first);
            });
            assert!(gone.load(Acquire));
        }
    }
}
