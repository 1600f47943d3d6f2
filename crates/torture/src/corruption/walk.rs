//! The walk through a damaged file by our engine's own interface: everything is read, changed,
//! copied and checked.

use std::path::Path;

use fulgurite::{Durability, Environment, OpenError, OpenOptions, SlotPolicy};
use fulgurite_testkit::Random;

use super::walk_counts::WalkCounts;
use super::walk_read::{databases, read_database, scans};
use super::walk_write;

/// Opens the environment in `dir`, walks, changes, copies and checks it, opens it again.
pub fn walk(dir: &Path, seed: u64) -> WalkCounts {
    let mut random = Random::new(seed);
    let mut counts = WalkCounts::default();
    let data = dir.join("data.mdb");
    let goes_back = random.chance(5);
    let options = options(&mut random).previous_snapshot(goes_back);
    // The answer is about the newest snapshot alone. A lock file, or the walk itself, may go back
    // to the other.
    let was_sound = !goes_back && !dir.join("lock.mdb").exists() && is_sound(&data);
    match open(&options, dir) {
        None => counts.refused = true,
        Some(environment) => {
            read_all(&environment, &mut random, &mut counts);
            walk_write::change(&environment, &mut random, &mut counts);
            copies(&environment, &mut random, &mut counts);
        }
    }
    let errors = counts.errors;
    if !counts.refused && was_sound && errors == 0 && !is_sound(&data) {
        counts.spoilt = true;
        eprintln!(
            "spoilt with {options:?}: {:?}",
            fulgurite::check::check_file(&data)
        );
    }
    if let Some(environment) = open(&default_options(), dir)
        && let Some(snapshot) = counts.see(environment.read())
    {
        for db in databases(&snapshot, &mut counts) {
            scans(&snapshot, db, &mut counts);
        }
    }
    counts
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

fn read_all(environment: &Environment, random: &mut Random, counts: &mut WalkCounts) {
    counts.see(environment.info());
    counts.see(environment.stat());
    let _ = environment.readers();
    counts.see(environment.clear_stale_readers());
    if let Some(snapshot) = counts.see(environment.read()) {
        for db in databases(&snapshot, counts) {
            read_database(&snapshot, db, random, counts);
        }
    }
}

fn copies(environment: &Environment, random: &mut Random, counts: &mut WalkCounts) {
    for compact in [false, true] {
        if random.chance(50) {
            counts.see(environment.copy_to(&mut std::io::sink(), compact));
        }
    }
}
