//! The checker against files made by a real LMDB, sound and damaged.

mod catalogue;
mod image;
mod real;

use fulgurite_format::{NodeFlags, PageFlags};
use fulgurite_testkit::{
    Random, Scratch, base, corrupt_cases, quick_or_long, seed, sound_fixtures,
};

use super::*;
use crate::maintain::image::layout::{Entries, Header, u16_at};

#[test]
fn accepts_every_file_of_the_real_library() {
    for fixture in sound_fixtures() {
        let report = check_file(fixture.data()).unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
        assert!(report.is_sound(), "{}: {report}", fixture.name);
        for db in fixture.databases() {
            let seen = report
                .databases
                .iter()
                .filter(|seen| seen.entries == db.entries && seen.flags == db.flags);
            assert!(
                seen.count() > 0,
                "{}: no database like {:?}",
                fixture.name,
                db.name
            );
        }
    }
    assert!(check_file(base("base-tree").data()).is_ok_and(|r| r.is_sound()));
    assert!(check_file(base("base-dups").data()).is_ok_and(|r| r.is_sound()));
}

/// The damage that leaves a structure as sound as before.
const HARMLESS: [&str; 1] = ["mapsize-huge"];

#[test]
fn finds_every_kind_of_damage() {
    let (cases, _) = corrupt_cases();
    for case in cases {
        let sound = check_file(case.data()).is_ok_and(|report| report.is_sound());
        // Random bytes may all have hit unused parts of pages.
        if case.name.starts_with("noise") {
            continue;
        }
        assert_eq!(
            sound,
            HARMLESS.contains(&case.name.as_str()),
            "{}: {}",
            case.name,
            case.what
        );
    }
}

/// For any bytes the checker returns a report or an error, in bounded time.
#[test]
fn random_damage_gives_a_report() {
    let mut random = Random::new(seed("check", 3));
    let scratch = Scratch::new("check");
    let path = scratch.join("damaged");
    let originals: Vec<Vec<u8>> = ["base-tree", "base-dups"]
        .map(|name| std::fs::read(base(name).data()).expect("read a fixture"))
        .to_vec();
    let mut sound = 0;
    for _ in 0..quick_or_long(1500, 100_000) {
        let mut bytes = random.pick(&originals).clone();
        for _ in 0..random.between(1, 10) {
            // Half of it where it matters; the other half mostly hits values and unused bytes.
            let page = random.below(bytes.len() / 4096) * 4096;
            let at = page + random.below(*random.clone().pick(&[64, 4096]));
            bytes[at] = random.bits() as u8;
        }
        std::fs::write(&path, &bytes).expect("write a damaged file");
        let report = check_file(&path);
        sound += u32::from(report.is_ok_and(|report| report.is_sound()));
    }
    assert!(sound < 500, "{sound} damaged files were called sound");
}

/// A last page number beyond all reason costs neither memory nor time.
#[test]
fn a_huge_page_count_costs_nothing() {
    let scratch = Scratch::new("check");
    let path = scratch.join("huge");
    let mut bytes = std::fs::read(base("base-tree").data()).expect("read a fixture");
    for meta in [0, 4096] {
        bytes[meta + 136..meta + 144].copy_from_slice(&(1_u64 << 50).to_le_bytes());
    }
    std::fs::write(&path, &bytes).expect("write the file");
    let report = check_file(&path).expect("a report");
    assert!(report.findings_total > 1 << 49 && report.findings.len() <= 1000);
}

#[test]
fn a_snapshot_is_chosen_by_its_id() {
    let path = base("base-tree");
    let newest = check_file(path.data()).expect("a report").txnid;
    assert_eq!(
        check_snapshot(path.data(), newest).expect("a report").txnid,
        newest
    );
    assert_eq!(
        check_snapshot(path.data(), newest - 1)
            .expect("a report")
            .txnid,
        newest - 1
    );
    let gone = check_snapshot(path.data(), newest + 1);
    assert!(matches!(gone, Err(CheckError::SnapshotGone { .. })));
}

/// The location of a key's duplicates in the file: a sub-page, or the record of a value tree.
struct DuplicatesLocation {
    at: usize,
    flags: u16,
    sub_page: Option<Header>,
}

