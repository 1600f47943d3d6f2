//! Where handles live: memory that is never given back, so that whatever C passes as a handle can be judged.
//!
//! ```text
//!   slab    region 0 (hot)           region 1                       ...        each has twice the slots of the last
//!           +------+------+---       +------+------+------+---
//!   slot    | value ........................ | good | owner | turn |
//!                                               '-- the one address within the slot that is the handle now; or 0
//! ```
//!
//! A handle is an address within its slot: another one each time the slot is used, as many times as there are places
//! for an address in it. So one comparison tells the handle of today from all those that ended there before. A slot
//! whose addresses are used up waits behind [`Kept::WAITING`] others before it is used again, and begins anew. A pointer
//! that is no handle at all is recognised by where it points, and not followed.
//!
//! What this cannot see is a handle that ended so long ago that its very address has come round again.

use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use crate::codes::{Code, Outcome};

/// Handles are as far apart as this, in octets: nobody is surprised by an address that is not aligned.
const STRIDE: usize = 8;
/// Regions of a slab: more slots than memory has room for.
const REGIONS: usize = 32;
/// Where no program has anything, until the first region is there.
const NOWHERE: usize = 1 << 63;

/// What lives in a slab.
pub(crate) trait Kept: Sized + 'static {
    type Handle: Handle<Behind = Self>;
    /// Octets of a slot, a power of two.
    const SLOT: usize;
    /// Slots of the first region: those that are found fastest.
    const FIRST: usize;
    /// How many others a slot waits for before its addresses are used again.
    const WAITING: usize;
    /// The answer for a handle that has ended.
    const ENDED: Code;

    fn slab() -> &'static Slab<Self>;
}

/// What C takes a pointer to it for.
pub(crate) trait Handle: Sized {
    type Behind: Kept<Handle = Self>;
}

/// All handles of one kind.
#[derive(Debug)]
pub(crate) struct Slab<T: 'static> {
    /// Where the first region begins.
    hot: AtomicUsize,
    /// Made when it is first needed; a forked child makes its own.
    pool: AtomicPtr<Pool<T>>,
}

/// The slots that this process has made, or that a parent of it has.
struct Pool<T: 'static> {
    /// How many forks lie behind the process that made it.
    forks: u32,
    /// What this process inherited.
    before: Option<&'static Pool<T>>,
    regions: [AtomicPtr<T>; REGIONS],
    /// How many slots were ever used.
    used: AtomicUsize,
    ended: Mutex<Ended<T>>,
}

/// Slots without a handle.
struct Ended<T> {
    /// One that has addresses left.
    warm: Option<NonNull<T>>,
    /// Those that have not, in the order in which that came about.
    waiting: VecDeque<NonNull<T>>,
}

/// A slot: a value at its beginning, and this at its end.
#[derive(Debug)]
#[repr(C)]
struct Mark {
    good: AtomicUsize,
    /// Number of the environment it belongs to.
    owner: AtomicUsize,
    /// The address used last.
    turn: AtomicUsize,
}

/// A handle, by its address, and what is behind it.
struct Found<T> {
    value: NonNull<T>,
    is_inherited: bool,
}

/// What a search came to: null with a code, or a value.
#[repr(C)]
struct Searched {
    value: *mut c_void,
    code: c_int,
}

/// Forks between the first handle and this process.
static FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    // Whatever was inherited is found the slow way, which sees that it was.
    crate::env::ENVS.hot.store(NOWHERE, Ordering::Relaxed);
    crate::txn::TXNS.hot.store(NOWHERE, Ordering::Relaxed);
    crate::cursor::CURSORS.hot.store(NOWHERE, Ordering::Relaxed);
}

impl<T: Kept> Slab<T> {
    const HOT_OCTETS: usize = T::FIRST * T::SLOT;
    const TURNS: usize = T::SLOT / STRIDE;

