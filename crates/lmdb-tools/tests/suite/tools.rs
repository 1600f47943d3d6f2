//! Running a tool next to its original.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use fulgurite_testkit::{Ended, Octets, Scratch, require_tool, run_fed};

use crate::differences::{self, Call};

const LIMIT: Duration = Duration::from_secs(30);

/// Our tools or the original's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Ours,
    Theirs,
}

/// Returns the program file of one of our tools.
pub(crate) fn ours(tool: &str) -> &'static str {
    match tool {
        "mdb_stat" => env!("CARGO_BIN_EXE_mdb_stat"),
        "mdb_copy" => env!("CARGO_BIN_EXE_mdb_copy"),
        "mdb_dump" => env!("CARGO_BIN_EXE_mdb_dump"),
        "mdb_load" => env!("CARGO_BIN_EXE_mdb_load"),
        "mdb_drop" => env!("CARGO_BIN_EXE_mdb_drop"),
        _ => panic!("there is no tool {tool}"),
    }
}

/// Makes a command of one side's tool, which is called by its bare name.
pub(crate) fn command(side: Side, tool: &str, words: &[&str], dir: &Path) -> Command {
    let mut command = match side {
        Side::Ours => Command::new(ours(tool)),
        Side::Theirs => {
            require_tool(tool, "-V", "lmdb-utils");
            Command::new(tool)
        }
    };
    command.arg0(tool).args(words).current_dir(dir);
    command
}

/// Runs one side's tool in `dir`.
pub(crate) fn run(side: Side, tool: &str, words: &[&str], dir: &Path, input: &[u8]) -> Octets {
    run_fed(&mut command(side, tool, words, dir), input.to_vec(), LIMIT)
}

/// As [`run`], for a call that must succeed without text on standard error. Returns its output.
pub(crate) fn output(side: Side, tool: &str, words: &[&str], dir: &Path, input: &[u8]) -> Vec<u8> {
    let outcome = run(side, tool, words, dir, input);
    assert_eq!(
        outcome.ended,
        Ended::Exit(0),
        "{tool} {words:?}: {}",
        shown(&outcome)
    );
    outcome.stdout
}

/// Runs both sides' tools, which must do the same except for `differences`.
pub(crate) fn compare(tool: &str, words: &[&str], dir: &Path) {
    let theirs = run(Side::Theirs, tool, words, dir, b"");
    let call = Call {
        tool,
        words,
        dir,
        input: b"",
    };
    let (expected, differences) = differences::applied(call, theirs);
    let found = run(Side::Ours, tool, words, dir, b"");
    assert!(
        found == expected,
        "{tool} {words:?} in {}\nours: {}\nexpected: {}\ndifferences: {differences:?}",
        dir.display(),
        shown(&found),
        shown(&expected),
    );
}

/// Formats an outcome in few lines.
pub(crate) fn shown(outcome: &Octets) -> String {
    let text = |octets: &[u8]| {
        let text = String::from_utf8_lossy(octets).into_owned();
        text.chars().take(2000).collect::<String>()
    };
    format!(
        "{:?}\n--- output\n{}\n--- errors\n{}",
        outcome.ended,
        text(&outcome.stdout),
        text(&outcome.stderr)
    )
}

/// Returns a directory inside `scratch`, made if it is missing.
pub(crate) fn directory(scratch: &Scratch, name: impl AsRef<OsStr>) -> PathBuf {
    let path = scratch.path().join(name.as_ref());
    fs::create_dir_all(&path).expect("make a directory");
    path
}

/// Runs a function for many items, several at a time, because it mostly waits for processes and the
/// disk.
pub(crate) fn for_each<T: Sync>(items: &[T], act: impl Fn(usize, &T) + Sync) {
    const AT_A_TIME: usize = 4;
    thread::scope(|scope| {
        for first in 0..AT_A_TIME {
            let act = &act;
            scope.spawn(move || {
                for (index, item) in items.iter().enumerate().skip(first).step_by(AT_A_TIME) {
                    act(index, item);
                }
            });
        }
    });
}
