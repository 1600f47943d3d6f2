//! Changes of items in one transaction.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;

use fulgurite::{Database, Edit, Error, Snapshot as _, WriteTxn};

use super::item::{self, BINARY_KEY, Item, STALE, WON};
use super::open::{CAS_BLOCK, CAS_LIMIT, Cache, FLUSH_AT, FLUSH_LEFT, FLUSHED};
use super::walks::{FlushWalk, lock};

/// The way a value is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreMode {
    Set,
    /// Only if there is no item.
    Add,
    /// Only if there is one.
    Replace,
    /// Behind the value that is there.
    Append,
    /// Before the value that is there.
    Prepend,
}

/// A value to store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewItem<'v> {
    pub(crate) mode: StoreMode,
    pub(crate) client_flags: u32,
    pub(crate) expiry_s: u32,
    pub(crate) value: &'v [u8],
    /// The number that the item has to have.
    pub(crate) cas: Option<u64>,
    /// True if a lower number than the item's marks the new value as stale instead.
    pub(crate) invalidates: bool,
    pub(crate) has_binary_key: bool,
}

/// The outcome of storing a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreOutcome {
    /// Stored, with this number.
    Stored(u64),
    NotStored,
    Exists,
    NotFound,
}

/// The outcome of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountOutcome {
    /// The number that the item now has, its cas number and its expiry.
    Done {
        number: u64,
        cas: u64,
        expiry_s: u32,
    },
    NotFound,
    NotNumeric,
    Exists,
}

/// A step of arithmetic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delta {
    pub(crate) by: u64,
    pub(crate) is_decrease: bool,
    pub(crate) cas: Option<u64>,
}

/// The write transaction of a turn.
pub(crate) struct Changes<'c> {
    pub(crate) cache: &'c Cache,
    pub(super) txn: WriteTxn<'c>,
    pub(crate) now_s: u32,
    /// Changes so far.
    pub(crate) count: usize,
    value_max: usize,
    cas_limit: u64,
    flushed_cas: u64,
    flush_at_s: u32,
    begins_walk: bool,
    record: Vec<u8>,
    expiry_key: Vec<u8>,
    /// Released after the transaction.
    _turn: MutexGuard<'c, ()>,
}

