//! Lists of numbers that the original library leaks from its inside, and that some old programs import.
//!
//! An id list is an array of words: word 0 counts the ids, which follow in descending order; the word before word 0
//! says how many there is room for. A list of pairs counts in its first pair's number and ascends. Neither has to do
//! with the engine.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::size_of;
use std::slice;

/// Pairs that a list of pairs holds at most.
const PAIRS_MAX: usize = (1 << 17) - 1;
/// How much more room than needed a growing list takes.
const STEP: usize = 1 << 10;

/// A number with a pointer.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    id: usize,
    pointer: *mut c_void,
}

/// Makes an empty list with room for `room` ids; null without memory.
#[unsafe(no_mangle)]
pub extern "C" fn mdb_midl_alloc(room: c_int) -> *mut usize {
    let Ok(room) = usize::try_from(room) else {
        return std::ptr::null_mut();
    };
    // SAFETY: any size may be asked for.
    let base = unsafe { libc::malloc((room + 2) * size_of::<usize>()) }.cast::<usize>();
    if base.is_null() {
        return base;
    }
    // SAFETY: the allocation has at least two words.
    unsafe { base.write(room) };
    // SAFETY: as above.
    let ids = unsafe { base.add(1) };
    // SAFETY: as above.
    unsafe { ids.write(0) };
    ids
}

/// Frees a list; null is fine.
///
/// # Safety
/// `ids` is null or came from these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_free(ids: *mut usize) {
    if !ids.is_null() {
        // SAFETY: the allocation begins one word before the list.
        let base = unsafe { ids.sub(1) };
        // SAFETY: the caller's list came from `mdb_midl_alloc`.
        unsafe { libc::free(base.cast()) };
    }
}

/// Gives back room beyond what an ordinary list takes; the list may move.
///
/// # Safety
/// `list` points to a list of these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_shrink(list: *mut *mut usize) {
    // SAFETY: the caller's promise.
    let ids = unsafe { *list };
    // SAFETY: as above: word 0 counts, the word before says the room.
    let (len, room) = unsafe { measures(ids) };
    if room > PAIRS_MAX && len <= PAIRS_MAX {
        // SAFETY: as above; failing to shrink is harmless.
        let _ = unsafe { resize(list, PAIRS_MAX) };
    }
}

/// Makes room for `more` further ids. 0, or ENOMEM.
///
/// # Safety
/// As [`mdb_midl_shrink`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_need(list: *mut *mut usize, more: c_uint) -> c_int {
    // SAFETY: the caller's promise.
    let ids = unsafe { *list };
    // SAFETY: as above.
    let (len, room) = unsafe { measures(ids) };
    let needed = len + more as usize;
    if needed <= room {
        return 0;
    }
    // SAFETY: as above.
    unsafe { resize(list, needed + needed / 4 + STEP) }
}

/// Appends an id behind the others, whatever its size. 0, or ENOMEM.
///
/// # Safety
/// As [`mdb_midl_shrink`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_append(list: *mut *mut usize, id: usize) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { extend(list, &[id]) }
}

/// Appends the ids of another list. 0, or ENOMEM.
///
/// # Safety
/// As [`mdb_midl_shrink`]; `other` is a list too, and not the same one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_append_list(list: *mut *mut usize, other: *mut usize) -> c_int {
    // SAFETY: the caller's promise.
    let other = unsafe { ids_of(other) };
    // SAFETY: as above.
    unsafe { extend(list, other) }
}

/// Appends `count` consecutive ids of which `id` is the smallest, the greatest first. 0, or ENOMEM.
///
/// # Safety
/// As [`mdb_midl_shrink`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_append_range(
    list: *mut *mut usize,
    id: usize,
    count: c_uint,
) -> c_int {
    let range: Vec<usize> = (0..count as usize).rev().map(|more| id + more).collect();
    // SAFETY: the caller's promise.
    unsafe { extend(list, &range) }
}

/// Merges a sorted list into another, which has the room.
///
/// # Safety
/// Both are sorted lists of these functions, and `ids` has room for all of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_xmerge(ids: *mut usize, other: *mut usize) {
    // SAFETY: the caller's promise.
    let other = unsafe { ids_of(other) };
    // SAFETY: as above.
    let (mut left, _) = unsafe { measures(ids) };
    // SAFETY: the caller's promise: there is room for both.
    let all = unsafe { slice::from_raw_parts_mut(ids.add(1), left + other.len()) };
    // From the end on, so that nothing is overwritten that is still to be moved.
    let mut right = other.len();
    for at in (0..all.len()).rev() {
        let from_left = left > 0 && (right == 0 || all[left - 1] < other[right - 1]);
        if from_left {
            left -= 1;
            all[at] = all[left];
        } else {
            right -= 1;
            all[at] = other[right];
        }
    }
    // SAFETY: word 0 is the list's.
    unsafe { ids.write(all.len()) };
}

