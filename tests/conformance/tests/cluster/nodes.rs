//! The nodes of a test, from their commands to their servers.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use fulgurite_client::{Client, Scope};
use fulgurite_conformance::{PASSWORD, ROOT, RunningServer, SUFFIX, fulgurite, path};
use fulgurite_testkit::Etcd;
use rustix::process::Signal;
use tempfile::TempDir;

/// The wait for anything that must happen.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// One node: its folder, its ports, and its server while it runs.
pub(crate) struct Node {
    folder: TempDir,
    ldap: u16,
    peers: u16,
    metrics: u16,
    pub(crate) server: Option<RunningServer>,
}

/// Returns ports that differ. The listeners hold them until all are chosen.
fn free_ports<const N: usize>() -> [u16; N] {
    let sockets = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    sockets.map(|socket| socket.local_addr().expect("an address").port())
}

/// Runs a command to its end, which must be good, and returns its output.
pub(crate) fn well(command: &mut Command) -> String {
    let output: Output = command.stdin(Stdio::null()).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}: {said}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

impl Node {
    pub(crate) fn new() -> Node {
        let [ldap, peers, metrics] = free_ports();
        Node {
            folder: TempDir::new().expect("a folder"),
            ldap,
            peers,
            metrics,
            server: None,
        }
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.folder.path().join("fulgurite.toml")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Writes the settings of the server, as an administrator has them before a cluster.
    pub(crate) fn configure(&self) {
        let password = self.folder.path().join("password");
        std::fs::write(&password, PASSWORD).expect("written");
        let text = format!(
            "suffix = \"{SUFFIX}\"\ndata = \"{}\"\nlisten = [\"ldap://127.0.0.1:{}\"]\n\
             access = [\"to attrs=userPassword by self =xw by anonymous auth by * none\", \"to * by users write by * read\"]\n\
             [root]\ndn = \"{ROOT}\"\npassword_file = \"{}\"\n\
             [start]\ncreate_suffix = true\n[metrics]\nlisten = \"127.0.0.1:{}\"\n",
            self.data().display(),
            self.ldap,
            password.display(),
            self.metrics
        );
        std::fs::write(self.config(), text).expect("written");
    }

    fn cluster(&self, action: &str) -> Command {
        let mut command = fulgurite();
        command.args(["cluster", action, "--config", path(&self.config())]);
        command
    }

    fn peers(&self) -> String {
        format!("127.0.0.1:{}", self.peers)
    }

    /// Begins a cluster with this node. Returns its name.
    pub(crate) fn init(&self, etcd: &Etcd, more: &[&str]) -> String {
        self.init_at(&etcd.urls, more)
    }

    fn init_at(&self, urls: &[String], more: &[&str]) -> String {
        let mut command = self.cluster("init");
        command.args(["--peers", &self.peers(), "--etcd", &urls.join(",")]);
        well(command.args(more)).trim().to_owned()
    }

    /// Returns a token that this node makes.
    pub(crate) fn token(&self) -> String {
        well(&mut self.cluster("token"))
    }

    /// Returns the command with which this node joins.
    pub(crate) fn join(&self, token: &str) -> Command {
        let file = self.folder.path().join("token");
        std::fs::write(&file, token).expect("written");
        let mut command = self.cluster("join");
        command.args(["--peers", &self.peers(), path(&file)]);
        command
    }

    /// Returns the command with which this node takes a new certificate.
    pub(crate) fn renew(&self, token: Option<&str>) -> Command {
        let mut command = self.cluster("renew");
        if let Some(token) = token {
            let file = self.folder.path().join("token");
            std::fs::write(&file, token).expect("written");
            command.arg(file);
        }
        command
    }

    /// Returns a token with a new certificate of another node.
    pub(crate) fn renewal(&self, node: u64) -> String {
        well(self.cluster("token").args(["--renew", &node.to_string()]))
    }

    pub(crate) fn certificate(&self) -> String {
        let file = self.folder.path().join("cluster/node.pem");
        std::fs::read_to_string(file).expect("a certificate")
    }

    /// Adds a line to the settings, before the first table.
    pub(crate) fn add_setting(&self, line: &str) {
        let text = std::fs::read_to_string(self.config()).expect("settings");
        std::fs::write(self.config(), format!("{line}\n{text}")).expect("written");
    }

    /// Lets a node that has joined make a checkpoint each second, and flush nothing else.
    fn flush_at_checkpoints_only(&self) {
        let table = "[cluster]\n";
        let text = std::fs::read_to_string(self.config()).expect("settings");
        assert!(text.contains(table), "{text}");
        let more = format!("{table}checkpoint_every = \"1s\"\n");
        std::fs::write(self.config(), text.replace(table, &more)).expect("written");
    }

    pub(crate) fn leave(&self) -> Command {
        self.cluster("leave")
    }

    pub(crate) fn forget(&self, node: u64) -> Command {
        let mut command = self.cluster("forget");
        command.arg(node.to_string());
        command
    }

    pub(crate) fn status(&self) -> Command {
        self.cluster("status")
    }

    pub(crate) fn serve(&self) -> Command {
        let mut command = fulgurite();
        command.args(["serve", "--config", path(&self.config())]);
        command
    }

    pub(crate) fn start(&mut self) {
        self.server = Some(RunningServer::start(&mut self.serve()));
    }

    pub(crate) fn server(&self) -> &RunningServer {
        self.server.as_ref().expect("the server runs")
    }

    /// Kills the server as a power cut of its process does, and starts it again.
    pub(crate) fn kill(&mut self) {
        let server = self.server.take().expect("the server runs");
        server.signal(Signal::KILL);
        drop(server.wait());
        self.start();
    }

    pub(crate) fn url(&self) -> std::net::SocketAddr {
        std::net::SocketAddr::from(([127, 0, 0, 1], self.ldap))
    }

    /// Returns the answer of the probe: its status, and its text.
    pub(crate) fn ready(&self) -> (bool, String) {
        let answer = self.page("/readyz");
        (answer.contains(" 200 "), answer)
    }

    /// Returns the answer to a question by HTTP; empty without a server.
    pub(crate) fn page(&self, name: &str) -> String {
        use std::io::{Read as _, Write as _};
        let ask = || {
            let mut socket = std::net::TcpStream::connect(("127.0.0.1", self.metrics))?;
            socket.set_read_timeout(Some(Duration::from_secs(10)))?;
            write!(socket, "GET {name} HTTP/1.0\r\n\r\n")?;
            let mut answer = String::new();
            socket.read_to_string(&mut answer)?;
            std::io::Result::Ok(answer)
        };
        ask().unwrap_or_default()
    }

    pub(crate) fn wait_ready(&self) {
        wait("the node is ready", || self.ready().0);
    }

    /// Returns all entries with all attributes, sorted.
    pub(crate) fn content(&self) -> Vec<String> {
        let mut client = self.server().root_client();
        let found = client.search(SUFFIX, Scope::Subtree, "(objectClass=*)", &["*", "+"]);
        let entries = found.expect("a search").entries.into_iter();
        let mut entries: Vec<String> = entries.map(|entry| format!("{entry:?}")).collect();
        entries.sort();
        entries
    }
}

/// Waits until something is so.
pub(crate) fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Connects as the root, unless the server is away.
pub(crate) fn root_client(address: std::net::SocketAddr) -> Option<Client> {
    let mut client = Client::connect(address).ok()?;
    client
        .set_read_timeout(Some(Duration::from_secs(30)))
        .ok()?;
    let bound = client.bind(ROOT, PASSWORD.as_bytes()).ok()?;
    bound.is_success().then_some(client)
}

/// Makes three nodes with three commands, and starts their servers.
pub(crate) fn three(etcd: &Etcd) -> [Node; 3] {
    three_of([(); 3].map(|()| Node::new()), &etcd.urls)
}

/// Makes a cluster of these nodes. They reach the members of etcd by these URLs. The second one
/// flushes at checkpoints only.
pub(crate) fn three_of(mut nodes: [Node; 3], urls: &[String]) -> [Node; 3] {
    nodes.iter().for_each(Node::configure);
    nodes[0].init_at(urls, &[]);
    nodes[0].start();
    for number in 1..3 {
        let token = nodes[0].token();
        well(&mut nodes[number].join(&token));
        if number == 1 {
            nodes[number].flush_at_checkpoints_only();
        }
        nodes[number].start();
    }
    nodes.iter().for_each(Node::wait_ready);
    nodes
}
