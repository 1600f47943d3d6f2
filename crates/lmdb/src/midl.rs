//! Lists of numbers that the original library leaks from its inside, and that some old programs import.
//!
//! An id list is an array of words: word 0 counts the ids, which follow in descending order; the word before word 0
//! says how many there is room for. A list of pairs counts in its first pair's number and ascends. Neither has to do
//! with the engine.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::size_of;
use std::{ptr, slice};

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
        return ptr::null_mut();
    };
    let mut ids = ptr::null_mut();
    // SAFETY: null stands for a list that is not there yet.
    if unsafe { resize(&mut ids, room) } != 0 {
        return ptr::null_mut();
    }
    // SAFETY: word 0 is the list's.
    unsafe { ids.write(0) };
    ids
}

/// Frees a list; null is fine.
///
/// # Safety
/// `ids` is null or came from these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_free(ids: *mut usize) {
    // SAFETY: the caller's promise: the allocation begins one word before the list.
    unsafe { libc::free(base_of(ids).cast()) };
}

/// Gives back room beyond what an ordinary list takes; the list may move.
///
/// # Safety
/// `list` points to a list of these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_shrink(list: *mut *mut usize) {
    // SAFETY: the caller's promise.
    let ids = unsafe { *list };
    // SAFETY: as above.
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
    unsafe { extend(list, 1, std::iter::once(id)) }
}

/// Appends the ids of another list. 0, or ENOMEM.
///
/// # Safety
/// As [`mdb_midl_shrink`]; `other` is a list too, and not the same one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_append_list(list: *mut *mut usize, other: *mut usize) -> c_int {
    // SAFETY: the caller's promise.
    let (len, _) = unsafe { measures(other) };
    // SAFETY: as above.
    let other = unsafe { words(other, len) };
    // SAFETY: as above.
    unsafe { extend(list, len, other.iter().skip(1).copied()) }
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
    let count = count as usize;
    let range = (0..count).rev().map(|more| id.wrapping_add(more));
    // SAFETY: the caller's promise.
    unsafe { extend(list, count, range) }
}

/// Merges a sorted list into another, which has the room.
///
/// # Safety
/// Both are sorted lists of these functions, and `ids` has room for all of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_xmerge(ids: *mut usize, other: *mut usize) {
    // SAFETY: the caller's promise.
    let (mut right, _) = unsafe { measures(other) };
    // SAFETY: as above.
    let other = unsafe { words(other, right) };
    // SAFETY: as above.
    let (mut left, _) = unsafe { measures(ids) };
    // SAFETY: as above: there is room for both.
    let all = unsafe { words(ids, left + right) };
    // From the end on, so that nothing is overwritten that is still to be moved.
    for at in (1..all.len()).rev() {
        let from_left = left > 0 && (right == 0 || all[left] < other[right]);
        if from_left {
            all[at] = all[left];
            left -= 1;
        } else {
            all[at] = other[right];
            right -= 1;
        }
    }
    all[0] = all.len() - 1;
}

/// Sorts a list, the greatest first.
///
/// # Safety
/// `ids` is a list of these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_sort(ids: *mut usize) {
    // SAFETY: the caller's promise.
    let (len, _) = unsafe { measures(ids) };
    // SAFETY: as above.
    let words = unsafe { words(ids, len) };
    words[1..].sort_unstable_by(|a, b| b.cmp(a));
}

/// Where in a sorted list an id is, or would have to be: 1 for the first place.
///
/// # Safety
/// `ids` is a sorted list of these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_midl_search(ids: *mut usize, id: usize) -> c_uint {
    // SAFETY: the caller's promise.
    let len = unsafe { *ids };
    // SAFETY: as above.
    let words = unsafe { words(ids, len) };
    words[1..].partition_point(|present| *present > id) as c_uint + 1
}

