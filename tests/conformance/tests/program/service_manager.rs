//! The messages that systemd waits for, received by a socket of the test.

use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::time::Instant;

use fulgurite_conformance::{RunningServer, SUFFIX, TIMEOUT, fulgurite, program};
use rustix::process::Signal;
use tempfile::TempDir;

/// The socket of a service manager, with the messages that it has received.
struct Manager {
    socket: UnixDatagram,
    said: Vec<String>,
}

impl Manager {
    fn at(path: &std::path::Path) -> Manager {
        let socket = UnixDatagram::bind(path).expect("bind the socket");
        socket
            .set_read_timeout(Some(TIMEOUT))
            .expect("set a timeout");
        Manager {
            socket,
            said: Vec::new(),
        }
    }

    /// Waits for a message with this line, and returns the whole message.
    fn wait_for(&mut self, line: &str) -> String {
        let begun = Instant::now();
        let mut bytes = [0; 4096];
        loop {
            assert!(begun.elapsed() < TIMEOUT, "no {line} in {:?}", self.said);
            let received = self.socket.recv(&mut bytes);
            let length =
                received.unwrap_or_else(|error| panic!("{line}: {error}; {:?}", self.said));
            let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
            self.said.push(text.clone());
            if text.lines().any(|one| one == line) {
                return text;
            }
        }
    }
}

#[test]
fn the_service_manager_is_told_of_the_life_of_the_server() {
    let folder = TempDir::new().expect("make a directory");
    let path = folder.path().join("notify");
    let mut manager = Manager::at(&path);
    // As systemd does: the watchdog is for this process alone, whose number the shell knows.
    let mut command = Command::new("sh");
    command
        .args(["-c", "WATCHDOG_PID=$$ exec \"$0\" \"$@\""])
        .arg(program())
        .env("NOTIFY_SOCKET", &path)
        .env("WATCHDOG_USEC", "100000");
    command.args([
        "serve",
        "--suffix",
        SUFFIX,
        "--listen",
        "ldap://127.0.0.1:0",
    ]);
    command.arg("--data").arg(folder.path().join("db"));
    let server = RunningServer::start(&mut command);
    manager.wait_for("READY=1");
    // An idle server is alive, again and again.
    manager.wait_for("WATCHDOG=1");
    manager.wait_for("WATCHDOG=1");
    server.signal(Signal::HUP);
    let reloading = manager.wait_for("RELOADING=1");
    assert!(reloading.contains("MONOTONIC_USEC="), "{reloading}");
    manager.wait_for("READY=1");
    server.stop();
    manager.wait_for("STOPPING=1");
    let before_ready: Vec<&String> = manager
        .said
        .iter()
        .take_while(|text| !text.contains("READY=1"))
        .collect();
    assert!(before_ready.is_empty(), "{before_ready:?}");
}

#[test]
fn without_a_watchdog_there_are_no_signs_of_life() {
    let folder = TempDir::new().expect("make a directory");
    let path = folder.path().join("notify");
    let mut manager = Manager::at(&path);
    let mut command = fulgurite();
    command
        .env("NOTIFY_SOCKET", &path)
        .env_remove("WATCHDOG_USEC");
    command.args([
        "serve",
        "--suffix",
        SUFFIX,
        "--listen",
        "ldap://127.0.0.1:0",
    ]);
    command.arg("--data").arg(folder.path().join("db"));
    let server = RunningServer::start(&mut command);
    manager.wait_for("READY=1");
    server.stop();
    manager.wait_for("STOPPING=1");
    let signs = manager.said.iter().filter(|text| text.contains("WATCHDOG"));
    assert_eq!(signs.count(), 0, "{:?}", manager.said);
}
