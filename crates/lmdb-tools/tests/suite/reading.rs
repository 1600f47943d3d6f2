//! The tools that only read, on every sound file of the real library.

use std::fs;

use fulgurite_testkit::{Fixture, Scratch, corrupt_cases, sound_fixtures};

use crate::tools::{Side, compare, directory, output, run};

/// Returns names of databases: two that some of the files have, and one that none has.
fn names(fixture: &Fixture) -> &'static [&'static str] {
    let has_names = fixture
        .databases()
        .iter()
        .any(|database| database.name.is_some());
    if has_names {
        &["dups", "plain", "no such database"]
    } else {
        &["dups"]
    }
}

#[test]
fn every_file_has_the_same_status() {
    let scratch = Scratch::new("stat");
    for fixture in sound_fixtures() {
        let dir = fixture.copy_to(&scratch);
        for options in ["-e", "-r", "-f", "-ff", "-fff", "-a", "-rrefffa"] {
            compare("mdb_stat", &[options, "."], &dir);
        }
        compare("mdb_stat", &["."], &dir);
        for name in names(&fixture) {
            compare("mdb_stat", &["-s", name, "."], &dir);
            compare("mdb_stat", &["-ef", ".", "-r", "-s", name], &dir);
        }
    }
}

#[test]
fn every_file_has_the_same_dump() {
    let scratch = Scratch::new("dump");
    for fixture in sound_fixtures() {
        let dir = fixture.copy_to(&scratch);
        for options in ["-p", "-a", "-ap", "-l"] {
            compare("mdb_dump", &[options, "."], &dir);
        }
        compare("mdb_dump", &["."], &dir);
        for name in names(&fixture) {
            compare("mdb_dump", &["-s", name, "."], &dir);
            compare("mdb_dump", &["-p", "-s", name, "."], &dir);
        }
    }
}

#[test]
fn every_file_has_the_same_copy() {
    let scratch = Scratch::new("copy");
    for fixture in sound_fixtures() {
        let dir = fixture.copy_to(&scratch);
        for options in [&["."][..], &["-c", "."]] {
            compare("mdb_copy", options, &dir);
            let [theirs, ours] = [Side::Theirs, Side::Ours].map(|side| {
                let to = directory(
                    &scratch,
                    format!("{}-{side:?}-{}", fixture.name, options.len()),
                );
                let to = to.to_str().expect("a path of text").to_owned();
                let words = [options, &[&to]].concat();
                assert!(output(side, "mdb_copy", &words, &dir, b"").is_empty());
                fs::read(format!("{to}/data.mdb")).expect("read the copy")
            });
            assert!(ours == theirs, "{} {options:?}", fixture.name);
        }
    }
}

#[test]
fn a_file_without_a_directory_is_read_with_n() {
    let scratch = Scratch::new("nosubdir");
    for fixture in sound_fixtures()
        .into_iter()
        .filter(|fixture| fixture.name.starts_with("no"))
    {
        let dir = fixture.copy_to(&scratch);
        for (tool, options) in [
            ("mdb_stat", "-nefa"),
            ("mdb_dump", "-n"),
            ("mdb_dump", "-nl"),
            ("mdb_copy", "-n"),
        ] {
            compare(tool, &[options, "data.mdb"], &dir);
        }
        let copied = [Side::Theirs, Side::Ours].map(|side| {
            let to = format!("copy-{side:?}");
            output(side, "mdb_copy", &["-n", "-c", "data.mdb", &to], &dir, b"");
            fs::read(dir.join(&to)).expect("read the copy")
        });
        assert!(copied[0] == copied[1]);
    }
}

#[test]
fn a_dump_can_go_to_a_file() {
    let scratch = Scratch::new("dump-file");
    let dir = fulgurite_testkit::fixture("named").copy_to(&scratch);
    let written = [Side::Theirs, Side::Ours].map(|side| {
        let file = format!("{side:?}.dump");
        assert!(output(side, "mdb_dump", &["-a", "-f", &file, "."], &dir, b"").is_empty());
        fs::read(dir.join(file)).expect("read the dump")
    });
    assert!(written[0] == written[1] && written[0].len() > 10_000);
}

/// Our tool alone: many of these files crash the original.
#[test]
fn damaged_files_are_reported_as_damaged() {
    let scratch = Scratch::new("damaged");
    let (cases, _) = corrupt_cases();
    for case in cases {
        let dir = case.copy_to(&scratch);
        for (tool, words) in [
            ("mdb_stat", &["-efffa", "."][..]),
            ("mdb_dump", &["."]),
            ("mdb_dump", &["-a", "."]),
            ("mdb_copy", &["-c", "."]),
        ] {
            let outcome = run(Side::Ours, tool, words, &dir, b"");
            let said = String::from_utf8_lossy(&outcome.stderr);
            let context = format!(
                "{}: {tool} {words:?}: {:?}, {said}",
                case.name, outcome.ended
            );
            match outcome.ended {
                fulgurite_testkit::Ended::Exit(0) => assert!(said.is_empty(), "{context}"),
                fulgurite_testkit::Ended::Exit(1) => {
                    assert!(
                        said.lines().count() == 1 && !said.contains("panicked"),
                        "{context}"
                    );
                }
                _ => panic!("{context}"),
            }
        }
    }
}