/// Returns the duplicates on all leaf pages, also those of pages no longer in use.
fn locations_of_duplicates(bytes: &[u8]) -> Vec<DuplicatesLocation> {
    let mut locations = Vec::new();
    for (number, page) in bytes.chunks_exact(4096).enumerate().skip(2) {
        let header = Header::parse(page).expect("a header");
        if header.flags != PageFlags::LEAF {
            continue;
        }
        let entries = Entries::parse(page, &header).expect("entries of a leaf");
        for item in entries.iter() {
            if item.flags & NodeFlags::DUPLICATES != 0 {
                locations.push(DuplicatesLocation {
                    at: number * 4096 + item.at + 8 + item.key.len(),
                    flags: item.flags,
                    sub_page: Header::parse(item.data)
                        .filter(|_| item.flags == NodeFlags::DUPLICATES),
                });
            }
        }
    }
    locations
}

/// Damages the duplicates of one key after the other, and counts the findings.
fn found(
    what: &str,
    damage: impl Fn(&mut [u8], &DuplicatesLocation) -> bool,
    is_right: fn(&Fault) -> bool,
) {
    let scratch = Scratch::new("check-duplicates");
    let path = scratch.join("damaged");
    let original = std::fs::read(base("base-dups").data()).expect("read a fixture");
    let mut found = 0;
    for location in locations_of_duplicates(&original) {
        let mut bytes = original.clone();
        if !damage(&mut bytes, &location) {
            continue;
        }
        std::fs::write(&path, &bytes).expect("write a damaged file");
        let report = check_file(&path).expect("a report");
        // Pages that are free by now may hold anything.
        if !report.is_sound() {
            assert!(
                report.findings.iter().any(|f| is_right(&f.fault)),
                "{what}: {report}"
            );
            found += 1;
        }
    }
    assert!(found >= 2, "{what}: found {found} times");
}

#[test]
fn finds_every_kind_of_damage_to_duplicates() {
    let sub_page = |fault: &Fault| matches!(fault, Fault::SubPage { .. });
    let order = |fault: &Fault| matches!(fault, Fault::DuplicateOrder { .. });
    let is_packed = |header: &Header| header.flags & PageFlags::PACKED != 0;
    found(
        "the dirty mark is gone",
        |bytes, location| {
            bytes[location.at + 10] &= !(PageFlags::DIRTY as u8);
            location.sub_page.is_some()
        },
        sub_page,
    );
    found(
        "two items are in the wrong order",
        |bytes, location| match &location.sub_page {
            Some(header) if !is_packed(header) && header.lower >= 20 => {
                let [a, b, c, d] = [0, 1, 2, 3].map(|at| location.at + 16 + at);
                bytes.swap(a, c);
                bytes.swap(b, d);
                true
            }
            _ => false,
        },
        order,
    );
    found(
        "two packed items are in the wrong order",
        |bytes, location| match &location.sub_page {
            Some(header) if is_packed(header) && header.lower >= 20 => {
                let size = usize::from(header.pad);
                let (first, second) = bytes[location.at + 16..].split_at_mut(size);
                first.swap_with_slice(&mut second[..size]);
                true
            }
            _ => false,
        },
        order,
    );
    found(
        "an item has flags",
        |bytes, location| match &location.sub_page {
            Some(header) if !is_packed(header) => {
                let node = u16_at(bytes, location.at + 16).expect("an offset");
                let node = usize::from(node);
                bytes[location.at + node + 4] = 4;
                true
            }
            _ => false,
        },
        sub_page,
    );
    found(
        "a sub-database counts one too many",
        |bytes, location| {
            bytes[location.at + 32] ^= 1;
            location.flags == NodeFlags::DUPLICATES | NodeFlags::SUB_TREE
        },
        |fault| {
            matches!(
                fault,
                Fault::Count {
                    what: "entries",
                    ..
                }
            )
        },
    );
    found(
        "a sub-database has flags of its own",
        |bytes, location| {
            bytes[location.at + 4] ^= 2;
            location.flags == NodeFlags::DUPLICATES | NodeFlags::SUB_TREE
        },
        |fault| matches!(fault, Fault::Record { .. }),
    );
}
