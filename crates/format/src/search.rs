//! The search within a page: from a key to its place among the entries.

use core::cmp::Ordering;

use crate::node::key_len;
use crate::{Malformed, Page, PageKind, layout};

impl Page<'_> {
    /// Returns the first entry from `from` on whose key is not smaller than the target. Also
    /// returns true if the key is equal. Returns one behind the last entry if all are smaller.
    /// `compare` orders an entry's key against the one target.
    /// # Errors
    /// [`Malformed::Node`].
    #[inline(always)]
    pub fn search(
        &self,
        from: usize,
        compare: impl Fn(&[u8]) -> Ordering,
    ) -> Result<(usize, bool), Malformed> {
        let (mut low, mut high) = (from, self.len());
        while low < high {
            let middle = (low + high) / 2;
            match compare(self.key(middle)?) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Ok((middle, true)),
                Ordering::Greater => high = middle,
            }
        }
        Ok((low, false))
    }

    /// As [`Page::search`], for orders that a number made of a key's length and first eight bytes
    /// mostly decides.
    ///
    /// Where `word` gives another number than `target`, their order is that of the keys. The bytes
    /// behind a key shorter than eight are undefined. Where it gives the same, or nothing,
    /// `compare` decides.
    ///
    /// An entry that the search only passes is checked to be in the page, no more. One search looks
    /// at two dozen of them; the found one is checked again.
    /// # Errors
    /// [`Malformed::Node`].
    #[inline(always)]
    pub fn search_by_word(
        &self,
        from: usize,
        target: u64,
        word: impl Fn(usize, [u8; 8]) -> Option<u64>,
        compare: impl Fn(&[u8]) -> Ordering,
    ) -> Result<(usize, bool), Malformed> {
        if !matches!(self.kind(), PageKind::Packed(_))
            && let Some(place) = self.position_by_word(from, target, word, &compare)
        {
            return Ok(place);
        }
        self.search(from, compare)
    }

    /// As [`Page::search_by_word`] on a branch or leaf, without a reason for a failure. Descents
    /// use it because it is cheaper.
    #[must_use]
    #[inline(always)]
    pub fn position_by_word(
        &self,
        from: usize,
        target: u64,
        word: impl Fn(usize, [u8; 8]) -> Option<u64>,
        compare: impl Fn(&[u8]) -> Ordering,
    ) -> Option<(usize, bool)> {
        let (bytes, offsets) = self.entries();
        let (mut low, mut high) = (from, offsets.len());
        loop {
            (low, high) = narrow(bytes, offsets, low, high, target, &word);
            if low >= high {
                return Some((low, false));
            }
            let middle = (low + high) / 2;
            match compare(self.key(middle).ok()?) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Some((middle, true)),
                Ordering::Greater => high = middle,
            }
        }
    }
}

/// A key to search for in the order of bytes, with its first words.
#[derive(Debug, Clone, Copy)]
pub struct LexicalKey<'k> {
    key: &'k [u8],
    /// Its first eight bytes as a number that orders as they do. Zeros replace missing bytes.
    head: u64,
    /// The same of the eight after them.
    second: u64,
}

impl<'k> LexicalKey<'k> {
    /// Looks at a key.
    #[must_use]
    #[inline(always)]
    pub fn of(key: &'k [u8]) -> LexicalKey<'k> {
        let words = match key.first_chunk() {
            Some(bytes) => u128::from_be_bytes(*bytes),
            None => padded(key),
        };
        LexicalKey {
            key,
            head: (words >> 64) as u64,
            second: words as u64,
        }
    }

    /// Returns true if it is this key; those of sixteen bytes are compared without a call.
    #[must_use]
    #[inline(always)]
    pub fn is(&self, key: &[u8]) -> bool {
        match (
            <&[u8; LONG]>::try_from(key),
            <&[u8; LONG]>::try_from(self.key),
        ) {
            (Ok(a), Ok(b)) => u128::from_ne_bytes(*a) == u128::from_ne_bytes(*b),
            _ => key == self.key,
        }
    }
}

/// Returns a key of less than sixteen bytes as a number that orders as it does. Zeros replace
/// missing bytes.
fn padded(key: &[u8]) -> u128 {
    let mut bytes = [0; LONG];
    for (to, byte) in bytes.iter_mut().zip(key) {
        *to = *byte;
    }
    u128::from_be_bytes(bytes)
}

impl<'a> Page<'a> {
    /// As [`Page::search`] on a branch or leaf in the order of bytes, without a reason for a
    /// failure. Descents use it because it is cheaper.
    #[must_use]
    #[inline(always)]
    pub fn position_of(&self, from: usize, target: &LexicalKey<'_>) -> Option<(usize, bool)> {
        let (low, left) = self.narrow(from, target)?;
        if left == 0 {
            return Some((low, false));
        }
        let middle = low + left / 2;
        if let Ok(found) = self.key(middle)
            && target.is(found)
        {
            return Some((middle, true));
        }
        self.position_between(low, low + left, target)
    }

