//! Counts the memory that a process holds: a test sees leaks of error paths.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

static BYTES: AtomicIsize = AtomicIsize::new(0);

/// The system's allocator, and a count. Make it the global one of a test program.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountingAllocator;

/// Bytes that this process has asked for and not given back; always 0 where [`CountingAllocator`]
/// is not the global allocator.
#[must_use]
pub fn allocated_bytes() -> isize {
    BYTES.load(Ordering::Relaxed)
}

fn count(bytes: isize) {
    BYTES.fetch_add(bytes, Ordering::Relaxed);
}

// SAFETY: all calls go to the system allocator, which fulfils the contract. Counting neither
// allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the contract of this function is that of the system allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: all memory of this allocator came from the system's, so the system's may free it
        // with the same layout.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the contract of this function is that of the system allocator.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.cast_signed() - layout.size().cast_signed());
        // SAFETY: all memory of this allocator came from the system's, so the system's may move it
        // with the same layout.
        unsafe { System.realloc(at, layout, size) }
    }
}
