//! Damaged files give a clean error or the right data. There is no crash, no hang, and no silent
//! damage elsewhere.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::Duration;

use fulgurite::Environment;
use fulgurite_testkit::{
    Case, DatabaseLines, Ended, Outcome, Random, Scratch, base, corrupt_cases, hex, list_line,
    list_word, run_bounded,
};

use crate::child;
use crate::damage_steps::{LAST_BEFORE_CLEARING, LAST_IN_MAIN, MARK, WRITES, examine};

/// Expectations that leave no way out: at open, reading or writing there must have been an error.
const MUST_FAIL: [&str; 3] = [
    "error",
    "error when writing",
    "error at the latest when writing",
];

const DIR: &str = "FULGURITE_TEST_DIR";

const BEFORE: &str = "before writing";
const AFTER_MAIN: &str = "after writing to the main database";
const AFTER_VALUES: &str = "after changing duplicates";

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

/// The child's report: the outcome of each step by name, and the records of its scans.
#[derive(Default)]
struct Story {
    steps: BTreeMap<String, Result<(), String>>,
    before: Listed,
    after_main: Listed,
    after_values: Listed,
}

/// The records listed, by the name of their database; that of the main one is empty.
type Listed = BTreeMap<String, Vec<String>>;

impl Story {
    fn read(stdout: &str) -> Self {
        let mut story = Self::default();
        for line in stdout.lines() {
            let Some((word, rest)) = line.split_once('\t') else {
                continue;
            };
            let (name, rest) = rest.split_once('\t').unwrap_or((rest, ""));
            let listed = match word {
                "step" => {
                    let outcome = if rest == "ok" {
                        Ok(())
                    } else {
                        Err(rest.to_owned())
                    };
                    story.steps.insert(name.to_owned(), outcome);
                    continue;
                }
                BEFORE => &mut story.before,
                AFTER_MAIN => &mut story.after_main,
                AFTER_VALUES => &mut story.after_values,
                _ => continue,
            };
            listed
                .entry(name.to_owned())
                .or_default()
                .push(rest.to_owned());
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
        check_data(&sound, &story.before, BEFORE)?;
        check_data(&sound, &story.after_main, AFTER_MAIN)?;
        // If a free list names pages in use, writes may overwrite them.
        if case.name != "free-page-in-use" {
            check_data(&sound, &story.after_values, AFTER_VALUES)?;
        }
    }
    let meta_is_gone = |report: fulgurite::check::Report| {
        let mut findings = report.findings.into_iter();
        findings.any(|finding| matches!(finding.fault, fulgurite::check::Fault::Meta(_)))
    };
    if case.name == "free-page-meta"
        && fulgurite::check::check_file(&dir.join("data.mdb")).map_or(true, meta_is_gone)
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

/// Every record of a full scan must be one of the sound file, or one that the writes made.
fn check_data(sound: &[DatabaseLines], listed: &Listed, when: &str) -> Result<(), String> {
    let mark = hex(MARK);
    let ours = |line: &str| line.split(' ').any(|word| word.starts_with(&mark));
    for (name, lines) in listed {
        let word = (!name.is_empty()).then(|| list_word(name.as_bytes()));
        let known: HashSet<&str> = sound
            .iter()
            .filter(|db| db.name == word)
            .flat_map(|db| db.lines.iter().map(String::as_str))
            .collect();
        // The record of a named database, which a dump writes as `!subdb`.
        let record = |line: &str| {
            word.is_none()
                && line
                    .split(' ')
                    .next()
                    .is_some_and(|key| known.contains(format!("{key} !subdb").as_str()))
        };
        let mut strange = lines
            .iter()
            .filter(|line| !known.contains(line.as_str()) && !ours(line) && !record(line));
        if let Some(line) = strange.next() {
            return Err(format!(
                "{when} '{name}' lists {line}, which was never there"
            ));
        }
    }
    Ok(())
}

/// Opens, scans, and tries the write transactions, telling how each went.
pub(crate) fn child() {
    let dir = child::parameter(DIR);
    let environment = match common_open(Path::new(&dir)) {
        Ok(environment) => environment,
        Err(error) => return tell("open", Err(error)),
    };
    tell("open", Ok(()));
    let mut random = Random::new(1);
    scan(&environment, &mut random, BEFORE);
    for (number, write) in WRITES.iter().enumerate() {
        tell(
            &format!("write {number}"),
            write(&environment, &mut random).map_err(|e| format!("{e:?}: {e}")),
        );
        match number {
            LAST_IN_MAIN => scan(&environment, &mut random, AFTER_MAIN),
            LAST_BEFORE_CLEARING => scan(&environment, &mut random, AFTER_VALUES),
            _ => {}
        }
    }
}

fn scan(environment: &Environment, random: &mut Random, when: &str) {
    let outcome = examine(environment, random, &mut |name, line| {
        println!("{when}\t{name}\t{line}");
    });
    tell(&format!("scan {when}"), outcome);
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

#[test]
fn the_comparison_notices_foreign_records() {
    let sound = base("base-dups").databases();
    let listed = |name: &str, lines: Vec<String>| Listed::from([(name.to_owned(), lines)]);
    let foreign = list_line(b"never", Some(b"there"));
    for name in ["", "d", "f"] {
        assert!(check_data(&sound, &listed(name, vec![foreign.clone()]), "now").is_err());
    }
    assert!(check_data(&sound, &listed("d", sound[1].lines.clone()), "now").is_ok());
    assert!(check_data(&sound, &listed("f", sound[1].lines.clone()), "now").is_err());
}
