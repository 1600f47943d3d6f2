//! The search within a page: from a key to its place among the entries.

use std::cmp::Ordering;

use crate::page::key_len;
use crate::{Format, Malformed, Page, PageKind};

impl<F: Format> Page<'_, F> {
    /// The first entry from `from` on whose key is not smaller than the one sought, and whether it is equal; one behind
    /// the last entry if all are smaller. `compare` orders an entry's key against the one sought.
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

    /// As [`Page::search`], for orders that a number made of a key's length and first eight octets mostly decides.
    ///
    /// Where `word` gives another number than `sought`, their order is that of the keys. The octets behind a key shorter than
    /// eight are whatever stands there. Where it gives the same, or nothing, `compare` decides.
    ///
    /// An entry that is only passed by is checked to lie in the page and for nothing else: one search looks at two dozen, and
    /// the one that is found is looked at again.
    /// # Errors
    /// [`Malformed::Node`].
    #[inline(always)]
    pub fn search_by_word(
        &self,
        from: usize,
        sought: u64,
        word: impl Fn(usize, [u8; 8]) -> Option<u64>,
        compare: impl Fn(&[u8]) -> Ordering,
    ) -> Result<(usize, bool), Malformed> {
        if !matches!(self.kind(), PageKind::Packed(_))
            && let Some(place) = self.place_by_word(from, sought, word, &compare)
        {
            return Ok(place);
        }
        self.search(from, compare)
    }

    /// As [`Page::search_by_word`] on a branch or leaf, without a reason for a failure: lighter where pages are met one
    /// after the other.
    #[must_use]
    #[inline(always)]
    pub fn place_by_word(
        &self,
        from: usize,
        sought: u64,
        word: impl Fn(usize, [u8; 8]) -> Option<u64>,
        compare: impl Fn(&[u8]) -> Ordering,
    ) -> Option<(usize, bool)> {
        let (bytes, offsets) = self.entries();
        let (mut low, mut high) = (from, offsets.len());
        loop {
            (low, high) = narrow::<F>(bytes, offsets, low, high, sought, &word);
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

/// A key to look for in the order of octets, with what is looked at most at hand.
#[derive(Debug, Clone, Copy)]
pub struct Octets<'k> {
    key: &'k [u8],
    /// Its first eight octets as a number that orders as they do; zeros stand for those that it lacks.
    head: u64,
    /// The eight after them; none if it has not as many.
    second: Option<u64>,
}

impl<'k> Octets<'k> {
    /// Looks at a key.
    #[must_use]
    #[inline(always)]
    pub fn of(key: &'k [u8]) -> Octets<'k> {
        let head = match key.first_chunk() {
            Some(octets) => u64::from_be_bytes(*octets),
            None => padded(key),
        };
        let second = key.get(8..).and_then(|rest| rest.first_chunk());
        Octets {
            key,
            head,
            second: second.map(|octets| u64::from_be_bytes(*octets)),
        }
    }
}

/// A short key as a number.
fn padded(key: &[u8]) -> u64 {
    key.iter()
        .take(8)
        .zip((0..8).rev())
        .fold(0, |word, (octet, place)| {
            word | u64::from(*octet) << (8 * place)
        })
}

/// The first octets of a key of so many as a number that orders as they do, where its first eight are these, or all it has
/// and what follows.
#[inline(always)]
fn word_of(len: usize, octets: [u8; 8]) -> u64 {
    /// For each number of octets those bits of a word that they are.
    const KEPT: [u64; 9] = {
        let mut kept = [u64::MAX; 9];
        let mut len = 0;
        while len < 8 {
            kept[len] = !(u64::MAX >> (8 * len));
            len += 1;
        }
        kept
    };
    u64::from_be_bytes(octets) & KEPT[len.min(8)]
}

impl<F: Format> Page<'_, F> {
    /// As [`Page::search`] on a branch or leaf in the order of octets, without a reason for a failure: lighter where pages
    /// are met one after the other.
    #[must_use]
    #[inline(always)]
    pub fn place_of(&self, from: usize, sought: Octets<'_>) -> Option<(usize, bool)> {
        let (bytes, offsets) = self.entries();
        let (mut low, mut high) = (from, offsets.len());
        if high == 0 {
            return None;
        }
        loop {
            (low, high) = narrow_octets::<F>(bytes, offsets, low, high, sought);
            if low >= high {
                return Some((low, high == FOUND && low > 0));
            }
            let middle = (low + high) / 2;
            match self.key(middle).ok()?.cmp(sought.key) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Some((middle, true)),
                Ordering::Greater => high = middle,
            }
        }
    }
}

