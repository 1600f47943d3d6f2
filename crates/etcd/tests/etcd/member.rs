//! An etcd of the test: processes on free ports, which end with it.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fulgurite_cluster::ChangeLog as _;
use fulgurite_etcd::{EtcdLog, EtcdSettings};
use tempfile::TempDir;

/// The wait for a new etcd.
const START_WAIT: Duration = Duration::from_secs(60);

/// A cluster of etcd.
pub(crate) struct Etcd {
    members: Vec<Child>,
    pub(crate) urls: Vec<String>,
    _folder: TempDir,
}

/// Returns a program of etcd: that of `scripts/setup.sh`, or an installed one.
pub(crate) fn program(name: &str) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let unpacked = root.join("build/etcd/usr/bin").join(name);
    match unpacked.is_file() {
        true => Command::new(unpacked),
        false => Command::new(name),
    }
}

/// Returns true if there is an etcd. A machine without it says so loudly.
pub(crate) fn is_installed() -> bool {
    let runs = program("etcd").arg("--version").output().is_ok();
    if !runs {
        // The harness keeps what a passing test prints by macros.
        let text = b"SKIPPED: there is no etcd here; run scripts/setup.sh\n";
        drop(std::io::stderr().write_all(text));
    }
    runs
}

fn free_port() -> u16 {
    let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
    socket.local_addr().expect("an address").port()
}

impl Etcd {
    /// Starts some members with more arguments, and waits until they answer.
    pub(crate) fn start(count: usize, scheme: &str, arguments: &[String]) -> Etcd {
        let folder = TempDir::new().expect("a folder");
        let ports: Vec<[u16; 2]> = (0..count).map(|_| [free_port(), free_port()]).collect();
        let peers: Vec<String> = (0..count)
            .map(|n| format!("m{n}=http://127.0.0.1:{}", ports[n][1]))
            .collect();
        let member = |n: usize| {
            let client = format!("{scheme}://127.0.0.1:{}", ports[n][0]);
            let peer = format!("http://127.0.0.1:{}", ports[n][1]);
            let data = folder.path().join(format!("m{n}"));
            program("etcd")
                .args([
                    "--name",
                    &format!("m{n}"),
                    "--initial-cluster",
                    &peers.join(","),
                ])
                .args([
                    "--listen-client-urls",
                    &client,
                    "--advertise-client-urls",
                    &client,
                ])
                .args([
                    "--listen-peer-urls",
                    &peer,
                    "--initial-advertise-peer-urls",
                    &peer,
                ])
                .arg("--data-dir")
                .arg(data)
                .args(["--logger", "zap", "--log-level", "error"])
                .args(arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("etcd starts")
        };
        Etcd {
            members: (0..count).map(member).collect(),
            urls: (0..count)
                .map(|n| format!("{scheme}://127.0.0.1:{}", ports[n][0]))
                .collect(),
            _folder: folder,
        }
    }

    /// Starts members without TLS, and waits until they answer.
    pub(crate) fn plain(count: usize, arguments: &[&str]) -> Etcd {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let etcd = Etcd::start(count, "http", &arguments);
        etcd.wait(&etcd.settings());
        etcd
    }

    /// Waits until etcd answers.
    pub(crate) fn wait(&self, settings: &EtcdSettings) {
        let log = EtcdLog::new(settings).expect("settings");
        let begun = Instant::now();
        while log.end().is_err() {
            assert!(begun.elapsed() < START_WAIT, "etcd does not answer");
        }
    }

    /// Returns settings for all members. The waits are long: the machine may be busy.
    pub(crate) fn settings(&self) -> EtcdSettings {
        let mut settings = EtcdSettings::new(self.urls.clone(), "test");
        settings.try_ms = 5000;
        settings.call_ms = 30_000;
        settings
    }

    /// Returns a log with [`Etcd::settings`].
    pub(crate) fn log(&self) -> EtcdLog {
        EtcdLog::new(&self.settings()).expect("settings")
    }

    /// Sends a signal to a member, such as `STOP`.
    pub(crate) fn signal(&self, member: usize, signal: &str) {
        let id = self.members[member].id().to_string();
        let status = Command::new("kill").args(["-s", signal, &id]).status();
        assert!(status.expect("kill runs").success());
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        for member in &mut self.members {
            // A stopped process ends too.
            drop(member.kill());
            drop(member.wait());
        }
    }
}
