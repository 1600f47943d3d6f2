//! Bus errors inside our mappings: bytes of zero and a mark, in range of the end of the process.
//!
//! A page of a mapped file may be missing. Another process cut the file off, its disk fails, or the
//! disk is full and the page was never written. The system then sends SIGBUS to the thread that
//! touched it. Here that thread gets zeros instead, and the mapping is marked as lost. The engine
//! checks data from it like any damaged page. [`any_map_is_lost`] then shows that the mapping must
//! not be trusted any more.
//!
//! ```text
//!   SIGBUS at an address ---> in one of our maps?  --yes-->  zeros there, marked lost, the thread goes on
//!                                    '--no-->  the handler before ours, or the system's default
//! ```

use crate::platform::sync::Once;
use alloc::boxed::Box;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

/// True if new mappings are guarded.
static ENABLED: AtomicBool = AtomicBool::new(true);
/// True if any mapping of this process, past or present, has lost a page.
static ANY_LOST: AtomicBool = AtomicBool::new(false);
/// The guarded ranges; the handler walks them, so none is ever freed.
static RANGES: AtomicPtr<GuardedRange> = AtomicPtr::new(ptr::null_mut());
/// The handler of the signal before ours.
static PREVIOUS: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

/// Number of lost pages in a range after which the number of pages replaced at a time doubles. A
/// process may have only a limited number of mappings.
const FAULTS_PER_DOUBLING: usize = 16;
/// No more system pages than that are given up at a time.
const PAGES_MAX: usize = 4096;

/// Turns the guard on or off for mappings made from now on; it is on unless this says otherwise.
/// With it, the first mapping installs a handler of SIGBUS for the process. The handler passes on
/// signals that are not about our maps.
pub fn set_bus_guard(on: bool) {
    ENABLED.store(on, Ordering::SeqCst);
}

/// Returns true if a page of any mapping of this process was found missing. Costs a load.
#[must_use]
#[inline]
pub fn any_map_is_lost() -> bool {
    ANY_LOST.load(Ordering::Relaxed)
}

/// One stretch of addresses that is guarded, or was, or will be.
#[derive(Debug)]
struct GuardedRange {
    taken: AtomicBool,
    /// 0 while nothing is guarded here.
    start: AtomicUsize,
    end: AtomicUsize,
    writable: AtomicBool,
    faults: AtomicUsize,
    next: *mut GuardedRange,
}

/// The guard of one mapping; ends when dropped, which must happen before the mapping does.
#[derive(Debug)]
pub(crate) struct Guard(&'static GuardedRange);

impl Guard {
    /// Guards `len` bytes from `base` on; `None` if guards are turned off.
    pub(crate) fn over(base: NonNull<u8>, len: usize, writable: bool) -> Option<Guard> {
        if !ENABLED.load(Ordering::SeqCst) {
            return None;
        }
        install();
        let range = free_range();
        range.faults.store(0, Ordering::Relaxed);
        range.writable.store(writable, Ordering::Relaxed);
        let start = base.addr().get();
        range.end.store(start.saturating_add(len), Ordering::SeqCst);
        range.start.store(start, Ordering::SeqCst);
        Some(Guard(range))
    }

    /// Returns true if a page was missing here.
    pub(crate) fn is_lost(&self) -> bool {
        self.0.faults.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.start.store(0, Ordering::SeqCst);
        self.0.taken.store(false, Ordering::SeqCst);
    }
}

fn free_range() -> &'static GuardedRange {
    let mut next = RANGES.load(Ordering::Acquire);
    // SAFETY: ranges are leaked boxes, and `next` never changes once a range is in the list.
    while let Some(range) = unsafe { next.as_ref() } {
        if !range.taken.swap(true, Ordering::SeqCst) {
            return range;
        }
        next = range.next;
    }
    let range = Box::leak(Box::new(GuardedRange {
        taken: AtomicBool::new(true),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        writable: AtomicBool::new(false),
        faults: AtomicUsize::new(0),
        next: RANGES.load(Ordering::Acquire),
    }));
    let at = ptr::from_mut(range);
    while let Err(found) =
        RANGES.compare_exchange(range.next, at, Ordering::AcqRel, Ordering::Acquire)
    {
        range.next = found;
    }
    range
}

