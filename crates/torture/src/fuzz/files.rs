//! Any bytes as a data file: checked, read, written to.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use fulgurite::check::{CheckOptions, Checker, check_file};
use fulgurite::{Database, Durability, Environment, Error, Snapshot};

use super::bytes::Bytes;

/// Records read per database and direction: a loop inside one level ends here at the latest.
const RECORDS_MAX: usize = 100_000;
/// Databases walked.
const DATABASES_MAX: usize = 100;

thread_local! {
    static SCRATCH: OnceCell<tempfile::TempDir> = const { OnceCell::new() };
}

/// Runs `work` with an empty directory of this thread, in memory where the system has such a place.
pub(super) fn in_scratch(work: impl FnOnce(&Path)) {
    SCRATCH.with(|scratch| {
        let path = scratch
            .get_or_init(|| {
                let memory = PathBuf::from("/dev/shm");
                let parent = if memory.is_dir() {
                    memory
                } else {
                    std::env::temp_dir()
                };
                tempfile::tempdir_in(parent).expect("make a scratch directory")
            })
            .path();
        for name in ["data.mdb", "lock.mdb"] {
            let _ = std::fs::remove_file(path.join(name));
        }
        work(path);
    });
}

/// The checker on any bytes.
pub fn check_image(bytes: &[u8]) {
    let mut checker = Checker::new(CheckOptions::default());
    let report = checker.check_image(bytes);
    match &report {
        Ok(report) => {
            let _ = report.to_string();
            if report.is_sound() {
                // A sound file stays sound, whatever the key orders are.
                let again = Checker::new(CheckOptions::default().any_order_everywhere(true));
                let again = { again }.check_image(bytes).expect("it could be read");
                assert!(again.is_sound(), "{again}");
            }
        }
        Err(error) => {
            let _ = error.to_string();
        }
    }
}

/// Opened, walked from both ends, written to.
pub fn open_and_scan(bytes: &[u8]) {
    in_scratch(|path| {
        std::fs::write(path.join("data.mdb"), bytes).expect("write the data file");
        let Ok(environment) = options().open(path) else {
            return;
        };
        let _ = scan(&environment);
        let _ = write_some(&environment);
        let _ = scan(&environment);
    });
}

fn options() -> fulgurite::OpenOptions {
    Environment::options()
        .durability(Durability::NoSync)
        .map_size(1 << 20)
}

fn write_some(environment: &Environment) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = txn.open_database(None)?;
    for i in 0..40_u64 {
        txn.put(db, &i.to_le_bytes(), &vec![1; i as usize * 97])?;
    }
    txn.commit()?;
    let mut txn = environment.write()?;
    txn.clear_database(db)?;
    txn.commit()
}

fn scan(environment: &Environment) -> Result<(), Error> {
    let snapshot = environment.read()?;
    let main = snapshot.open_database(None)?;
    let mut names = Vec::new();
    let mut cursor = snapshot.cursor(main)?;
    let mut record = cursor.first()?;
    for _ in 0..RECORDS_MAX {
        let Some((key, _)) = record else { break };
        if let Ok(name) = std::str::from_utf8(key)
            && names.len() < DATABASES_MAX
        {
            names.push(name.to_owned());
        }
        record = cursor.next()?;
    }
    for name in names {
        let Ok(db) = snapshot.open_database(Some(&name)) else {
            continue;
        };
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

/// Written to as the first octets say; a sound file stays sound.
pub fn open_write(bytes: &[u8]) {
    let mut input = Bytes(bytes);
    let changes = input.take(48);
    in_scratch(|path| {
        let data = path.join("data.mdb");
        std::fs::write(&data, input.0).expect("write the data file");
        let was_sound = check_file(&data).is_ok_and(|report| report.is_sound());
        let mut txnids = Vec::new();
        for part in changes.chunks(16) {
            // The map is writable in one round of three.
            let write_map = txnids.len() == 1;
            let Ok(environment) = options().write_map(write_map).open(path) else {
                return;
            };
            let changed = change(&environment, part);
            if was_sound && !is_excused(&changed) {
                changed.expect("a sound file can be written to");
            }
            txnids.push(environment.info().map(|info| info.last_txnid));
            drop(environment);
            if was_sound {
                let report = check_file(&data).expect("a file of our own");
                assert!(report.is_sound(), "{report}");
            }
        }
    });
}

/// The checker does not know of these, and says nothing against them.
fn is_excused(result: &Result<(), Error>) -> bool {
    matches!(
        result,
        Err(Error::MapFull { .. } | Error::TxnidsExhausted | Error::WrongKind(_))
    )
}

fn change(environment: &Environment, steps: &[u8]) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = Database::MAIN;
    for step in steps.chunks(2) {
        let [what, octet] = [step[0], step.get(1).copied().unwrap_or(0)];
        let key = vec![octet; 8 + usize::from(octet) % 32];
        // Records of the main database may be named databases, which must not be overwritten.
        match what % 4 {
            0 | 1 => {
                txn.put(db, &key, &vec![what; usize::from(what) * 40])?;
            }
            2 => {
                txn.delete(db, &key)?;
            }
            _ => {
                let name = format!("made-{}", octet % 4);
                let made = txn.create_database(&name, fulgurite::KeyOrder::Lexical)?;
                txn.put(made, &key, &vec![octet; usize::from(octet) * 20])?;
            }
        }
    }
    txn.commit()
}
