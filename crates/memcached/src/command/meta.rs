//! `mg`, `md`, `ma`, `me`: the meta commands without a value.

use std::io::Write as _;

use super::answer::{
    BAD_FORMAT, ERROR, NO_ROOM, NOT_NUMERIC, push_number, push_signed, seconds_left,
};
use super::context::{Context, Interrupt};
use super::meta_flags::{INVALID_OR_DUPLICATE, MetaFlags, encode_key, write_key};
use super::words::{KEY_MAX, Words};
use crate::cache::changes::{CountOutcome, Delta, NewItem, StoreMode, StoreOutcome};
use crate::cache::item::{BINARY_KEY, Item, STALE, WON};
use crate::cache::recency::seconds_since;

/// Bytes that memcached adds to those of key, value and their ends.
const ITEM_BYTES: usize = 56;

/// The facts of a hit that its answer tells.
struct Hit {
    /// The state before this command.
    state: u8,
    /// True if this client has to renew the item.
    wins: bool,
    /// The expiry before this command; 0 for an item that it made.
    expiry_s: u32,
    is_new: bool,
}

/// Answers `mg`.
pub(super) fn get(
    context: &mut Context<'_, '_>,
    words: &Words<'_>,
    output: &mut Vec<u8>,
) -> Result<(), Interrupt> {
    let Some(flags) = read(context, words, output, false) else {
        return Ok(());
    };
    let key = flags.key();
    let now_s = context.now_s;
    let mut hit = context.get(key)?.map(|item| hit_of(&item, &flags, now_s));
    let is_hit = hit.is_some();
    let writes = match &hit {
        Some(hit) => hit.wins || flags.expiry_s.is_some(),
        None => flags.vivify_s.is_some(),
    };
    if writes {
        context.changes()?;
    }
    count_get(context, is_hit);
    if !is_hit {
        hit = vivify(context, &flags)?;
    }
    let cas = match &hit {
        Some(hit) => write_hit(context, &flags, hit, output)?,
        None => None,
    };
    let (Some(hit), Some(cas)) = (hit, cas) else {
        if !flags.has(b'q') {
            output.extend_from_slice(b"EN");
            flags.write_own(output);
            output.extend_from_slice(b"\r\n");
        }
        return Ok(());
    };
    if !flags.has(b'u') {
        context.cache.recency.fetched(key, cas, now_s);
    }
    if flags.expiry_s.is_some() {
        let expiry_s = flags.expiry_at_end(hit.expiry_s, hit.is_new);
        context.changes()?.touch(key, expiry_s)?;
        context.counters.touches.up();
        context.counters.touch_hits.up();
    }
    if hit.wins {
        context.changes()?.mark_won(key)?;
    }
    Ok(())
}

fn count_get(context: &Context<'_, '_>, is_hit: bool) {
    context.counters.metas.up();
    context.counters.gets.up();
    match is_hit {
        true => context.counters.get_hits.up(),
        false => context.counters.get_expired_or_missed.up(),
    }
}

/// Decides whether a client has to renew an item.
fn hit_of(item: &Item<'_>, flags: &MetaFlags<'_>, now_s: u32) -> Hit {
    let expiry_s = flags.expiry_at_recache(item.expiry_s);
    let is_short = expiry_s != 0
        && flags
            .recache_s
            .is_some_and(|least| seconds_left(expiry_s, now_s) < least);
    let wants = is_short || item.state & STALE != 0;
    Hit {
        state: item.state,
        wins: wants && item.state & WON == 0,
        expiry_s: item.expiry_s,
        is_new: false,
    }
}

