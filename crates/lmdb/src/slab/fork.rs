//! Forks of the process: a child recognises the handles that it inherited.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use fulgurite::platform::sync::Once;

/// An address below which no program has memory that it uses: that of no region.
pub(super) const NOWHERE: usize = 1 << 63;
/// Slabs of the library: environments, transactions and cursors. The unit tests have another one.
const SLABS: usize = if cfg!(test) { 4 } else { 3 };

/// Forks between the first handle and this process.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// The first regions' addresses, one for each slab in use.
static HOT_REGIONS: [AtomicPtr<AtomicUsize>; SLABS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; SLABS];

/// Returns the number of forks between the first handle and this process.
pub(super) fn forks() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Lets forks reset the address of a slab's first region.
pub(super) fn register(hot: &'static AtomicUsize) {
    static ONCE: Once = Once::new();
    if cfg!(miri) {
        // Miri knows no forks.
        return;
    }
    ONCE.call_once(|| {
        // SAFETY: `forked` only changes atomics, and a forked child may do that.
        unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    });
    let entry = ptr::from_ref(hot).cast_mut();
    for place in &HOT_REGIONS {
        let stored =
            place.compare_exchange(ptr::null_mut(), entry, Ordering::AcqRel, Ordering::Acquire);
        if stored.is_ok() || stored == Err(entry) {
            return;
        }
    }
    debug_assert!(false, "there are more slabs than {SLABS}");
}

extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    for place in &HOT_REGIONS {
        // SAFETY: null, or the address of a static that `register` stored.
        if let Some(hot) = unsafe { place.load(Ordering::Acquire).as_ref() } {
            // Inherited handles are now found on the slow path, which sees that they are inherited.
            hot.store(NOWHERE, Ordering::Relaxed);
        }
    }
}
