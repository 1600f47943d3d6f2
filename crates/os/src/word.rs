//! The operations on a shared word, so that code on words also runs on those of a model checker.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A word that other threads and processes change at the same time.
///
/// Code that is generic over it compiles to the same instructions as on the atomics themselves. It
/// also runs on words of a model checker, which tries orders that this machine never shows.
pub trait Word<T> {
    /// As [`AtomicU64::load`].
    fn load(&self, order: Ordering) -> T;
    /// As [`AtomicU64::store`].
    fn store(&self, value: T, order: Ordering);
    /// As [`AtomicU64::swap`].
    fn swap(&self, value: T, order: Ordering) -> T;
    /// As [`AtomicU64::compare_exchange`].
    /// # Errors
    /// The value found instead of `current`.
    fn compare_exchange(
        &self,
        current: T,
        new: T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<T, T>;
}

macro_rules! words {
    ($($atomic:ty: $value:ty),*) => {$(
        impl Word<$value> for $atomic {
            #[inline(always)]
            fn load(&self, order: Ordering) -> $value {
                <$atomic>::load(self, order)
            }

            #[inline(always)]
            fn store(&self, value: $value, order: Ordering) {
                <$atomic>::store(self, value, order);
            }

            #[inline(always)]
            fn swap(&self, value: $value, order: Ordering) -> $value {
                <$atomic>::swap(self, value, order)
            }

            #[inline(always)]
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                <$atomic>::compare_exchange(self, current, new, success, failure)
            }
        }
    )*};
}

words!(AtomicU32: u32, AtomicU64: u64);

/// Copies words that other processes may be changing. A thread that sees a stored word also sees
/// all earlier stores.
#[inline(always)]
pub fn load_words<'w, W: Word<u64> + 'w>(words: impl Iterator<Item = &'w W>, bytes: &mut [u8]) {
    for (word, bytes) in words.zip(bytes.chunks_exact_mut(8)) {
        bytes.copy_from_slice(&word.load(Ordering::Acquire).to_ne_bytes());
    }
}

/// Stores words one after the other, so that the caller that sees the last one sees them all.
#[inline(always)]
pub fn store_words<'w, W: Word<u64> + 'w>(words: impl Iterator<Item = &'w W>, values: &[u64]) {
    for (word, value) in words.zip(values) {
        word.store(*value, Ordering::Release);
    }
}
