//! Maps at the address where the file was mapped when it was created.

use alloc::borrow::ToOwned;
use core::hash::BuildHasher;
use fulgurite_os::platform::io;
use fulgurite_os::platform::path::Path;

use fulgurite_format::Meta;
use fulgurite_os::{ADDRESS_TAKEN, DataFile, Map, coarse_clock_ns, process_id};

use rustc_hash::FxBuildHasher;

use super::OpenError;
use crate::Error;

/// New files are mapped at multiples of 4 GiB, far from programs, heaps, stacks and other maps.
/// Other processes are then likely to have the addresses free too.
const PLACE_LEN: u64 = 1 << 32;
const PLACE_FIRST: u64 = 0x1000_0000_0000 / PLACE_LEN;
const PLACES: u64 = 0x4000_0000_0000 / PLACE_LEN;
const ATTEMPTS: u64 = 8;

/// Reserves address space for a new file at a random address, which the file then stores.
pub(super) fn reserve_anywhere(
    file: &DataFile,
    len: usize,
    len_min: usize,
    writable: bool,
) -> io::Result<Map> {
    // No secret, but another number in each process and at each time.
    let seed = (coarse_clock_ns(), process_id());
    for attempt in 0..ATTEMPTS {
        let place = PLACE_FIRST + FxBuildHasher.hash_one((attempt, seed)) % PLACES;
        let address = usize::try_from(place * PLACE_LEN).unwrap_or(0);
        if let Ok(map) = Map::reserve_at(file.pages(), len, writable, address) {
            return Ok(map);
        }
    }
    Map::reserve(file.pages(), len, len_min, writable)
}

/// Reserves address space at the address that the file stores: as much as is free there, but at
/// least `len_min`.
pub(super) fn reserve(
    file: &DataFile,
    len: usize,
    len_min: usize,
    writable: bool,
    address: u64,
) -> io::Result<Map> {
    if address == 0 {
        return Map::reserve(file.pages(), len, len_min, writable);
    }
    let address = usize::try_from(address).unwrap_or(usize::MAX);
    let mut wish = len;
    loop {
        match Map::reserve_at(file.pages(), wish, writable, address) {
            Err(_) if wish > len_min => wish = (wish / 2).max(len_min),
            result => return result,
        }
    }
}

/// Refuses a map that is elsewhere.
pub(super) fn check(map: &Map, meta: &Meta, path: &Path) -> Result<(), OpenError> {
    if meta.map_address != 0 && meta.map_address != map.address() as u64 {
        return Err(in_use(meta, path));
    }
    Ok(())
}

/// Converts the system's refusal of address space.
pub(super) fn open_error(source: io::Error, meta: &Meta, path: &Path) -> OpenError {
    if source.raw_os_error() == Some(ADDRESS_TAKEN) {
        return in_use(meta, path);
    }
    let doing = Error::io("reserving address space for the map");
    OpenError::engine(path)(doing(source))
}

fn in_use(meta: &Meta, path: &Path) -> OpenError {
    OpenError::AddressInUse {
        path: path.to_owned(),
        address: meta.map_address,
    }
}
