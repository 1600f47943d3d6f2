//! Handles and what they refer to: the check of a pointer from C, references to slots, and their
//! end.
//!
//! A [`Slot`] is a pointer, and the crate keeps its rules where the compiler cannot:
//!
//! 1. A value lives from [`Slab::insert`] until [`Slot::retire`]. The latter is unsafe: its caller
//!    knows that no copy of the slot is used again.
//! 2. One thread at a time uses a transaction with its family and its cursors. Programs promise it
//!    (`lmdb.h`); so the mutable references of [`Slot::get_mut`] are that thread's.
//! 3. A call takes one mutable reference to a value at a time. A call from within a comparison
//!    function finds the transaction [busy](crate::objects::state::State::Busy) and ends without
//!    touching anything else.
//! 4. Environments are shared between threads, and nothing takes a mutable reference to one.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::{c_int, c_void};
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::codes::{Code, Outcome};

use super::fork::{NOWHERE, forks, register};
use super::regions::{Layout, Regions};

/// Distance between two handles in bytes, so that addresses look aligned.
const HANDLE_BYTES: usize = 8;

/// A type that C knows by pointers only, and the value behind those pointers.
pub(crate) trait Handle: Sized + 'static {
    /// The value that a handle refers to.
    type Value: fmt::Debug + 'static;
    /// Bytes of a slot, a power of two.
    const SLOT_BYTES: usize;
    /// Slots of the first region: those that are found fastest.
    const FIRST_SLOTS: usize;
    /// Slots that a used-up slot waits for before its addresses are used again.
    const WAITING_SLOTS: usize;
    /// The answer for a handle that has ended.
    const ENDED: Code;

    /// Returns the slab of this kind.
    fn slab() -> &'static Slab<Self>;
}

/// All handles of one kind.
#[derive(Debug)]
pub(crate) struct Slab<H> {
    /// Where the first region begins.
    hot: AtomicUsize,
    /// Made by the first handle; a forked child makes its own.
    regions: AtomicPtr<Regions>,
    kind: PhantomData<fn() -> H>,
}

/// The end of a slot, after the value.
#[derive(Debug)]
#[repr(C)]
struct Mark {
    /// The address that is the handle; 0 for none.
    good: AtomicUsize,
    /// Number of the environment that the value belongs to.
    owner: AtomicUsize,
    /// Number of the address used last.
    turn: AtomicUsize,
}

/// The result of the slow search: a null pointer with a code, or a value.
#[repr(C)]
struct SearchResult {
    value: *mut c_void,
    code: c_int,
}

impl<H: Handle> Slab<H> {
    const HOT_BYTES: usize = H::FIRST_SLOTS * H::SLOT_BYTES;
    const TURNS: usize = H::SLOT_BYTES / HANDLE_BYTES;
    const LAYOUT: Layout = Layout {
        slot_bytes: H::SLOT_BYTES,
        first_slots: H::FIRST_SLOTS,
        waiting_slots: H::WAITING_SLOTS,
    };

    /// Returns a slab without handles.
    pub(crate) const fn new() -> Slab<H> {
        const {
            assert!(H::SLOT_BYTES.is_power_of_two());
            assert!(size_of::<H::Value>() + size_of::<Mark>() <= H::SLOT_BYTES);
            assert!(align_of::<H::Value>() <= H::SLOT_BYTES);
        }
        Slab {
            hot: AtomicUsize::new(NOWHERE),
            regions: AtomicPtr::new(ptr::null_mut()),
            kind: PhantomData,
        }
    }

    /// Returns the slot of a handle. Any pointer may be passed; only a handle is followed.
    /// # Errors
    /// EINVAL for a pointer that is no handle of this kind. [`Handle::ENDED`] for a handle that has
    /// ended. PANIC for one that a fork inherited.
    #[inline(always)]
    pub(crate) fn find(&self, handle: *mut H) -> Outcome<Slot<H>> {
        if let Some(slot) = self.find_hot(handle) {
            return Ok(slot);
        }
        let SearchResult { value, code } = self.search(handle);
        NonNull::new(value.cast()).map(Slot).ok_or(Code(code))
    }

    /// Returns the slot of a handle in the first region; `None` otherwise.
    #[inline(always)]
    pub(crate) fn find_hot(&self, handle: *mut H) -> Option<Slot<H>> {
        let address = handle.addr();
        if address.wrapping_sub(self.hot.load(Ordering::Relaxed)) >= Self::HOT_BYTES {
            return None;
        }
        // SAFETY: the address is within the first region, which begins at `hot`.
        let slot = unsafe { Slot::around(handle) };
        (slot.mark().good.load(Ordering::Relaxed) == address).then_some(slot)
    }

