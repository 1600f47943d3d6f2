//! The command-line tools of Debian's LMDB, as judges of files that we wrote.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fulgurite_testkit::{Listing, list_line, require_tool, run_bounded, unhex};

/// Runs one of the real tools and returns its output.
pub(crate) fn run(tool: &str, arguments: &[&str], dir: &Path) -> String {
    require_tool(tool, "-V", "lmdb-utils");
    let outcome = run_bounded(
        Command::new(tool).args(arguments).arg(dir),
        Duration::from_secs(60),
    );
    assert!(
        outcome.success(),
        "{tool} {arguments:?} {}: {outcome:?}",
        dir.display()
    );
    outcome.stdout
}

/// Returns the records of a database according to the real `mdb_dump` (`None`: the main one).
pub(crate) fn dump(dir: &Path, database: Option<&str>) -> Listing {
    let output = match database {
        None => run("mdb_dump", &[], dir),
        Some(name) => run("mdb_dump", &["-s", name], dir),
    };
    let words: Vec<Vec<u8>> = output
        .lines()
        .filter_map(|line| line.strip_prefix(' '))
        .map(|word| {
            if word.is_empty() {
                Vec::new()
            } else {
                unhex(word)
            }
        })
        .collect();
    words
        .chunks(2)
        .map(|pair| list_line(&pair[0], Some(&pair[1])))
        .collect()
}

/// Runs `mdb_stat` on the environment, the free list and every database, and makes a compact copy
/// with `mdb_copy`.
pub(crate) fn accept(dir: &Path) {
    run("mdb_stat", &["-e", "-ff", "-a"], dir);
    let copy = fulgurite_testkit::Scratch::new("copied");
    require_tool("mdb_copy", "-V", "lmdb-utils");
    let mut command = Command::new("mdb_copy");
    command.arg("-c").arg(dir).arg(copy.path());
    let outcome = run_bounded(&mut command, Duration::from_secs(60));
    assert!(
        outcome.success(),
        "mdb_copy -c {}: {outcome:?}",
        dir.display()
    );
    crate::common::assert_sound(copy.path(), "the compacted copy");
}
