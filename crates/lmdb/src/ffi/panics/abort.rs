//! The library without the standard library: its memory is the C library's, and a panic ends the
//! process.

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_char;
use core::panic::PanicInfo;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::ffi::caller::Caller;
use crate::types::{MDB_assert_func, MDB_env};

/// Runs the body of a function. A panic does not come back here.
#[inline(always)]
pub(crate) fn guarded<T>(_caller: impl Caller, body: impl FnOnce() -> T) -> Option<T> {
    Some(body())
}

/// Does nothing: there is no hook to set.
pub(crate) fn note_panics() {}

/// The function that was set last with mdb_env_set_assert, of any environment; null if none is. A
/// panic may come while any lock is held, so none guards it.
static ASSERT: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());
/// The handle that the function was set for.
static ASSERT_ENV: AtomicPtr<MDB_env> = AtomicPtr::new(ptr::null_mut());

/// Keeps the function that the program sets for an environment, for the handler of panics.
pub(crate) fn note_assert(env: *mut MDB_env, function: Option<MDB_assert_func>) {
    let function = function.map_or(ptr::null_mut(), |function| function as *mut ());
    ASSERT.store(ptr::null_mut(), Ordering::SeqCst);
    ASSERT_ENV.store(env, Ordering::SeqCst);
    ASSERT.store(function, Ordering::SeqCst);
}

/// Bytes of a message, its NUL among them.
const MESSAGE_BYTES: usize = 256;

/// A text for C. All of it is zeros behind the part written, and a last zero stays.
struct Message {
    text: [u8; MESSAGE_BYTES],
    len: usize,
}

impl Message {
    /// Returns where the panic is, and its text if that has no parts to fill in. Filling them in
    /// would take more code than a small transaction touches.
    fn of(panic: &PanicInfo<'_>) -> Message {
        let mut message = Message {
            text: [0; MESSAGE_BYTES],
            len: 0,
        };
        if let Some(place) = panic.location() {
            message.add(place.file());
            message.add(":");
            message.add_number(place.line());
            message.add(": ");
        }
        message.add(panic.message().as_str().unwrap_or("panicked"));
        message
    }

    fn add(&mut self, text: &str) {
        for byte in text.bytes().filter(|byte| *byte != 0) {
            if self.len + 1 < MESSAGE_BYTES
                && let Some(place) = self.text.get_mut(self.len)
            {
                *place = byte;
                self.len += 1;
            }
        }
    }

    fn add_number(&mut self, number: u32) {
        if number > 9 {
            self.add_number(number / 10);
        }
        let digit = char::from_digit(number % 10, 10).unwrap_or('?');
        self.add(digit.encode_utf8(&mut [0; 4]));
    }
}

#[panic_handler]
fn end(panic: &PanicInfo<'_>) -> ! {
    // Taken, so that a panic on the way here does not come here again and again.
    let function = ASSERT.swap(ptr::null_mut(), Ordering::SeqCst);
    if !function.is_null() {
        let message = Message::of(panic);
        // SAFETY: `note_assert` made the pointer from a function of this type.
        let function = unsafe { core::mem::transmute::<*mut (), MDB_assert_func>(function) };
        let env = ASSERT_ENV.load(Ordering::SeqCst);
        // SAFETY: the program set this function for any message, which ends with a NUL here. It may
        // never return.
        unsafe { function(env, message.text.as_ptr().cast::<c_char>()) };
    }
    // SAFETY: it has no preconditions.
    unsafe { libc::abort() }
}

/// Memory of the C library.
struct Malloc;

#[global_allocator]
static MEMORY: Malloc = Malloc;

/// `malloc` aligns for every type of C.
const MALLOC_ALIGN: usize = 2 * size_of::<usize>();

// SAFETY: the C library's memory has the size asked for, and `malloc` aligns it as far as
// `MALLOC_ALIGN`. `posix_memalign` aligns it as asked. All of it is given back with `free`.
unsafe impl GlobalAlloc for Malloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= MALLOC_ALIGN {
            // SAFETY: it has no preconditions.
            return unsafe { libc::malloc(layout.size()) }.cast();
        }
        aligned(layout)
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= MALLOC_ALIGN {
            // SAFETY: it has no preconditions.
            return unsafe { libc::calloc(layout.size(), 1) }.cast();
        }
        let at = aligned(layout);
        if !at.is_null() {
            // SAFETY: the memory was just taken, with that size.
            unsafe { at.write_bytes(0, layout.size()) };
        }
        at
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, _layout: Layout) {
        // SAFETY: by the contract of this function `at` is memory of this allocator.
        unsafe { libc::free(at.cast()) };
    }

    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= MALLOC_ALIGN {
            // SAFETY: by the contract of this function `at` is memory of this allocator.
            return unsafe { libc::realloc(at.cast(), size) }.cast();
        }
        // SAFETY: by the contract of this function the size is none that overflows.
        let new = aligned(unsafe { Layout::from_size_align_unchecked(size, layout.align()) });
        if !new.is_null() {
            // SAFETY: both have that many bytes, and the new one overlaps nothing.
            unsafe { at.copy_to_nonoverlapping(new, size.min(layout.size())) };
            // SAFETY: by the contract of this function `at` is memory of this allocator.
            unsafe { libc::free(at.cast()) };
        }
        new
    }
}

#[cold]
fn aligned(layout: Layout) -> *mut u8 {
    let mut at = ptr::null_mut();
    // SAFETY: `at` is valid for writes. The alignment of a layout is a power of two.
    let code = unsafe { libc::posix_memalign(&raw mut at, layout.align(), layout.size()) };
    if code == 0 {
        at.cast()
    } else {
        ptr::null_mut()
    }
}

// The compiled `alloc` of the toolchain was made for unwinding, and names two functions of the
// unwinder. Nothing unwinds here, so nothing calls them. They are hidden: programs have real ones.
core::arch::global_asm!(
    ".hidden rust_eh_personality",
    ".globl rust_eh_personality",
    "rust_eh_personality:",
    ".hidden _Unwind_Resume",
    ".globl _Unwind_Resume",
    "_Unwind_Resume:",
    #[cfg(target_arch = "x86_64")]
    "ud2",
    #[cfg(target_arch = "aarch64")]
    "udf #0",
);
