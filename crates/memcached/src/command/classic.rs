//! The classic commands that change items.

use std::ops::RangeInclusive;

use super::answer::{
    BAD_DELETE, BAD_DELTA, BAD_EXPIRY, BAD_FORMAT, DELETED, ERROR, EXISTS, NOT_FOUND, NOT_NUMERIC,
    NOT_STORED, OK, STORED, TOUCHED, push_number,
};
use super::context::{Context, Interrupt};
use super::storing::StoringLine;
use super::words::{self, KEY_MAX, Words};
use crate::cache::changes::{CountOutcome, Delta, NewItem, StoreMode, StoreOutcome};

/// The line of a storage command.
#[derive(Debug, Clone, Copy)]
pub(super) struct StorageLine<'l> {
    key: &'l [u8],
    pub(super) length: usize,
    mode: StoreMode,
    client_flags: u32,
    expiry: &'l [u8],
    cas: Option<u64>,
}

/// Returns the mode of a storage command, and whether it compares cas numbers.
pub(super) fn storage_mode(name: &[u8]) -> Option<(StoreMode, bool)> {
    Some(match name {
        b"set" => (StoreMode::Set, false),
        b"add" => (StoreMode::Add, false),
        b"replace" => (StoreMode::Replace, false),
        b"append" => (StoreMode::Append, false),
        b"prepend" => (StoreMode::Prepend, false),
        b"cas" => (StoreMode::Set, true),
        _ => return None,
    })
}

impl<'l> StorageLine<'l> {
    /// Reads the words of a storage command, or returns the answer to a wrong one.
    pub(super) fn read(
        words: &Words<'l>,
        (mode, compares): (StoreMode, bool),
    ) -> Result<StorageLine<'l>, &'static [u8]> {
        let least = if compares { 6 } else { 5 };
        if !(least..=least + 1).contains(&words.count()) {
            return Err(ERROR);
        }
        let key = words.at(1);
        let numbers = (
            words::unsigned(words.at(2)),
            words::signed(words.at(3)),
            words::unsigned(words.at(4)),
        );
        let (Some(flags), Some(_), Some(length)) = numbers else {
            return Err(BAD_FORMAT);
        };
        let length = i32::try_from(length).map_err(|_| BAD_FORMAT)?;
        let cas = match compares {
            true => Some(words::unsigned(words.at(5)).ok_or(BAD_FORMAT)?),
            false => None,
        };
        if key.len() > KEY_MAX {
            return Err(BAD_FORMAT);
        }
        Ok(StorageLine {
            key,
            length: length as usize,
            mode,
            // As in memcached, a number beyond 32 bits is cut off.
            client_flags: flags as u32,
            expiry: words.at(3),
            cas,
        })
    }
}

impl StoringLine for StorageLine<'_> {
    fn key(&self) -> &[u8] {
        self.key
    }

    fn item<'v>(&self, value: &'v [u8], now_s: u32) -> NewItem<'v> {
        NewItem {
            mode: self.mode,
            client_flags: self.client_flags,
            expiry_s: words::expiry_s(self.expiry, now_s).unwrap_or(0),
            value,
            cas: self.cas,
            invalidates: false,
            has_binary_key: false,
        }
    }

    fn answer(&self, context: &Context<'_, '_>, outcome: StoreOutcome, output: &mut Vec<u8>) {
        let counters = context.counters;
        counters.sets.up();
        if self.cas.is_some() {
            match outcome {
                StoreOutcome::Stored(_) => counters.cas_hits.up(),
                StoreOutcome::NotFound => counters.cas_misses.up(),
                _ => counters.cas_badval.up(),
            }
        }
        output.extend_from_slice(match outcome {
            StoreOutcome::Stored(_) => STORED,
            StoreOutcome::NotStored => NOT_STORED,
            StoreOutcome::Exists => EXISTS,
            StoreOutcome::NotFound => NOT_FOUND,
        });
    }
}

/// Returns the key of a line with a number of words, or writes the answer to a wrong line.
fn key_of<'l>(
    words: &Words<'l>,
    counts: RangeInclusive<usize>,
    output: &mut Vec<u8>,
) -> Option<&'l [u8]> {
    let key = words.at(1);
    if !counts.contains(&words.count()) {
        output.extend_from_slice(ERROR);
    } else if key.len() > KEY_MAX {
        output.extend_from_slice(BAD_FORMAT);
    } else {
        return Some(key);
    }
    None
}

