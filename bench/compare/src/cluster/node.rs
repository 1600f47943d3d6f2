//! A node of a cluster, or a single server with the same settings.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use fulgurite_client::Client;

use crate::directory::free_port;

pub(super) use crate::replication::node::SUFFIX;

const ROOT_DN: &str = "cn=admin,dc=example,dc=com";
const PASSWORD: &str = "secret";
/// The time that anything may take.
const PATIENCE: Duration = Duration::from_secs(900);

/// A server with its files; they stay when it stops.
pub(super) struct Node {
    program: PathBuf,
    folder: PathBuf,
    pub(super) port: u16,
    peers: u16,
    metrics: u16,
    running: Option<Child>,
}

impl Node {
    /// Writes the settings of a server that is alone so far.
    pub(super) fn new(program: &Path, folder: PathBuf) -> anyhow::Result<Node> {
        let node = Node {
            program: program.to_owned(),
            folder,
            port: free_port()?,
            peers: free_port()?,
            metrics: free_port()?,
            running: None,
        };
        let password = node.folder.join("password");
        fs::write(&password, PASSWORD)?;
        let text = format!(
            "suffix = \"{SUFFIX}\"\ndata = \"{}\"\nlisten = [\"ldap://127.0.0.1:{}\"]\n\
             [root]\ndn = \"{ROOT_DN}\"\npassword_file = \"{}\"\n\
             [start]\ncreate_suffix = true\n[metrics]\nlisten = \"127.0.0.1:{}\"\n",
            node.data().display(),
            node.port,
            password.display(),
            node.metrics
        );
        fs::write(node.config(), text)?;
        Ok(node)
    }

    fn config(&self) -> PathBuf {
        self.folder.join("fulgurite.toml")
    }

    /// Where the database is.
    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Removes the database of a node that does not run. The next start copies another node's.
    pub(super) fn lose_disk(&self) -> anyhow::Result<()> {
        fs::remove_dir_all(self.data())?;
        Ok(())
    }

    /// Has the node, which does not run, make checkpoints instead of flushing each batch.
    pub(super) fn make_checkpoints(&self, every: &str) -> anyhow::Result<()> {
        let text = fs::read_to_string(self.config())?;
        let table = "[cluster]\n";
        ensure!(text.contains(table), "there is no table of the cluster");
        let more = format!("{table}checkpoint_every = \"{every}\"\n");
        fs::write(self.config(), text.replace(table, &more))?;
        Ok(())
    }

    /// Runs a command of the program to its end. Returns its output.
    fn run(&self, words: &[&str], more: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(&self.program);
        command.args(words).arg("--config").arg(self.config());
        let output = command.args(more).stdin(Stdio::null()).output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{words:?}: {text}");
        Ok(String::from_utf8(output.stdout)?)
    }

    pub(super) fn load(&self, ldif: &Path) -> anyhow::Result<()> {
        let ldif = ldif.display().to_string();
        self.run(&["load", "--quiet"], &["--suffix", SUFFIX, &ldif])?;
        Ok(())
    }

    /// Begins a cluster with this server.
    pub(super) fn init(&self, urls: &[String]) -> anyhow::Result<()> {
        let peers = format!("127.0.0.1:{}", self.peers);
        let more = ["--peers", &peers, "--etcd", &urls.join(",")];
        self.run(&["cluster", "init"], &more)?;
        Ok(())
    }

    /// Makes another server a node of this one's cluster.
    pub(super) fn admit(&self, other: &Node) -> anyhow::Result<()> {
        let file = other.folder.join("token");
        fs::write(&file, self.run(&["cluster", "token"], &[])?)?;
        let peers = format!("127.0.0.1:{}", other.peers);
        let file = file.display().to_string();
        other.run(&["cluster", "join"], &["--peers", &peers, &file])?;
        Ok(())
    }

    /// Starts the server, and waits until it is ready.
    pub(super) fn start(&mut self) -> anyhow::Result<()> {
        let mut command = Command::new(&self.program);
        command.args(["serve", "--log-level", "error", "--config"]);
        command.arg(self.config());
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        let command = command.stderr(fs::File::create(self.folder.join("log"))?);
        self.running = Some(command.spawn().context("cannot start a server")?);
        let begun = Instant::now();
        while !self.page("/readyz").contains(" 200 ") {
            ensure!(begun.elapsed() < PATIENCE, "a server is not ready");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Ends the server as a power cut of its process does.
    pub(super) fn kill(&mut self) -> anyhow::Result<()> {
        if let Some(mut process) = self.running.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    pub(super) fn pid(&self) -> anyhow::Result<u32> {
        Ok(self.running.as_ref().context("not running")?.id())
    }

    /// Returns the answer to a question by HTTP; empty without a server.
    fn page(&self, name: &str) -> String {
        let ask = || {
            let mut socket = TcpStream::connect(("127.0.0.1", self.metrics))?;
            socket.set_read_timeout(Some(Duration::from_secs(10)))?;
            write!(socket, "GET {name} HTTP/1.0\r\n\r\n")?;
            let mut answer = String::new();
            socket.read_to_string(&mut answer)?;
            std::io::Result::Ok(answer)
        };
        ask().unwrap_or_default()
    }

    /// Returns true if the node is the sequencer.
    pub(super) fn leads(&self) -> bool {
        self.page("/metrics")
            .contains("\nfulgurite_cluster_leading 1\n")
    }

    pub(super) fn connect(&self) -> anyhow::Result<Client> {
        connect(self.port)
    }
}

/// Connects as the one to whom nothing is forbidden.
pub(super) fn connect(port: u16) -> anyhow::Result<Client> {
    let mut client = Client::connect(("127.0.0.1", port))?;
    client.set_read_timeout(Some(Duration::from_secs(30)))?;
    let bound = client.bind(ROOT_DN, PASSWORD.as_bytes())?;
    ensure!(
        bound.is_success(),
        "a bind is refused: {}",
        bound.code.name()
    );
    Ok(client)
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}