    pub(crate) const fn new() -> Slab<T> {
        const {
            assert!(T::SLOT.is_power_of_two());
            assert!(size_of::<T>() + size_of::<Mark>() <= T::SLOT);
            assert!(align_of::<T>() <= T::SLOT);
        }
        Slab {
            hot: AtomicUsize::new(NOWHERE),
            pool: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// What a handle stands for. Any pointer may be asked for; it is only followed if it is a handle's.
    /// # Errors
    /// EINVAL for what is no handle of this kind; [`Kept::ENDED`] for one that has ended; PANIC for one that was inherited
    /// by a fork.
    #[inline(always)]
    pub(crate) fn find(&self, handle: *mut T::Handle) -> Outcome<NonNull<T>> {
        if let Some(found) = self.find_hot(handle) {
            return Ok(found);
        }
        let Searched { value, code } = self.search(handle);
        NonNull::new(value.cast()).ok_or(Code(code))
    }

    /// As [`Slab::find`], without the reason, and for handles in the first region alone.
    #[inline(always)]
    pub(crate) fn find_hot(&self, handle: *mut T::Handle) -> Option<NonNull<T>> {
        let address = handle.addr();
        if address.wrapping_sub(self.hot.load(Ordering::Relaxed)) >= Self::HOT_OCTETS {
            return None;
        }
        let slot = slot_around(handle);
        // SAFETY: a slot of the first region, as the address says.
        let is_good = unsafe { mark_of(slot) }.good.load(Ordering::Relaxed) == address;
        // SAFETY: as above, and regions do not begin at 0.
        is_good.then(|| unsafe { NonNull::new_unchecked(slot) })
    }

    /// As [`Slab::find`], also finding what was inherited by a fork.
    pub(crate) fn find_inherited(&self, handle: *mut T::Handle) -> Outcome<NonNull<T>> {
        Ok(self.look_up(handle)?.value)
    }

    // Of C's kind, so that it is known not to unwind: that spares callers without anything else that could.
    #[cold]
    #[inline(never)]
    extern "C" fn search(&self, handle: *mut T::Handle) -> Searched {
        let (value, code) = match self.look_up(handle) {
            Ok(found) if found.is_inherited => (ptr::null_mut(), Code::PANIC),
            Ok(found) => (found.value.as_ptr(), Code(0)),
            Err(code) => (ptr::null_mut(), code),
        };
        Searched {
            value: value.cast(),
            code: code.0,
        }
    }

    fn look_up(&self, handle: *mut T::Handle) -> Outcome<Found<T>> {
        let pools = std::iter::successors(self.newest(), |pool| pool.before);
        for pool in pools {
            let Some(index) = pool.index_of(handle.addr()) else {
                continue;
            };
            if index >= pool.used.load(Ordering::Acquire) {
                return Err(Code::INVALID_ARGUMENT);
            }
            let slot = slot_around(handle);
            // SAFETY: a slot of one of the regions, as the address says.
            if unsafe { mark_of(slot) }.good.load(Ordering::Relaxed) != handle.addr() {
                return Err(T::ENDED);
            }
            return Ok(Found {
                value: NonNull::new(slot).ok_or(Code::INVALID_ARGUMENT)?,
                is_inherited: pool.forks != FORKS.load(Ordering::Relaxed),
            });
        }
        Err(Code::INVALID_ARGUMENT)
    }

    /// Makes a value of an environment, with a handle; in its place, because it is large. What was in the handle's slot stays recognisable as ended.
    /// # Errors
    /// ENOMEM.
    #[inline]
    pub(crate) fn insert(&self, owner: usize, value: impl FnOnce() -> T) -> Outcome<NonNull<T>> {
        let slot = self.pool()?.take_slot()?;
        // SAFETY: a slot without a handle, so that nobody else uses it.
        unsafe { slot.write(value()) };
        // SAFETY: a slot.
        let mark = unsafe { mark_of(slot.as_ptr()) };
        mark.owner.store(owner, Ordering::Relaxed);
        let turn = (mark.turn.load(Ordering::Relaxed) + 1) % Self::TURNS;
        mark.turn.store(turn, Ordering::Relaxed);
        let address = slot.addr().get() + turn * STRIDE;
        mark.good.store(address, Ordering::Release);
        Ok(slot)
    }

    /// The handle of a value; null if it has none.
    pub(crate) fn handle(value: NonNull<T>) -> *mut T::Handle {
        // SAFETY: values are in slots.
        let address = unsafe { mark_of(value.as_ptr()) }
            .good
            .load(Ordering::Relaxed);
        value.as_ptr().with_addr(address).cast()
    }

    /// Takes the handle away from a value that is kept for later: pointers to it are stale from here on.
    #[inline]
    pub(crate) fn retire(value: NonNull<T>) {
        // SAFETY: values are in slots.
        let mark = unsafe { mark_of(value.as_ptr()) };
        mark.good.store(0, Ordering::Release);
    }

    /// Gives a value that was kept a new handle; `None` if there is none left in its slot.
    #[inline]
    pub(crate) fn revive(value: NonNull<T>) -> Option<*mut T::Handle> {
        // SAFETY: values are in slots.
        let mark = unsafe { mark_of(value.as_ptr()) };
        let turn = mark.turn.load(Ordering::Relaxed) + 1;
        if turn >= Self::TURNS {
            return None;
        }
        mark.turn.store(turn, Ordering::Relaxed);
        let address = value.addr().get() + turn * STRIDE;
        mark.good.store(address, Ordering::Release);
        Some(value.as_ptr().with_addr(address).cast())
    }

    /// Ends a value, with its handle if it has one.
    ///
    /// # Safety
    /// It is in this slab, and nobody uses it any more.
    pub(crate) unsafe fn remove(&self, value: NonNull<T>) {
        Self::retire(value);
        // SAFETY: the caller's promise: it is there, and is not looked at again.
        unsafe { value.drop_in_place() };
        self.give_back(value);
    }

    /// As [`Slab::remove`], but hands the value out.
    ///
    /// # Safety
    /// As there.
    pub(crate) unsafe fn take(&self, value: NonNull<T>) -> T {
        Self::retire(value);
        // SAFETY: the caller's promise: it is there, and is not looked at again.
        let taken = unsafe { value.read() };
        self.give_back(value);
        taken
    }

    /// The values of an environment that have handles.
    pub(crate) fn of_owner(&self, owner: usize) -> Vec<NonNull<T>> {
        let mut found = Vec::new();
        let pools = std::iter::successors(self.newest(), |pool| pool.before);
        for pool in pools {
            for index in 0..pool.used.load(Ordering::Acquire) {
                let Some(slot) = pool.slot(index) else { break };
                // SAFETY: a slot.
                let mark = unsafe { mark_of(slot.as_ptr()) };
                let is_live = mark.good.load(Ordering::Acquire) != 0;
                if is_live && mark.owner.load(Ordering::Relaxed) == owner {
                    found.push(slot);
                }
            }
        }
        found
    }

    fn give_back(&self, slot: NonNull<T>) {
        // In a forked child the slots are the parent's, whose lock somebody may hold for ever.
        let own = self.newest().filter(|pool| {
            let is_own = pool.forks == FORKS.load(Ordering::Relaxed);
            is_own && pool.index_of(slot.addr().get()).is_some()
        });
        if let Some(pool) = own {
            pool.give_back(slot);
        }
    }

    fn newest(&self) -> Option<&'static Pool<T>> {
        // SAFETY: null, or made by `pool` and never freed.
        unsafe { self.pool.load(Ordering::Acquire).as_ref() }
    }

    /// The slots of this process.
    fn pool(&self) -> Outcome<&'static Pool<T>> {
        let newest = self.newest();
        let forks = FORKS.load(Ordering::Relaxed);
        match newest {
            Some(pool) if pool.forks == forks => Ok(pool),
            before => self.make_pool(before, forks),
        }
    }

