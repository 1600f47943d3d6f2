//! Room for new items, by the clock algorithm.
//!
//! A hand goes over the keys in their order, round and round. An item that was read since the hand
//! passed last gets another round. Any other item leaves. Neighbours leave together, so
//! their pages become free soon. The table of recency knows the uses, so hits write nothing.

use std::sync::atomic::Ordering;

use fulgurite::{Error, Snapshot as _};

use super::changes::Changes;
use super::item::Item;
use super::walks::lock;

/// Neighbours of a victim that the hand looks at too.
const LOOKS_MAX: usize = 32;

/// Used items that the hand spares until it removes the next one anyway.
const SPARED_MAX: usize = 2048;

/// Items that the hand removes at most at a time, and two more for each change.
const REMOVALS_MAX: usize = 64;

impl Changes<'_> {
    /// Returns true if the items take more bytes than they may.
    pub(crate) fn is_full(&self) -> Result<bool, Error> {
        let bytes_max = self.cache.bytes_max.load(Ordering::Relaxed);
        Ok(bytes_max != 0 && self.cache.used_bytes(&self.txn)? > bytes_max)
    }

    /// Returns true if new items are refused while the cache is full.
    pub(crate) fn refuses_new(&self) -> Result<bool, Error> {
        Ok(!self.cache.evicts && self.is_full()?)
    }

    /// Removes items until the others take no more bytes than they may, within a bound. Returns the
    /// number of removed items.
    pub(crate) fn evict(&mut self) -> Result<u64, Error> {
        let mut removed = 0;
        let limit = REMOVALS_MAX + 2 * self.count;
        while self.cache.evicts && removed < limit && self.is_full()? {
            let victims = self.next_victims()?;
            if victims.is_empty() {
                break;
            }
            for key in victims {
                self.delete(&key)?;
                removed += 1;
            }
        }
        Ok(removed as u64)
    }

    /// Removes some items at once, after the file could not grow.
    pub(crate) fn evict_some(&mut self) -> Result<u64, Error> {
        let mut removed = 0;
        while self.cache.evicts && removed < REMOVALS_MAX as u64 {
            let victims = self.next_victims()?;
            if victims.is_empty() {
                break;
            }
            for key in victims {
                self.delete(&key)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Moves the hand over a few keys and returns those of items to remove. None are left if it is
    /// empty.
    fn next_victims(&self) -> Result<Vec<Vec<u8>>, Error> {
        let mut hand = lock(&self.cache.clock_hand);
        let mut victims = Vec::new();
        for _ in 0..2 {
            let range = self.txn.range(self.cache.items, hand.next.as_slice()..)?;
            let mut next = Vec::new();
            for (seen, record) in range.enumerate() {
                let (key, record) = record?;
                // Neighbours of a victim share its page, so a few of them cost little.
                if seen >= LOOKS_MAX && !victims.is_empty() {
                    next = key.to_vec();
                    break;
                }
                let cas = Item::read(record).map_or(0, |item| item.cas);
                let is_used = self.cache.recency.take_used(key, cas);
                if is_used && hand.spared < SPARED_MAX {
                    hand.spared += 1;
                } else {
                    hand.spared = 0;
                    victims.push(key.to_vec());
                }
            }
            hand.next = next;
            if !victims.is_empty() {
                break;
            }
        }
        Ok(victims)
    }
}
