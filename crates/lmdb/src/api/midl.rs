//! Lists of ids that LMDB exports from its inside, and that some old programs import.
//!
//! Ids are in descending order, pairs in ascending order. The engine does not use these lists.

use core::cell::Cell;
use core::ffi::{c_int, c_uint};

use crate::ffi::{IdList, IdListRef, In, PairList, exported};

pub use crate::ffi::Pair;

/// Longest list of pairs.
const PAIRS_MAX: usize = (1 << 17) - 1;
/// Ids for which a growing list takes additional room.
const SPARE_ROOM: usize = 1 << 10;

exported! {
    /// Creates an empty list with room for `room` ids; returns NULL without memory.
    fn mdb_midl_alloc(room: c_int) -> *mut usize { plain(alloc) }

    /// Frees a list. NULL is ignored.
    fn mdb_midl_free(ids: *mut usize) { plain(free) }

    /// Frees room beyond that of an ordinary list; the list may move.
    fn mdb_midl_shrink(list: *mut *mut usize) { plain(shrink) }

    /// Makes room for `more` further ids. Returns 0, or ENOMEM.
    fn mdb_midl_need(list: *mut *mut usize, more: c_uint) -> c_int { plain(reserve) }

    /// Appends an id, of any size. Returns 0, or ENOMEM.
    fn mdb_midl_append(list: *mut *mut usize, id: usize) -> c_int { plain(append) }

    /// Appends the ids of another list. Returns 0, or ENOMEM.
    fn mdb_midl_append_list(list: *mut *mut usize, other: *mut usize) -> c_int {
        plain(append_list)
    }

    /// Appends `count` consecutive ids from `id` on, the greatest first. Returns 0, or ENOMEM.
    fn mdb_midl_append_range(list: *mut *mut usize, id: usize, count: c_uint) -> c_int {
        plain(append_range)
    }

    /// Merges a sorted list into another, which has the room.
    fn mdb_midl_xmerge(ids: *mut usize, other: *mut usize) { plain(merge) }

    /// Sorts a list, the greatest id first.
    fn mdb_midl_sort(ids: *mut usize) { plain(sort) }

    /// Returns the index in a sorted list at which an id is, or belongs; the first index is 1.
    fn mdb_midl_search(ids: *mut usize, id: usize) -> c_uint { plain(search) }

    /// Returns the index in a list of pairs at which an id is, or belongs; the first index is 1.
    fn mdb_mid2l_search(pairs: *mut Pair, id: usize) -> c_uint { plain(search_pair) }

    /// Inserts a pair in order. Returns 0, -1 if its id is present, -2 if the list is full.
    fn mdb_mid2l_insert(pairs: *mut Pair, pair: *const Pair) -> c_int { plain(insert_pair) }

    /// Appends a pair. Returns 0; -2 if the list is full.
    fn mdb_mid2l_append(pairs: *mut Pair, pair: *const Pair) -> c_int { plain(append_pair) }
}

fn alloc(room: c_int) -> *mut usize {
    let room = usize::try_from(room).ok();
    let list = room.and_then(|room| IdList::NULL.resize(room));
    list.unwrap_or(IdList::NULL).as_ptr()
}

fn free(ids: IdList<'_>) {
    ids.free();
}

fn shrink(list: IdListRef<'_>) {
    let ids = list.get();
    if ids.room() > PAIRS_MAX
        && ids.len() <= PAIRS_MAX
        && let Some(shrunk) = ids.resize(PAIRS_MAX)
    {
        list.set(shrunk);
    }
}

fn reserve(list: IdListRef<'_>, more: c_uint) -> c_int {
    let ids = list.get();
    let needed = ids.len() + more as usize;
    if needed <= ids.room() {
        return 0;
    }
    match ids.resize(needed + needed / 4 + SPARE_ROOM) {
        Some(grown) => {
            list.set(grown);
            0
        }
        None => libc::ENOMEM,
    }
}

fn append(list: IdListRef<'_>, id: usize) -> c_int {
    extend(list, 1, core::iter::once(id))
}

fn append_list(list: IdListRef<'_>, other: IdList<'_>) -> c_int {
    let others = other.ids();
    extend(list, others.len(), others.iter().copied())
}

fn append_range(list: IdListRef<'_>, id: usize, count: c_uint) -> c_int {
    let count = count as usize;
    extend(
        list,
        count,
        (0..count).rev().map(|more| id.wrapping_add(more)),
    )
}

fn extend(list: IdListRef<'_>, count: usize, more: impl Iterator<Item = usize>) -> c_int {
    let code = reserve(list, count as c_uint);
    if code != 0 {
        return code;
    }
    let ids = list.get();
    let end = 1 + ids.len();
    for (place, id) in ids.grow(count).iter_mut().skip(end).zip(more) {
        *place = id;
    }
    0
}

fn merge(ids: IdList<'_>, other: IdList<'_>) {
    let others = other.ids();
    let (mut left, mut right) = (ids.len(), others.len());
    let all = Cell::from_mut(ids.grow(right)).as_slice_of_cells();
    // From the end on, so that no id is overwritten before it is moved.
    for place in all.iter().skip(1).rev() {
        let own = all.get(left).filter(|_| left > 0).map(Cell::get);
        let other = right.checked_sub(1).and_then(|last| others.get(last));
        match (own, other) {
            (Some(own), other) if other.is_none_or(|other| own < *other) => {
                place.set(own);
                left -= 1;
            }
            (_, Some(other)) => {
                place.set(*other);
                right -= 1;
            }
            _ => break,
        }
    }
    debug_assert!(left == 0 && right == 0, "each id was moved once");
}

