//! Sound files come through whole, and each single kind of damage costs what it must and no more.

use std::path::{Path, PathBuf};

use fulgurite::check::CheckOptions;
use fulgurite::salvage::{Basis, SalvageError, salvage};
use fulgurite::{Database, DatabaseFlags, Durability, Environment, KeyOrder};
use fulgurite_testkit::{Scratch, corrupt_cases, sound_fixtures};

use crate::contents::{self, Contents, lost, salvaged};
use crate::raw::placed;

const PAGE: usize = 4096;

#[test]
fn sound_files_are_salvaged_completely() {
    let scratch = Scratch::new("salvage-sound");
    for fixture in sound_fixtures() {
        let dir = fixture.copy_to(&scratch);
        let (report, found) = salvaged(&dir);
        let before = contents::of(&dir, false);
        let refused = report.refused as usize;
        assert_eq!(refused > 0, fixture.name == "dupsort-emptyvalue");
        assert!(
            report.is_complete() || refused > 0,
            "{}: {report:?}",
            fixture.name
        );
        assert!(found.is_subset(&before), "{}", fixture.name);
        assert_eq!(found.len() + refused, before.len(), "{}", fixture.name);
    }
}

#[test]
fn damaged_files_give_a_sound_environment_or_an_error() {
    let scratch = Scratch::new("salvage-cases");
    let (cases, _) = corrupt_cases();
    for case in cases {
        let dir = case.copy_to(&scratch);
        let out = scratch.join(&format!("{}.out", case.name));
        std::fs::create_dir_all(&out).expect("make a directory");
        match salvage(&dir, &out, &CheckOptions::default(), &mut |_, _| ()) {
            Ok(_) => {
                let check = fulgurite::check::check_file(&out.join("data.mdb")).expect("check");
                assert!(check.is_sound(), "{}: {check}", case.name);
            }
            Err(SalvageError::Input(_)) => {}
            Err(error) => panic!("{}: {error}", case.name),
        }
    }
}

/// Makes an environment with a tree of three levels, long values, and databases of several kinds,
/// in two commits.
pub(crate) fn made(dir: &Path, records: u32) -> PathBuf {
    std::fs::create_dir_all(dir).expect("make a directory");
    let environment = Environment::options()
        .durability(Durability::NoSync)
        .open(dir)
        .expect("open");
    let mut txn = environment.write().expect("write");
    let plain = txn
        .create_database("plain", KeyOrder::Lexical)
        .expect("create");
    let numbers = txn
        .create_database("numbers", KeyOrder::Integer)
        .expect("create");
    let pairs = txn
        .create_named(b"pairs", DatabaseFlags(DatabaseFlags::DUP_SORT))
        .expect("create");
    let flags = DatabaseFlags::DUP_SORT | DatabaseFlags::DUP_FIXED | DatabaseFlags::INTEGER_DUP;
    let packed = txn
        .create_named(b"packed", DatabaseFlags(flags))
        .expect("create");
    for n in 0..records {
        let key = format!("key {:08}", n.wrapping_mul(0x9e37_79b1) % 100_000_000);
        let value = vec![n as u8; 100 + (n % 150) as usize];
        txn.put(plain, key.as_bytes(), &value).expect("put");
        if n % 40 == 0 {
            let long = vec![n as u8; 5000 + n as usize % 9000];
            txn.put(plain, format!("long {n}").as_bytes(), &long)
                .expect("put");
        }
        txn.put(numbers, &u64::from(n * 7).to_ne_bytes(), &value[..50])
            .expect("put");
        let owner = format!("owner {}", n % 11);
        txn.put(pairs, owner.as_bytes(), key.as_bytes())
            .expect("put");
        txn.put(packed, owner.as_bytes(), &u64::from(n).to_ne_bytes())
            .expect("put");
    }
    txn.commit().expect("commit");
    let mut txn = environment.write().expect("write");
    for n in (0..records).step_by(97) {
        txn.put(numbers, &u64::from(n * 7).to_ne_bytes(), b"changed")
            .expect("put");
    }
    txn.commit().expect("commit");
    dir.to_owned()
}

