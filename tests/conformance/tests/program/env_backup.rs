//! `fulgurite env copy`, `backup`, `restore` and `compact`: what they say, and what they leave
//! behind.

use std::path::Path;
use std::process::Output;

use fulgurite_conformance::{path, run};
use fulgurite_testkit::{Scratch, c_peer};

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn refused(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn len(dir: &Path) -> u64 {
    dir.join("data.mdb").metadata().expect("a data file").len()
}

#[test]
fn an_environment_is_copied_backed_up_restored_and_compacted_beside_its_writer() {
    let scratch = Scratch::new("env-tools");
    let at = |name: &str| scratch.join(name);
    let (env, backups) = (at("env"), at("backups"));
    std::fs::create_dir_all(&env).expect("a directory");
    let mut writer = c_peer();
    writer.must(&format!("open {} nosync mapsize=100000000", env.display()));
    writer.must("write");
    writer.must("create d lexical");
    writer.must("fill d 0 20000 200 1");
    writer.must("commit");
    let save = || run(&["env", "backup", path(&env), "--to", path(&backups)]);
    assert!(said(&save()).contains("full-1.fgb: transaction 1, full"));
    assert!(said(&save()).contains("no changes since the backup of transaction 1"));
    writer.must("write");
    writer.must("fill d 100 50 200 2");
    writer.must("commit");
    assert!(said(&save()).contains("incr-1-2.fgb: transaction 2, based on 1"));
    writer.must("read 0");
    let then = writer.must("hash 0 d");
    writer.must("end 0");

    let listed = run(&["env", "backup", "--list", path(&backups)]);
    assert_eq!(String::from_utf8_lossy(&listed.stdout).lines().count(), 2);
    let verified = said(&run(&["env", "backup", "--verify", path(&backups)]));
    assert!(verified.contains("all intact"), "{verified}");

    writer.must("write");
    for key in 0..15_000 {
        let key: String = format!("k{key:08}")
            .bytes()
            .map(|octet| format!("{octet:02x}"))
            .collect();
        writer.must(&format!("del d {key}"));
    }
    writer.must("commit");
    writer.must("read 0");
    let now = writer.must("hash 0 d");
    writer.must("end 0");
    let before = len(&env);
    said(&run(&["env", "compact", path(&env)]));
    assert!(len(&env) < before / 2, "{before} -> {}", len(&env));
    said(&run(&[
        "env",
        "copy",
        "--compact",
        path(&env),
        path(&at("copy")),
    ]));
    said(&run(&[
        "env",
        "restore",
        path(&backups),
        "--to",
        path(&at("old")),
    ]));
    // Compaction has moved all that was left: nothing is in common with the backups before.
    assert!(said(&save()).contains(", full, "));
    said(&run(&[
        "env",
        "restore",
        path(&backups),
        "--to",
        path(&at("new")),
    ]));
    for (name, hash) in [("copy", &now), ("old", &then), ("new", &now), ("env", &now)] {
        let mut reader = c_peer();
        reader.must(&format!("open {} mapsize=100000000", at(name).display()));
        reader.must("use d");
        reader.must("read 0");
        assert_eq!(&reader.must("hash 0 d"), hash, "{name}");
    }
    // The writer of the original goes on in the shorter file.
    writer.must("write");
    writer.must("fill d 0 20000 200 3");
    writer.must("commit");
    assert!(run(&["check", "--quiet", path(&env)]).status.success());

    let again = refused(&run(&[
        "env",
        "restore",
        path(&backups),
        "--to",
        path(&at("new")),
    ]));
    assert!(
        again.contains("exists already; nothing is overwritten"),
        "{again}"
    );
    let unknown = [
        "env",
        "restore",
        path(&backups),
        "--txn",
        "77",
        "--to",
        path(&at("x")),
    ];
    let unknown = refused(&run(&unknown));
    assert!(
        unknown.contains("no backup in") && unknown.contains("The backups have: 1, 2, "),
        "{unknown}"
    );
    std::fs::remove_file(backups.join("full-1.fgb")).expect("remove");
    let broken = [
        "env",
        "restore",
        path(&backups),
        "--txn",
        "2",
        "--to",
        path(&at("x")),
    ];
    let broken = refused(&run(&broken));
    assert!(
        broken.contains("incr-1-2.fgb builds on transaction 1"),
        "{broken}"
    );
    let mistake = run(&["env", "backup", path(&env)]);
    assert_eq!(mistake.status.code(), Some(2), "{mistake:?}");
}
