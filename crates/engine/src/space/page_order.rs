//! Sorting numbers of pages in place, with one copy of the code.
//!
//! A commit sorts, and must not fail for lack of memory. So the sort takes none. It parts the
//! numbers by the six highest bits that differ, then each part by the next six. Eleven
//! times are enough for any numbers.

use core::cell::Cell;

use fulgurite_format::Pgno;

/// As few as that are sorted by insertion.
const FEW: usize = 16;

/// Numbers are parted by that many bits at once.
const BITS: u32 = 6;
const PARTS: usize = 1 << BITS;

/// Sorts from the lowest to the highest.
pub(super) fn sort_ascending(pages: &mut [Pgno]) {
    sort_descending(pages);
    pages.reverse();
}

/// Sorts from the highest to the lowest, as a record of the free list has them.
pub(super) fn sort_descending(pages: &mut [Pgno]) {
    sort_numbers(pages, |page| page.0);
}

/// Sorts from the highest to the lowest. The order in which numbers of pages mostly come costs one
/// pass.
#[inline(never)]
pub fn sort_numbers<T: Copy>(items: &mut [T], number: impl Fn(T) -> u64 + Copy) {
    if items.is_sorted_by(|a, b| number(*a) <= number(*b)) {
        items.reverse();
    }
    if items.is_sorted_by(|a, b| number(*a) >= number(*b)) {
        return;
    }
    let first = items.first().map_or(0, |first| number(*first));
    let differing = items
        .iter()
        .fold(0, |bits, item| bits | (number(*item) ^ first));
    let significant = u64::BITS - differing.leading_zeros();
    part(
        Cell::from_mut(items).as_slice_of_cells(),
        significant.saturating_sub(BITS),
        number,
    );
}

/// Sorts numbers that agree in all bits from `shift + BITS` on.
fn part<T: Copy>(items: &[Cell<T>], shift: u32, number: impl Fn(T) -> u64 + Copy) {
    if items.len() <= FEW {
        return insert_each(items, number);
    }
    // The part of the greatest numbers is the first.
    let part_of = |item: T| !(number(item) >> shift) as usize % PARTS;
    let mut ends = [0; PARTS];
    for item in items {
        ends[part_of(item.get())] += 1;
    }
    let mut gaps = [0; PARTS];
    let mut end = 0;
    for (gap, count) in gaps.iter_mut().zip(&mut ends) {
        *gap = end;
        end += *count;
        *count = end;
    }
    for (index, end) in ends.iter().enumerate() {
        while let Some(item) = items.get(gaps[index % PARTS]..*end).and_then(<[_]>::first) {
            let own = part_of(item.get());
            if let Some(place) = items.get(gaps[own]) {
                item.set(place.replace(item.get()));
            }
            gaps[own] += 1;
        }
    }
    if shift == 0 {
        return;
    }
    let mut start = 0;
    for end in ends {
        if let Some(items) = items.get(start..end) {
            part(items, shift.saturating_sub(BITS), number);
        }
        start = end;
    }
}

fn insert_each<T: Copy>(items: &[Cell<T>], number: impl Fn(T) -> u64) {
    for (sorted, item) in items.iter().enumerate() {
        let inserted = item.get();
        let mut gap = item;
        for left in items.iter().take(sorted).rev() {
            if number(left.get()) >= number(inserted) {
                break;
            }
            gap.set(left.get());
            gap = left;
        }
        gap.set(inserted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_numbers_are_sorted_as_by_the_standard_library() {
        let mut state = 7u64;
        println!("seed {state}");
        for round in 0..600 {
            let shift = round % 64;
            let mut numbers: Vec<u64> = (0..round * 3)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    (state ^ (state >> 32)) >> shift
                })
                .collect();
            if round % 5 == 0 {
                numbers.sort_unstable();
            }
            let mut expected = numbers.clone();
            expected.sort_unstable_by(|a, b| b.cmp(a));
            sort_numbers(&mut numbers, |number| number);
            assert_eq!(numbers, expected, "round {round}");
        }
        let mut equal = [u64::MAX; 100];
        equal[40] = 0;
        sort_numbers(&mut equal, |number| number);
        assert_eq!(equal[99], 0);
    }

    #[test]
    fn pages_are_sorted_both_ways() {
        let mut pages: Vec<Pgno> = [5, 1, 9, 3].map(Pgno).into();
        sort_ascending(&mut pages);
        assert_eq!(pages, [1, 3, 5, 9].map(Pgno));
        sort_descending(&mut pages);
        assert_eq!(pages, [9, 5, 3, 1].map(Pgno));
    }
}