/// Where in a list of pairs a number is, or would have to be: 1 for the first place.
///
/// # Safety
/// `pairs` is a list of pairs in ascending order, which counts in its first one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_mid2l_search(pairs: *mut Pair, id: usize) -> c_uint {
    // SAFETY: the caller's promise.
    let all = unsafe { all_pairs(pairs, 0) };
    place_of(all, id) as c_uint
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
    let present = unsafe { all_pairs(pairs, 0) };
    let at = place_of(present, pair.id);
    if present.get(at).is_some_and(|there| there.id == pair.id) {
        return -1;
    }
    let len = present.len();
    if len > PAIRS_MAX {
        return -2;
    }
    // SAFETY: the array has room for one more, as was just seen.
    let all = unsafe { all_pairs(pairs, 1) };
    all.copy_within(at..len, at + 1);
    all[at] = pair;
    all[0].id = len;
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
    let len = unsafe { all_pairs(pairs, 0) }.len();
    if len > PAIRS_MAX {
        return -2;
    }
    // SAFETY: the array has room for one more, as was just seen.
    let all = unsafe { all_pairs(pairs, 1) };
    all[len] = pair;
    all[0].id = len;
    0
}

fn place_of(pairs: &[Pair], id: usize) -> usize {
    pairs[1..].partition_point(|pair| pair.id < id) + 1
}

/// A list of pairs, the first one included, and so many places behind it.
unsafe fn all_pairs<'l>(pairs: *mut Pair, more: usize) -> &'l mut [Pair] {
    // SAFETY: the caller's promise.
    let count = unsafe { *pairs };
    // SAFETY: as above: the first counts the others.
    unsafe { slice::from_raw_parts_mut(pairs, 1 + count.id + more) }
}

/// Where a list's memory begins; null for null.
const fn base_of(ids: *mut usize) -> *mut usize {
    if ids.is_null() {
        ids
    } else {
        ids.wrapping_sub(1)
    }
}

/// How many ids a list has, and has room for.
unsafe fn measures(ids: *mut usize) -> (usize, usize) {
    // SAFETY: the word before word 0 is the list's.
    let room = unsafe { *base_of(ids) };
    // SAFETY: so is word 0.
    (unsafe { *ids }, room)
}

/// The first words of a list: word 0, and so many ids.
unsafe fn words<'l>(ids: *mut usize, count: usize) -> &'l mut [usize] {
    // SAFETY: the caller's promise that there is room for so many.
    unsafe { slice::from_raw_parts_mut(ids, 1 + count) }
}

unsafe fn extend(list: *mut *mut usize, count: usize, more: impl Iterator<Item = usize>) -> c_int {
    // SAFETY: the caller's list.
    let code = unsafe { mdb_midl_need(list, count as c_uint) };
    if code != 0 {
        return code;
    }
    // SAFETY: as above.
    let ids = unsafe { *list };
    // SAFETY: as above.
    let (len, _) = unsafe { measures(ids) };
    // SAFETY: there is room, as was just seen to.
    let words = unsafe { words(ids, len + count) };
    for (place, id) in words[len + 1..].iter_mut().zip(more) {
        *place = id;
    }
    words[0] = len + count;
    0
}

/// Gives a list room for so many ids; null stands for one that is not there yet.
unsafe fn resize(list: *mut *mut usize, room: usize) -> c_int {
    // SAFETY: the caller's place for the list.
    let ids = unsafe { *list };
    let size = (room + 2) * size_of::<usize>();
    // SAFETY: null, or from here.
    let base = unsafe { libc::realloc(base_of(ids).cast(), size) }.cast::<usize>();
    if base.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the allocation has at least two words.
    unsafe { base.write(room) };
    // SAFETY: the caller's place for the list, which begins at the second word.
    unsafe { list.write(base.wrapping_add(1)) };
    0
}

/// The same as in the conformance tests, from inside: these run under miri.
#[cfg(test)]
mod tests {
    use super::*;

