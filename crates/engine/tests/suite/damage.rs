//! Damaged files: a clean error or the right data, never a crash, a hang, or silent damage to something else.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use fulgurite::{Database, Environment, Error, KeyOrder, Snapshot};
use fulgurite_testkit::{
    Case, DatabaseLines, Ended, Listing, Outcome, Random, Scratch, base, corrupt_cases, list_line,
    run_bounded,
};

use crate::{child, common};

/// Expectations that leave no way out: at open, reading or writing there must have been an error.
const MUST_FAIL: [&str; 3] = [
    "error",
    "error when writing",
    "error at the latest when writing",
];

const DIR: &str = "FULGURITE_TEST_DIR";

#[test]
fn every_damaged_file_gives_an_error_or_the_right_data() {
    let scratch = Scratch::new("damage");
    let (cases, other_format) = corrupt_cases();
    println!("skipped, of another data format: {other_format:?}");
    let mut wrong = Vec::new();
    for case in &cases {
        let dir = case.copy_to(&scratch);
        let mut command = child::role("damage");
        let outcome = run_bounded(command.env(DIR, &dir), Duration::from_secs(20));
        if let Err(complaint) = judge(case, &dir, &outcome) {
            wrong.push(format!(
                "{} ({}; expected: {}): {complaint}",
                case.name, case.what, case.expected
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

/// What the child found: the outcome of each step by name, and the listings it printed.
struct Story {
    steps: BTreeMap<String, Result<(), String>>,
    before: Option<Listing>,
    after: Option<Listing>,
}

impl Story {
    fn read(stdout: &str) -> Self {
        let mut story = Self {
            steps: BTreeMap::new(),
            before: None,
            after: None,
        };
        for line in stdout.lines() {
            let mut words = line.splitn(3, '\t');
            match (words.next(), words.next(), words.next()) {
                (Some("step"), Some(name), Some("ok")) => {
                    drop(story.steps.insert(name.to_owned(), Ok(())))
                }
                (Some("step"), Some(name), Some(error)) => {
                    story.steps.insert(name.to_owned(), Err(error.to_owned()));
                }
                (Some("before"), Some(line), _) => {
                    story.before.get_or_insert_default().push(line.to_owned())
                }
                (Some("after"), Some(line), _) => {
                    story.after.get_or_insert_default().push(line.to_owned())
                }
                _ => {}
            }
        }
        story
    }

    fn failed(&self, step: &str) -> bool {
        matches!(self.steps.get(step), Some(Err(_)))
    }

    fn any_failed(&self) -> bool {
        self.steps.values().any(Result::is_err)
    }
}

fn judge(case: &Case, dir: &Path, outcome: &Outcome) -> Result<(), String> {
    if outcome.ended != Ended::Exit(0) {
        let last = outcome
            .stdout
            .lines()
            .rev()
            .find(|line| line.starts_with("step"))
            .unwrap_or("nothing done");
        let said: String = outcome
            .stderr
            .lines()
            .take(4)
            .collect::<Vec<_>>()
            .join(" | ");
        return Err(format!("{:?} after {last:?}; {said}", outcome.ended));
    }
    let story = Story::read(&outcome.stdout);
    let said = || format!("{:?}", story.steps);
    match case.expected.as_str() {
        e if e.starts_with("error at open") && !story.failed("open") => {
            return Err(format!("it opened: {}", said()));
        }
        e if e.starts_with("version error") => match story.steps.get("open") {
            Some(Err(error)) if error.to_lowercase().contains("version") => {}
            other => return Err(format!("opening said {other:?}")),
        },
        e if MUST_FAIL.contains(&e) && !story.any_failed() => {
            return Err("no step failed".to_owned());
        }
        _ => {}
    }
    let sound = base(&case.base).databases();
    // Noise may have hit keys and values, which nothing protects.
    if !case.name.starts_with("noise") {
        check_data(&sound, story.before.as_ref(), "before writing")?;
        check_data(&sound, story.after.as_ref(), "after writing")?;
    }
    if case.name == "free-page-meta" && fulgurite::check::check_file(&dir.join("data.mdb")).is_err()
    {
        return Err("a meta page is gone".to_owned());
    }
    let sound_before =
        fulgurite::check::check_file(case.data()).is_ok_and(|report| report.is_sound());
    let sound_after =
        fulgurite::check::check_file(&dir.join("data.mdb")).is_ok_and(|report| report.is_sound());
    if sound_before && !sound_after {
        return Err("the checker accepted the file before writing and does not now".to_owned());
    }
    Ok(())
}

/// Whatever a full scan delivered must be records of the sound file, apart from those the writes made.
fn check_data(sound: &[DatabaseLines], lines: Option<&Listing>, when: &str) -> Result<(), String> {
    let Some(lines) = lines else { return Ok(()) };
    let main = &sound[0].lines;
    let known = |line: &&String| {
        main.contains(line)
            || line.starts_with("7e7e") // the keys we wrote
            || sound.iter().filter_map(|db| db.name.as_ref()).any(|name| line.starts_with(&format!("{name} ")))
    };
    match lines.iter().find(|line| !known(line)) {
        Some(line) => Err(format!("{when} it lists {line}, which was never there")),
        None => Ok(()),
    }
}

/// Opens, scans, and tries six write transactions, telling how each went.
pub(crate) fn child() {
    let dir = child::parameter(DIR);
    let environment = match common_open(Path::new(&dir)) {
        Ok(environment) => environment,
        Err(error) => return tell("open", Err(error)),
    };
    tell("open", Ok(()));
    let mut random = Random::new(1);
    tell(
        "scan",
        examine(&environment, &mut random, &mut |line| {
            println!("before\t{line}")
        }),
    );
    for (number, write) in WRITES.iter().enumerate() {
        tell(
            &format!("write {number}"),
            write(&environment, &mut random).map_err(|e| format!("{e:?}: {e}")),
        );
        if number == LAST_BEFORE_CLEARING {
            tell(
                "scan again",
                examine(&environment, &mut random, &mut |line| {
                    println!("after\t{line}")
                }),
            );
        }
    }
}

fn tell(step: &str, outcome: Result<(), String>) {
    match outcome {
        Ok(()) => println!("step\t{step}\tok"),
        Err(error) => println!("step\t{step}\t{}", error.replace(['\n', '\t'], " ")),
    }
}

/// Opens without waiting for the disk.
pub(crate) fn common_open(dir: &Path) -> Result<Environment, String> {
    let options = Environment::options().durability(fulgurite::Durability::NoSync);
    options.open(dir).map_err(|e| format!("{e:?}: {e}"))
}

/// Reads everything: all databases in both directions and some look-ups. Lists the main database if it came through.
pub(crate) fn examine(
    environment: &Environment,
    random: &mut Random,
    line: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let snapshot = environment.read().map_err(|e| format!("{e:?}: {e}"))?;
    let mut first_error = Ok(());
    let mut note = |outcome: Result<Listing, Error>| match outcome {
        Ok(lines) => lines,
        Err(error) => {
            if first_error.is_ok() {
                first_error = Err(format!("{error:?}: {error}"));
            }
            Listing::new()
        }
    };
    let mut names = Vec::new();
    if let Some(main) = snapshot.open_database(None).map_or_else(
        |e| {
            note(Err(e));
            None
        },
        Some,
    ) {
        let lines = note(common::list(&snapshot, main));
        lines.iter().for_each(|text| line(text));
        note(common::list_backwards(&snapshot, main));
        note(look_up(&snapshot, main, random));
        names = record_names(&snapshot, main);
    }
    for name in names {
        match snapshot.open_database(Some(&name)) {
            // An ordinary record is no database, and not damaged for it.
            Err(Error::WrongKind(_) | Error::NoDatabase(_)) => {}
            Err(error) => drop(note(Err(error))),
            Ok(db) => {
                note(common::list(&snapshot, db));
                note(common::list_backwards(&snapshot, db));
                note(look_up(&snapshot, db, random));
            }
        }
    }
    first_error
}

/// The keys of the records that look like named databases.
fn record_names(snapshot: &impl Snapshot, main: Database) -> Vec<String> {
    let mut names = Vec::new();
    let Ok(mut cursor) = snapshot.cursor(main) else {
        return names;
    };
    let mut record = cursor.first();
    while let Ok(Some((key, value))) = record {
        // Anything may be called a database by a damaged record; ordinary records say that they are none.
        if value.len() <= 48
            && names.len() < 100
            && let Ok(name) = std::str::from_utf8(key)
        {
            names.push(name.to_owned());
        }
        record = cursor.next();
    }
    names
}

fn look_up(snapshot: &impl Snapshot, db: Database, random: &mut Random) -> Result<Listing, Error> {
    let mut cursor = snapshot.cursor(db)?;
    for _ in 0..40 {
        let size = random.between(1, 12);
        let key = random.bytes(size);
        for key in [&key[..], b"key", b"row-000000010"] {
            match snapshot.get(db, key) {
                Ok(_) | Err(Error::KeyLength { .. } | Error::IntegerKey { .. }) => {}
                Err(error) => return Err(error),
            }
            match cursor.seek_range(key) {
                Ok(_) | Err(Error::KeyLength { .. } | Error::IntegerKey { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(Listing::new())
}

type Write = fn(&Environment, &mut Random) -> Result<(), Error>;

/// The last write before the two that empty databases.
const LAST_BEFORE_CLEARING: usize = 3;

/// Six write transactions of different reach.
pub(crate) const WRITES: [Write; 6] = [
    put_one,
    overwrite_some,
    delete_some,
    put_many,
    clear_main,
    make_and_drop,
];

fn put_one(environment: &Environment, _: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = txn.open_database(None)?;
    txn.put(db, b"~~one", b"value")?;
    txn.commit()
}

/// The records the writes may choose from.
fn some_keys(
    txn: &impl Snapshot,
    db: Database,
    random: &mut Random,
    count: usize,
) -> Result<Vec<Vec<u8>>, Error> {
    let mut keys = Vec::new();
    let mut cursor = txn.cursor(db)?;
    let mut record = cursor.first()?;
    while let Some((key, value)) = record {
        // Records of 48 bytes may be databases, which a plain write must not touch.
        if value.len() != 48 {
            keys.push(key.to_vec());
        }
        record = cursor.next()?;
    }
    Ok((0..count.min(keys.len()))
        .map(|_| random.pick(&keys).clone())
        .collect())
}

fn overwrite_some(environment: &Environment, random: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = txn.open_database(None)?;
    for key in some_keys(&txn, db, random, 6)? {
        if let Some(value) = txn.get(db, &key)?.map(<[u8]>::to_vec) {
            txn.put(db, &key, &value)?;
        }
    }
    txn.commit()
}

fn delete_some(environment: &Environment, random: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = txn.open_database(None)?;
    for key in some_keys(&txn, db, random, 8)? {
        txn.delete(db, &key)?;
    }
    txn.commit()
}

fn put_many(environment: &Environment, _: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = txn.open_database(None)?;
    for i in 0..120_usize {
        let value = vec![0x61; if i % 17 == 0 { 10_000 } else { 20 + i }];
        txn.put(db, format!("~~many{i:04}").as_bytes(), &value)?;
    }
    txn.commit()
}

fn clear_main(environment: &Environment, _: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = txn.open_database(None)?;
    txn.clear_database(db)?;
    txn.commit()
}

fn make_and_drop(environment: &Environment, _: &mut Random) -> Result<(), Error> {
    let mut txn = environment.write()?;
    let db = txn.create_database("~~made", KeyOrder::Integer)?;
    for i in 0..300_u64 {
        txn.put(db, &i.to_le_bytes(), &[7; 100])?;
    }
    txn.drop_database(db)?;
    txn.commit()
}

#[test]
fn the_judge_notices_foreign_records() {
    let sound = base("base-tree").databases();
    let foreign = vec![list_line(b"never", Some(b"there"))];
    assert!(check_data(&sound, Some(&foreign), "now").is_err());
    assert!(check_data(&sound, Some(&sound[0].lines), "now").is_ok());
}