/// In place of the upper bound: the entry at the lower one, which is none before it, is it.
const FOUND: usize = 0;

/// Searches between two entries for as long as the first sixteen octets decide: then the one in the middle of what is left
/// is to be compared, if anything is left.
// A function of its own: among other code its loop would not get the registers.
#[inline(never)]
fn narrow_octets<F: Format>(
    bytes: &[u8],
    offsets: &[[u8; 2]],
    mut low: usize,
    mut high: usize,
    sought: Octets<'_>,
) -> (usize, usize) {
    while low < high {
        let middle = (low + high) / 2;
        let Some((len, head)) = beginning::<F>(bytes, offsets, middle) else {
            break;
        };
        let found = word_of(len, head);
        if found < sought.head {
            low = middle + 1;
        } else if found > sought.head {
            high = middle;
        } else {
            // Keys with a common beginning mostly differ in the eight octets behind it.
            let Some(wanted) = sought.second.filter(|_| len >= 16) else {
                break;
            };
            let Some(found) = second_word::<F>(bytes, offsets, middle) else {
                break;
            };
            if found < wanted {
                low = middle + 1;
            } else if found > wanted {
                high = middle;
            } else if len == 16 && sought.key.len() == 16 && middle > 0 {
                return (middle, FOUND);
            } else {
                break;
            }
        }
    }
    (low, high)
}

/// The second eight octets of an entry's key, which has as many.
#[inline(always)]
fn second_word<F: Format>(bytes: &[u8], offsets: &[[u8; 2]], index: usize) -> Option<u64> {
    let at = F::to_page_offset(u16::from_le_bytes(*offsets.get(index)?));
    let octets = bytes.get(at + 16..at + 24)?.first_chunk()?;
    Some(u64::from_be_bytes(*octets))
}

/// Searches between two entries for as long as words decide: then the one in the middle of what is left is to be compared,
/// if anything is left.
// A function of its own: among other code its loop would not get the registers.
#[inline(never)]
fn narrow<F: Format>(
    bytes: &[u8],
    offsets: &[[u8; 2]],
    mut low: usize,
    mut high: usize,
    sought: u64,
    word: impl Fn(usize, [u8; 8]) -> Option<u64>,
) -> (usize, usize) {
    while low < high {
        let middle = (low + high) / 2;
        let Some((len, head)) = beginning::<F>(bytes, offsets, middle) else {
            break;
        };
        match word(len, head) {
            Some(found) if found < sought => low = middle + 1,
            Some(found) if found > sought => high = middle,
            _ => break,
        }
    }
    (low, high)
}

/// The length of an entry's key and the eight octets from where it begins; `None` at the very end of the page.
#[inline(always)]
fn beginning<F: Format>(
    bytes: &[u8],
    offsets: &[[u8; 2]],
    index: usize,
) -> Option<(usize, [u8; 8])> {
    let at = F::to_page_offset(u16::from_le_bytes(*offsets.get(index)?));
    let node: &[u8; 16] = bytes.get(at..at + 16)?.first_chunk()?;
    let (header, head) = node.split_first_chunk()?;
    Some((key_len(header), *head.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NodeFlags, NodeValue, PageMut, Pgno, V09};

    /// Keys of all lengths up to 20, with long common beginnings, and octets at both ends of their range.
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
    fn words_find_the_place_that_comparing_finds() {
        let keys = keys();
        for (stored, from) in [(2, 0), (2, 1), (3, 0), (1, 0)] {
            let mut bytes = vec![0; 4096];
            let mut page = PageMut::<V09>::initialise(&mut bytes, Pgno(7), PageKind::Leaf);
            for (index, key) in keys.iter().step_by(stored).enumerate() {
                let value = NodeValue::Data(b"", NodeFlags(0));
                assert!(page.insert(index, key, value).unwrap());
            }
            let page = Page::<V09>::parse(&bytes, Pgno(7), PageKind::Leaf).unwrap();
            for key in &keys {
                let compared = page.search(from, |other| other.cmp(key)).unwrap();
                assert_eq!(
                    page.place_of(from, Octets::of(key)),
                    Some(compared),
                    "{key:?}"
                );
            }
        }
    }

    #[test]
    fn a_page_without_entries_is_no_place() {
        let mut bytes = vec![0; 4096];
        let _ = PageMut::<V09>::initialise(&mut bytes, Pgno(7), PageKind::Leaf);
        let page = Page::<V09>::parse(&bytes, Pgno(7), PageKind::Leaf).unwrap();
        for from in [0, 1] {
            assert_eq!(page.place_of(from, Octets::of(b"key")), None);
        }
    }
}
