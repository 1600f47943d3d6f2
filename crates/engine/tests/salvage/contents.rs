//! The contents of an environment, as a set that can be compared.

use std::collections::BTreeSet;
use std::path::Path;

use fulgurite::check::{CheckOptions, check_file};
use fulgurite::salvage::{SalvageReport, salvage};
use fulgurite::{Database, DatabaseFlags, Environment, ReadTxn, Snapshot};
use fulgurite_testkit::{Scratch, unhex};

/// A record: the database's name (none for the main one), key, value.
pub(crate) type Record = (Option<Vec<u8>>, Vec<u8>, Vec<u8>);
pub(crate) type Contents = BTreeSet<Record>;

/// All records of the newest snapshot, or of the one before it.
pub(crate) fn of(dir: &Path, previous: bool) -> Contents {
    let environment = Environment::options()
        .read_only(true)
        .previous_snapshot(previous)
        .open(dir)
        .expect("open");
    let txn = environment.read().expect("read");
    let mut contents = Contents::new();
    let main = txn.flags(Database::MAIN).expect("flags");
    let plain = DatabaseFlags::DUP_SORT | DatabaseFlags::INTEGER_KEY;
    for (key, value) in list(&txn, Database::MAIN) {
        // A database can be opened; an ordinary record cannot.
        let named = (main.0 & plain == 0)
            .then(|| txn.open_named(&key).ok())
            .flatten();
        match named {
            Some(named) => {
                let records = list(&txn, named).into_iter();
                contents.extend(records.map(|(k, v)| (Some(key.clone()), k, v)));
            }
            None => {
                contents.insert((None, key, value));
            }
        }
    }
    contents
}

fn list(txn: &ReadTxn<'_>, db: Database) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut cursor = txn.cursor(db).expect("a cursor");
    let mut records = Vec::new();
    let mut record = cursor.first().expect("the first record");
    while let Some((key, value)) = record {
        records.push((key.to_vec(), value.to_vec()));
        record = cursor.next().expect("the next record");
    }
    records
}

/// Salvages into the directory `out` next to the environment, and checks that the result is sound.
pub(crate) fn salvaged(dir: &Path) -> (SalvageReport, Contents) {
    let out = dir.with_extension("out");
    std::fs::create_dir_all(&out).expect("make a directory");
    let report = salvage(dir, &out, &CheckOptions::default(), &mut |_, _| ())
        .unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let check = check_file(&out.join("data.mdb")).expect("check the result");
    assert!(check.is_sound(), "{}: {check}", dir.display());
    let contents = of(&out, false);
    (report, contents)
}

/// Keys and values listed in the file of lost pages.
pub(crate) fn lost(report: &SalvageReport) -> BTreeSet<(Vec<u8>, Vec<u8>)> {
    let Some(path) = &report.lost_file else {
        return BTreeSet::new();
    };
    let text = std::fs::read_to_string(path).expect("the file of lost pages");
    let mut lines = text
        .lines()
        .filter_map(|line| line.strip_prefix(' '))
        .map(|word| unhex(if word.is_empty() { "." } else { word }));
    let mut records = BTreeSet::new();
    while let (Some(key), Some(value)) = (lines.next(), lines.next()) {
        records.insert((key, value));
    }
    records
}

/// As [`of`], of a data file in memory.
pub(crate) fn of_image(image: &[u8], scratch: &Scratch, previous: bool) -> Contents {
    let dir = scratch.join("image");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("make a directory");
    std::fs::write(dir.join("data.mdb"), image).expect("write the image");
    of(&dir, previous)
}