/// The file, damaged by `damage`, and what it held before.
pub(crate) fn damaged(dir: &Path, damage: impl FnOnce(&mut [u8])) -> Contents {
    let before = contents::of(dir, false);
    let data = dir.join("data.mdb");
    let mut bytes = std::fs::read(&data).expect("read the file");
    damage(&mut bytes);
    std::fs::write(&data, bytes).expect("write the file");
    before
}

fn flags_of(image: &[u8], pgno: usize) -> u8 {
    image[pgno * PAGE + 10]
}

/// A branch page that is gone costs nothing: its leaves are found, and there is one place for them.
#[test]
fn leaves_below_a_lost_branch_are_found() {
    let scratch = Scratch::new("salvage-branch");
    let dir = made(&scratch.join("env"), 4000);
    let image = std::fs::read(dir.join("data.mdb")).expect("read");
    let (_, pages) = placed(&image);
    let branches: Vec<usize> = pages
        .iter()
        .copied()
        .filter(|pgno| flags_of(&image, *pgno) == 1)
        .collect();
    assert!(branches.len() > 4, "{branches:?}");
    for branch in branches {
        std::fs::write(dir.join("data.mdb"), &image).expect("write");
        let _ = std::fs::remove_dir_all(dir.with_extension("out"));
        let before = damaged(&dir, |bytes| bytes[branch * PAGE..][..PAGE].fill(0));
        let (report, found) = salvaged(&dir);
        let missing = before.difference(&found).count();
        assert_eq!(missing, 0, "branch {branch}: {report:?}");
        assert!(report.holes_total > 0 && report.pages_lost > 0);
        // The last changes are there in two versions, one of them older.
        let previous = contents::of_image(&image, &scratch, true);
        assert!(
            found
                .iter()
                .all(|r| before.contains(r) || previous.contains(r))
        );
    }
}

#[test]
fn one_lost_leaf_costs_its_records_alone() {
    let scratch = Scratch::new("salvage-leaf");
    let dir = made(&scratch.join("env"), 3000);
    let image = std::fs::read(dir.join("data.mdb")).expect("read");
    let (records, pages) = placed(&image);
    let leaf = pages
        .iter()
        .copied()
        .filter(|pgno| {
            let on_it = records.iter().filter(|r| r.pages.last() == Some(pgno));
            on_it
                .filter(|r| r.record.0.as_deref() == Some(b"plain"))
                .count()
                > 5
        })
        .nth(2)
        .expect("a leaf of the plain database");
    let before = damaged(&dir, |bytes| {
        bytes[leaf * PAGE + 16..][..PAGE - 16].fill(0xff)
    });
    let (report, found) = salvaged(&dir);
    for placed in &records {
        let kept = found.contains(&placed.record);
        assert!(kept || placed.pages.contains(&leaf), "{:?}", placed.record);
    }
    assert!(found.is_subset(&before));
    let hole = report.holes.first().expect("a hole");
    assert_eq!(hole.page, leaf as u64);
    let text = hole.to_string();
    assert!(text.starts_with("'plain': keys from "), "{text}");
}

#[test]
fn damaged_meta_pages_are_repaired_where_possible() {
    let scratch = Scratch::new("salvage-meta");
    let dir = made(&scratch.join("env"), 500);
    let before = damaged(&dir, |bytes| {
        // Magic numbers and versions are gone.
        bytes[16..24].fill(0);
        bytes[PAGE + 16..PAGE + 24].fill(0xaa);
    });
    let (report, found) = salvaged(&dir);
    assert_eq!(report.basis, Basis::Mended);
    assert_eq!(found, before);

    let dir = made(&scratch.join("second"), 500);
    let before = damaged(&dir, |bytes| bytes[..2 * PAGE].fill(0));
    let (report, found) = salvaged(&dir);
    assert_eq!((report.basis.clone(), found.len()), (Basis::Scan, 0));
    let lost = lost(&report);
    for (name, key, value) in before {
        let (key, value) = match name.as_deref() {
            // The values of keys with many stand on leaves that do not name the key.
            Some(b"pairs" | b"packed") => continue,
            _ => (key, value),
        };
        assert!(lost.contains(&(key, value)), "{name:?}");
    }
}

