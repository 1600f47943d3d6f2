//! Programs with a time limit, because a test of hostile input must survive the hang it looks for.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// By itself, with this status.
    Exit(i32),
    /// By a signal: a crash.
    Signal(i32),
    /// By us, after the time limit: a hang.
    TimeLimit,
}

/// Everything a program left behind.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Outcome {
    /// Returns true if it ended with status 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.ended == Ended::Exit(0)
    }
}

/// As [`Outcome`], for programs whose output need not be text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Octets {
    /// How it ended.
    pub ended: Ended,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// Runs a program to its end, but kills it after `limit`.
///
/// # Panics
/// If it cannot be started.
pub fn run_bounded(command: &mut Command, limit: Duration) -> Outcome {
    let octets = run_fed(command, Vec::new(), limit);
    let text = |octets: Vec<u8>| String::from_utf8_lossy(&octets).into_owned();
    Outcome {
        ended: octets.ended,
        stdout: text(octets.stdout),
        stderr: text(octets.stderr),
    }
}

/// As [`run_bounded`], with `input` as its standard input.
///
/// # Panics
/// If it cannot be started.
pub fn run_fed(command: &mut Command, input: Vec<u8>, limit: Duration) -> Octets {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("start {command:?}: {e}"));
    let stdin = child.stdin.take();
    // A program need not read all it is given.
    let fed = thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let ended = wait(&mut child, started + limit);
    let _ = fed.join();
    Octets {
        ended,
        stdout: stdout.join().unwrap_or_default(),
        stderr: stderr.join().unwrap_or_default(),
    }
}

/// Fails the test with the name of the Debian package to install unless `tool` can be run.
///
/// # Panics
/// If it cannot.
pub fn require_tool(tool: &str, argument: &str, package: &str) {
    let found = Command::new(tool)
        .arg(argument)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(
        found.is_ok(),
        "the program `{tool}` is missing: apt-get install {package}"
    );
}

fn collect(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut out = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut out);
        }
        out
    })
}

fn wait(child: &mut Child, deadline: Instant) -> Ended {
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait().expect("wait for a child process") {
            return ended(status);
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            return Ended::TimeLimit;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exit(code),
        (None, signal) => Ended::Signal(signal.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_told_apart() {
        let run = |script: &str| {
            run_bounded(
                Command::new("sh").args(["-c", script]),
                Duration::from_millis(400),
            )
            .ended
        };
        assert_eq!(run("exit 3"), Ended::Exit(3));
        assert_eq!(run("kill -SEGV $$"), Ended::Signal(11));
        assert_eq!(run("exec sleep 20"), Ended::TimeLimit);
    }
}
