//! Any bytes as a data file: the checker, the reader and the writer must answer with data or an error.
//!
//! A useful corpus to begin with are the files of `crates/testkit/fixtures`, unpacked, small ones first.

#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use fulgurite::{Durability, Environment, Error, Snapshot};
use libfuzzer_sys::fuzz_target;

/// Records read per database and direction: a loop inside one level ends here at the latest.
const RECORDS_MAX: usize = 100_000;

fuzz_target!(|bytes: &[u8]| {
    static DIR: OnceLock<tempfile::TempDir> = OnceLock::new();
    let dir = DIR.get_or_init(|| tempfile::tempdir().expect("a temporary directory")).path();
    let data = dir.join("data.mdb");
    let _ = std::fs::remove_file(&data);
    std::fs::write(&data, bytes).expect("write the data file");
    let _ = fulgurite::check::check_file(&data);
    let _ = use_it(dir);
});

fn use_it(dir: &Path) -> Result<(), Error> {
    let options = Environment::options().durability(Durability::NoSync);
    let Ok(environment) = options.open(dir) else { return Ok(()) };
    let _ = scan(&environment);
    let mut txn = environment.write()?;
    let db = txn.open_database(None)?;
    for i in 0..40_u64 {
        txn.put(db, &i.to_le_bytes(), &vec![1; i as usize * 97])?;
    }
    txn.commit()?;
    let mut txn = environment.write()?;
    txn.clear_database(db)?;
    txn.commit()?;
    scan(&environment)
}

fn scan(environment: &Environment) -> Result<(), Error> {
    let snapshot = environment.read()?;
    let main = snapshot.open_database(None)?;
    let mut names = Vec::new();
    let mut cursor = snapshot.cursor(main)?;
    let mut record = cursor.first()?;
    while let Some((key, _)) = record {
        if let Ok(name) = std::str::from_utf8(key) {
            names.push(name.to_owned());
        }
        if names.len() > RECORDS_MAX {
            break;
        }
        record = cursor.next()?;
    }
    for name in names {
        let Ok(db) = snapshot.open_database(Some(&name)) else { continue };
        let mut cursor = snapshot.cursor(db)?;
        let mut record = cursor.last()?;
        let mut budget = RECORDS_MAX;
        while let Some((key, _)) = record
            && budget > 0
        {
            let _ = snapshot.get(db, key)?;
            budget -= 1;
            record = cursor.prev()?;
        }
    }
    Ok(())
}