#[test]
fn the_previous_snapshot_fills_what_the_newest_lost() {
    let scratch = Scratch::new("salvage-previous");
    let dir = made(&scratch.join("env"), 3000);
    let image = std::fs::read(dir.join("data.mdb")).expect("read");
    let (records, _) = placed(&image);
    let previous = contents::of_image(&image, &scratch, true);
    let changed = records
        .iter()
        .find(|r| r.record.2 == b"changed")
        .expect("a changed record");
    let leaf = *changed.pages.last().expect("its leaf");
    let before = damaged(&dir, |bytes| bytes[leaf * PAGE..][..PAGE].fill(0x5a));
    let (report, found) = salvaged(&dir);
    assert!(!found.contains(&changed.record));
    let older = found
        .iter()
        .find(|r| r.1 == changed.record.1 && r.0 == changed.record.0);
    assert!(older.is_some_and(|r| previous.contains(r)), "{older:?}");
    assert!(
        found
            .iter()
            .all(|r| before.contains(r) || previous.contains(r))
    );
    let from_previous: u64 = report.databases.iter().map(|db| db.previous).sum();
    assert!(from_previous > 5, "{report:?}");
    assert_eq!(found.len(), before.len());
}

#[test]
fn the_input_stays_and_an_output_in_use_is_refused() {
    let scratch = Scratch::new("salvage-output");
    let dir = made(&scratch.join("env"), 100);
    let before = std::fs::read(dir.join("data.mdb")).expect("read");
    let _ = salvaged(&dir);
    assert_eq!(std::fs::read(dir.join("data.mdb")).expect("read"), before);
    let again = salvage(
        &dir,
        &dir.with_extension("out"),
        &CheckOptions::default(),
        &mut |_, _| (),
    );
    assert!(matches!(again, Err(SalvageError::OutputExists(_))));
}

#[test]
fn records_of_a_custom_order_keep_their_sequence() {
    let scratch = Scratch::new("salvage-order");
    let dir = scratch.join("env");
    std::fs::create_dir_all(&dir).expect("make a directory");
    let environment = Environment::options().open(&dir).expect("open");
    let mut txn = environment.write().expect("write");
    let backwards = fulgurite::CustomOrder {
        call: |_, a, b| b.cmp(a),
        context: 0,
    };
    txn.set_key_order(Database::MAIN, Some(backwards));
    for n in 0..2000 {
        let key = format!("key {n:05}");
        txn.put(Database::MAIN, key.as_bytes(), key.as_bytes())
            .expect("put");
    }
    txn.commit().expect("commit");
    drop(environment);
    let out = dir.with_extension("out");
    std::fs::create_dir_all(&out).expect("make a directory");
    let options = CheckOptions::default().any_order("main");
    let report = salvage(&dir, &out, &options, &mut |_, _| ()).expect("salvage");
    assert!(report.is_complete(), "{report:?}");
    let environment = Environment::options().open(&out).expect("open");
    let mut txn = environment.read().expect("read");
    txn.set_key_order(Database::MAIN, Some(backwards));
    use fulgurite::Snapshot as _;
    let got = txn.get(Database::MAIN, b"key 01234").expect("get");
    assert_eq!(got, Some(&b"key 01234"[..]));
    let mut checker = fulgurite::check::Checker::new(options);
    assert!(
        checker
            .check_file(&out.join("data.mdb"))
            .expect("check")
            .is_sound()
    );
}