fn sort(ids: IdList<'_>) {
    fulgurite::sort_numbers(ids.ids(), |id| id as u64);
}

fn search(ids: IdList<'_>, id: usize) -> c_uint {
    ids.ids().partition_point(|present| *present > id) as c_uint + 1
}

fn search_pair(pairs: PairList<'_>, id: usize) -> c_uint {
    index_of(pairs.pairs(), id) as c_uint
}

fn insert_pair(pairs: PairList<'_>, pair: In<'_, Pair>) -> c_int {
    let Some(pair) = pair.get().copied() else {
        return 0;
    };
    let present = pairs.pairs();
    let at = index_of(present, pair.id);
    if present.get(at).is_some_and(|there| there.id == pair.id) {
        return -1;
    }
    if present.len() > PAIRS_MAX {
        return -2;
    }
    let all = pairs.push(pair);
    // The pair is the last, and goes to its place.
    if let Some(from) = all.get_mut(at..)
        && !from.is_empty()
    {
        from.rotate_right(1);
    }
    0
}

fn append_pair(pairs: PairList<'_>, pair: In<'_, Pair>) -> c_int {
    let Some(pair) = pair.get() else {
        return 0;
    };
    if pairs.pairs().len() > PAIRS_MAX {
        return -2;
    }
    pairs.push(*pair);
    0
}

fn index_of(pairs: &[Pair], id: usize) -> usize {
    let present = pairs.get(1..).unwrap_or_default();
    present.partition_point(|pair| pair.id < id) + 1
}

/// The same checks as in the conformance tests, on the functions behind the interface: these run
/// under miri.
#[cfg(test)]
mod tests {
    use std::ptr;

    use crate::ffi::Argument;

    use super::*;

    fn argument<R, T: Argument<R>>(raw: R) -> T {
        // SAFETY: the variables of these tests hold lists of `alloc`. Lists of pairs state their
        // length, and have the greatest room.
        unsafe { T::from_c(raw) }
    }

    fn reference(list: &mut *mut usize) -> IdListRef<'_> {
        argument(ptr::from_mut(list))
    }

    fn list_of(ids: &[usize]) -> *mut usize {
        let mut list = alloc(2);
        for id in ids {
            assert_eq!(append(reference(&mut list), *id), 0);
        }
        list
    }

    fn ids(list: &mut *mut usize) -> Vec<usize> {
        reference(list).get().words()[1..].to_vec()
    }

    #[test]
    fn lists_grow_merge_and_shrink_within_their_allocations() {
        let mut list = list_of(&[5, 9, 1]);
        let mut other = list_of(&[30, 21, 7, 0]);
        sort(reference(&mut list).get());
        assert_eq!(ids(&mut list), [9, 5, 1]);
        assert_eq!(append_range(reference(&mut list), 20, 3), 0);
        sort(reference(&mut list).get());
        assert_eq!(reserve(reference(&mut list), 100), 0);
        merge(reference(&mut list).get(), reference(&mut other).get());
        assert_eq!(ids(&mut list), [30, 22, 21, 21, 20, 9, 7, 5, 1, 0]);
        assert_eq!(search(reference(&mut list).get(), 9), 6);
        let appended = append_list(reference(&mut list), reference(&mut other).get());
        assert_eq!(appended, 0);
        assert_eq!(ids(&mut list).len(), 14);
        shrink(reference(&mut list));
        assert_eq!(ids(&mut list).len(), 14);
        for mut list in [list, other, ptr::null_mut()] {
            free(reference(&mut list).get());
        }
    }

    #[test]
    fn a_list_far_over_the_ordinary_length_is_shrunk() {
        let mut list = alloc(PAIRS_MAX as c_int + 5);
        assert_eq!(append(reference(&mut list), 3), 0);
        shrink(reference(&mut list));
        assert_eq!(ids(&mut list), [3]);
        free(reference(&mut list).get());
    }

    #[test]
    fn pairs_stay_in_order() {
        let pair = |id| Pair {
            id,
            pointer: ptr::null_mut(),
        };
        let mut pairs = vec![pair(0); PAIRS_MAX + 1];
        for id in [50, 10, 30, 70, 20] {
            let inserted = insert_pair(
                argument(pairs.as_mut_ptr()),
                argument(ptr::from_ref(&pair(id))),
            );
            assert_eq!(inserted, 0);
        }
        let ids: Vec<usize> = pairs[..6].iter().map(|pair| pair.id).collect();
        assert_eq!(ids, [5, 10, 20, 30, 50, 70]);
        assert_eq!(search_pair(argument(pairs.as_mut_ptr()), 30), 3);
        let inserted = insert_pair(
            argument(pairs.as_mut_ptr()),
            argument(ptr::from_ref(&pair(30))),
        );
        assert_eq!(inserted, -1);
        assert_eq!(
            append_pair(
                argument(pairs.as_mut_ptr()),
                argument(ptr::from_ref(&pair(99)))
            ),
            0
        );
    }
}