/// Answers `delete`.
pub(super) fn delete(
    context: &mut Context<'_, '_>,
    words: &Words<'_>,
    output: &mut Vec<u8>,
) -> Result<(), Interrupt> {
    if !(2..=4).contains(&words.count()) {
        output.extend_from_slice(ERROR);
        return Ok(());
    }
    let is_plain = match words.from(2) {
        [] | [b"0" | b"noreply"] | [b"0", b"noreply"] => true,
        [..] => false,
    };
    if !is_plain {
        output.extend_from_slice(BAD_DELETE);
        return Ok(());
    }
    let key = words.at(1);
    if key.len() > KEY_MAX {
        output.extend_from_slice(BAD_FORMAT);
        return Ok(());
    }
    let counters = context.counters;
    let was_there = context.changes()?.delete(key)?;
    if was_there {
        counters.delete_hits.up();
        output.extend_from_slice(DELETED);
    } else {
        counters.delete_misses.up();
        output.extend_from_slice(NOT_FOUND);
    }
    Ok(())
}

/// Answers `incr` and `decr`.
pub(super) fn count(
    context: &mut Context<'_, '_>,
    words: &Words<'_>,
    is_decrease: bool,
    output: &mut Vec<u8>,
) -> Result<(), Interrupt> {
    let Some(key) = key_of(words, 3..=4, output) else {
        return Ok(());
    };
    let Some(by) = words::unsigned(words.at(2)) else {
        output.extend_from_slice(BAD_DELTA);
        return Ok(());
    };
    let counters = context.counters;
    let delta = Delta {
        by,
        is_decrease,
        cas: None,
    };
    let (hits, misses) = match is_decrease {
        true => (&counters.decr_hits, &counters.decr_misses),
        false => (&counters.incr_hits, &counters.incr_misses),
    };
    match context.changes()?.count(key, &delta)? {
        CountOutcome::Done { number, .. } => {
            hits.up();
            push_number(output, number);
            output.extend_from_slice(b"\r\n");
        }
        CountOutcome::NotFound | CountOutcome::Exists => {
            misses.up();
            output.extend_from_slice(NOT_FOUND);
        }
        CountOutcome::NotNumeric => output.extend_from_slice(NOT_NUMERIC),
    }
    Ok(())
}

/// Answers `touch`.
pub(super) fn touch(
    context: &mut Context<'_, '_>,
    words: &Words<'_>,
    output: &mut Vec<u8>,
) -> Result<(), Interrupt> {
    let Some(key) = key_of(words, 3..=4, output) else {
        return Ok(());
    };
    let Some(expiry_s) = words::expiry_s(words.at(2), context.now_s) else {
        output.extend_from_slice(BAD_EXPIRY);
        return Ok(());
    };
    let counters = context.counters;
    let changes = context.changes()?;
    counters.touches.up();
    let Some(cas) = changes.get(key)?.map(|item| item.cas) else {
        output.extend_from_slice(NOT_FOUND);
        return Ok(());
    };
    changes.touch(key, expiry_s)?;
    let (cache, now_s) = (changes.cache, changes.now_s);
    cache.recency.fetched(key, cas, now_s);
    counters.touch_hits.up();
    output.extend_from_slice(TOUCHED);
    Ok(())
}

/// Answers `flush_all`.
pub(super) fn flush_all(
    context: &mut Context<'_, '_>,
    words: &Words<'_>,
    output: &mut Vec<u8>,
) -> Result<(), Interrupt> {
    if words.count() > 3 {
        output.extend_from_slice(ERROR);
        return Ok(());
    }
    let delay = match words.from(1) {
        [] | [b"noreply"] => Some(0),
        [delay, ..] => words::signed(delay),
    };
    let Some(delay) = delay else {
        output.extend_from_slice(BAD_EXPIRY);
        return Ok(());
    };
    let at_s = words::expiry_of(delay as i32, context.now_s);
    let at_s = (at_s > context.now_s).then_some(at_s);
    let counters = context.counters;
    context.changes()?.flush(at_s)?;
    counters.flushes.up();
    output.extend_from_slice(OK);
    Ok(())
}

/// Answers `verbosity`, which changes nothing here.
pub(super) fn verbosity(words: &Words<'_>, output: &mut Vec<u8>) {
    output.extend_from_slice(match words.from(1) {
        [level] | [level, _] if words::unsigned(level).is_some() => OK,
        [b"noreply"] => OK,
        [_] | [_, _] => BAD_FORMAT,
        _ => ERROR,
    });
}
