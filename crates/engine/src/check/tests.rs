//! The checker against files made by a real LMDB, sound and damaged.

use fulgurite_testkit::{
    Random, Scratch, base, corrupt_cases, quick_or_long, seed, sound_fixtures,
};

use super::*;

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

/// Whatever the bytes are: a report or an error, in bounded time.
#[test]
fn random_damage_is_survived() {
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
fn a_huge_page_count_is_no_burden() {
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
