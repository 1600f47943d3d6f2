//! Sleeping, and values of which each thread has its own.

use alloc::boxed::Box;
use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use core::ptr;
use core::time::Duration;

use super::sync::OnceLock;

/// Lets the thread sleep for that long at least.
#[cfg_attr(
    target_env = "musl",
    expect(deprecated, reason = "the type has 64 bits with musl 1.2, too")
)]
pub fn sleep(time: Duration) {
    let mut left = libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(time.subsec_nanos().cast_signed()),
    };
    loop {
        let asked = left;
        // SAFETY: both are whole `timespec`s, valid for the call.
        let interrupted = unsafe { libc::nanosleep(&raw const asked, &raw mut left) } != 0;
        if !interrupted {
            return;
        }
    }
}

/// The thread has ended so far that its values are gone.
#[derive(Debug)]
pub struct AccessError;

/// The key to a value of each thread. It is dropped when the thread ends.
#[derive(Debug)]
pub struct LocalKey<T: 'static> {
    key: OnceLock<Option<libc::pthread_key_t>>,
    first: fn() -> T,
}

/// A thread's value, and the key under which the C library keeps it.
struct ThreadValue<T> {
    key: libc::pthread_key_t,
    value: T,
}

/// The mark in place of a value that was dropped. It is the address of nothing.
const GONE: *mut c_void = ptr::without_provenance_mut(1);

impl<T: 'static> LocalKey<T> {
    /// Returns a key; `first` makes each thread's value. The macro calls it.
    pub const fn new(first: fn() -> T) -> LocalKey<T> {
        LocalKey {
            key: OnceLock::new(),
            first,
        }
    }

    /// Lends the thread's value.
    /// # Errors
    /// The thread is ending, or there is no memory for the value.
    #[inline]
    pub fn try_with<R>(&'static self, work: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        let key = self.key.get().copied().flatten();
        let at = match key {
            // SAFETY: the key was made by the C library, and is never given back.
            Some(key) => unsafe { libc::pthread_getspecific(key) },
            None => ptr::null_mut(),
        };
        let at = if at.is_null() { self.make() } else { at };
        if at == GONE || at.is_null() {
            return Err(AccessError);
        }
        // SAFETY: under this key there are only addresses of boxes of this type, null and `GONE`.
        // The box lives until the thread ends, and only this thread uses it.
        let held = unsafe { &*at.cast::<ThreadValue<T>>() };
        Ok(work(&held.value))
    }

    #[cold]
    fn make(&'static self) -> *mut c_void {
        let key = *self.key.get_or_init(|| {
            let mut key = 0;
            // SAFETY: `key` is valid for writes, and the function drops what this module stores.
            let code = unsafe { libc::pthread_key_create(&raw mut key, Some(drop_held::<T>)) };
            (code == 0).then_some(key)
        });
        let Some(key) = key else {
            return ptr::null_mut();
        };
        // The key may have been made by another thread meanwhile, and this thread's value be gone.
        // SAFETY: the key was made by the C library, and is never given back.
        let at = unsafe { libc::pthread_getspecific(key) };
        if !at.is_null() {
            return at;
        }
        let value = (self.first)();
        let at: *mut c_void = Box::into_raw(Box::new(ThreadValue { key, value })).cast();
        // SAFETY: as above.
        if unsafe { libc::pthread_setspecific(key, at) } != 0 {
            // SAFETY: the box was just made here, and nobody else knows its address.
            drop(unsafe { Box::from_raw(at.cast::<ThreadValue<T>>()) });
            return ptr::null_mut();
        }
        at
    }
}

/// Drops a thread's value as it ends. The C library calls it again, a few times, for the mark that
/// it leaves.
unsafe extern "C" fn drop_held<T>(at: *mut c_void) {
    if at == GONE {
        return;
    }
    // SAFETY: the C library passes the address of a box that `make` stored, once.
    let held = unsafe { Box::from_raw(at.cast::<ThreadValue<T>>()) };
    // SAFETY: the key was made by the C library, and is never given back.
    unsafe { libc::pthread_setspecific(held.key, GONE) };
}

impl<T: Copy + Default> LocalKey<Cell<T>> {
    /// Returns the thread's value; the default while the thread ends.
    #[inline]
    pub fn get(&'static self) -> T {
        self.try_with(Cell::get).unwrap_or_default()
    }
}

impl<T: Default> LocalKey<Cell<T>> {
    /// Sets the thread's value; does nothing while the thread ends.
    #[inline]
    pub fn set(&'static self, value: T) {
        self.replace(value);
    }

    /// Sets the thread's value and returns the one before; the default while the thread ends.
    #[inline]
    pub fn replace(&'static self, value: T) -> T {
        self.try_with(|cell| cell.replace(value))
            .unwrap_or_default()
    }
}

impl<T> LocalKey<RefCell<T>> {
    /// Lends the thread's value for changes.
    #[inline]
    pub fn with_borrow_mut<R>(&'static self, work: impl FnOnce(&mut T) -> R) -> R {
        match self.try_with(|value| work(&mut value.borrow_mut())) {
            Ok(result) => result,
            Err(AccessError) => panic!("the thread has ended"),
        }
    }
}

/// As the macro of the standard library: `static NAME: Type = const { value };`.
#[macro_export]
macro_rules! light_thread_local {
    ($($(#[$meta:meta])* static $name:ident: $type:ty = const { $value:expr };)*) => {$(
        $(#[$meta])*
        static $name: $crate::platform::light::thread::LocalKey<$type> =
            $crate::platform::light::thread::LocalKey::new(|| $value);
    )*};
}
