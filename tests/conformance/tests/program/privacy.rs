//! Passwords stay with their owner. Files of every command are for the owner only, and a command
//! touches only the database meant.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use fulgurite_conformance::{TIMEOUT, program};
use fulgurite_testkit::{Outcome, run_bounded};

const PARTNER: &str = "dn: o=Partner\nobjectClass: organization\no: Partner\n";
const EXAMPLE: &str =
    "dn: dc=example,dc=org\nobjectClass: dcObject\nobjectClass: organization\no: e\ndc: example\n";

/// Runs a command of the program under the most generous mask.
fn fulgurite(arguments: &[&str]) -> Outcome {
    let mut command = Command::new("sh");
    command.args(["-c", "umask 000; exec \"$0\" \"$@\""]);
    command.arg(program()).args(arguments);
    run_bounded(&mut command, TIMEOUT)
}

/// Collects files and folders that others may enter, read or write.
fn open_to_others(folder: &Path, found: &mut Vec<String>) -> usize {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let data = std::fs::symlink_metadata(&path).unwrap();
        seen += 1;
        if data.permissions().mode() & 0o077 != 0 {
            found.push(format!(
                "{} {:o}",
                path.display(),
                data.permissions().mode()
            ));
        }
        if data.is_dir() {
            seen += open_to_others(&path, found);
        }
    }
    seen
}

#[test]
fn files_are_for_their_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let input = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(input.path(), EXAMPLE).unwrap();
    let ldif = input.path().display().to_string();
    let (data, backups) = (place("data"), place("backups"));
    let (copied, packed, file) = (place("copied"), place("packed"), place("single.mdb"));
    let (restored, repaired) = (place("restored"), place("repaired"));
    let data_file = place("data/data.mdb");
    for arguments in [
        &[
            "load",
            "--data",
            &data,
            "--suffix",
            "dc=example,dc=org",
            &ldif,
        ][..],
        &["env", "copy", &data, &copied],
        &["env", "copy", "--compact", &data, &packed],
        &["env", "copy", &data_file, &file],
        &["env", "backup", &data, "--to", &backups],
        &["env", "restore", &backups, "--to", &restored],
        &["env", "compact", &data],
        &["check", &data, "--repair", &repaired],
    ] {
        let outcome = fulgurite(arguments);
        assert!(outcome.success(), "{arguments:?}: {outcome:?}");
    }
    let mut found = Vec::new();
    let seen = open_to_others(folder.path(), &mut found);
    assert!(seen >= 14, "{seen}");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn commands_choose_one_of_several_databases() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        place(name)
    };
    let (partner, example) = (write("p.ldif", PARTNER), write("e.ldif", EXAMPLE));
    let config = write(
        "two.toml",
        &format!(
            "[[database]]\nsuffix = \"dc=example,dc=org\"\ndata = \"{}\"\n\
             [[database]]\nsuffix = \"o=Partner\"\ndata = \"{}\"\n",
            place("a"),
            place("b")
        ),
    );
    let with = |command: &str, more: &[&str]| {
        let arguments = [&[command, "--config", config.as_str()][..], more].concat();
        fulgurite(&arguments)
    };
    for (command, more) in [
        ("load", &[partner.as_str()][..]),
        ("export", &[]),
        ("modify", &[partner.as_str()]),
        ("index", &["--status"]),
        ("explain", &["(o=*)"]),
        ("schema-check", &[]),
    ] {
        let refused = with(command, more);
        assert!(!refused.success(), "{command}: {refused:?}");
        let choice = "choose one of dc=example,dc=org and o=Partner";
        assert!(refused.stderr.contains(choice), "{command}: {refused:?}");
    }
    assert!(
        !folder.path().join("a").exists(),
        "a refused command made a store"
    );
    for (suffix, file) in [("o=Partner", &partner), ("dc=example,dc=org", &example)] {
        let loaded = with("load", &["--suffix", suffix, file]);
        assert!(loaded.success(), "{loaded:?}");
    }
    for (suffix, first) in [
        ("O=partner", "dn: o=Partner"),
        ("dc=example,dc=org", "dn: dc=example"),
    ] {
        let exported = with("export", &["--suffix", suffix]);
        assert!(exported.success(), "{exported:?}");
        assert_eq!(exported.stdout.matches("dn: ").count(), 1, "{exported:?}");
        assert!(exported.stdout.contains(first), "{exported:?}");
        for (command, more) in [("index", "--status"), ("explain", "(o=*)")] {
            let done = with(command, &["--suffix", suffix, more]);
            assert!(done.success(), "{done:?}");
        }
    }
    let other = place("c");
    let moved = with(
        "load",
        &["--suffix", "o=Partner", "--data", &other, &partner],
    );
    assert!(
        !moved.success() && moved.stderr.contains("--data"),
        "{moved:?}"
    );
    for flag in ["--data", "--suffix", "--root-dn"] {
        let served = with("serve", &[flag, "o=x"]);
        assert!(
            !served.success() && served.stderr.contains(flag),
            "{served:?}"
        );
    }
    assert!(!folder.path().join("c").exists());
}
