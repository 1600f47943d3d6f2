//! Emptying and removing databases. The original has no such tool in 0.9, so its other tools read
//! the result.

use fulgurite_testkit::{Ended, Scratch, fixture};

use crate::tools::{Side, output, run, shown};

fn lists(side: Side, dir: &std::path::Path) -> String {
    String::from_utf8(output(side, "mdb_dump", &["-l", "."], dir, b"")).expect("names")
}

#[test]
fn a_database_is_emptied_or_removed() {
    let scratch = Scratch::new("drop");
    let dir = fixture("named").copy_to(&scratch);
    let before = lists(Side::Theirs, &dir);
    for name in ["dups", "dupfix", "plain"] {
        assert!(output(Side::Ours, "mdb_drop", &["-s", name, "."], &dir, b"").is_empty());
        let status = output(Side::Theirs, "mdb_stat", &["-s", name, "."], &dir, b"");
        assert!(String::from_utf8_lossy(&status).ends_with("Entries: 0\n"));
    }
    assert_eq!(lists(Side::Theirs, &dir), before);
    assert!(
        output(
            Side::Ours,
            "mdb_drop",
            &["-d", "-s", "dups", "."],
            &dir,
            b""
        )
        .is_empty()
    );
    assert_eq!(lists(Side::Theirs, &dir), before.replace("dups\n", ""));
    assert_sound(&dir);

    let missing = run(Side::Ours, "mdb_drop", &["-s", "dups", "."], &dir, b"");
    let said = "mdb_open failed, error -30798 MDB_NOTFOUND: No matching key/data pair found\n";
    assert_eq!(missing.ended, Ended::Exit(1));
    assert_eq!(String::from_utf8_lossy(&missing.stderr), said);
}

#[test]
fn the_main_database_is_emptied_with_all_named_ones() {
    for options in [&["."][..], &["-d", "."], &["-L", "."]] {
        let scratch = Scratch::new("drop-main");
        let dir = fixture("named").copy_to(&scratch);
        assert!(output(Side::Ours, "mdb_drop", options, &dir, b"").is_empty());
        let status = output(Side::Theirs, "mdb_stat", &["-f", "."], &dir, b"");
        let status = String::from_utf8_lossy(&status).into_owned();
        assert!(status.ends_with("Entries: 0\n"), "{status}");
        assert_sound(&dir);
        // Nothing has leaked: all pages except the free list's own are free.
        let report = fulgurite::check::check_file(&dir.join("data.mdb")).expect("check");
        assert!(report.is_sound(), "{report:?}");
    }
}

#[test]
fn an_environment_without_a_directory_is_named_with_n() {
    let scratch = Scratch::new("drop-n");
    let dir = fixture("small-lexical").copy_to(&scratch);
    output(Side::Ours, "mdb_drop", &["-n", "data.mdb"], &dir, b"");
    let status = output(Side::Theirs, "mdb_stat", &["-n", "data.mdb"], &dir, b"");
    assert!(String::from_utf8_lossy(&status).ends_with("Entries: 0\n"));
}

/// Checks that the original's tools can read the whole environment.
fn assert_sound(dir: &std::path::Path) {
    for (tool, options) in [("mdb_stat", "-efffa"), ("mdb_copy", "-c")] {
        let outcome = run(Side::Theirs, tool, &[options, "."], dir, b"");
        assert_eq!(outcome.ended, Ended::Exit(0), "{tool}: {}", shown(&outcome));
    }
}
