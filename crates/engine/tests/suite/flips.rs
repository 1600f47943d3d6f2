//! Random damage: files with some bits or bytes changed give errors or data. There is no crash and
//! no hang.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fulgurite_testkit::{Ended, Random, Scratch, base, fixture, quick_or_long, run_bounded, seed};

use crate::{child, damage, damage_steps};

const SEED: &str = "FULGURITE_TEST_CHILD_SEED";
const ROUNDS: &str = "FULGURITE_TEST_CHILD_ROUNDS";
const DIR: &str = "FULGURITE_TEST_DIR";

#[test]
fn random_damage_never_crashes_or_hangs() {
    let seed = seed("flips", 20_260_101);
    let rounds = quick_or_long(600, 60_000);
    let scratch = Scratch::new("flips");
    let mut command = child::role("flips");
    command
        .env(SEED, seed.to_string())
        .env(ROUNDS, rounds.to_string())
        .env(DIR, scratch.path());
    let outcome = run_bounded(&mut command, Duration::from_secs(quick_or_long(120, 3600)));
    let last = outcome
        .stdout
        .lines()
        .rfind(|line| line.starts_with("round"))
        .unwrap_or("round: none");
    if outcome.ended != Ended::Exit(0) {
        let dir = scratch.keep();
        panic!(
            "{:?} in {last}; the file is left in {}\n{}",
            outcome.ended,
            dir.display(),
            outcome.stderr
        );
    }
    assert_eq!(
        outcome
            .stdout
            .lines()
            .filter(|line| line.starts_with("round"))
            .count(),
        rounds
    );
}

/// Damages, opens, scans, copies and writes, many times.
pub(crate) fn child() {
    let dir = child::parameter(DIR);
    let rounds: u64 = child::parameter(ROUNDS)
        .parse()
        .expect("a number of rounds");
    let seed: u64 = child::parameter(SEED).parse().expect("a seed");
    let originals: Vec<Vec<u8>> = [
        base("base-tree"),
        base("base-dups"),
        fixture("dupfixed-1"),
        fixture("dupsort"),
        fixture("intkey-dups"),
        fixture("psize-2048"),
        fixture("named-many"),
        fixture("emptied"),
    ]
    .iter()
    .map(|fixture| fs::read(fixture.data()).expect("read a fixture"))
    .collect();
    for round in 0..rounds {
        let mut random = Random::new(seed ^ round.wrapping_mul(0x9e37_79b9));
        println!("round {round}");
        let mut bytes = random.pick(&originals).clone();
        damage_bytes(&mut bytes, &mut random);
        one_round(Path::new(&dir), &bytes, &mut random);
    }
}

/// Changes a few places; headers, records and offsets more often than chance would.
fn damage_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    let pages = bytes.len() / 2048;
    for _ in 0..random.between(1, 12) {
        let page = random.below(pages) * 2048;
        let at = match random.below(4) {
            0 => page + random.below(16),
            1 => page + random.below(160),
            _ => random.below(bytes.len()),
        };
        match random.below(4) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = *random.pick(&[0, 1, 2, 0x7f, 0x80, 0xff]),
            _ => bytes[at] = random.bits() as u8,
        }
    }
    if random.chance(5) {
        bytes.truncate(random.below(bytes.len()));
    }
}

fn one_round(dir: &Path, bytes: &[u8], random: &mut Random) {
    let data = dir.join("data.mdb");
    // A fresh file each time: no engine is to see one change behind its back.
    let _ = fs::remove_file(&data);
    fs::write(&data, bytes).expect("write a damaged file");
    let _ = fulgurite::check::check_file(&data);
    let Ok(environment) = damage::common_open(dir) else {
        return;
    };
    let _ = damage_steps::examine(&environment, random, &mut |_, _| {});
    for compact in [false, true] {
        let _ = environment.copy_to(&mut std::io::sink(), compact);
    }
    for write in damage_steps::WRITES {
        let _ = write(&environment, random);
    }
    let _ = damage_steps::examine(&environment, random, &mut |_, _| {});
}