    /// Returns the slot of a handle, and true if a fork inherited the handle.
    /// # Errors
    /// As [`Slab::find`], but not for inherited handles.
    pub(crate) fn find_inherited(&self, handle: *mut H) -> Outcome<(Slot<H>, bool)> {
        for regions in self.generations() {
            let Some(index) = regions.index_of(handle.addr()) else {
                continue;
            };
            if !regions.was_used(index) {
                return Err(Code::INVALID_ARGUMENT);
            }
            // SAFETY: the address is within one of the regions, as `index_of` found.
            let slot = unsafe { Slot::around(handle) };
            if slot.mark().good.load(Ordering::Relaxed) != handle.addr() {
                return Err(H::ENDED);
            }
            return Ok((slot, regions.forks != forks()));
        }
        Err(Code::INVALID_ARGUMENT)
    }

    // A function of C's kind is known not to unwind. Callers without other panics need no frame for
    // one.
    #[cold]
    #[inline(never)]
    extern "C" fn search(&self, handle: *mut H) -> SearchResult {
        let (value, code) = match self.find_inherited(handle) {
            Ok((_, true)) => (ptr::null_mut(), Code::PANIC),
            Ok((slot, false)) => (slot.0.as_ptr(), Code(0)),
            Err(code) => (ptr::null_mut(), code),
        };
        SearchResult {
            value: value.cast(),
            code: code.0,
        }
    }

    /// Creates a value of an environment, with a handle. `value` builds it in its slot, since it is
    /// large.
    /// # Errors
    /// ENOMEM.
    #[inline]
    pub(crate) fn insert(
        &'static self,
        owner: usize,
        value: impl FnOnce() -> H::Value,
    ) -> Outcome<Slot<H>> {
        let slot = self.regions()?.take_slot().ok_or(Code::NO_MEMORY)?;
        let slot: Slot<H> = Slot(slot.cast());
        // SAFETY: the slot is large enough and aligned, as `new` asserts. It has no handle, so no
        // other thread uses it.
        unsafe { slot.0.write(value()) };
        let mark = slot.mark();
        mark.owner.store(owner, Ordering::Relaxed);
        let turn = (mark.turn.load(Ordering::Relaxed) + 1) % Self::TURNS;
        slot.begin_turn(turn);
        Ok(slot)
    }

    /// Returns the values of an environment that have handles.
    pub(crate) fn of_owner(&self, owner: usize) -> Vec<Slot<H>> {
        let slots = self.generations().flat_map(Regions::used_slots);
        let slots = slots.map(|slot| Slot(slot.cast()));
        let is_live = |slot: &Slot<H>| {
            let mark = slot.mark();
            mark.good.load(Ordering::Acquire) != 0 && mark.owner.load(Ordering::Relaxed) == owner
        };
        slots.filter(is_live).collect()
    }

    fn give_back(&self, slot: Slot<H>) {
        // A forked child does not touch the parent's slots: a thread of the parent may have held
        // their lock.
        let own = self.newest().filter(|regions| {
            regions.forks == forks() && regions.index_of(slot.0.addr().get()).is_some()
        });
        if let Some(regions) = own {
            let turn = slot.mark().turn.load(Ordering::Relaxed);
            regions.give_back(slot.0.cast(), turn + 1 < Self::TURNS);
        }
    }

    /// The regions of this process, then those it inherited.
    fn generations(&self) -> impl Iterator<Item = &'static Regions> + use<H> {
        core::iter::successors(self.newest(), |regions| regions.inherited)
    }

    fn newest(&self) -> Option<&'static Regions> {
        // SAFETY: null, or stored by `make_regions`, which leaks what it stores.
        unsafe { self.regions.load(Ordering::Acquire).as_ref() }
    }

    /// Returns the regions of this process.
    fn regions(&'static self) -> Outcome<&'static Regions> {
        match self.newest() {
            Some(regions) if regions.forks == forks() => Ok(regions),
            before => self.make_regions(before),
        }
    }

    #[cold]
    fn make_regions(&'static self, before: Option<&'static Regions>) -> Outcome<&'static Regions> {
        register(&self.hot);
        let regions = Box::new(Regions::new(Self::LAYOUT, forks(), before));
        let hot = regions.region(0).ok_or(Code::NO_MEMORY)?;
        let regions = Box::into_raw(regions);
        let expected = before.map_or(ptr::null_mut(), |before| ptr::from_ref(before).cast_mut());
        let stored =
            self.regions
                .compare_exchange(expected, regions, Ordering::AcqRel, Ordering::Acquire);
        match stored {
            Ok(_) => self.hot.store(hot.addr().get(), Ordering::Relaxed),
            // Another thread was first. The region's memory is little, and this happens once.
            // SAFETY: `into_raw` made the pointer above, and it was not stored.
            Err(_) => drop(unsafe { Box::from_raw(regions) }),
        }
        self.newest().ok_or(Code::NO_MEMORY)
    }
}

/// A reference to a slot with a value: see the rules in the module's documentation.
#[repr(transparent)]
pub(crate) struct Slot<H: Handle>(NonNull<H::Value>);

