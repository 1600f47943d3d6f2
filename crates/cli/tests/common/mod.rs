//! The real program, started and stopped by tests.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use fulgurite_client::Client;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

pub(crate) const SUFFIX: &str = "dc=example,dc=com";
pub(crate) const ROOT: &str = "cn=admin,dc=example,dc=com";
pub(crate) const PASSWORD: &str = "secret";

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The program, without settings from the environment of the test.
pub(crate) fn fulgurite() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fulgurite"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FULGURITE_") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs the program to its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    fulgurite()
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("run the program")
}

/// What a failing program says: one line on standard error, and how it exits.
pub(crate) fn complaint(output: &Output) -> (i32, String) {
    let text = String::from_utf8(output.stderr.clone()).expect("messages are text");
    assert_eq!(text.lines().count(), 1, "not one line: {text:?}");
    (
        output.status.code().expect("an exit, not a signal"),
        text.trim_end().to_owned(),
    )
}

/// A directory with a loaded store.
pub(crate) struct Loaded {
    pub(crate) root: TempDir,
}

impl Loaded {
    /// Loads an invented organisation.
    pub(crate) fn generated(users: u32) -> Loaded {
        let ldif = run(&[
            "generate",
            "--users",
            &users.to_string(),
            "--suffix",
            SUFFIX,
        ]);
        assert!(ldif.status.success(), "{ldif:?}");
        Loaded::from_ldif(&ldif.stdout)
    }

    pub(crate) fn from_ldif(ldif: &[u8]) -> Loaded {
        let root = TempDir::new().expect("make a directory");
        let file = root.path().join("all.ldif");
        std::fs::write(&file, ldif).expect("write LDIF");
        std::fs::write(root.path().join("password"), PASSWORD).expect("write the password");
        let loaded = Loaded { root };
        let output = run(&[
            "load",
            "--quiet",
            "--data",
            loaded.data_str(),
            "--suffix",
            SUFFIX,
            path(&file),
        ]);
        assert!(output.status.success(), "{output:?}");
        loaded
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    pub(crate) fn data_str(&self) -> &'static str {
        path(&self.data())
    }

    /// Serves it at a port that the system chooses.
    pub(crate) fn serve(&self, more: &[&str]) -> Serving {
        Serving::start(self.serve_command("ldap://127.0.0.1:0").args(more))
    }

    pub(crate) fn serve_command(&self, url: &str) -> Command {
        let mut command = fulgurite();
        command
            .args([
                "serve",
                "--data",
                self.data_str(),
                "--suffix",
                SUFFIX,
                "--listen",
                url,
            ])
            .args(["--root-dn", ROOT, "--root-password-file"])
            .arg(self.root.path().join("password"));
        command
    }
}

/// Paths in tests are text, and few.
pub(crate) fn path(path: &Path) -> &'static str {
    Box::leak(
        path.to_str()
            .expect("a path in UTF-8")
            .to_owned()
            .into_boxed_str(),
    )
}

/// A running server; killed if the test forgets to stop it.
pub(crate) struct Serving {
    child: Child,
    pub(crate) address: SocketAddr,
    log: mpsc::Receiver<String>,
}

impl Serving {
    /// Starts a server and waits until it says where it serves.
    pub(crate) fn start(command: &mut Command) -> Serving {
        let mut child = command
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start the server");
        let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let (sender, log) = mpsc::channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut said = Vec::new();
        loop {
            let Ok(line) = log.recv_timeout(PATIENCE) else {
                let _ = child.kill();
                let _ = child.wait();
                panic!("the server does not serve: {said:?}");
            };
            if let Some((_, address)) = line.rsplit_once(" at ldap://") {
                let address = address.trim().parse().expect("an address");
                return Serving {
                    child,
                    address,
                    log,
                };
            }
            said.push(line);
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn client(&self) -> Client {
        let client = Client::connect(self.address).expect("connect");
        client
            .set_read_timeout(Some(PATIENCE))
            .expect("set a timeout");
        client
    }

    pub(crate) fn root_client(&self) -> Client {
        let mut client = self.client();
        let result = client.bind(ROOT, PASSWORD.as_bytes()).expect("bind");
        assert!(result.is_success(), "{result:?}");
        client
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process id"), signal).expect("send a signal");
    }

    /// Waits for the end; all that was logged since the start comes with it.
    pub(crate) fn wait(mut self) -> (ExitStatus, Vec<String>) {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("wait") {
                break status;
            }
            assert!(Instant::now() < until, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        (status, self.log.iter().collect())
    }

    /// Ends the server as an administrator does.
    pub(crate) fn stop(self) -> Vec<String> {
        self.signal(Signal::TERM);
        let (status, log) = self.wait();
        assert!(status.success(), "{status}: {log:?}");
        log
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
