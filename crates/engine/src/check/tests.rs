//! The checker against files made by a real LMDB, sound and damaged.

use fulgurite_testkit::{base, corrupt_cases, sound_fixtures};

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
