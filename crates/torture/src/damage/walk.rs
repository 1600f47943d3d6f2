//! The walk through a damaged file by our engine's own interface: everything is read, changed,
//! copied and checked.

use std::path::Path;

use fulgurite::{
    Database, Durability, Environment, Error, Move, OpenError, OpenOptions, SlotPolicy, Snapshot,
};
use fulgurite_testkit::Random;

use super::walk_write;

/// The counts of a walk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Met {
    /// Calls made.
    pub calls: u64,
    /// Calls that gave an error that a sound file would not have given.
    pub errors: u64,
    /// The file could not be opened.
    pub refused: bool,
    /// It was sound, then it was written to without an error, and is not sound any more.
    pub spoilt: bool,
}

impl Met {
    /// Notes how a call went.
    pub(super) fn see<T>(&mut self, outcome: Result<T, Error>) -> Option<T> {
        self.calls += 1;
        match outcome {
            Ok(value) => Some(value),
            Err(error) => {
                self.errors += u64::from(!is_of_the_caller(&error));
                None
            }
        }
    }
}

/// Returns true for an error about the request, which a sound file could return too.
fn is_of_the_caller(error: &Error) -> bool {
    matches!(
        error,
        Error::KeyLength { .. }
            | Error::IntegerKey { .. }
            | Error::DuplicateLength { .. }
            | Error::FixedSize { .. }
            | Error::NoDuplicates
            | Error::HasDuplicates
            | Error::NoPrefixes
            | Error::CursorUnset
            | Error::WrongKind(_)
            | Error::NoDatabase(_)
            | Error::MainUnsuitable
            | Error::AppendOrder
            | Error::ReadOnly
            | Error::MapFull(_)
    )
}

/// Entries looked at one by one, in addition to the scans.
const CLOSER_LOOKS: usize = 16;

/// Opens the environment in `dir`, walks, changes, copies and checks it, opens it again.
pub fn walk(dir: &Path, seed: u64) -> Met {
    let mut random = Random::new(seed);
    let mut met = Met::default();
    let data = dir.join("data.mdb");
    let goes_back = random.chance(5);
    let options = options(&mut random).previous_snapshot(goes_back);
    // The answer is about the newest snapshot alone. A lock file, or the walk itself, may go back
    // to the other.
    let was_sound = !goes_back && !dir.join("lock.mdb").exists() && is_sound(&data);
    match open(&options, dir) {
        None => met.refused = true,
        Some(environment) => {
            read_all(&environment, &mut random, &mut met);
            walk_write::change(&environment, &mut random, &mut met);
            copies(&environment, &mut random, &mut met);
        }
    }
    let errors = met.errors;
    if !met.refused && was_sound && errors == 0 && !is_sound(&data) {
        met.spoilt = true;
        eprintln!(
            "spoilt with {options:?}: {:?}",
            fulgurite::check::check_file(&data)
        );
    }
    if let Some(environment) = open(&default_options(), dir)
        && let Some(snapshot) = met.see(environment.read())
    {
        for db in databases(&snapshot, &mut met) {
            scans(&snapshot, db, &mut met);
        }
    }
    met
}

fn is_sound(data: &Path) -> bool {
    fulgurite::check::check_file(data).is_ok_and(|report| report.is_sound())
}

fn open(options: &OpenOptions, dir: &Path) -> Option<Environment> {
    let opened: Result<Environment, OpenError> = options.open(dir);
    opened.ok()
}

fn default_options() -> OpenOptions {
    Environment::options().durability(Durability::NoSync)
}

/// Each way to open a file has separate code that damage could lead astray.
fn options(random: &mut Random) -> OpenOptions {
    let mut options = default_options()
        .write_map(random.chance(20))
        .read_only(random.chance(6))
        .no_lock(random.chance(10))
        .no_read_ahead(random.chance(5))
        .fixed_map(random.chance(3));
    if random.chance(5) {
        options = options.slots(SlotPolicy::PerThread);
    }
    if random.chance(10) {
        options = options.dirty_bytes_max(1 << 14);
    }
    match random.below(5) {
        0 => options.map_size(0),
        1 => options.map_size(1 << random.between(12, 28)),
        2 => options.map_bytes_max(1 << random.between(16, 40)),
        _ => options,
    }
}

fn read_all(environment: &Environment, random: &mut Random, met: &mut Met) {
    met.see(environment.info());
    met.see(environment.stat());
    let _ = environment.readers();
    met.see(environment.clear_stale_readers());
    if let Some(snapshot) = met.see(environment.read()) {
        for db in databases(&snapshot, met) {
            read_database(&snapshot, db, random, met);
        }
    }
}

