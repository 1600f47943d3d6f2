//! An etcd of a test: processes on free ports, which end with it.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The wait for a new etcd.
const START_WAIT: Duration = Duration::from_secs(60);

/// A cluster of etcd. Its clients have the member in `urls`.
#[derive(Debug)]
pub struct Etcd {
    /// The URLs for clients, by the numbers of the members.
    pub urls: Vec<String>,
    members: Vec<Child>,
    peers: Vec<String>,
    arguments: Vec<String>,
    folder: TempDir,
}

/// Returns true if there is an etcd. A machine without it says so loudly.
#[must_use]
pub fn has_etcd() -> bool {
    let runs = Etcd::program("etcd").arg("--version").output().is_ok();
    if !runs {
        // The harness keeps what a passing test prints by macros.
        let text = b"SKIPPED: there is no etcd here; run scripts/setup.sh\n";
        drop(std::io::stderr().write_all(text));
    }
    runs
}

/// Returns addresses that differ.
fn free_addresses(count: usize) -> Vec<SocketAddr> {
    let socket = |_| TcpListener::bind("127.0.0.1:0").expect("a free port");
    let sockets: Vec<TcpListener> = (0..count).map(socket).collect();
    let addresses = sockets.iter().map(TcpListener::local_addr);
    addresses.collect::<Result<_, _>>().expect("an address")
}

impl Etcd {
    /// Returns a program of etcd. The variable `FULGURITE_TEST_ETCD` names a folder with another
    /// release. Otherwise it is that of `scripts/setup.sh`, or an installed one.
    #[must_use]
    pub fn program(name: &str) -> Command {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = match std::env::var_os("FULGURITE_TEST_ETCD") {
            Some(folder) => PathBuf::from(folder),
            None => root.join("build/etcd/usr/bin"),
        };
        let unpacked = folder.join(name);
        match unpacked.is_file() {
            true => Command::new(unpacked),
            false => Command::new(name),
        }
    }

    /// Starts some members with more arguments, and does not wait for them.
    ///
    /// # Panics
    /// If a member does not start.
    #[must_use]
    pub fn start(count: usize, scheme: &str, arguments: &[String]) -> Etcd {
        let addresses = free_addresses(2 * count);
        let (clients, peers) = addresses.split_at(count);
        let urls = |scheme: &str, addresses: &[SocketAddr]| {
            let addresses = addresses.iter();
            addresses.map(|at| format!("{scheme}://{at}")).collect()
        };
        let mut etcd = Etcd {
            urls: urls(scheme, clients),
            members: Vec::new(),
            peers: urls("http", peers),
            arguments: arguments.to_vec(),
            folder: TempDir::new().expect("a folder"),
        };
        etcd.members = (0..count).map(|member| etcd.spawn(member)).collect();
        etcd
    }

    /// Starts members without TLS, and waits until they answer.
    ///
    /// # Panics
    /// If they do not.
    #[must_use]
    pub fn plain(count: usize, arguments: &[&str]) -> Etcd {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let mut etcd = Etcd::start(count, "http", &arguments);
        let begun = Instant::now();
        while !(0..count).all(|member| etcd.is_healthy(member)) {
            assert!(begun.elapsed() < START_WAIT, "etcd does not answer");
            // Another program may have taken a port meanwhile.
            if etcd.has_ended() {
                etcd = Etcd::start(count, "http", &arguments);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        etcd
    }

    /// Sends a signal to a member, such as `STOP` or `KILL`.
    ///
    /// # Panics
    /// If there is no such process.
    pub fn signal(&self, member: usize, signal: &str) {
        let id = self.members[member].id().to_string();
        let status = Command::new("kill").args(["-s", signal, &id]).status();
        assert!(status.expect("kill runs").success());
        // A process stops when one of its threads takes the signal. Until then others go on.
        while signal == "STOP" && !is_stopped(&id) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills a member.
    pub fn kill(&mut self, member: usize) {
        drop(self.members[member].kill());
        drop(self.members[member].wait());
    }

    /// Returns the folder of a member's data.
    #[must_use]
    pub fn data(&self, member: usize) -> PathBuf {
        self.folder.path().join(format!("m{member}"))
    }

    /// Kills a member if it runs, and starts it again on its data.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self, member: usize) {
        self.kill(member);
        self.members[member] = self.spawn(member);
    }

    /// Returns true if a member without TLS has a leader and answers.
    #[must_use]
    pub fn is_healthy(&self, member: usize) -> bool {
        self.ask(member, "GET /health HTTP/1.0\r\n\r\n")
            .is_some_and(|answer| answer.contains(r#""health":"true""#))
    }

    /// Returns true if a member without TLS tells that the database is at its quota.
    #[must_use]
    pub fn is_full(&self, member: usize) -> bool {
        let body = r#"{"action":"GET"}"#;
        let head = "POST /v3/maintenance/alarm HTTP/1.0\r\nContent-Type: application/json\r\n";
        let question = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        self.ask(member, &question)
            .is_some_and(|answer| answer.contains(r#""NOSPACE""#))
    }

    /// Asks a member by HTTP; `None` without an answer.
    fn ask(&self, member: usize, question: &str) -> Option<String> {
        let address = self.urls[member].trim_start_matches("http://");
        let ask = || {
            let mut socket = TcpStream::connect(address)?;
            socket.set_read_timeout(Some(Duration::from_secs(5)))?;
            socket.write_all(question.as_bytes())?;
            let mut answer = String::new();
            socket.read_to_string(&mut answer)?;
            std::io::Result::Ok(answer)
        };
        ask().ok()
    }

    /// Returns true if a member that was not killed has ended.
    #[must_use]
    pub fn has_member_ended(&mut self, member: usize) -> bool {
        !matches!(self.members[member].try_wait(), Ok(None))
    }

    /// Returns true if a member has ended by itself.
    fn has_ended(&mut self) -> bool {
        (0..self.members.len()).any(|member| self.has_member_ended(member))
    }

    fn spawn(&self, member: usize) -> Child {
        let (client, peer) = (&self.urls[member], &self.peers[member]);
        let cluster = self.peers.iter().enumerate();
        let cluster: Vec<String> = cluster.map(|(n, peer)| format!("m{n}={peer}")).collect();
        Etcd::program("etcd")
            .args(["--name", &format!("m{member}")])
            .args(["--initial-cluster", &cluster.join(",")])
            .args(["--listen-client-urls", client])
            .args(["--advertise-client-urls", client])
            .args(["--listen-peer-urls", peer])
            .args(["--initial-advertise-peer-urls", peer])
            .arg("--data-dir")
            .arg(self.data(member))
            .args(["--logger", "zap", "--log-level", "error"])
            .args(&self.arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("etcd starts")
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        // A stopped process ends too.
        (0..self.members.len()).for_each(|member| self.kill(member));
    }
}

/// Returns true if all threads of a process are stopped.
fn is_stopped(process: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("the process is there");
    threads.flatten().all(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // The state follows the name, which is in parentheses.
        stat.rsplit(')')
            .next()
            .is_some_and(|rest| rest.trim_start().starts_with('T'))
    })
}