    #[cold]
    fn make_pool(&self, before: Option<&'static Pool<T>>, forks: u32) -> Outcome<&'static Pool<T>> {
        static REGISTER: Once = Once::new();
        REGISTER.call_once(|| {
            // SAFETY: the handler only changes atomics, which is allowed in a forked child.
            unsafe { libc::pthread_atfork(None, None, Some(forked)) };
        });
        let made = Box::new(Pool {
            forks,
            before,
            regions: [const { AtomicPtr::new(ptr::null_mut()) }; REGIONS],
            used: AtomicUsize::new(0),
            ended: Mutex::new(Ended {
                warm: None,
                waiting: VecDeque::new(),
            }),
        });
        let hot = made.region(0).ok_or(Code::NO_MEMORY)?;
        let made = Box::into_raw(made);
        let expected = before.map_or(ptr::null_mut(), |pool| ptr::from_ref(pool).cast_mut());
        let entered =
            self.pool
                .compare_exchange(expected, made, Ordering::AcqRel, Ordering::Acquire);
        match entered {
            Ok(_) => self.hot.store(hot.addr(), Ordering::Relaxed),
            // Another thread was first. Its region's memory is not much, and this happens once.
            // SAFETY: made above, and known to nobody else.
            Err(_) => drop(unsafe { Box::from_raw(made) }),
        }
        self.newest().ok_or(Code::NO_MEMORY)
    }
}

impl<T: Kept> Pool<T> {
    /// The first slot of a region, which is made if it is not there.
    fn region(&self, number: usize) -> Option<*mut T> {
        let region = self.regions.get(number)?;
        let known = region.load(Ordering::Acquire);
        if !known.is_null() {
            return Some(known);
        }
        let octets = T::FIRST.checked_mul(T::SLOT)?.checked_shl(number as u32)?;
        // SAFETY: a new mapping, anywhere.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                octets.checked_add(T::SLOT)?,
                libc::PROT_READ | libc::PROT_WRITE,
                // It takes up no memory before it is used, and is never given back.
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return None;
        }
        let first = memory.map_addr(|address| address.next_multiple_of(T::SLOT));
        let first = first.cast::<T>();
        region.store(first, Ordering::Release);
        Some(first)
    }