impl<'c> Changes<'c> {
    /// Begins a transaction; waits until no other thread or process has one.
    pub(crate) fn begin(
        cache: &'c Cache,
        value_max: usize,
        now_s: u32,
    ) -> Result<Changes<'c>, Error> {
        let turn = lock(&cache.turn);
        let txn = cache.environment.write()?;
        Ok(Changes {
            cache,
            txn,
            _turn: turn,
            now_s,
            count: 0,
            value_max,
            cas_limit: cache.cas_limit.load(Ordering::Relaxed),
            flushed_cas: cache.flushed_cas(),
            flush_at_s: cache.flush_at_s.load(Ordering::Relaxed),
            begins_walk: false,
            record: Vec::new(),
            expiry_key: Vec::new(),
        })
    }

    /// Lets the transaction use the room that is kept for deletions.
    pub(crate) fn use_reserve(&mut self) {
        self.txn.use_reserve();
    }

    /// Commits, and tells other threads the facts that changed. The next transaction of this
    /// process begins after that. Otherwise it might undo a flush with older facts.
    pub(crate) fn commit(self) -> Result<(), Error> {
        self.txn.commit()?;
        self.cache
            .cas_limit
            .store(self.cas_limit, Ordering::Relaxed);
        self.cache
            .flush_at_s
            .store(self.flush_at_s, Ordering::Relaxed);
        self.cache
            .flushed_cas
            .store(self.flushed_cas, Ordering::Release);
        if self.begins_walk {
            *lock(&self.cache.flush_walk) = FlushWalk::beginning(true);
        }
        Ok(())
    }

    /// Returns an item that clients see.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Item<'_>>, Error> {
        let item = self.txn.get(self.cache.items, key)?.and_then(Item::read);
        Ok(item.filter(|item| self.sees(item)))
    }

    fn sees(&self, item: &Item<'_>) -> bool {
        item.is_visible(self.now_s, self.flushed_cas)
    }

    /// Returns the next number of a change.
    fn next_cas(&mut self) -> Result<u64, Error> {
        let cas = self.cache.last_cas.fetch_add(1, Ordering::Relaxed) + 1;
        if cas > self.cas_limit {
            self.cas_limit = cas + CAS_BLOCK;
            self.put_fact(CAS_LIMIT, self.cas_limit)?;
        }
        Ok(cas)
    }

    pub(super) fn put_fact(&mut self, key: &[u8], number: u64) -> Result<(), Error> {
        self.txn.put(self.cache.facts, key, &number.to_le_bytes())
    }

    /// Stores a value as its mode says.
    pub(crate) fn store(&mut self, key: &[u8], new: &NewItem<'_>) -> Result<StoreOutcome, Error> {
        if matches!(new.mode, StoreMode::Append | StoreMode::Prepend) {
            return self.lengthen(key, new);
        }
        let cas = self.next_cas()?;
        let (now_s, flushed_cas) = (self.now_s, self.flushed_cas);
        let mut item = Item {
            cas,
            client_flags: new.client_flags,
            expiry_s: new.expiry_s,
            stored_s: now_s,
            state: if new.has_binary_key { BINARY_KEY } else { 0 },
            value: new.value,
        };
        let mut old_expiry_s = 0;
        let mut refused = None;
        let record = &mut self.record;
        self.txn
            .edit(self.cache.items, key, |old| -> Result<_, Error> {
                let old = old.and_then(Item::read);
                old_expiry_s = old.map_or(0, |old| old.expiry_s);
                let seen = old.filter(|old| old.is_visible(now_s, flushed_cas));
                match decide(seen.as_ref(), new) {
                    Ok(None) => {}
                    Ok(Some(renewed)) => {
                        item.state |= STALE | renewed.state & WON;
                        item.expiry_s = renewed.expiry_s;
                    }
                    Err(outcome) => {
                        refused = Some(outcome);
                        old_expiry_s = item.expiry_s;
                        return Ok(Edit::Keep);
                    }
                }
                item.write(record, b"");
                Ok(Edit::Store(record))
            })?;
        if let Some(outcome) = refused {
            return Ok(outcome);
        }
        self.count += 1;
        self.move_expiry(key, old_expiry_s, item.expiry_s)?;
        self.cache.recency.stored(key, cas, now_s);
        Ok(StoreOutcome::Stored(cas))
    }

    /// Stores a value next to the one that is there.
    fn lengthen(&mut self, key: &[u8], new: &NewItem<'_>) -> Result<StoreOutcome, Error> {
        let Some(old) = self.get(key)? else {
            return Ok(StoreOutcome::NotStored);
        };
        if new.cas.is_some_and(|cas| cas != old.cas) {
            return Ok(StoreOutcome::Exists);
        }
        if old.value.len() + new.value.len() > self.value_max {
            return Ok(StoreOutcome::NotStored);
        }
        let value = old.value.to_vec();
        let (first, second) = match new.mode {
            StoreMode::Prepend => (new.value, value.as_slice()),
            _ => (value.as_slice(), new.value),
        };
        let changed = Item {
            state: 0,
            value: first,
            cas: 0,
            ..old
        };
        let changed = Item {
            stored_s: self.now_s,
            ..owned_header(&changed, first)
        };
        let cas = self.rewrite(key, &changed, second)?;
        self.cache.recency.stored(key, cas, self.now_s);
        Ok(StoreOutcome::Stored(cas))
    }

    /// Writes an item again with another number, and returns that.
    fn rewrite(&mut self, key: &[u8], item: &Item<'_>, more: &[u8]) -> Result<u64, Error> {
        let cas = self.next_cas()?;
        let item = Item { cas, ..*item };
        self.write(key, &item, more)?;
        Ok(cas)
    }

    fn write(&mut self, key: &[u8], item: &Item<'_>, more: &[u8]) -> Result<(), Error> {
        item.write(&mut self.record, more);
        self.txn.put(self.cache.items, key, &self.record)?;
        self.count += 1;
        Ok(())
    }

    /// Keeps the database of expiries in step.
    fn move_expiry(&mut self, key: &[u8], old_s: u32, new_s: u32) -> Result<(), Error> {
        if old_s == new_s {
            return Ok(());
        }
        if old_s != 0 {
            item::expiry_key(old_s, key, &mut self.expiry_key);
            self.txn.delete(self.cache.expiry, &self.expiry_key)?;
        }
        if new_s != 0 {
            item::expiry_key(new_s, key, &mut self.expiry_key);
            self.txn.put(self.cache.expiry, &self.expiry_key, b"")?;
        }
        Ok(())
    }

    /// Deletes an item. Returns true if clients saw one.
    pub(crate) fn delete(&mut self, key: &[u8]) -> Result<bool, Error> {
        let record = self.txn.get(self.cache.items, key)?;
        let Some(item) = record.and_then(Item::read) else {
            return Ok(false);
        };
        let (was_seen, expiry_s) = (self.sees(&item), item.expiry_s);
        self.txn.delete(self.cache.items, key)?;
        self.move_expiry(key, expiry_s, 0)?;
        self.count += 1;
        Ok(was_seen)
    }

    /// Gives an item another expiry. Its number stays.
    pub(crate) fn touch(&mut self, key: &[u8], expiry_s: u32) -> Result<(), Error> {
        self.change_header(key, |item| item.expiry_s = expiry_s)
    }

    /// Records that a client was told to renew an item.
    pub(crate) fn mark_won(&mut self, key: &[u8]) -> Result<(), Error> {
        self.change_header(key, |item| item.state |= WON)
    }

    /// Marks an item as stale, with another number.
    pub(crate) fn mark_stale(&mut self, key: &[u8], expiry_s: Option<u32>) -> Result<(), Error> {
        let cas = self.next_cas()?;
        let recency = &self.cache.recency;
        self.change_header(key, |item| {
            recency.renumber(key, item.cas, cas);
            item.cas = cas;
            item.state = item.state & !WON | STALE;
            item.expiry_s = expiry_s.unwrap_or(item.expiry_s);
        })
    }

    fn change_header(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut Item<'_>),
    ) -> Result<(), Error> {
        let mut expiries = (0, 0);
        let record = &mut self.record;
        self.txn
            .edit(self.cache.items, key, |old| -> Result<_, Error> {
                let Some(mut item) = old.and_then(Item::read) else {
                    return Ok(Edit::Keep);
                };
                expiries.0 = item.expiry_s;
                change(&mut item);
                expiries.1 = item.expiry_s;
                item.write(record, b"");
                Ok(Edit::Store(record))
            })?;
        self.count += 1;
        self.move_expiry(key, expiries.0, expiries.1)
    }

    /// Adds to the number that an item holds, or subtracts from it.
    pub(crate) fn count(&mut self, key: &[u8], delta: &Delta) -> Result<CountOutcome, Error> {
        let Some(old) = self.get(key)? else {
            return Ok(CountOutcome::NotFound);
        };
        // As in memcached, an empty value is looked at first.
        if old.value.is_empty() {
            return Ok(CountOutcome::NotNumeric);
        }
        if delta.cas.is_some_and(|cas| cas != old.cas) {
            return Ok(CountOutcome::Exists);
        }
        let Some(before) = number_of(old.value) else {
            return Ok(CountOutcome::NotNumeric);
        };
        let number = match delta.is_decrease {
            true => before.saturating_sub(delta.by),
            false => before.wrapping_add(delta.by),
        };
        let mut digits = number.to_string().into_bytes();
        let stays_in_place = digits.len() <= old.value.len();
        let mut changed = owned_header(&old, &[]);
        if stays_in_place {
            digits.resize(old.value.len(), b' ');
        } else {
            changed.state = 0;
        }
        let old_cas = changed.cas;
        changed.value = &digits;
        let cas = self.rewrite(key, &changed, b"")?;
        if stays_in_place {
            self.cache.recency.renumber(key, old_cas, cas);
        } else {
            self.cache.recency.stored(key, cas, self.now_s);
        }
        let expiry_s = changed.expiry_s;
        Ok(CountOutcome::Done {
            number,
            cas,
            expiry_s,
        })
    }

    /// Makes all items invisible, now or at a time to come. They leave in small batches.
    pub(crate) fn flush(&mut self, at_s: Option<u32>) -> Result<(), Error> {
        self.count += 1;
        self.flush_at_s = at_s.unwrap_or(0);
        self.put_fact(FLUSH_AT, self.flush_at_s.into())?;
        if at_s.is_none() {
            self.flushed_cas = self.cache.last_cas.load(Ordering::Relaxed);
            self.put_fact(FLUSHED, self.flushed_cas)?;
            self.put_fact(FLUSH_LEFT, 1)?;
            self.begins_walk = true;
        }
        Ok(())
    }

    /// Flushes if the time of a flush to come is here.
    pub(crate) fn flush_if_due(&mut self) -> Result<(), Error> {
        if self.flush_at_s != 0 && self.flush_at_s <= self.now_s {
            self.flush(None)?;
        }
        Ok(())
    }

    pub(super) fn flushed_cas(&self) -> u64 {
        self.flushed_cas
    }

    pub(super) fn forget(&mut self, database: Database, key: &[u8]) -> Result<bool, Error> {
        self.txn.delete(database, key)
    }
}

