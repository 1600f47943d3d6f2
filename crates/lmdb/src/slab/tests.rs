//! Handles of a small kind. Miri runs these too: they follow addresses that C would pass.

use super::{Handle, Slab, Slot};
use crate::codes::Code;

/// A handle of which a slot has few.
#[derive(Debug)]
struct Small;

impl Handle for Small {
    type Value = String;
    const SLOT_BYTES: usize = 64;
    const FIRST_SLOTS: usize = 2;
    const WAITING_SLOTS: usize = 1;
    const ENDED: Code = Code::BAD_TXN;

    fn slab() -> &'static Slab<Small> {
        static SLAB: Slab<Small> = Slab::new();
        &SLAB
    }
}

fn insert(owner: usize, value: &str) -> Slot<Small> {
    Small::slab().insert(owner, || value.to_owned()).unwrap()
}

#[test]
fn values_are_found_by_their_handles_until_they_end() {
    let slab = Small::slab();
    let slots: Vec<_> = (0..9).map(|n| insert(7, &n.to_string())).collect();
    let handles: Vec<*mut Small> = slots.iter().map(|slot| slot.handle()).collect();
    for (n, handle) in handles.iter().enumerate() {
        let mut slot = slab.find(*handle).unwrap();
        slot.get_mut().push('!');
        assert_eq!(slab.find(*handle).unwrap().get(), &format!("{n}!"));
        let inside = handle.wrapping_byte_add(1);
        assert_eq!(slab.find(inside).unwrap_err(), Code::BAD_TXN);
    }
    assert_eq!(slab.of_owner(7).len(), 9);
    for slot in slots {
        // SAFETY: the slot holds a value, and nothing else in this test uses it again.
        drop(unsafe { slot.retire() });
    }
    for handle in handles {
        assert_eq!(slab.find(handle).unwrap_err(), Code::BAD_TXN);
    }
    assert!(slab.of_owner(7).is_empty());
    let mut foreign = 0_u64;
    let foreign: *mut Small = (&raw mut foreign).cast();
    assert_eq!(slab.find(foreign).unwrap_err(), Code::INVALID_ARGUMENT);
    revived_values_have_other_handles();
}

/// A part of the one test, since the slab is one for all threads.
fn revived_values_have_other_handles() {
    let slab = Small::slab();
    let mut slot = insert(8, "revived");
    let mut ended = Vec::new();
    loop {
        let handle = slot.handle();
        // SAFETY: the slot holds a value, and its copies are not used again.
        match unsafe { slot.retire() }.revive() {
            Ok((again, new)) => {
                assert_eq!(slab.find(new).unwrap().get(), "revived");
                ended.push(handle);
                slot = again;
            }
            Err(retired) => {
                assert_eq!(retired.into_value(), "revived");
                break;
            }
        }
    }
    assert!(ended.iter().all(|handle| slab.find(*handle).is_err()));
}
