//! The reading half of a walk: databases are scanned, looked up and asked for ranges.

use fulgurite::{Database, Move, Snapshot};
use fulgurite_testkit::Random;

use super::walk_counts::WalkCounts;

/// Entries looked at one by one, in addition to the scans.
const CLOSER_LOOKS: usize = 16;

/// The main database, and all that can be opened by the keys in it.
pub(super) fn databases(snapshot: &impl Snapshot, counts: &mut WalkCounts) -> Vec<Database> {
    let mut found = vec![Database::MAIN];
    let mut names = Vec::new();
    if let Some(mut cursor) = counts.see(snapshot.cursor(Database::MAIN)) {
        let mut record = counts.see(cursor.first()).flatten();
        while let Some((key, value)) = record {
            // Anything may be called a database by a damaged record; ordinary records say that they
            // are none.
            if value.len() == 48 && names.len() < 12 {
                names.push(key);
            }
            record = counts.see(cursor.go(Move::NextKey)).flatten();
        }
    }
    for name in names {
        found.extend(counts.see(snapshot.open_named(name)));
    }
    found
}

/// Asks everything that can be asked about a database.
pub(super) fn read_database(
    snapshot: &impl Snapshot,
    db: Database,
    random: &mut Random,
    counts: &mut WalkCounts,
) {
    counts.see(snapshot.stat(db));
    counts.see(snapshot.flags(db));
    let keys = scans(snapshot, db, counts);
    look_up(snapshot, db, &keys, random, counts);
    moves(snapshot, db, &keys, random, counts);
    ranges(snapshot, db, random, counts);
}

/// From one end to the other, by cursor, both ways. Returns some of the keys.
pub(super) fn scans<'t>(
    snapshot: &'t impl Snapshot,
    db: Database,
    counts: &mut WalkCounts,
) -> Vec<&'t [u8]> {
    let mut keys = Vec::new();
    let mut seen = 0_u64;
    let Some(mut cursor) = counts.see(snapshot.cursor(db)) else {
        return keys;
    };
    let mut record = counts.see(cursor.first()).flatten();
    while let Some((key, value)) = record {
        seen += 1;
        if keys.len() < CLOSER_LOOKS || seen.is_power_of_two() {
            keys.push(key);
        }
        touch(value);
        record = counts.see(cursor.next()).flatten();
    }
    record = counts.see(cursor.last()).flatten();
    while let Some((_, value)) = record {
        touch(value);
        record = counts.see(cursor.prev()).flatten();
    }
    keys
}

/// Reads lent bytes, so that a missing page is noticed.
fn touch(octets: &[u8]) {
    let sum = octets
        .iter()
        .step_by(256)
        .chain(octets.last())
        .fold(0_u8, |sum, octet| sum.wrapping_add(*octet));
    std::hint::black_box(sum);
}

fn look_up(
    snapshot: &impl Snapshot,
    db: Database,
    keys: &[&[u8]],
    random: &mut Random,
    counts: &mut WalkCounts,
) {
    let len = random.between(1, 12);
    let made_up = random.bytes(len);
    for key in keys.iter().copied().chain([&made_up[..], &[0; 8]]) {
        if let Some(Some(value)) = counts.see(snapshot.get(db, key)) {
            touch(value);
        }
        if let Some(mut values) = counts.see(snapshot.values(db, key)) {
            while let Some(Ok(value)) = values.next() {
                touch(value);
                if values.next_back().is_none_or(|last| last.is_err()) {
                    break;
                }
            }
        }
    }
    counts.see(snapshot.get_many(db, keys, &mut Vec::new()));
}

/// Every way that a cursor can go.
fn moves(
    snapshot: &impl Snapshot,
    db: Database,
    keys: &[&[u8]],
    random: &mut Random,
    counts: &mut WalkCounts,
) {
    let Some(mut cursor) = counts.see(snapshot.cursor(db)) else {
        return;
    };
    let value = random.bytes(6);
    let start = random.below(keys.len().max(1));
    for key in keys.iter().skip(start).step_by(3).take(3) {
        for step in [
            Move::Key(key),
            Move::LastDup,
            Move::PrevDup,
            Move::FirstDup,
            Move::NextDup,
            Move::Block,
            Move::NextBlock,
            Move::PrevBlock,
            Move::Pair(key, &value),
            Move::PairOrAfter(key, &value),
            Move::NextKey,
            Move::PrevKey,
            Move::Current,
            Move::KeyOrAfter(&value),
            Move::Next,
            Move::Prev,
            Move::Last,
            Move::Prev,
            Move::First,
        ] {
            if let Some(Some((_, value))) = counts.see(cursor.go(step)) {
                touch(value);
            }
            counts.see(cursor.count());
        }
    }
    // All blocks, and all keys backwards.
    let mut left = 10_000;
    let mut step = Move::First;
    while left > 0 && counts.see(cursor.go(step)).flatten().is_some() {
        while left > 0 && counts.see(cursor.go(Move::NextBlock)).flatten().is_some() {
            left -= 1;
        }
        left -= 1;
        step = Move::NextKey;
    }
    step = Move::Last;
    while left > 0 && counts.see(cursor.go(step)).flatten().is_some() {
        left -= 1;
        step = Move::PrevKey;
    }
}

fn ranges(snapshot: &impl Snapshot, db: Database, random: &mut Random, counts: &mut WalkCounts) {
    let len = random.between(1, 9);
    let middle = random.bytes(len);
    if let Some(mut records) = counts.see(snapshot.range(db, &middle[..]..)) {
        while let Some(Ok((_, value))) = records.next() {
            touch(value);
            if records.next_back().is_none_or(|last| last.is_err()) {
                break;
            }
        }
    }
    if let Some(records) = counts.see(snapshot.range(db, ..&middle[..])) {
        let bad = records.first_values().find_map(Result::err);
        counts.see(bad.map_or(Ok(()), Err));
    }
    if let Some(records) = counts.see(snapshot.range(db, ..)) {
        let bad = records.keys().rev().find_map(Result::err);
        counts.see(bad.map_or(Ok(()), Err));
    }
    if let Some(records) = counts.see(snapshot.prefix(db, b"key")) {
        let bad = records.filter_map(Result::err).next();
        counts.see(bad.map_or(Ok(()), Err));
    }
    counts.see(snapshot.count_range(db, ..));
    counts.see(snapshot.count_range(db, &middle[..]..));
    counts.see(snapshot.estimate_range(db, ..=&middle[..]));
}
