//! Random pages of files with known contents are destroyed: what needs none of them must come back.

use std::collections::BTreeSet;

use fulgurite::check::{CheckOptions, check_file};
use fulgurite::salvage::{SalvageError, salvage};
use fulgurite_testkit::{Random, Scratch, base, quick_or_long, seed};

use crate::contents::{self, lost, salvaged};
use crate::raw::placed;
use crate::single::made;

const PAGE: usize = 4096;

/// The sums over all rounds.
#[derive(Default)]
struct Tally {
    records: usize,
    salvaged: usize,
    lost_and_found: usize,
    on_damaged_pages: usize,
}

#[test]
fn undamaged_pages_come_back() {
    let mut random = Random::new(seed("salvage", 11));
    let scratch = Scratch::new("salvage-random");
    let originals: Vec<(String, Vec<u8>)> = ["base-tree", "base-dups"]
        .map(|name| {
            (
                name.to_owned(),
                std::fs::read(base(name).data()).expect("read"),
            )
        })
        .into_iter()
        .chain([("made".to_owned(), {
            let dir = made(&scratch.join("made"), 2500);
            std::fs::read(dir.join("data.mdb")).expect("read")
        })])
        .collect();
    let mut tally = Tally::default();
    for round in 0..quick_or_long(40, 2000) {
        let (name, original) = random.pick(&originals).clone();
        let dir = scratch.join(&format!("round-{round}"));
        one_round(&mut random, &dir, &name, &original, &scratch, &mut tally);
        let _ = std::fs::remove_dir_all(dir.with_extension("out"));
        let _ = std::fs::remove_dir_all(&dir);
    }
    println!(
        "{} records: {} in the databases again, {} among lost pages, {} stood on damaged pages",
        tally.records, tally.salvaged, tally.lost_and_found, tally.on_damaged_pages
    );
}

fn one_round(
    random: &mut Random,
    dir: &std::path::Path,
    name: &str,
    original: &[u8],
    scratch: &Scratch,
    tally: &mut Tally,
) {
    let mut bytes = original.to_vec();
    let pages = bytes.len() / PAGE;
    let count = random.between(1, 1 + pages / 20);
    let damaged: Vec<usize> = (0..count).map(|_| random.between(2, pages - 1)).collect();
    let mut keeps_contents = true;
    for pgno in &damaged {
        keeps_contents &= destroy(random, &mut bytes, *pgno);
    }
    std::fs::create_dir_all(dir).expect("make a directory");
    std::fs::write(dir.join("data.mdb"), &bytes).expect("write");
    let (report, found) = salvaged(dir);
    let lost = lost(&report);
    let newest = contents::of_image(original, scratch, false);
    let previous = contents::of_image(original, scratch, true);
    let mut doubtful = BTreeSet::new();
    for placed in placed(original).0 {
        tally.records += 1;
        let (name_of_database, key, value) = &placed.record;
        let hit = placed.pages.iter().any(|pgno| damaged.contains(pgno));
        if hit && value.len() > PAGE / 2 {
            // The later pages of a run have no mark, so a change of such a value goes unnoticed.
            doubtful.insert((name_of_database.clone(), key.clone()));
        }
        if found.contains(&placed.record) {
            tally.salvaged += 1;
        } else if hit {
            tally.on_damaged_pages += 1;
        } else {
            // The values of a lost key stand on lost pages as keys.
            let listed = lost.contains(&(key.clone(), value.clone()))
                || lost.contains(&(value.clone(), Vec::new()));
            assert!(
                listed,
                "{name}, pages {damaged:?}: {:?} is gone; {report:?}",
                placed.record
            );
            tally.lost_and_found += 1;
        }
    }
    if keeps_contents {
        let invented: Vec<_> = found
            .iter()
            .filter(|r| !newest.contains(*r) && !previous.contains(*r))
            .filter(|r| !doubtful.contains(&(r.0.clone(), r.1.clone())))
            .collect();
        assert!(
            invented.is_empty(),
            "{name}, pages {damaged:?}: {invented:?}"
        );
    }
}

/// Damages a page; says whether no record on it can have turned into another one.
fn destroy(random: &mut Random, bytes: &mut [u8], pgno: usize) -> bool {
    let pages = bytes.len() / PAGE;
    match random.below(5) {
        0 => bytes[pgno * PAGE..][..PAGE].fill(0),
        1 => {
            let noise = random.bytes(PAGE);
            bytes[pgno * PAGE..][..PAGE].copy_from_slice(&noise);
        }
        2 => {
            let from = random.below(pages) * PAGE;
            bytes.copy_within(from..from + PAGE, pgno * PAGE);
        }
        3 => bytes[pgno * PAGE + random.below(16)] ^= 1 << random.below(8),
        _ => {
            for _ in 0..random.between(1, 8) {
                bytes[pgno * PAGE + random.below(PAGE)] = random.bits() as u8;
            }
            return false;
        }
    }
    true
}

/// For any bytes, meta pages included, salvage gives a sound environment or an error with a reason.
#[test]
fn any_bytes_give_a_sound_environment_or_an_error() {
    let mut random = Random::new(seed("salvage-anything", 5));
    let scratch = Scratch::new("salvage-anything");
    let originals =
        ["base-tree", "base-dups"].map(|name| std::fs::read(base(name).data()).expect("read"));
    let (mut done, rounds) = (0, quick_or_long(120, 20_000));
    for round in 0..rounds {
        let mut bytes = random.pick(&originals).clone();
        for _ in 0..random.between(1, 30) {
            // Half of it where it matters.
            let page = random.below(bytes.len() / PAGE) * PAGE;
            let reach = *random.clone().pick(&[160, PAGE]);
            bytes[page + random.below(reach)] = random.bits() as u8;
        }
        if random.chance(10) {
            bytes.truncate(random.below(bytes.len()));
        }
        let dir = scratch.join(&format!("round-{round}"));
        std::fs::create_dir_all(&dir).expect("make a directory");
        std::fs::write(dir.join("data.mdb"), &bytes).expect("write");
        let out = dir.join("out");
        std::fs::create_dir_all(&out).expect("make a directory");
        let result = salvage(&dir, &out, &CheckOptions::default(), &mut |_, _| ());
        match result {
            Ok(_) => {
                let check = check_file(&out.join("data.mdb")).expect("check");
                assert!(check.is_sound(), "{}: {check}", dir.display());
                done += 1;
            }
            Err(SalvageError::Input(_)) => {}
            Err(error) => panic!("{}: {error}", dir.display()),
        }
        let _ = std::fs::remove_dir_all(&dir);
    }
    assert!(done > rounds / 2, "{done} of {rounds} gave something");
}