/// Decides about a value to store. Returns the older item if the new value is outdated already, and
/// so keeps that one's expiry and marks.
fn decide<'i, 't>(
    old: Option<&'i Item<'t>>,
    new: &NewItem<'_>,
) -> Result<Option<&'i Item<'t>>, StoreOutcome> {
    match (new.mode, old) {
        (StoreMode::Add, Some(_)) => Err(StoreOutcome::NotStored),
        (StoreMode::Add, None) => Ok(None),
        (_, None) if new.cas.is_some() => Err(StoreOutcome::NotFound),
        (StoreMode::Replace, None) => Err(StoreOutcome::NotStored),
        (_, Some(old)) => match new.cas {
            Some(cas) if cas == old.cas => Ok(None),
            Some(cas) if new.invalidates && cas < old.cas => Ok(Some(old)),
            Some(_) => Err(StoreOutcome::Exists),
            None => Ok(None),
        },
        (_, None) => Ok(None),
    }
}

/// Returns an item with another value, which lives as long as that.
fn owned_header<'v>(item: &Item<'_>, value: &'v [u8]) -> Item<'v> {
    Item {
        cas: item.cas,
        client_flags: item.client_flags,
        expiry_s: item.expiry_s,
        stored_s: item.stored_s,
        state: item.state,
        value,
    }
}

