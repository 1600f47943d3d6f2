//! Configurations, good and bad, side by side with the real slaptest: whether they are accepted,
//! and the line named.
//!
//! `cases.txt` has one configuration per line. `\n` is a line end, and `@` at the beginning adds a
//! database. Deliberate differences from slapd are in [`DIFFERENCES`], with the reason.

mod directory;
mod pieces;
mod quoting;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fulgurite_config::{Layer, Settings};
use fulgurite_server::check_settings;
use fulgurite_testkit::{Outcome, run_bounded};

/// The configurations.
const CASES: &str = include_str!("cases.txt");

/// An ordinary run tests one of this many cases, because slaptest takes 30 ms each.
const STRIDE: usize = 11;

/// How long one slaptest may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Beginnings of cases that are answered differently, and why.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "moduleload x",
        "no modules are loaded: one that is not known is a warning",
    ),
    (
        "schemadn",
        "the schema has one place, whatever is asked for",
    ),
    (
        "rootdn x",
        "nobody is root of all databases: what is said there means nothing",
    ),
    (
        "password-hash {SSHA512}",
        "slapd needs a module for it, here it is built in",
    ),
    (
        "index telephoneNumber approx",
        "types without an approximate rule have an equality index for it",
    ),
    ("dbpagesize", "known to other versions of slapd"),
    ("lastbind-precision", "known to other versions of slapd"),
];

/// The verdict on a configuration: valid, or refused with a line if one was named.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Verdict {
    accepted: bool,
    line: Option<usize>,
    text: String,
}

#[test]
fn slaptest_agrees_on_every_case() {
    let folder = tempfile::tempdir().unwrap();
    let slapd = find_slapd();
    let long = std::env::var_os("FULGURITE_TEST_LONG").is_some();
    let stride = if long { 1 } else { STRIDE };
    let cases: Vec<&str> = CASES.lines().collect();
    assert!(cases.len() > 700, "{}", cases.len());
    let mut failures = Vec::new();
    let (mut tried, mut refused) = (0, 0);
    for (at, case) in cases.iter().enumerate() {
        // There are few cases of several lines, and each is different.
        if at % stride != 0 && !case.contains("\\n") {
            continue;
        }
        let bare = case.trim_start_matches('@');
        if DIFFERENCES.iter().any(|(known, _)| bare.starts_with(known)) {
            continue;
        }
        let path = folder.path().join(format!("{at}.conf"));
        fs::write(&path, configuration(&slapd, folder.path(), case)).unwrap();
        let theirs = slaptest(&slapd, &path);
        let ours = ours(&path);
        tried += 1;
        refused += usize::from(!theirs.accepted);
        let lines_differ = theirs.line.is_some() && theirs.line != ours.line;
        if theirs.accepted != ours.accepted || (!theirs.accepted && lines_differ) {
            failures.push(format!("{case}\n  slapd: {theirs:?}\n  ours: {ours:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // A comparison that only ever sees one side of the matter proves nothing.
    assert!(
        refused > tried / 4 && refused < tried,
        "{refused} of {tried}"
    );
}

fn configuration(slapd: &Path, folder: &Path, case: &str) -> String {
    let root = slapd.display();
    let mut text = format!(
        "include {root}/etc/ldap/schema/core.schema\nmodulepath {root}/usr/lib/ldap\nmoduleload back_mdb.so\n\
         moduleload back_monitor.so\n"
    );
    let case = match case.strip_prefix('@') {
        Some(rest) => {
            text.push_str("database mdb\nsuffix dc=example,dc=com\ndirectory .\n");
            rest
        }
        None => case,
    };
    let mut letters = case.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.extend(letters.next().map(|escaped| match escaped {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            })),
            other => text.push(other),
        }
    }
    text.push('\n');
    // Relative folders of both mean the same.
    text.replace(
        "directory .\n",
        &format!("directory {}\n", folder.display()),
    )
}

fn find_slapd() -> PathBuf {
    let slapd = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/slapd");
    assert!(
        slapd.join("usr/sbin/slaptest").exists(),
        "slapd is missing: run `make test`, or scripts/setup.sh, which unpacks it into build/slapd"
    );
    slapd.canonicalize().unwrap()
}

fn slaptest(slapd: &Path, configuration: &Path) -> Verdict {
    slaptest_with(
        slapd,
        &["-u".as_ref(), "-f".as_ref(), configuration.as_os_str()],
    )
}

fn slaptest_with(slapd: &Path, arguments: &[&OsStr]) -> Verdict {
    let outcome = slapd_tool(slapd, "slaptest", arguments);
    let text = format!("{}{}", outcome.stdout, outcome.stderr);
    Verdict {
        accepted: outcome.success(),
        line: line_in(&text),
        text,
    }
}

/// Runs one of slapd's programs.
fn slapd_tool(slapd: &Path, name: &str, arguments: &[&OsStr]) -> Outcome {
    let libraries: PathBuf = fs::read_dir(slapd.join("usr/lib"))
        .unwrap()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.to_string_lossy().ends_with("-linux-gnu"))
        .unwrap();
    let mut command = Command::new(slapd.join("usr/sbin").join(name));
    command.env("LD_LIBRARY_PATH", libraries);
    command.args(arguments);
    run_bounded(&mut command, PATIENCE)
}

fn ours(configuration: &Path) -> Verdict {
    let read = || -> Result<(), String> {
        let layer = Layer::from_slapd_conf(configuration).map_err(|error| error.to_string())?;
        let settings = Settings::new(layer).map_err(|error| error.to_string())?;
        check_settings(&settings).map_err(|error| error.to_string())?;
        Ok(())
    };
    match read() {
        Ok(()) => Verdict {
            accepted: true,
            line: None,
            text: String::new(),
        },
        Err(text) => Verdict {
            accepted: false,
            line: line_in(&text),
            text,
        },
    }
}

/// The last line named: `x.conf: line 5: ...`, also `x.conf : line 5: ...` and `x.conf:5: ...`.
fn line_in(text: &str) -> Option<usize> {
    let numbers = text.match_indices(".conf").filter_map(|(at, found)| {
        let rest = text.get(at + found.len()..)?;
        let rest = rest.trim_start_matches([' ', ':']);
        let rest = rest.strip_prefix("line ").unwrap_or(rest);
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    numbers.last()
}
