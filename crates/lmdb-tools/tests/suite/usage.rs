//! Wrong options, paths without an environment, files of another kind.

use std::fs;

use fulgurite_testkit::{Ended, Scratch, fixture};

use crate::tools::{Side, compare, directory, run, shown};

#[test]
fn wrong_options_get_the_same_message() {
    let scratch = Scratch::new("usage");
    let dir = fixture("named").copy_to(&scratch);
    for tool in ["mdb_stat", "mdb_dump", "mdb_load"] {
        for words in [
            "",
            "-V",
            "-V -x",
            "-x -V",
            "-x .",
            "--help",
            "-n",
            "-s",
            ". .",
            "-- . .",
            "-s dups . .",
            "-V .",
            "-nV",
        ] {
            compare(tool, &words.split_whitespace().collect::<Vec<_>>(), &dir);
        }
    }
    for words in [
        "-a -s dups .",
        "-s dups -a .",
        "-as dups .",
        "-a -V -s dups .",
        "-sdups",
        "-",
    ] {
        for tool in ["mdb_stat", "mdb_dump"] {
            compare(tool, &words.split_whitespace().collect::<Vec<_>>(), &dir);
        }
    }
    for words in [
        "-l -s dups .",
        "-s dups -l .",
        "-f",
        "-f missing/file .",
        "-f missing/file -x",
    ] {
        compare(
            "mdb_dump",
            &words.split_whitespace().collect::<Vec<_>>(),
            &dir,
        );
    }
    for words in ["-f", "-f missing .", "-f missing -x", "-T -f missing ."] {
        compare(
            "mdb_load",
            &words.split_whitespace().collect::<Vec<_>>(),
            &dir,
        );
    }
    for words in [
        "", "-V", "-c -V", "-x .", "--help", "-c", "-cn .", "-nc .", ". a b", "-c . a b", "-q",
        "-- .", "-n .",
    ] {
        compare(
            "mdb_copy",
            &words.split_whitespace().collect::<Vec<_>>(),
            &dir,
        );
    }
}

#[test]
fn options_come_anywhere_except_for_copying() {
    let scratch = Scratch::new("anywhere");
    let dir = fixture("named").copy_to(&scratch);
    for (tool, words) in [
        ("mdb_stat", ". -e"),
        ("mdb_stat", "-e . -s dups -f"),
        ("mdb_stat", "-- ."),
        ("mdb_stat", "-sdups ."),
        ("mdb_stat", "-fsdups ."),
        ("mdb_dump", ". -a"),
        ("mdb_dump", "-s dups -- ."),
        ("mdb_copy", ". -c"),
    ] {
        compare(tool, &words.split_whitespace().collect::<Vec<_>>(), &dir);
    }
    compare("mdb_dump", &["-s", "", "."], &dir);
    compare("mdb_stat", &["-s", &"x".repeat(600), "."], &dir);
}

#[test]
fn unopenable_environments_are_reported_alike() {
    let scratch = Scratch::new("unopened");
    let top = scratch.path();
    let _ = fixture("named").copy_to(&scratch);
    let _ = directory(&scratch, "empty");
    fs::write(
        directory(&scratch, "text").join("data.mdb"),
        "not a database\n",
    )
    .expect("write");
    fs::write(
        directory(&scratch, "version").join("data.mdb"),
        other_version(),
    )
    .expect("write");
    for path in [
        "missing",
        "empty",
        "text",
        "named/data.mdb",
        "version",
        "missing/deeper",
    ] {
        for tool in ["mdb_stat", "mdb_dump", "mdb_copy"] {
            compare(tool, &[path], top);
        }
    }
    for path in [
        "missing",
        "text",
        "named/data.mdb",
        "version",
        "missing/deeper",
    ] {
        compare("mdb_load", &[path], top);
    }
    for path in ["named", "missing", "text/data.mdb", "version/data.mdb"] {
        for tool in ["mdb_stat", "mdb_dump", "mdb_copy"] {
            compare(tool, &["-n", path], top);
        }
    }
}

/// A file of another version of the format.
fn other_version() -> Vec<u8> {
    let mut bytes = fs::read(fixture("small-lexical").data()).expect("read");
    for meta in [0, 4096] {
        bytes[meta + 20] = 2;
    }
    bytes
}

#[test]
fn unwritable_copies_are_reported_alike() {
    let scratch = Scratch::new("uncopied");
    let dir = fixture("named").copy_to(&scratch);
    directory(&scratch, "named/full");
    fs::write(dir.join("full/data.mdb"), "here already").expect("write");
    fs::write(dir.join("file"), "").expect("write");
    for options in ["", "-c "] {
        for paths in [
            ". missing",
            ". full",
            ". file",
            "-n data.mdb file",
            "-n data.mdb missing/file",
        ] {
            let line = format!("{options}{paths}");
            compare(
                "mdb_copy",
                &line.split_whitespace().collect::<Vec<_>>(),
                &dir,
            );
        }
    }
    assert_eq!(
        fs::read(dir.join("full/data.mdb")).expect("read"),
        b"here already"
    );
}

#[test]
fn a_full_disk_is_reported() {
    let scratch = Scratch::new("full");
    let dir = fixture("random-10k").copy_to(&scratch);
    for (tool, redirected, said) in [
        (
            "mdb_copy",
            "mdb_copy",
            "mdb_copy: copying failed, error 28 (No space left on device)\n",
        ),
        (
            "mdb_copy",
            "mdb_copy -c",
            "mdb_copy: copying failed, error 28 (No space left on device)\n",
        ),
        (
            "mdb_dump",
            "mdb_dump",
            "mdb_dump: .: No space left on device\n",
        ),
        (
            "mdb_stat",
            "mdb_stat -e",
            "mdb_stat: No space left on device\n",
        ),
    ] {
        let program = crate::tools::ours(tool);
        let script =
            format!("{tool}() {{ exec -a {tool} {program} \"$@\"; }}; {redirected} . > /dev/full");
        let outcome = fulgurite_testkit::run_bounded(
            std::process::Command::new("bash")
                .args(["-c", &script])
                .current_dir(&dir),
            std::time::Duration::from_secs(20),
        );
        assert_eq!(
            (outcome.ended, outcome.stderr.as_str()),
            (Ended::Exit(1), said)
        );
    }
}

#[test]
fn dropping_has_a_usage_too() {
    let scratch = Scratch::new("drop-usage");
    let dir = fixture("named").copy_to(&scratch);
    let usage = "usage: mdb_drop [-V] [-n] [-L] [-d] [-s subdb] dbpath\n";
    for words in [&[][..], &["-d"], &[".", "."], &["-s"]] {
        let outcome = run(Side::Ours, "mdb_drop", words, &dir, b"");
        assert_eq!(outcome.ended, Ended::Exit(1));
        assert!(
            outcome.stderr.ends_with(usage.as_bytes()),
            "{}",
            shown(&outcome)
        );
    }
    let outcome = run(Side::Ours, "mdb_drop", &["-V"], &dir, b"");
    assert_eq!(outcome.ended, Ended::Exit(0));
    assert!(outcome.stdout.starts_with(b"LMDB 0.9.36: ("));
}