/// Sorts a list, the greatest first.
///
/// # Safety
/// `ids` is a list of these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_sort(ids: *mut usize) {
    // SAFETY: the caller's promise.
    let len = unsafe { *ids };
    // SAFETY: as above: the ids follow word 0.
    let ids = unsafe { slice::from_raw_parts_mut(ids.add(1), len) };
    ids.sort_unstable_by(|a, b| b.cmp(a));
}

/// Where in a sorted list an id is, or would have to be: 1 for the first place.
///
/// # Safety
/// `ids` is a sorted list of these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_search(ids: *mut usize, id: usize) -> c_uint {
    // SAFETY: the caller's promise.
    let ids = unsafe { ids_of(ids) };
    ids.partition_point(|present| *present > id) as c_uint + 1
}

/// Where in a list of pairs a number is, or would have to be: 1 for the first place.
///
/// # Safety
/// `pairs` is a list of pairs in ascending order, which counts in its first one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_mid2l_search(pairs: *mut Pair, id: usize) -> c_uint {
    // SAFETY: the caller's promise.
    let len = unsafe { (*pairs).id };
    // SAFETY: as above: the pairs follow the first.
    let pairs = unsafe { slice::from_raw_parts(pairs.add(1), len) };
    pairs.partition_point(|pair| pair.id < id) as c_uint + 1
}

/// Inserts a pair at its place. 0; -1 if its number is there; -2 if the list is full.
///
/// # Safety
/// As [`mdb_mid2l_search`]; the array has room for 2^17 pairs, and `pair` points to one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_mid2l_insert(pairs: *mut Pair, pair: *mut Pair) -> c_int {
    // SAFETY: the caller's promise.
    let pair = unsafe { *pair };
    // SAFETY: as above.
    let at = unsafe { mdb_mid2l_search(pairs, pair.id) } as usize;
    // SAFETY: as above.
    let len = unsafe { (*pairs).id };
    // SAFETY: a place up to `len` is in the list.
    if at <= len && unsafe { (*pairs.add(at)).id } == pair.id {
        return -1;
    }
    if len >= PAIRS_MAX {
        return -2;
    }
    // SAFETY: the array has room for one more, as was just seen.
    let all = unsafe { slice::from_raw_parts_mut(pairs, len + 2) };
    all.copy_within(at..=len, at + 1);
    all[at] = pair;
    all[0].id = len + 1;
    0
}

/// Appends a pair behind the others. 0; -2 if the list is full.
///
/// # Safety
/// As [`mdb_mid2l_insert`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_mid2l_append(pairs: *mut Pair, pair: *mut Pair) -> c_int {
    // SAFETY: the caller's promise.
    let pair = unsafe { *pair };
    // SAFETY: as above.
    let len = unsafe { (*pairs).id };
    if len >= PAIRS_MAX {
        return -2;
    }
    // SAFETY: the array has room for one more, as was just seen.
    let all = unsafe { slice::from_raw_parts_mut(pairs, len + 2) };
    all[len + 1] = pair;
    all[0].id = len + 1;
    0
}

/// How many ids a list has, and has room for.
unsafe fn measures(ids: *mut usize) -> (usize, usize) {
    // SAFETY: word 0 is the list's.
    let len = unsafe { *ids };
    // SAFETY: so is the word before it.
    let room = unsafe { ids.sub(1) };
    // SAFETY: as above.
    (len, unsafe { *room })
}

/// The ids of a list.
unsafe fn ids_of<'l>(ids: *mut usize) -> &'l [usize] {
    // SAFETY: word 0 is the list's.
    let len = unsafe { *ids };
    // SAFETY: the ids follow it.
    unsafe { slice::from_raw_parts(ids.add(1), len) }
}

unsafe fn extend(list: *mut *mut usize, more: &[usize]) -> c_int {
    // SAFETY: the caller's list.
    let code = unsafe { mdb_midl_need(list, more.len() as c_uint) };
    if code != 0 {
        return code;
    }
    // SAFETY: as above.
    let ids = unsafe { *list };
    // SAFETY: as above.
    let (len, _) = unsafe { measures(ids) };
    // SAFETY: there is room behind the ids, as was just seen to.
    let room = unsafe { slice::from_raw_parts_mut(ids.add(1 + len), more.len()) };
    room.copy_from_slice(more);
    // SAFETY: word 0 is the list's.
    unsafe { ids.write(len + more.len()) };
    0
}

unsafe fn resize(list: *mut *mut usize, room: usize) -> c_int {
    // SAFETY: the allocation begins one word before the list.
    let base = unsafe { (*list).sub(1) };
    // SAFETY: it came from `malloc`.
    let base = unsafe { libc::realloc(base.cast(), (room + 2) * size_of::<usize>()) };
    let base = base.cast::<usize>();
    if base.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the allocation has at least two words.
    unsafe { base.write(room) };
    // SAFETY: as above.
    let ids = unsafe { base.add(1) };
    // SAFETY: the caller's place for the list.
    unsafe { list.write(ids) };
    0
}