impl<H: Handle> Slot<H> {
    /// Returns the slot that contains an address.
    ///
    /// # Safety
    /// The address is within a region of this kind.
    #[inline(always)]
    unsafe fn around(handle: *mut H) -> Slot<H> {
        // This takes one instruction. `map_addr` keeps the pointer and an offset in registers for
        // the whole call.
        let slot = ptr::with_exposed_provenance_mut(handle.addr() & !(H::SLOT_BYTES - 1));
        // SAFETY: the caller passes an address in a region, and regions do not begin at 0.
        Slot(unsafe { NonNull::new_unchecked(slot) })
    }

    /// Returns the value.
    #[inline(always)]
    pub(crate) fn get(&self) -> &H::Value {
        // SAFETY: the value lives as long as its slot is used (rule 1), and no mutable reference is
        // in use (rule 3).
        unsafe { self.0.as_ref() }
    }

    /// Returns the value, for changing.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self) -> &mut H::Value {
        // SAFETY: the value lives as long as its slot is used (rule 1), and this is the only
        // reference (rules 2 and 3).
        unsafe { self.0.as_mut() }
    }

    #[inline(always)]
    fn mark(self) -> &'static Mark {
        let mark = self.0.as_ptr();
        let mark = mark.wrapping_byte_add(H::SLOT_BYTES - size_of::<Mark>());
        // SAFETY: slots are never unmapped, and hold a mark at their end, behind any value. It has
        // only atomics, which a new mapping sets to zero.
        unsafe { &*mark.cast::<Mark>() }
    }

    /// Returns the handle; null if there is none.
    pub(crate) fn handle(self) -> *mut H {
        let address = self.mark().good.load(Ordering::Relaxed);
        self.0.as_ptr().with_addr(address).cast()
    }

    /// Gives the value the handle of this number.
    #[inline(always)]
    fn begin_turn(self, turn: usize) -> *mut H {
        let mark = self.mark();
        mark.turn.store(turn, Ordering::Relaxed);
        let address = self.0.addr().get() + turn * HANDLE_BYTES;
        mark.good.store(address, Ordering::Release);
        self.0.as_ptr().with_addr(address).cast()
    }

    /// Takes the handle away, so that pointers to it are stale from here on.
    #[inline(always)]
    pub(crate) fn end_handle(self) {
        self.mark().good.store(0, Ordering::Release);
    }

    /// Takes the handle and the value away.
    ///
    /// # Safety
    /// The slot holds a value, and no copy of this reference is used again.
    #[inline(always)]
    pub(crate) unsafe fn retire(self) -> Retired<H> {
        self.end_handle();
        Retired(self)
    }
}

impl<H: Handle> Clone for Slot<H> {
    #[inline(always)]
    fn clone(&self) -> Slot<H> {
        *self
    }
}

impl<H: Handle> Copy for Slot<H> {}

impl<H: Handle> PartialEq for Slot<H> {
    fn eq(&self, other: &Slot<H>) -> bool {
        self.0 == other.0
    }
}

impl<H: Handle> fmt::Debug for Slot<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A value without a handle, which nothing else refers to. Its end frees the slot.
#[repr(transparent)]
pub(crate) struct Retired<H: Handle>(Slot<H>);

impl<H: Handle> Retired<H> {
    /// Returns the value.
    #[inline(always)]
    pub(crate) fn get_mut(&mut self) -> &mut H::Value {
        self.0.get_mut()
    }

    /// Gives the value a new handle; returns the value itself if the slot has no address left.
    #[inline(always)]
    pub(crate) fn revive(self) -> Result<(Slot<H>, *mut H), Retired<H>> {
        let slot = self.0;
        let turn = slot.mark().turn.load(Ordering::Relaxed) + 1;
        if turn >= Slab::<H>::TURNS {
            return Err(self);
        }
        core::mem::forget(self);
        Ok((slot, slot.begin_turn(turn)))
    }

    /// Returns the value and frees its slot.
    pub(crate) fn into_value(self) -> H::Value {
        let slot = ManuallyDrop::new(self).0;
        // SAFETY: the slot holds a value, nothing else refers to it, and it is not used again.
        let value = unsafe { slot.0.read() };
        H::slab().give_back(slot);
        value
    }

    /// Returns a pointer for [`Retired::from_raw`].
    #[inline(always)]
    pub(crate) fn into_raw(self) -> *mut H::Value {
        ManuallyDrop::new(self).0.0.as_ptr()
    }

    /// Returns the value of a pointer; `None` for null.
    ///
    /// # Safety
    /// The pointer is null or from [`Retired::into_raw`], and is used only once.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(value: *mut H::Value) -> Option<Retired<H>> {
        NonNull::new(value).map(|value| Retired(Slot(value)))
    }
}

impl<H: Handle> Drop for Retired<H> {
    fn drop(&mut self) {
        // SAFETY: the slot holds a value, nothing else refers to it, and it is not used again.
        unsafe { self.0.0.drop_in_place() };
        H::slab().give_back(self.0);
    }
}

impl<H: Handle> fmt::Debug for Retired<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