    /// Returns the entry of a branch whose child covers the target key: the last whose separator is
    /// not greater. Entry 0 has none.
    #[must_use]
    #[inline(always)]
    pub fn branch_for(&self, target: &LexicalKey<'_>) -> Option<usize> {
        let (low, left) = self.narrow(1, target)?;
        let (index, exact) = if left == 0 {
            (low, false)
        } else {
            self.position_between(low, low + left, target)?
        };
        Some(index - usize::from(!exact))
    }

    /// Searches from entry `from` on for as long as the first sixteen bytes of keys decide. Returns
    /// the first entry that may not be passed, and how many are undecided. If there are any, the
    /// caller compares the middle one, and [`Page::position_between`] continues. `None` on a page
    /// without entries.
    #[must_use]
    #[inline(always)]
    pub fn narrow(&self, from: usize, target: &LexicalKey<'_>) -> Option<(usize, usize)> {
        let (bytes, offsets) = self.entries();
        if offsets.is_empty() {
            return None;
        }
        let keyed = offsets.get(from..)?;
        let (passed, left) = narrow_bytes(bytes, keyed, target.head, target.second);
        Some((from + passed, left))
    }

    /// The entries from `from` on, for [`Page::halve`]; `None` on a page without entries.
    #[must_use]
    #[inline(always)]
    pub fn among(&self, from: usize) -> Option<&'a [[u8; 2]]> {
        let (_, offsets) = self.entries();
        if offsets.is_empty() {
            return None;
        }
        offsets.get(from..)
    }

    /// Returns the stored offset of the middle entry of a part, unchecked.
    #[must_use]
    #[inline(always)]
    pub fn raw_middle_offset(among: &[[u8; 2]]) -> Option<usize> {
        let stored = among.get(among.len() / 2)?;
        Some(layout::to_page_offset(u16::from_le_bytes(*stored)))
    }

    /// Makes one step of [`Page::narrow`]. It keeps the entries among which the target position is,
    /// and returns true if another step is possible. Both outcomes take the same way: which it is
    /// the processor could not foresee.
    #[must_use]
    #[inline(always)]
    pub fn halve(&self, among: &mut &'a [[u8; 2]], target: &LexicalKey<'_>) -> bool {
        let (before, [middle, behind @ ..]) = among.split_at(among.len() / 2) else {
            return false;
        };
        let (bytes, _) = self.entries();
        let Some(is_behind) = is_behind(bytes, *middle, target.head, target.second) else {
            return false;
        };
        *among = if is_behind { behind } else { before };
        !among.is_empty()
    }

    /// Returns the result of [`Page::narrow`] after these steps.
    #[must_use]
    #[inline(always)]
    pub fn narrowed(&self, among: &[[u8; 2]]) -> (usize, usize) {
        let (_, offsets) = self.entries();
        (entries_before(offsets, among), among.len())
    }

    /// As [`Page::position_of`] between two entries. The middle one must be compared as a whole.
    // The page is passed by value: a caller then stores it in memory only where it calls this.
    #[must_use]
    #[inline(never)]
    pub fn position_between(
        self,
        mut low: usize,
        mut high: usize,
        target: &LexicalKey<'_>,
    ) -> Option<(usize, bool)> {
        let (bytes, offsets) = self.entries();
        while low < high {
            let middle = (low + high) / 2;
            let found = self.key(middle).ok()?;
            if target.is(found) {
                return Some((middle, true));
            }
            if found < target.key {
                low = middle + 1;
            } else {
                high = middle;
            }
            let rest = offsets.get(low..high)?;
            let (passed, left) = narrow_bytes(bytes, rest, target.head, target.second);
            low += passed;
            high = low + left;
        }
        Some((low, false))
    }
}

/// Bytes of a key that are compared as two words.
const LONG: usize = 16;