/// Makes an empty item for a miss, if the client asked for that.
fn vivify(context: &mut Context<'_, '_>, flags: &MetaFlags<'_>) -> Result<Option<Hit>, Interrupt> {
    let Some(expiry_s) = flags.vivify_s else {
        return Ok(None);
    };
    let new = NewItem {
        mode: StoreMode::Add,
        client_flags: 0,
        expiry_s,
        value: b"",
        cas: None,
        invalidates: false,
        // As in memcached, only `ms` keeps the form of the key.
        has_binary_key: false,
    };
    let changes = context.changes()?;
    if changes.refuses_new()? {
        return Ok(None);
    }
    changes.store(flags.key(), &new)?;
    Ok(Some(Hit {
        state: 0,
        wins: true,
        expiry_s: 0,
        is_new: true,
    }))
}

/// Writes the answer to a hit. Returns the number of the item, if it is still there.
fn write_hit(
    context: &Context<'_, '_>,
    flags: &MetaFlags<'_>,
    hit: &Hit,
    output: &mut Vec<u8>,
) -> Result<Option<u64>, Interrupt> {
    let Some(item) = context.get(flags.key())? else {
        return Ok(None);
    };
    if flags.has(b'v') {
        output.extend_from_slice(b"VA ");
        push_number(output, item.value.len() as u64);
    } else {
        output.extend_from_slice(b"HD");
    }
    let mut expiry_s = hit.expiry_s;
    for word in flags.words {
        expiry_s = flags.expiry_behind(word, expiry_s, hit.is_new);
        write_hit_flag(context, flags, (expiry_s, &item), word, output);
    }
    if hit.state & WON != 0 {
        output.extend_from_slice(b" Z");
    }
    if hit.state & STALE != 0 {
        output.extend_from_slice(b" X");
    }
    if hit.wins {
        output.extend_from_slice(b" W");
    }
    output.extend_from_slice(b"\r\n");
    if flags.has(b'v') {
        output.extend_from_slice(item.value);
        output.extend_from_slice(b"\r\n");
    }
    Ok(Some(item.cas))
}