    /// A slot that was made.
    fn slot(&self, index: usize) -> Option<NonNull<T>> {
        let (number, offset) = place(index / T::FIRST);
        let first = self.regions.get(number)?.load(Ordering::Acquire);
        let at = offset * T::FIRST + index % T::FIRST;
        NonNull::new(first).map(|first| {
            // SAFETY: within the region, which has that many slots.
            unsafe { first.byte_add(at * T::SLOT) }
        })
    }

    /// Which slot an address lies in.
    fn index_of(&self, address: usize) -> Option<usize> {
        self.regions.iter().enumerate().find_map(|(number, first)| {
            let first = first.load(Ordering::Acquire);
            let slots = T::FIRST << number;
            let offset = address.wrapping_sub(first.addr());
            let is_here = !first.is_null() && offset / T::SLOT < slots;
            is_here.then(|| T::FIRST * ((1 << number) - 1) + offset / T::SLOT)
        })
    }

    fn take_slot(&self) -> Outcome<NonNull<T>> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = ended.warm.take() {
            return Ok(slot);
        }
        if ended.waiting.len() > T::WAITING
            && let Some(slot) = ended.waiting.pop_front()
        {
            return Ok(slot);
        }
        let index = self.used.load(Ordering::Relaxed);
        let (number, _) = place(index / T::FIRST);
        self.region(number).ok_or(Code::NO_MEMORY)?;
        let slot = self.slot(index).ok_or(Code::NO_MEMORY)?;
        self.used.store(index + 1, Ordering::Release);
        Ok(slot)
    }

    fn give_back(&self, slot: NonNull<T>) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: a slot.
        let turn = unsafe { mark_of(slot.as_ptr()) }
            .turn
            .load(Ordering::Relaxed);
        if ended.warm.is_none() && turn + 1 < Slab::<T>::TURNS {
            ended.warm = Some(slot);
        } else {
            ended.waiting.push_back(slot);
        }
    }
}

/// Which region a block of [`Kept::FIRST`] slots is in, and which block of it.
const fn place(block: usize) -> (usize, usize) {
    let number = (block + 1).ilog2() as usize;
    (number, block + 1 - (1 << number))
}

/// The slot that an address lies in.
#[inline(always)]
fn slot_around<T: Kept>(handle: *mut T::Handle) -> *mut T {
    handle
        .map_addr(|address| address & !(T::SLOT - 1))
        .cast::<T>()
}

/// What is at the end of a slot.
///
/// # Safety
/// It is a slot of a region, whose memory stays for ever.
#[inline(always)]
unsafe fn mark_of<T: Kept>(slot: *mut T) -> &'static Mark {
    let mark = slot
        .wrapping_byte_add(T::SLOT - size_of::<Mark>())
        .cast::<Mark>();
    // SAFETY: the caller's promise; it was zeroed when it was made, and has only atomics.
    unsafe { &*mark }
}