/// Searches among entries for as long as the first sixteen bytes of keys decide. Zeros replace
/// missing bytes. Returns how many entries are passed, and how many are undecided. If there are
/// any, the caller compares the middle one.
// A function separate, with no more arguments than registers carry: its loops are to have them all.
// And with branches, so that the processor runs ahead of the memory it waits for.
#[inline(never)]
fn narrow_bytes(bytes: &[u8], offsets: &[[u8; 2]], head: u64, second: u64) -> (usize, usize) {
    let mut rest = offsets;
    let mut has_short = false;
    while let (before, [middle, behind @ ..]) = rest.split_at(rest.len() / 2) {
        let Some([header, first, other]) = beginning(bytes, *middle) else {
            break;
        };
        if key_len(header) < LONG {
            has_short = true;
            break;
        }
        let found = u64::from_be_bytes(*first);
        let is_behind = if found == head {
            // Keys with a common beginning mostly differ in the eight bytes behind it.
            let found = u64::from_be_bytes(*other);
            if found == second {
                break;
            }
            found < second
        } else {
            found < head
        };
        rest = if is_behind { behind } else { before };
    }
    while has_short && let (before, [middle, behind @ ..]) = rest.split_at(rest.len() / 2) {
        let Some(is_behind) = is_behind(bytes, *middle, head, second) else {
            break;
        };
        rest = if is_behind { behind } else { before };
    }
    (entries_before(offsets, rest), rest.len())
}

/// Returns true if the target key is behind an entry's key of any length. Returns `None` if their
/// first sixteen bytes are equal, and at the very end of the page.
#[inline(always)]
fn is_behind(bytes: &[u8], stored: [u8; 2], head: u64, second: u64) -> Option<bool> {
    let [header, first, other] = beginning(bytes, stored)?;
    let [kept, kept_too] = KEPT[key_len(header).min(LONG)];
    let found = u64::from_be_bytes(*first) & kept;
    if found != head {
        return Some(found < head);
    }
    let found = u64::from_be_bytes(*other) & kept_too;
    (found != second).then_some(found < second)
}

/// Returns how many entries precede a part of them.
#[inline(always)]
fn entries_before(all: &[[u8; 2]], some: &[[u8; 2]]) -> usize {
    (some.as_ptr().addr() - all.as_ptr().addr()) / size_of::<[u8; 2]>()
}

/// Returns the header of a node and the two words behind it, which begin its key. Returns `None` at
/// the very end of the page.
#[inline(always)]
fn beginning(bytes: &[u8], stored: [u8; 2]) -> Option<&[[u8; 8]; 3]> {
    let at = layout::to_page_offset(u16::from_le_bytes(stored));
    let node = bytes.get(at..at + 8 + LONG)?;
    node.as_chunks().0.first_chunk()
}

/// Masks for two words of a key, by the key's length; the last masks are those of longer keys.
const KEPT: [[u64; 2]; LONG + 1] = {
    let mut kept = [[u64::MAX; 2]; LONG + 1];
    let mut len = 0;
    while len < LONG {
        let bits = !(u128::MAX >> (8 * len));
        kept[len] = [(bits >> 64) as u64, bits as u64];
        len += 1;
    }
    kept
};

/// Searches between two entries for as long as words decide. The caller compares the middle one of
/// the rest, if any.
// A function separate: among other code its loop would not get the registers.
#[inline(never)]
fn narrow(
    bytes: &[u8],
    offsets: &[[u8; 2]],
    mut low: usize,
    mut high: usize,
    target: u64,
    word: impl Fn(usize, [u8; 8]) -> Option<u64>,
) -> (usize, usize) {
    while low < high {
        let middle = (low + high) / 2;
        let Some((len, head)) = eight_of(bytes, offsets, middle) else {
            break;
        };
        match word(len, head) {
            Some(found) if found < target => low = middle + 1,
            Some(found) if found > target => high = middle,
            _ => break,
        }
    }
    (low, high)
}