/// Returns the number that a text begins with, as strtoull(3) reads it. As in memcached, a number
/// with `-` counts if the 64 bits of its negation are no negative number.
pub(crate) fn number_of(text: &[u8]) -> Option<u64> {
    let blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
    let text = text.get(blanks..)?;
    let (is_negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    let length = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let (digits, rest) = digits.split_at_checked(length)?;
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let number = match is_negative {
        true => u64::try_from(number.wrapping_neg().cast_signed()).ok()?,
        false => number,
    };
    let ends = rest.first().is_none_or(|byte| is_blank(*byte));
    ends.then_some(number)
}

/// Returns true for the blanks of isspace(3).
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_strtoull_does() {
        for (text, number) in [
            (&b"12"[..], Some(12)),
            (b" 12", Some(12)),
            (b"12  ", Some(12)),
            (b"0012", Some(12)),
            (b"+12", Some(12)),
            (b"-0", Some(0)),
            (b"12 abc", Some(12)),
            (b" abc", None),
            (b"\x0b-", None),
            (b"7\x0b", Some(7)),
            (b"-9223372036854775808", None),
            (b"-9223372036854775809", Some(9_223_372_036_854_775_807)),
            (b"-", None),
            (b"\0", None),
            (b"18446744073709551615", Some(u64::MAX)),
            (b"18446744073709551616", None),
            (b"-12", None),
            (b"1x2", None),
            (b"", None),
            (b"x", None),
        ] {
            assert_eq!(number_of(text), number, "{text:?}");
        }
    }
}