fn write_hit_flag(
    context: &Context<'_, '_>,
    flags: &MetaFlags<'_>,
    (expiry_s, item): (u32, &Item<'_>),
    word: &[u8],
    output: &mut Vec<u8>,
) {
    let now_s = context.now_s;
    let used = || context.cache.recency.use_of(flags.key(), item.cas);
    let (letter, number) = match word.first() {
        Some(b's') => (b's', item.value.len() as i64),
        Some(b't') => (b't', seconds_left(expiry_s, now_s)),
        Some(b'c') => (b'c', item.cas as i64),
        Some(b'f') => (b'f', item.client_flags.into()),
        Some(b'h') => (b'h', used().is_some_and(|used| used.is_fetched).into()),
        Some(b'l') => {
            let at_s = used().map_or(item.stored_s, |used| used.at_s);
            (b'l', seconds_since(at_s, now_s).into())
        }
        Some(b'k') => {
            let is_binary = item.state & BINARY_KEY != 0;
            let encoded = encode_key(flags.key());
            let key = if is_binary { &encoded } else { flags.key() };
            return write_key(key, is_binary, output);
        }
        _ => return flags.write_own_flag(word, output),
    };
    output.extend_from_slice(&[b' ', letter]);
    push_signed(output, number);
}

/// Answers `md`.
pub(super) fn delete(
    context: &mut Context<'_, '_>,
    words: &Words<'_>,
    output: &mut Vec<u8>,
) -> Result<(), Interrupt> {
    let Some(flags) = read(context, words, output, true) else {
        return Ok(());
    };
    let counters = context.counters;
    let changes = context.changes()?;
    counters.metas.up();
    let key = flags.key();
    let cas = changes.get(key)?.map(|item| item.cas);
    let code: &[u8] = match cas {
        None => b"NF",
        Some(cas) if flags.cas.is_some_and(|wanted| wanted != cas) => b"EX",
        Some(_) if flags.has(b'I') => {
            changes.mark_stale(key, flags.expiry_s)?;
            b"HD"
        }
        Some(_) => {
            changes.delete(key)?;
            b"HD"
        }
    };
    match cas {
        None => counters.delete_misses.up(),
        Some(_) => counters.delete_hits.up(),
    }
    if !(code == b"HD" && flags.has(b'q')) {
        output.extend_from_slice(code);
        flags.write_own(output);
        output.extend_from_slice(b"\r\n");
    }
    Ok(())
}

/// Answers `ma`.
pub(super) fn count(
    context: &mut Context<'_, '_>,
    words: &Words<'_>,
    output: &mut Vec<u8>,
) -> Result<(), Interrupt> {
    let Some(flags) = read(context, words, output, true) else {
        return Ok(());
    };
    let is_decrease = match flags.mode {
        None | Some(b'I' | b'i' | b'+') => false,
        Some(b'D' | b'd' | b'-') => true,
        Some(_) => {
            output.extend_from_slice(b"CLIENT_ERROR invalid mode for ma M token\r\n");
            return Ok(());
        }
    };
    let delta = Delta {
        by: flags.delta,
        is_decrease,
        // As in memcached, any number will do for 0.
        cas: flags.cas.filter(|cas| *cas != 0),
    };
    let counters = context.counters;
    let changes = context.changes()?;
    counters.metas.up();
    let mut outcome = changes.count(flags.key(), &delta)?;
    let (hits, misses) = match is_decrease {
        true => (&counters.decr_hits, &counters.decr_misses),
        false => (&counters.incr_hits, &counters.incr_misses),
    };
    match outcome {
        CountOutcome::NotFound => misses.up(),
        _ => hits.up(),
    }
    let mut is_new = false;
    if outcome == CountOutcome::NotFound
        && let Some(expiry_s) = flags.vivify_s
    {
        let Some(made) = begin_count(context, &flags, expiry_s)? else {
            output.extend_from_slice(NO_ROOM);
            return Ok(());
        };
        outcome = made;
        is_new = true;
    }
    if let (CountOutcome::Done { expiry_s, .. }, Some(_)) = (outcome, flags.expiry_s) {
        let expiry_s = flags.expiry_at_end(expiry_s, is_new);
        context.changes()?.touch(flags.key(), expiry_s)?;
    }
    write_count(&flags, (outcome, is_new), context.now_s, output);
    Ok(())
}

/// Makes the item of a count that begins; none if there is no room.
fn begin_count(
    context: &mut Context<'_, '_>,
    flags: &MetaFlags<'_>,
    expiry_s: u32,
) -> Result<Option<CountOutcome>, Interrupt> {
    let changes = context.changes()?;
    if changes.refuses_new()? {
        return Ok(None);
    }
    let value = flags.initial.to_string();
    let new = NewItem {
        mode: StoreMode::Add,
        client_flags: 0,
        expiry_s,
        value: value.as_bytes(),
        cas: None,
        invalidates: false,
        // As in memcached, only `ms` keeps the form of the key.
        has_binary_key: false,
    };
    Ok(match changes.store(flags.key(), &new)? {
        StoreOutcome::Stored(cas) => Some(CountOutcome::Done {
            number: flags.initial,
            cas,
            expiry_s,
        }),
        _ => None,
    })
}

fn write_count(
    flags: &MetaFlags<'_>,
    (outcome, is_new): (CountOutcome, bool),
    now_s: u32,
    output: &mut Vec<u8>,
) {
    let CountOutcome::Done {
        number,
        cas,
        expiry_s,
    } = outcome
    else {
        output.extend_from_slice(match outcome {
            CountOutcome::NotNumeric => return output.extend_from_slice(NOT_NUMERIC),
            CountOutcome::Exists => b"EX",
            _ => b"NF",
        });
        flags.write_own(output);
        output.extend_from_slice(b"\r\n");
        return;
    };
    // As in memcached, a count that begins has an answer.
    if flags.has(b'q') && !is_new {
        return;
    }
    let digits = number.to_string();
    if flags.has(b'v') {
        output.extend_from_slice(b"VA ");
        push_number(output, digits.len() as u64);
    } else {
        output.extend_from_slice(b"HD");
    }
    let mut expiry_s = if is_new { 0 } else { expiry_s };
    for word in flags.words {
        expiry_s = flags.expiry_behind(word, expiry_s, is_new);
        let (letter, number) = match word.first() {
            Some(b't') => (b't', seconds_left(expiry_s, now_s)),
            Some(b'c') => (b'c', cas as i64),
            _ => {
                flags.write_own_flag(word, output);
                continue;
            }
        };
        output.extend_from_slice(&[b' ', letter]);
        push_signed(output, number);
    }
    output.extend_from_slice(b"\r\n");
    if flags.has(b'v') {
        output.extend_from_slice(digits.as_bytes());
        output.extend_from_slice(b"\r\n");
    }
}

/// Answers `me`: facts of an item for people.
pub(super) fn debug(
    context: &mut Context<'_, '_>,
    words: &Words<'_>,
    output: &mut Vec<u8>,
) -> Result<(), Interrupt> {
    let written = words.at(1);
    let is_wrong = words.count() < 2 || words.count() > 3 || written.len() > KEY_MAX;
    let flags = match words.at(2) {
        _ if is_wrong => Err(BAD_FORMAT),
        [b'b', ..] => MetaFlags::read(words, 2, context.now_s).map_err(|_| BAD_FORMAT),
        _ => MetaFlags::read(words, WITHOUT_FLAGS, context.now_s),
    };
    let flags = match flags {
        Ok(flags) => flags,
        Err(answer) => {
            output.extend_from_slice(answer);
            return Ok(());
        }
    };
    let key = flags.key();
    let now_s = context.now_s;
    let Some(item) = context.get(key)? else {
        output.extend_from_slice(b"EN\r\n");
        return Ok(());
    };
    output.extend_from_slice(b"ME ");
    match item.state & BINARY_KEY != 0 {
        true => output.extend_from_slice(&encode_key(key)),
        false => output.extend_from_slice(key),
    }
    let used = context.cache.recency.use_of(key, item.cas);
    let at_s = used.map_or(item.stored_s, |used| used.at_s);
    let expired_for = match item.expiry_s {
        0 => -1,
        expiry_s => i64::from(now_s) - i64::from(expiry_s),
    };
    // memcached stores flags other than 0 only.
    let flags_bytes = if item.client_flags == 0 { 0 } else { 4 };
    // Writing to a vector does not fail.
    let _ = write!(
        output,
        " exp={expired_for} la={} cas={} fetch={} cls=1 size={}\r\n",
        seconds_since(at_s, now_s),
        item.cas,
        if used.is_some_and(|used| used.is_fetched) {
            "yes"
        } else {
            "no"
        },
        ITEM_BYTES + flags_bytes + key.len() + 1 + item.value.len() + 2
    );
    Ok(())
}

/// Behind the last word of a line.
const WITHOUT_FLAGS: usize = usize::MAX;

/// Reads the flags of a command, or writes the answer to wrong ones.
fn read<'l>(
    context: &Context<'_, '_>,
    words: &'l Words<'l>,
    output: &mut Vec<u8>,
    is_terse: bool,
) -> Option<MetaFlags<'l>> {
    if words.count() < 2 {
        output.extend_from_slice(ERROR);
        return None;
    }
    let terse = |answer| match is_terse && answer != BAD_FORMAT {
        true => INVALID_OR_DUPLICATE,
        false => answer,
    };
    let flags = MetaFlags::read(words, 2, context.now_s).map_err(terse);
    match flags.and_then(|flags| flags.check_opaque().map(|()| flags)) {
        Ok(flags) => Some(flags),
        Err(answer) => {
            output.extend_from_slice(answer);
            None
        }
    }
}
