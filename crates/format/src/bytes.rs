//! Fixed-width little-endian numbers at unaligned places, and moves of bytes.

use core::ops::Range;

/// The `N` bytes at `offset`, if they are there.
#[inline]
pub(crate) fn array<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

/// The 16-bit number at `offset`.
#[inline]
pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    array(bytes, offset).map(u16::from_le_bytes)
}

/// The 32-bit number at `offset`.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    array(bytes, offset).map(u32::from_le_bytes)
}

/// The 64-bit number at `offset`.
#[inline]
pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    array(bytes, offset).map(u64::from_le_bytes)
}

/// Stores `value` at `offset`; `None` if there is no room, with nothing changed.
#[inline]
pub(crate) fn put(bytes: &mut [u8], offset: usize, value: &[u8]) -> Option<()> {
    bytes
        .get_mut(offset..offset.checked_add(value.len())?)?
        .copy_from_slice(value);
    Some(())
}

/// Moves the items `from` towards the end by `by` places. Returns `None`, with nothing moved,
/// unless all are inside before and after.
#[inline(always)]
pub(crate) fn shift_up<T: Copy>(items: &mut [T], from: Range<usize>, by: usize) -> Option<()> {
    let touched = items.get_mut(from.start..from.end.checked_add(by)?)?;
    let len = touched.len().checked_sub(by)?;
    touched.copy_within(..len, by);
    Some(())
}

/// Moves the items `from` towards the start by `by` places, as [`shift_up`] does.
#[inline(always)]
pub(crate) fn shift_down<T: Copy>(items: &mut [T], from: Range<usize>, by: usize) -> Option<()> {
    let touched = items.get_mut(from.start.checked_sub(by)?..from.end)?;
    if by > touched.len() {
        return None;
    }
    touched.copy_within(by.., 0);
    Some(())
}

/// Stores words one behind the other, as many as there is room for.
#[inline]
pub(crate) fn put_words(bytes: &mut [u8], words: &[u64]) {
    for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *to = word.to_le_bytes();
    }
}

/// Makes zeros of a page, or of a part of one. It clears in pieces. For long ranges the C library
/// uses an instruction that is slow to begin. Counters of instructions count it byte by byte.
pub(crate) fn wipe(bytes: &mut [u8]) {
    for piece in bytes.chunks_mut(PIECE) {
        piece.fill(0);
    }
}

/// Bytes that are cleared by one call: fewer than 2,048, where that instruction begins to be used.
const PIECE: usize = 31 * 64;