/// The main database, and all that can be opened by the keys in it.
pub(super) fn databases(snapshot: &impl Snapshot, met: &mut Met) -> Vec<Database> {
    let mut found = vec![Database::MAIN];
    let mut names = Vec::new();
    if let Some(mut cursor) = met.see(snapshot.cursor(Database::MAIN)) {
        let mut record = met.see(cursor.first()).flatten();
        while let Some((key, value)) = record {
            // Anything may be called a database by a damaged record; ordinary records say that they
            // are none.
            if value.len() == 48 && names.len() < 12 {
                names.push(key);
            }
            record = met.see(cursor.go(Move::NextKey)).flatten();
        }
    }
    for name in names {
        found.extend(met.see(snapshot.open_named(name)));
    }
    found
}

/// Everything that can be asked about a database.
pub(super) fn read_database(
    snapshot: &impl Snapshot,
    db: Database,
    random: &mut Random,
    met: &mut Met,
) {
    met.see(snapshot.stat(db));
    met.see(snapshot.flags(db));
    let keys = scans(snapshot, db, met);
    look_up(snapshot, db, &keys, random, met);
    moves(snapshot, db, &keys, random, met);
    ranges(snapshot, db, random, met);
}

/// From one end to the other, by cursor, both ways. Returns some of the keys.
fn scans<'t>(snapshot: &'t impl Snapshot, db: Database, met: &mut Met) -> Vec<&'t [u8]> {
    let mut keys = Vec::new();
    let mut seen = 0_u64;
    let Some(mut cursor) = met.see(snapshot.cursor(db)) else {
        return keys;
    };
    let mut record = met.see(cursor.first()).flatten();
    while let Some((key, value)) = record {
        seen += 1;
        if keys.len() < CLOSER_LOOKS || seen.is_power_of_two() {
            keys.push(key);
        }
        touch(value);
        record = met.see(cursor.next()).flatten();
    }
    record = met.see(cursor.last()).flatten();
    while let Some((_, value)) = record {
        touch(value);
        record = met.see(cursor.prev()).flatten();
    }
    keys
}

/// Looks at octets that were lent: they must be there.
pub(super) fn touch(octets: &[u8]) {
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
    met: &mut Met,
) {
    let len = random.between(1, 12);
    let made_up = random.bytes(len);
    for key in keys.iter().copied().chain([&made_up[..], &[0; 8]]) {
        if let Some(Some(value)) = met.see(snapshot.get(db, key)) {
            touch(value);
        }
        if let Some(mut values) = met.see(snapshot.values(db, key)) {
            while let Some(Ok(value)) = values.next() {
                touch(value);
                if values.next_back().is_none_or(|last| last.is_err()) {
                    break;
                }
            }
        }
    }
    met.see(snapshot.get_many(db, keys, &mut Vec::new()));
}

/// Every way that a cursor can go.
fn moves(
    snapshot: &impl Snapshot,
    db: Database,
    keys: &[&[u8]],
    random: &mut Random,
    met: &mut Met,
) {
    let Some(mut cursor) = met.see(snapshot.cursor(db)) else {
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
            if let Some(Some((_, value))) = met.see(cursor.go(step)) {
                touch(value);
            }
            met.see(cursor.count());
        }
    }
    // All blocks, and all keys backwards.
    let mut left = 10_000;
    let mut step = Move::First;
    while left > 0 && met.see(cursor.go(step)).flatten().is_some() {
        while left > 0 && met.see(cursor.go(Move::NextBlock)).flatten().is_some() {
            left -= 1;
        }
        left -= 1;
        step = Move::NextKey;
    }
    step = Move::Last;
    while left > 0 && met.see(cursor.go(step)).flatten().is_some() {
        left -= 1;
        step = Move::PrevKey;
    }
}

fn ranges(snapshot: &impl Snapshot, db: Database, random: &mut Random, met: &mut Met) {
    let len = random.between(1, 9);
    let middle = random.bytes(len);
    if let Some(mut records) = met.see(snapshot.range(db, &middle[..]..)) {
        while let Some(Ok((_, value))) = records.next() {
            touch(value);
            if records.next_back().is_none_or(|last| last.is_err()) {
                break;
            }
        }
    }
    if let Some(records) = met.see(snapshot.range(db, ..&middle[..])) {
        let bad = records.first_values().find_map(Result::err);
        met.see(bad.map_or(Ok(()), Err));
    }
    if let Some(records) = met.see(snapshot.range(db, ..)) {
        let bad = records.keys().rev().find_map(Result::err);
        met.see(bad.map_or(Ok(()), Err));
    }
    if let Some(records) = met.see(snapshot.prefix(db, b"key")) {
        let bad = records.filter_map(Result::err).next();
        met.see(bad.map_or(Ok(()), Err));
    }
    met.see(snapshot.count_range(db, ..));
    met.see(snapshot.count_range(db, &middle[..]..));
    met.see(snapshot.estimate_range(db, ..=&middle[..]));
}

fn copies(environment: &Environment, random: &mut Random, met: &mut Met) {
    for compact in [false, true] {
        if random.chance(50) {
            met.see(environment.copy_to(&mut std::io::sink(), compact));
        }
    }
}
