//! The clock by which readers note the beginning of their snapshots. Each begin reads it, so each
//! call on the way counts.

use core::ffi::{CStr, c_int};
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// Reads a clock.
type ReadClock = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int;

/// A function of type [`ReadClock`]: the one that the system maps into each process, or that of the
/// C library. Null before it is first needed.
static READ_CLOCK: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

const SYSTEM_IMAGE: &CStr = c"linux-vdso.so.1";
#[cfg(target_arch = "x86_64")]
const READ_CLOCK_NAME: Option<&CStr> = Some(c"__vdso_clock_gettime");
#[cfg(not(target_arch = "x86_64"))]
const READ_CLOCK_NAME: Option<&CStr> = None;

/// Returns the nanoseconds since a moment before the machine's start, the same for all processes.
/// The clock is read without a system call and ticks every few milliseconds.
#[must_use]
#[inline]
pub fn coarse_clock_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut read = READ_CLOCK.load(Ordering::Relaxed);
    if read.is_null() {
        read = find();
    }
    // SAFETY: `find` stores only functions of this type. They stay mapped for as long as the
    // process lives.
    let read = unsafe { mem::transmute::<*mut (), ReadClock>(read) };
    // SAFETY: `now` is valid for writes, and the function has the signature of `clock_gettime`.
    // Without this clock, `now` would stay unchanged.
    unsafe { read(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

#[cold]
fn find() -> *mut () {
    let found = of_the_system().unwrap_or(libc::clock_gettime as ReadClock as *mut ());
    READ_CLOCK.store(found, Ordering::Relaxed);
    found
}

/// Returns the system's own function, if its name is known and the process has it.
fn of_the_system() -> Option<*mut ()> {
    let name = READ_CLOCK_NAME.filter(|_| !cfg!(miri))?;
    // SAFETY: the name ends with zero. `RTLD_NOLOAD` loads nothing, so that no foreign code runs.
    let image = unsafe { libc::dlopen(SYSTEM_IMAGE.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    if image.is_null() {
        return None;
    }
    // SAFETY: `image` is an open handle of `dlopen`, and the name ends with zero.
    let found = unsafe { libc::dlsym(image, name.as_ptr()) };
    // The image is never unloaded, so it is not given back.
    (!found.is_null()).then_some(found.cast())
}

#[cfg(test)]
mod tests {
    use super::coarse_clock_ns;

    #[test]
    fn it_is_the_clock_that_the_c_library_reads() {
        let theirs = || {
            let mut now = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            // SAFETY: `now` is valid for writes.
            let read = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
            assert_eq!(read, 0);
            now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
        };
        for _ in 0..1000 {
            let (before, ours, after) = (theirs(), coarse_clock_ns(), theirs());
            assert!(before <= ours && ours <= after);
        }
    }
}