/// Returns the length of an entry's key and the eight bytes from its start. Returns `None` at the
/// very end of the page.
#[inline(always)]
fn eight_of(bytes: &[u8], offsets: &[[u8; 2]], index: usize) -> Option<(usize, [u8; 8])> {
    let at = layout::to_page_offset(u16::from_le_bytes(*offsets.get(index)?));
    let node: &[u8; 16] = bytes.get(at..at + 16)?.first_chunk()?;
    let (header, head) = node.split_first_chunk()?;
    Some((key_len(header), *head.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NodeFlags, NodeValue, PageMut, Pgno};

    /// Keys of all lengths up to 20, with long common beginnings, and bytes at both ends of their
    /// range.
    fn keys() -> Vec<Vec<u8>> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for len in 1..20 {
            for last in [0, 1, 0x7f, 0x80, 0xff] {
                let mut key = vec![0x61; len];
                key[len - 1] = last;
                keys.push(key);
            }
        }
        keys.sort();
        keys.dedup();
        keys
    }

    #[test]
    fn word_search_agrees_with_comparison() {
        let keys = keys();
        for (stored, from) in [(2, 0), (2, 1), (3, 0), (1, 0)] {
            let mut bytes = vec![0; 4096];
            let mut page = PageMut::initialise(&mut bytes, Pgno(7), PageKind::Leaf);
            for (index, key) in keys.iter().step_by(stored).enumerate() {
                let value = NodeValue::Data(b"", NodeFlags(0));
                assert!(page.insert(index, key, value).unwrap());
            }
            let page = Page::parse(&bytes, Pgno(7), PageKind::Leaf).unwrap();
            for key in &keys {
                let compared = page.search(from, |other| other.cmp(key)).unwrap();
                assert_eq!(
                    page.position_of(from, &LexicalKey::of(key)),
                    Some(compared),
                    "{key:?}"
                );
                assert_eq!(step_by_step(&page, from, key), Some(compared), "{key:?}");
            }
        }
    }

    /// As [`Page::position_of`], by single steps.
    fn step_by_step(page: &Page<'_>, from: usize, key: &[u8]) -> Option<(usize, bool)> {
        let target = LexicalKey::of(key);
        let mut among = page.among(from)?;
        while page.halve(&mut among, &target) {
            assert!(Page::raw_middle_offset(among).is_some());
        }
        let (low, left) = page.narrowed(among);
        assert_eq!(page.narrow(from, &target), Some((low, left)));
        page.position_between(low, low + left, &target)
    }

    #[test]
    fn a_branch_leads_to_the_last_separator_that_is_not_greater() {
        let keys = keys();
        let mut bytes = vec![0; 4096];
        let mut page = PageMut::initialise(&mut bytes, Pgno(7), PageKind::Branch);
        for (index, key) in keys.iter().step_by(2).enumerate() {
            let key = if index == 0 { &[] } else { &key[..] };
            let child = NodeValue::Child(Pgno(index as u64));
            assert!(page.insert(index, key, child).unwrap());
        }
        let page = Page::parse(&bytes, Pgno(7), PageKind::Branch).unwrap();
        for (number, key) in keys.iter().enumerate() {
            let index = page.branch_for(&LexicalKey::of(key)).unwrap();
            assert_eq!(index, number / 2, "{key:?}");
            assert_eq!(page.child_if_sound(index), page.child(index).ok());
        }
        assert_eq!(page.child_if_sound(page.len()), None);
    }

    #[test]
    fn a_damaged_page_is_searched_without_harm() {
        let keys = keys();
        let mut bytes = vec![0; 4096];
        let mut page = PageMut::initialise(&mut bytes, Pgno(7), PageKind::Leaf);
        for (index, key) in keys.iter().step_by(2).enumerate() {
            let value = NodeValue::Data(b"", NodeFlags(0));
            assert!(page.insert(index, key, value).unwrap());
        }
        let len = keys.len().div_ceil(2);
        for at in 12..bytes.len() {
            let before = bytes[at];
            for changed in [0, 0xff, before ^ 0x80, before.wrapping_add(1)] {
                bytes[at] = changed;
                let Ok(page) = Page::parse(&bytes, Pgno(7), PageKind::Leaf) else {
                    continue;
                };
                for key in [&keys[0], &keys[keys.len() / 2], &keys[keys.len() - 1]] {
                    let found = page.position_of(0, &LexicalKey::of(key));
                    assert!(found.is_none_or(|(index, _)| index <= page.len().max(len)));
                    let _ = step_by_step(&page, 0, key);
                }
            }
            bytes[at] = before;
        }
    }

    #[test]
    fn search_in_an_empty_page_finds_nothing() {
        let mut bytes = vec![0; 4096];
        let _ = PageMut::initialise(&mut bytes, Pgno(7), PageKind::Leaf);
        let page = Page::parse(&bytes, Pgno(7), PageKind::Leaf).unwrap();
        for from in [0, 1] {
            assert_eq!(page.position_of(from, &LexicalKey::of(b"key")), None);
        }
    }
}