    fn ids(list: *mut usize) -> Vec<usize> {
        // SAFETY: word 0 of a list counts.
        let count = unsafe { *list };
        // SAFETY: so many ids follow.
        let words = unsafe { slice::from_raw_parts(list, count + 1) };
        words[1..].to_vec()
    }

    fn list_of(ids: &[usize]) -> *mut usize {
        let mut list = mdb_midl_alloc(2);
        for id in ids {
            // SAFETY: a list of these functions.
            assert_eq!(unsafe { mdb_midl_append(&mut list, *id) }, 0);
        }
        list
    }

    #[test]
    fn lists_grow_merge_and_shrink_within_their_allocations() {
        let mut list = list_of(&[5, 9, 1]);
        let other = list_of(&[30, 21, 7, 0]);
        // SAFETY: lists of these functions, here and below.
        unsafe { mdb_midl_sort(list) };
        assert_eq!(ids(list), [9, 5, 1]);
        // SAFETY: as above.
        assert_eq!(unsafe { mdb_midl_append_range(&mut list, 20, 3) }, 0);
        // SAFETY: as above.
        unsafe { mdb_midl_sort(list) };
        // SAFETY: as above.
        assert_eq!(unsafe { mdb_midl_need(&mut list, 100) }, 0);
        // SAFETY: there is room for both.
        unsafe { mdb_midl_xmerge(list, other) };
        assert_eq!(ids(list), [30, 22, 21, 21, 20, 9, 7, 5, 1, 0]);
        // SAFETY: a sorted list.
        assert_eq!(unsafe { mdb_midl_search(list, 9) }, 6);
        // SAFETY: lists of these functions.
        assert_eq!(unsafe { mdb_midl_append_list(&mut list, other) }, 0);
        assert_eq!(ids(list).len(), 14);
        // SAFETY: as above.
        unsafe { mdb_midl_shrink(&mut list) };
        assert_eq!(ids(list).len(), 14);
        for list in [list, other, ptr::null_mut()] {
            // SAFETY: as above, or null.
            unsafe { mdb_midl_free(list) };
        }
    }

    #[test]
    fn a_list_far_over_the_ordinary_length_can_be_shrunk() {
        let mut list = mdb_midl_alloc(PAIRS_MAX as c_int + 5);
        // SAFETY: a list of these functions, here and below.
        assert_eq!(unsafe { mdb_midl_append(&mut list, 3) }, 0);
        // SAFETY: as above.
        unsafe { mdb_midl_shrink(&mut list) };
        assert_eq!(ids(list), [3]);
        // SAFETY: as above.
        unsafe { mdb_midl_free(list) };
    }

    #[test]
    fn pairs_stay_in_order() {
        let empty = Pair {
            id: 0,
            pointer: ptr::null_mut(),
        };
        let mut pairs = vec![empty; PAIRS_MAX + 1];
        for id in [50, 10, 30, 70, 20] {
            let mut pair = Pair { id, ..empty };
            // SAFETY: the array is as large as any list of pairs.
            let done = unsafe { mdb_mid2l_insert(pairs.as_mut_ptr(), &mut pair) };
            assert_eq!(done, 0);
        }
        let ids: Vec<usize> = pairs[..6].iter().map(|pair| pair.id).collect();
        assert_eq!(ids, [5, 10, 20, 30, 50, 70]);
        // SAFETY: as above.
        assert_eq!(unsafe { mdb_mid2l_search(pairs.as_mut_ptr(), 30) }, 3);
        let mut pair = Pair { id: 30, ..empty };
        // SAFETY: as above.
        let done = unsafe { mdb_mid2l_insert(pairs.as_mut_ptr(), &mut pair) };
        assert_eq!(done, -1);
        let mut pair = Pair { id: 99, ..empty };
        // SAFETY: as above.
        let done = unsafe { mdb_mid2l_append(pairs.as_mut_ptr(), &mut pair) };
        assert_eq!(done, 0);
    }
}
