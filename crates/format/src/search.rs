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
