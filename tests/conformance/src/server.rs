//! A server that a test starts and stops.

use crate::{PASSWORD, ROOT, TIMEOUT};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use fulgurite_client::Client;
use rustix::process::{Pid, Signal, kill_process};

/// A running server. Dropping the value kills the server.
pub struct RunningServer {
    child: Child,
    /// The address at which the server listens.
    pub address: SocketAddr,
    said_first: Vec<String>,
    log: mpsc::Receiver<String>,
}

impl RunningServer {
    /// Starts a server and waits until it logs its address.
    ///
    /// # Panics
    /// If the server logs none within [`TIMEOUT`].
    pub fn start(command: &mut Command) -> RunningServer {
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
            let Ok(line) = log.recv_timeout(TIMEOUT) else {
                let _ = child.kill();
                let _ = child.wait();
                panic!("the server does not serve: {said:?}");
            };
            let at = line
                .rsplit_once(" at ldap")
                .map(|(_, at)| at.trim_start_matches('s'));
            if let Some(address) = at.and_then(|at| at.strip_prefix("://")) {
                let address = address.trim().trim_end_matches("\"}");
                let address = address.parse().expect("an address");
                return RunningServer {
                    child,
                    address,
                    said_first: said,
                    log,
                };
            }
            said.push(line);
        }
    }

    /// Returns the lines of the log before the one with the address.
    pub fn said_first(&self) -> &[String] {
        &self.said_first
    }

    /// Waits for a line of the log with these words, and returns it. Lines before it are gone.
    ///
    /// # Panics
    /// If none comes within [`TIMEOUT`].
    pub fn logged(&self, words: &str) -> String {
        let until = Instant::now() + TIMEOUT;
        let mut said = Vec::new();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(line) = self.log.recv_timeout(left) else {
                panic!("no line has {words:?}: {said:?}");
            };
            if line.contains(words) {
                return line;
            }
            said.push(line);
        }
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns a new connection.
    ///
    /// # Panics
    /// If the server does not accept it.
    pub fn client(&self) -> Client {
        let client = Client::connect(self.address).expect("connect");
        client
            .set_read_timeout(Some(TIMEOUT))
            .expect("set a timeout");
        client
    }

    /// Returns a new connection bound as the root identity.
    ///
    /// # Panics
    /// If the bind fails.
    pub fn root_client(&self) -> Client {
        let mut client = self.client();
        let result = client.bind(ROOT, PASSWORD.as_bytes()).expect("bind");
        assert!(result.is_success(), "{result:?}");
        client
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// If the process is gone.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process id"), signal).expect("send a signal");
    }

    /// Waits for the end and returns the status and all logged lines.
    ///
    /// # Panics
    /// If the server still runs after [`TIMEOUT`].
    pub fn wait(mut self) -> (ExitStatus, Vec<String>) {
        let until = Instant::now() + TIMEOUT;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("wait") {
                break status;
            }
            assert!(Instant::now() < until, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        (status, self.log.iter().collect())
    }

    /// Ends the server by SIGTERM and returns the logged lines.
    ///
    /// # Panics
    /// If the server exits with an error.
    pub fn stop(self) -> Vec<String> {
        self.signal(Signal::TERM);
        let (status, log) = self.wait();
        assert!(status.success(), "{status}: {log:?}");
        log
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
