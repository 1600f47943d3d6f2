//! Every sound file of the real library: listed exactly, and written to.

use std::path::Path;

use fulgurite::{Environment, Error, Move, Snapshot};
use fulgurite_testkit::{DatabaseLines, Fixture, Listing, Scratch, list_word, sound_fixtures};

use crate::common::{assert_same, assert_sound, list, list_backwards, open};
use crate::real_tools;

#[test]
fn every_fixture_lists_as_the_real_library_does() {
    let scratch = Scratch::new("fixtures");
    for fixture in sound_fixtures() {
        let dir = fixture.copy_to(&scratch);
        assert_lists(&fixture, &dir);
    }
}

/// Fails unless the environment holds what the fixture does.
pub(crate) fn assert_lists(fixture: &Fixture, dir: &Path) {
    let environment = Environment::options()
        .read_only(true)
        .open(dir)
        .unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
    let snapshot = environment
        .read()
        .unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
    let databases = fixture.databases();
    let names = names(&snapshot, &databases);
    for expected in &databases {
        let name = expected.name.as_ref().map(|word| names[word].as_str());
        let context = format!("{}, database {}", fixture.name, name.unwrap_or("main"));
        compare(&snapshot, name, expected, &context);
    }
}

/// One database with the lines of its dump.
fn compare(snapshot: &impl Snapshot, name: Option<&str>, expected: &DatabaseLines, context: &str) {
    let db = match snapshot.open_database(name) {
        Ok(db) => db,
        Err(error) => panic!("{context}: {error}"),
    };
    let read = |lines: Result<Listing, Error>| {
        let lines = lines.unwrap_or_else(|e| panic!("{context}: {e}"));
        name_records(lines, &expected.lines)
    };
    assert_same(&read(list(snapshot, db)), &expected.lines, context);
    assert_same(
        &read(list_backwards(snapshot, db)),
        &expected.lines,
        context,
    );
    let stat = snapshot
        .stat(db)
        .unwrap_or_else(|e| panic!("{context}: {e}"));
    assert_eq!(stat.entries, expected.entries, "{context}");
    every_key_is_found(snapshot, db, context);
}

fn every_key_is_found(snapshot: &impl Snapshot, db: fulgurite::Database, context: &str) {
    let mut walk = snapshot.cursor(db).expect("a cursor");
    let mut seek = snapshot.cursor(db).expect("a cursor");
    let mut record = walk.first().expect("the first record");
    while let Some((key, value)) = record {
        assert_eq!(
            snapshot.get(db, key).expect("get"),
            Some(value),
            "{context}: key {}",
            list_word(key)
        );
        assert_eq!(
            seek.seek(key).expect("seek"),
            Some((key, value)),
            "{context}: key {}",
            list_word(key)
        );
        assert_eq!(
            seek.seek_range(key).expect("seek_range"),
            Some((key, value)),
            "{context}: key {}",
            list_word(key)
        );
        record = walk.go(Move::NextKey).expect("the next key");
    }
}

/// A dump writes the record of a named database as `!subdb`; we list its bytes.
fn name_records(lines: Listing, expected: &Listing) -> Listing {
    let mut lines = lines;
    for (line, wanted) in lines.iter_mut().zip(expected) {
        if let Some(key) = wanted.strip_suffix(" !subdb")
            && line.starts_with(&format!("{key} @48:"))
        {
            line.clone_from(wanted);
        }
    }
    lines
}

/// The names behind the words of a dump, which abbreviates long ones.
fn names(
    snapshot: &impl Snapshot,
    databases: &[DatabaseLines],
) -> std::collections::HashMap<String, String> {
    let mut names = std::collections::HashMap::new();
    if databases.iter().all(|db| db.name.is_none()) {
        return names;
    }
    let main = snapshot
        .open_database(None)
        .expect("a main database with named ones has no duplicates");
    let mut cursor = snapshot.cursor(main).expect("a cursor");
    let mut record = cursor.first().expect("the first record");
    while let Some((key, _)) = record {
        names.insert(list_word(key), String::from_utf8_lossy(key).into_owned());
        record = cursor.next().expect("the next record");
    }
    names
}

#[test]
fn every_fixture_can_be_written_to() {
    let scratch = Scratch::new("fixtures-written");
    for fixture in sound_fixtures() {
        let main = &fixture.databases()[0];
        if main.has_duplicates() {
            continue;
        }
        write_to(&fixture, main, &scratch);
    }
}

fn write_to(fixture: &Fixture, main: &DatabaseLines, scratch: &Scratch) {
    let dir = fixture.copy_to(scratch);
    let context = &fixture.name;
    // Integer keys have one size in a database.
    let key: &[u8] = match main.lines.first().map(String::as_str) {
        Some(line) if main.flags & 0x08 != 0 && line.find(' ') == Some(8) => &[0xff; 4],
        Some(_) if main.flags & 0x08 != 0 => &[0xff; 8],
        _ => b"\xff\xffnew",
    };
    let value = vec![0x5a; 9000];
    {
        let environment = open(&dir);
        let mut txn = environment
            .write()
            .unwrap_or_else(|e| panic!("{context}: {e}"));
        let db = txn
            .open_database(None)
            .unwrap_or_else(|e| panic!("{context}: {e}"));
        txn.put(db, key, &value)
            .unwrap_or_else(|e| panic!("{context}: {e}"));
        txn.commit().unwrap_or_else(|e| panic!("{context}: {e}"));
    }
    assert_sound(&dir, context);
    let mut expected = main.lines.clone();
    expected.retain(|line| !line.ends_with(" !subdb"));
    expected.push(fulgurite_testkit::list_line(key, Some(&value)));
    let mut dumped = real_tools::dump(&dir, None);
    let records: Vec<&str> = main
        .lines
        .iter()
        .filter_map(|line| line.strip_suffix(" !subdb"))
        .collect();
    dumped.retain(|line| {
        !records
            .iter()
            .any(|key| line.starts_with(&format!("{key} @48:")))
    });
    expected.sort();
    dumped.sort();
    assert_same(&dumped, &expected, context);
    real_tools::accept(&dir);
}
