//! The last use of items, in memory.
//!
//! A hit writes one word of a table and nothing to the environment. The word has a part of the
//! item's cas number. So a word of another item or of an older value is recognised. Two items that
//! share a word forget each other's use. After a restart the table is empty.
//!
//! ```text
//!   63        32 31            2   1        0
//!   | part of cas | seconds     | fetched | used since the hand passed |
//! ```

use std::hash::{Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHasher;

/// Words of the table: 8 MiB.
const WORDS: usize = 1 << 20;

const USED: u64 = 1;
const FETCHED: u64 = 2;
const SECONDS: u64 = (1 << 30) - 1;

/// The use of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LastUse {
    /// Seconds of the cache's clock, see [`RecencyTable::use_of`].
    pub(crate) at_s: u32,
    /// True if a client has read the item.
    pub(crate) is_fetched: bool,
}

/// The table.
#[derive(Debug)]
pub(crate) struct RecencyTable {
    words: Vec<AtomicU64>,
}

impl Default for RecencyTable {
    fn default() -> RecencyTable {
        RecencyTable {
            words: std::iter::repeat_with(|| AtomicU64::new(0))
                .take(WORDS)
                .collect(),
        }
    }
}

impl RecencyTable {
    /// Records that an item was stored.
    pub(crate) fn stored(&self, key: &[u8], cas: u64, now_s: u32) {
        self.write(key, word(cas, now_s));
    }

    /// Records that a client has read an item.
    pub(crate) fn fetched(&self, key: &[u8], cas: u64, now_s: u32) {
        self.write(key, word(cas, now_s) | FETCHED | USED);
    }

    /// Keeps the use of an item that gets another cas number.
    pub(crate) fn renumber(&self, key: &[u8], old_cas: u64, cas: u64) {
        if let Some(word) = self.of(key, old_cas) {
            self.write(key, word & 0xffff_ffff | cas << 32);
        }
    }

    /// Returns the use of an item, if it is known. Its seconds are the low 30 bits of those since
    /// 1970.
    pub(crate) fn use_of(&self, key: &[u8], cas: u64) -> Option<LastUse> {
        let word = self.of(key, cas)?;
        Some(LastUse {
            at_s: ((word >> 2) & SECONDS) as u32,
            is_fetched: word & FETCHED != 0,
        })
    }

    /// Returns true if an item was used since the last call for it.
    pub(crate) fn take_used(&self, key: &[u8], cas: u64) -> bool {
        match self.of(key, cas) {
            Some(word) if word & USED != 0 => {
                self.write(key, word & !USED);
                true
            }
            _ => false,
        }
    }

    fn of(&self, key: &[u8], cas: u64) -> Option<u64> {
        let word = self.words.get(index(key))?.load(Ordering::Relaxed);
        (word >> 32 == cas & 0xffff_ffff).then_some(word)
    }

    fn write(&self, key: &[u8], word: u64) {
        if let Some(place) = self.words.get(index(key)) {
            place.store(word, Ordering::Relaxed);
        }
    }
}

/// Returns the seconds since a use.
pub(crate) fn seconds_since(at_s: u32, now_s: u32) -> u32 {
    now_s.wrapping_sub(at_s) & SECONDS as u32
}

fn word(cas: u64, now_s: u32) -> u64 {
    cas << 32 | (u64::from(now_s) & SECONDS) << 2
}

fn index(key: &[u8]) -> usize {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish() as usize % WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_belong_to_one_value_of_an_item() {
        let table = RecencyTable::default();
        let now = 1_800_000_000;
        table.stored(b"a", 5, now);
        assert!(!table.use_of(b"a", 5).unwrap().is_fetched);
        table.fetched(b"a", 5, now + 2);
        let used = table.use_of(b"a", 5).unwrap();
        assert!(used.is_fetched);
        assert_eq!(seconds_since(used.at_s, now + 12), 10);
        assert_eq!(table.use_of(b"a", 6), None);
        assert!(table.take_used(b"a", 5));
        assert!(!table.take_used(b"a", 5));
        table.renumber(b"a", 5, 9);
        assert_eq!(table.use_of(b"a", 9), Some(used));
        assert_eq!(table.use_of(b"a", 5), None);
    }
}
