//! The checker finds nothing in files that the original's tools made: every kind of database, plain
//! and compact copies.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use fulgurite_testkit::{Random, Scratch, hex, require_tool, seed};

use crate::maintain::check::check_file;

/// The words that `mdb_load` knows for the flags of a database, and the sizes of keys and values.
const KINDS: [(&str, usize, usize); 9] = [
    ("", 0, 0),
    ("reversekey=1\n", 0, 0),
    ("integerkey=1\n", 8, 0),
    ("dupsort=1\n", 0, 0),
    ("dupsort=1\nreversedup=1\n", 0, 0),
    ("dupsort=1\ndupfixed=1\n", 0, 5),
    ("dupsort=1\ndupfixed=1\nintegerdup=1\n", 0, 8),
    ("integerkey=1\ndupsort=1\ndupfixed=1\nintegerdup=1\n", 8, 8),
    ("reversekey=1\ndupsort=1\ndupfixed=1\nreversedup=1\n", 0, 20),
];

#[test]
fn accepts_what_the_original_has_just_made() {
    require_tool("mdb_load", "-V", "lmdb-utils");
    let mut random = Random::new(seed("check-real", 1));
    for (kind, key_bytes, value_bytes) in KINDS {
        let scratch = Scratch::new("check-real");
        for (name, records) in [(None, 900), (Some("a"), 700), (Some("b"), 20)] {
            // Named databases need a main one with plain keys.
            let (kind, key_bytes, value_bytes) = match name {
                None => ("", 0, 0),
                Some(_) => (kind, key_bytes, value_bytes),
            };
            let dump = dump(&mut random, kind, key_bytes, value_bytes, records);
            load(scratch.path(), name, &dump);
        }
        let main_only = scratch.join("main");
        std::fs::create_dir_all(&main_only).expect("make a directory");
        load(
            &main_only,
            None,
            &dump(&mut random, kind, key_bytes, value_bytes, 900),
        );
        for dir in [scratch.path(), &main_only] {
            assert_sound(dir, kind);
            for flag in ["-n", "-c"] {
                let copy = scratch.join(&format!("copy{flag}"));
                let _ = std::fs::remove_dir_all(&copy);
                std::fs::create_dir_all(&copy).expect("make a directory");
                let file = copy.join("data.mdb");
                let to = if flag == "-n" { &file } else { &copy };
                let from = if flag == "-n" {
                    dir.join("data.mdb")
                } else {
                    dir.to_owned()
                };
                let copied = Command::new("mdb_copy")
                    .arg(flag)
                    .arg(from)
                    .arg(to)
                    .status();
                assert!(
                    copied.is_ok_and(|status| status.success()),
                    "mdb_copy {flag}"
                );
                assert_sound(&copy, kind);
            }
        }
    }
}

fn assert_sound(dir: &Path, kind: &str) {
    let report = check_file(&dir.join("data.mdb")).expect("a report");
    assert!(report.is_sound(), "{kind}: {report}");
}

fn dump(
    random: &mut Random,
    kind: &str,
    key_bytes: usize,
    value_bytes: usize,
    records: usize,
) -> String {
    // The size that the tool would take by itself is a mebioctet.
    let mut dump =
        format!("VERSION=3\nformat=bytevalue\ntype=btree\nmapsize=268435456\n{kind}HEADER=END\n");
    let duplicates = kind.contains("dupsort");
    for _ in 0..records {
        let key = match (key_bytes, duplicates) {
            (0, true) => format!("key {}", random.below(12)).into_bytes(),
            (0, false) => {
                let bytes = random.between(2, 40);
                random.bytes(bytes)
            }
            (bytes, _) => (random.below(5000) as u64).to_le_bytes()[..bytes].to_vec(),
        };
        let value = match (value_bytes, duplicates) {
            (0, true) => {
                let bytes = random.between(1, 60);
                random.bytes(bytes)
            }
            (0, false) => {
                let bytes = *random.clone().pick(&[10, 100, 900, 3000, 9000]);
                random.bytes(bytes)
            }
            (bytes, _) => random.bytes(bytes),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(dump, " {}\n {}", hex(&key), hex(&value));
    }
    dump.push_str("DATA=END\n");
    dump
}

fn load(dir: &Path, name: Option<&str>, dump: &str) {
    let mut command = Command::new("mdb_load");
    if let Some(name) = name {
        command.args(["-s", name]);
    }
    let mut child = command
        .arg(dir)
        .stdin(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("start mdb_load");
    let mut input = child.stdin.take().expect("a pipe");
    // It may end before it has read all: at what it finds wrong, which its status tells.
    let _ = std::io::Write::write_all(&mut input, dump.as_bytes());
    drop(input);
    let status = child.wait().expect("wait");
    assert!(status.success(), "mdb_load: {status}");
}
