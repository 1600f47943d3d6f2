//! A process on the real liblmdb, or on ours, driven line by line. So two implementations share one
//! live environment under a test's control.
//!
//! The test writes one command per line. The peer answers with one line, `= ok [words]` or `= err
//! NAME [text]`. All other lines are noise. Keys and values are hexadecimal, `.` when empty. A
//! database is given by its name, or `-` for the main one. A transaction is `w` (the one writer) or
//! the digit 0..7 of a reader.
//!
//! ```text
//! open PATH [nosync|nometasync|writemap|rdonly|nosubdir|mapsize=N|readers=N]...      close   quit   die (SIGKILL)
//! write -> TXNID      commit      abort               read R -> TXNID     renew R -> TXNID     end R
//! use DB                                 opens a database that exists, before the transactions that need it
//! create DB lexical|reverse|integer      put DB KEY VALUE      del DB KEY      drop DB (empties it)
//! fill DB FIRST COUNT LENGTH SEED        keys "k%08d", byte j of value i is SEED+i+j
//! get TXN DB KEY -> VALUE                hash TXN DB -> RECORDS BYTES CRC32
//! info -> MAPSIZE LAST_PGNO LAST_TXNID SLOTS      check -> CLEARED_SLOTS      setmap BYTES      sync
//! ```

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::native::{compile, source};

/// The words after `ok`, or the error.
pub type Reply = Result<String, PeerError>;

/// Why a command was not answered with `ok`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerError {
    /// The library's error, such as `MAP_RESIZED`.
    Refused(String),
    /// The process has ended.
    Gone,
    /// No answer within the time limit.
    Silent,
}

/// A spawned peer; killed when dropped.
#[derive(Debug)]
pub struct Peer {
    name: String,
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    limit: Duration,
}

impl Peer {
    /// Starts a program that speaks the protocol; `name` appears in messages.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    pub fn spawn(name: &str, command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("start the {name} peer, {command:?}: {e}"));
        let input = child.stdin.take().expect("a piped standard input");
        let output = BufReader::new(child.stdout.take().expect("a piped standard output"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some(answer) = line.strip_prefix("= ")
                    && sender.send(answer.to_owned()).is_err()
                {
                    return;
                }
            }
        });
        Self {
            name: name.to_owned(),
            child,
            input,
            lines,
            limit: Duration::from_secs(60),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sends a command and waits for its answer.
    ///
    /// # Errors
    /// [`PeerError::Refused`] with the name of the library's error; the others when the process is
    /// gone or stuck.
    pub fn ask(&mut self, command: &str) -> Reply {
        self.send(command);
        self.answer(self.limit)
    }

    /// Sends a command without waiting.
    pub fn send(&mut self, command: &str) {
        // A dead peer shows itself when the answer is awaited.
        let _ = writeln!(self.input, "{command}").and_then(|()| self.input.flush());
    }

    /// Waits for the answer to an earlier [`send`](Self::send).
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn answer(&mut self, limit: Duration) -> Reply {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        match self.lines.recv_timeout(limit) {
            Ok(line) => match line.split_once(' ') {
                Some(("ok", words)) => Ok(words.to_owned()),
                Some(("err", words)) => Err(PeerError::Refused(words.to_owned())),
                _ => Ok(String::new()),
            },
            Err(Disconnected) => Err(PeerError::Gone),
            Err(Timeout) => Err(PeerError::Silent),
        }
    }

    /// Sends a command that must succeed.
    ///
    /// # Panics
    /// If it does not.
    pub fn must(&mut self, command: &str) -> String {
        match self.ask(command) {
            Ok(words) => words,
            Err(error) => panic!("{} peer, {command:.200}: {error:?}", self.name),
        }
    }

    /// Kills the process with SIGKILL and waits for its end.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the process to end by itself, as after `die`; says whether it did within the
    /// limit.
    pub fn wait_end(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return true;
            }
            thread::sleep(Duration::from_millis(2));
        }
        false
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A C program on Debian's liblmdb, compiled at first use.
///
/// # Panics
/// If the compiler or the library is missing; the message names the package.
#[must_use]
pub fn c_peer() -> Peer {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    Peer::spawn(
        "C (liblmdb)",
        &mut Command::new(PROGRAM.get_or_init(|| compile("lmdb-peer", &["peer.c"], &["-llmdb"]))),
    )
}

/// A Python program on PyPI's `lmdb`. The variable `FULGURITE_TEST_PYTHON` names the interpreter;
/// the default is that of `build/venv` in the repository's root.
///
/// # Panics
/// If that interpreter is missing or has no `lmdb`.
#[must_use]
pub fn python_peer() -> Peer {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    let python = PYTHON.get_or_init(find_python);
    Peer::spawn("Python (lmdb)", Command::new(python).arg(source("peer.py")))
}

fn find_python() -> PathBuf {
    let python = match std::env::var_os("FULGURITE_TEST_PYTHON") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/venv/bin/python"),
    };
    let works = Command::new(&python)
        .args(["-c", "import lmdb"])
        .output()
        .is_ok_and(|o| o.status.success());
    assert!(
        works,
        "{} cannot import lmdb: run `make test`, which makes build/venv, or point FULGURITE_TEST_PYTHON at an \
         interpreter with PyPI's lmdb (python3 -m venv DIR && DIR/bin/pip install lmdb)",
        python.display()
    );
    python
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn both_peers_speak_the_same_protocol() {
        let dir = Scratch::new("peers");
        let (mut c, mut python) = (c_peer(), python_peer());
        for peer in [&mut c, &mut python] {
            peer.must(&format!("open {}", dir.path().display()));
            assert!(!peer.must("write").is_empty());
            peer.must("create things lexical");
            peer.must("fill things 0 20 5 1");
            peer.must("put things 6b30 .");
            peer.must("commit");
            peer.must("read 0");
            assert_eq!(peer.must("get 0 things 6b30"), ".");
            assert_eq!(
                peer.ask("get 0 things 6b31"),
                Err(PeerError::Refused("NOTFOUND".into()))
            );
        }
        c.must("renew 0");
        assert_eq!(c.must("hash 0 things"), python.must("hash 0 things"));
        c.send("die");
        assert_eq!(c.answer(Duration::from_secs(10)), Err(PeerError::Gone));
        assert!(c.wait_end(Duration::from_secs(10)));
        assert_eq!(python.must("check"), "1");
    }
}
