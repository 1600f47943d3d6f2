//! The slots of one kind of handle: regions of memory, mapped when they are needed and never
//! unmapped.

use alloc::collections::VecDeque;
use core::ptr;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use fulgurite::platform::sync::{Mutex, MutexGuard, PoisonError};

/// Regions of a slab: more slots than memory has room for.
const REGIONS: usize = 32;

/// The sizes of a slab.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Bytes of a slot, a power of two.
    pub(super) slot_bytes: usize,
    /// Slots of the first region.
    pub(super) first_slots: usize,
    /// Slots that a used-up slot waits for before its addresses are used again.
    pub(super) waiting_slots: usize,
}

/// The slots that this process has made, or a parent of it.
pub(super) struct Regions {
    layout: Layout,
    /// Forks before the process that made this.
    pub(super) forks: u32,
    /// The regions that this process inherited.
    pub(super) inherited: Option<&'static Regions>,
    starts: [AtomicPtr<u8>; REGIONS],
    /// Slots that were ever used, the first ones.
    used: AtomicUsize,
    free: Mutex<FreeSlots>,
}

/// Slots without a handle.
#[derive(Debug, Default)]
struct FreeSlots {
    /// A slot with unused addresses.
    warm: Option<NonNull<u8>>,
    /// Slots without unused addresses, the oldest first.
    waiting: VecDeque<NonNull<u8>>,
}

impl Regions {
    /// Returns slots without memory yet.
    pub(super) fn new(layout: Layout, forks: u32, inherited: Option<&'static Regions>) -> Regions {
        Regions {
            layout,
            forks,
            inherited,
            starts: [const { AtomicPtr::new(ptr::null_mut()) }; REGIONS],
            used: AtomicUsize::new(0),
            free: Mutex::default(),
        }
    }

    /// Returns the start of a region, which is mapped if it is not there; `None` without memory.
    pub(super) fn region(&self, number: usize) -> Option<NonNull<u8>> {
        let region = self.starts.get(number)?;
        if let Some(mapped) = NonNull::new(region.load(Ordering::Acquire)) {
            return Some(mapped);
        }
        let slot_bytes = self.layout.slot_bytes;
        let bytes = self.layout.first_slots.checked_mul(slot_bytes)?;
        let bytes = bytes.checked_shl(number as u32)?;
        // SAFETY: an anonymous mapping at an address of the system's choice touches no other
        // memory.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes.checked_add(slot_bytes)?,
                libc::PROT_READ | libc::PROT_WRITE,
                // Unused pages take up no memory.
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return None;
        }
        let start = memory.map_addr(|address| (address + slot_bytes - 1) & !(slot_bytes - 1));
        let start = start.cast::<u8>();
        // Slots are found by the addresses of handles.
        start.expose_provenance();
        region.store(start, Ordering::Release);
        NonNull::new(start)
    }

    /// Returns a slot by its number; `None` if its region is not mapped.
    fn slot(&self, index: usize) -> Option<NonNull<u8>> {
        let first_slots = self.layout.first_slots;
        let (number, block) = region_of(index.checked_div(first_slots)?);
        let start = NonNull::new(self.starts.get(number)?.load(Ordering::Acquire))?;
        let offset = block * first_slots + index.checked_rem(first_slots)?;
        debug_assert!(offset < first_slots << number, "the slot is in its region");
        NonNull::new(
            start
                .as_ptr()
                .wrapping_byte_add(offset * self.layout.slot_bytes),
        )
    }

    /// Returns the number of the slot that contains an address.
    pub(super) fn index_of(&self, address: usize) -> Option<usize> {
        let Layout {
            slot_bytes,
            first_slots,
            ..
        } = self.layout;
        self.starts.iter().enumerate().find_map(|(number, start)| {
            let start = start.load(Ordering::Acquire);
            let slots = first_slots << number;
            let offset = address.wrapping_sub(start.addr());
            let slot = offset.checked_div(slot_bytes)?;
            let is_here = !start.is_null() && slot < slots;
            is_here.then(|| first_slots * ((1 << number) - 1) + slot)
        })
    }

    /// Returns true if the slot of this number was ever used.
    pub(super) fn was_used(&self, index: usize) -> bool {
        index < self.used.load(Ordering::Acquire)
    }

    /// The slots that were ever used.
    pub(super) fn used_slots(&self) -> impl Iterator<Item = NonNull<u8>> {
        (0..self.used.load(Ordering::Acquire)).map_while(|index| self.slot(index))
    }

    /// Takes a slot without a handle; `None` without memory.
    pub(super) fn take_slot(&self) -> Option<NonNull<u8>> {
        let mut free = self.lock();
        if let Some(slot) = free.warm.take() {
            return Some(slot);
        }
        if free.waiting.len() > self.layout.waiting_slots
            && let Some(slot) = free.waiting.pop_front()
        {
            return Some(slot);
        }
        let index = self.used.load(Ordering::Relaxed);
        let (number, _) = region_of(index.checked_div(self.layout.first_slots)?);
        self.region(number)?;
        let slot = self.slot(index)?;
        self.used.store(index + 1, Ordering::Release);
        Some(slot)
    }

    /// Takes back a slot whose value and handle have ended.
    pub(super) fn give_back(&self, slot: NonNull<u8>, has_addresses: bool) {
        let mut free = self.lock();
        if free.warm.is_none() && has_addresses {
            free.warm = Some(slot);
        } else {
            free.waiting.push_back(slot);
        }
    }

    fn lock(&self) -> MutexGuard<'_, FreeSlots> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the region that contains a block of [`Layout::first_slots`] slots, and the block's
/// number in it.
const fn region_of(block: usize) -> (usize, usize) {
    let ordinal = block + 1;
    let number = match ordinal.checked_ilog2() {
        Some(number) => number as usize,
        None => 0,
    };
    (number, ordinal.wrapping_sub(1 << number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_region_has_twice_the_blocks_of_the_last() {
        let found: Vec<_> = (0..7).map(region_of).collect();
        assert_eq!(
            found,
            [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (2, 3)]
        );
    }

    #[test]
    fn slots_are_found_by_their_addresses() {
        let layout = Layout {
            slot_bytes: 64,
            first_slots: 2,
            waiting_slots: 1,
        };
        let regions = Regions::new(layout, 0, None);
        for index in 0..5 {
            let slot = regions.take_slot().unwrap();
            assert_eq!(regions.index_of(slot.addr().get() + 63), Some(index));
            assert!(regions.was_used(index));
        }
        assert!(!regions.was_used(5));
        assert_eq!(regions.used_slots().count(), 5);
    }
}
