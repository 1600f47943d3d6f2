//! Starting this program again as another process that plays one role instead of running tests.

use std::process::Command;

/// Names the role of a child process; unset in an ordinary test run.
const ROLE: &str = "FULGURITE_TEST_ROLE";

/// A command that runs this program in a role; see [`entry`].
pub(crate) fn role(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the path of the test program"));
    command
        .args(["--exact", "child::entry", "--nocapture", "--test-threads=1"])
        .env(ROLE, name);
    command
}

/// A parameter of the role, passed through the environment.
pub(crate) fn parameter(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("a child process needs {name}"))
}

/// SIGKILL to this process: nothing is cleaned up.
pub(crate) fn die() -> ! {
    let _ = Command::new("kill")
        .args(["-9", &std::process::id().to_string()])
        .status();
    loop {
        std::thread::park();
    }
}

/// Does nothing in a test run; in a child process it is the main function.
#[test]
fn entry() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    // The test harness has begun a line.
    println!();
    match role.as_str() {
        "peer" => crate::peer::serve(),
        "damage" => crate::damage::child(),
        "flips" => crate::flips::child(),
        "crash" => crate::crash_points::child(),
        "committer" => crate::committer::child(),
        "compaction" => crate::compaction::child(),
        "narrow" => crate::narrow::child(),
        "full_disk" => crate::full_disk::child(),
        "lost_pages" => crate::lost_pages::child(),
        other => panic!("no role is called {other}"),
    }
    // Nothing of the harness's closing words: the parent reads our output.
    std::process::exit(0);
}