/// Installs the handler, once.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut previous = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: with a null action the call only asks, and `previous` has room for a whole
        // `sigaction`.
        let asked = unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), previous.as_mut_ptr()) };
        if asked != 0 {
            return;
        }
        // SAFETY: the system has filled in `previous`, and all-zero bytes are valid too.
        let previous = unsafe { previous.assume_init() };
        PREVIOUS.store(Box::leak(Box::new(previous)), Ordering::SeqCst);
        // SAFETY: all-zero bytes are a valid `sigaction`, with no flags, an empty mask and the
        // default action.
        let mut ours = unsafe { MaybeUninit::<libc::sigaction>::zeroed().assume_init() };
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
        ours.sa_sigaction = handler as usize;
        // On the alternative stack where a thread has one: its own may be small.
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        // SAFETY: `ours` is a complete action. The handler uses only atomics and system calls,
        // which are allowed in handlers.
        unsafe { libc::sigaction(libc::SIGBUS, &raw const ours, ptr::null_mut()) };
    });
}

extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a filled-in structure to handlers installed with SA_SIGINFO.
    let about = unsafe { &*info };
    let code = about.si_code;
    // A signal that a process sent has no address.
    if code > 0 {
        // SAFETY: a positive code means a fault, and the structure of a fault has the address.
        let address = unsafe { about.si_addr() };
        if give_zeros(address.addr()) {
            return;
        }
    }
    call_previous_handler(signal, code, info, context);
}

/// Puts zeros where a page is missing, if that is in one of our maps.
fn give_zeros(address: usize) -> bool {
    let mut next = RANGES.load(Ordering::Acquire);
    // SAFETY: ranges are leaked boxes, so every pointer in the list stays valid.
    while let Some(range) = unsafe { next.as_ref() } {
        let start = range.start.load(Ordering::SeqCst);
        let end = range.end.load(Ordering::SeqCst);
        // Read again: between the two the range may have become another mapping's.
        let is_same = range.start.load(Ordering::SeqCst) == start;
        if is_same && start != 0 && start <= address && address < end {
            return fill(range, address, end);
        }
        next = range.next;
    }
    false
}

fn fill(range: &GuardedRange, address: usize, end: usize) -> bool {
    let faults = range.faults.fetch_add(1, Ordering::SeqCst);
    ANY_LOST.store(true, Ordering::SeqCst);
    let page_size = crate::page_size();
    let first = address & !(page_size - 1);
    let pages = 1 << (faults / FAULTS_PER_DOUBLING).min(PAGES_MAX.ilog2() as usize);
    let len = (pages * page_size).min(crate::whole_system_pages((end - first) as u64) as usize);
    let mut protection = ProtFlags::READ;
    if range.writable.load(Ordering::Relaxed) {
        protection |= ProtFlags::WRITE;
    }
    let at = ptr::without_provenance_mut(first);
    let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
    // SAFETY: the replaced pages are in a mapping of ours that is alive, because its guard is.
    // Nothing but that mapping is at these addresses.
    unsafe { mmap_anonymous(at, len, protection, flags) }.is_ok()
}

/// Lets the caller that was there before us handle the signal.
fn call_previous_handler(
    signal: c_int,
    code: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    // SAFETY: the box was leaked, so it lives as long as the process.
    let previous = unsafe { PREVIOUS.load(Ordering::SeqCst).as_ref() };
    let action = previous.map_or(libc::SIG_DFL, |previous| previous.sa_sigaction);
    let is_sent = code <= 0;
    match action {
        libc::SIG_IGN if is_sent => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: restoring the default action is allowed in a handler.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
            if is_sent {
                // SAFETY: `raise` may be called in handlers. The signal arrives when this handler
                // returns.
                unsafe { libc::raise(signal) };
            }
            // The thread touches the missing page again, and the default action ends the process.
        }
        handler if previous.is_some_and(|p| p.sa_flags & libc::SA_SIGINFO != 0) => {
            type Full = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            // SAFETY: with SA_SIGINFO the system kept this address as a handler of three arguments.
            let handler = unsafe { core::mem::transmute::<usize, Full>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without SA_SIGINFO the system kept this address as a handler of one argument.
            let handler = unsafe { core::mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
            handler(signal);
        }
    }
}
