//! A provider or a consumer as a process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use fulgurite_client::{Client, Scope};

use crate::directory::free_port;
use crate::folders::{copy_files, library_path, slapd_root};
use crate::workload::Medium;

pub(crate) const SUFFIX: &str = "dc=example,dc=com";
const ROOT_DN: &str = "cn=admin,dc=example,dc=com";
const PASSWORD: &str = "secret";
const INDEXES: &str = "index objectClass,entryUUID,entryCSN eq\nindex uid,mail eq,pres,sub\n\
    index cn,sn,givenName eq,sub\nindex l,st eq\n";
/// The time that anything may take.
const PATIENCE: Duration = Duration::from_secs(1_800);

/// A program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Make {
    Ours,
    Slapd,
}

/// The part that a server plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// No overlay. Ours has its log all the same.
    Alone,
    Provider,
    /// A copy of the provider at a port.
    Consumer(u16),
    /// The provider of this number among three, at these ports. They tell each other entries, or
    /// their access logs.
    Peer(usize, [u16; 3], bool),
}

/// A server with its files; they stay when it stops.
pub(crate) struct Node {
    make: Make,
    ours: PathBuf,
    project: PathBuf,
    folder: PathBuf,
    pub(crate) port: u16,
    running: Option<Child>,
}

impl Node {
    /// Writes the settings of a server without entries. `flushes` is false for a slapd that leaves
    /// durability to its log elsewhere.
    pub(crate) fn new(
        (make, role): (Make, Role),
        (ours, project): (&Path, &Path),
        folder: PathBuf,
        flushes: bool,
    ) -> anyhow::Result<Node> {
        fs::create_dir_all(folder.join("data"))?;
        fs::create_dir_all(folder.join("log"))?;
        let node = Node {
            make,
            ours: ours.to_owned(),
            project: project.to_owned(),
            folder,
            port: match role {
                Role::Peer(own, ports, _) => *ports.get(own).context("no such provider")?,
                _ => free_port()?,
            },
            running: None,
        };
        let program = node.program("slapd");
        ensure!(program.exists(), "there is no {}", program.display());
        fs::write(node.configuration(), node.text(role, flushes))?;
        Ok(node)
    }

    fn text(&self, role: Role, flushes: bool) -> String {
        let root = slapd_root(&self.project, false);
        let (root, folder) = (root.display(), self.folder.display());
        let schema = ["core", "cosine", "inetorgperson"]
            .map(|name| format!("include {root}/etc/ldap/schema/{name}.schema\n"))
            .concat();
        let server = match role {
            Role::Consumer(_) => 2,
            Role::Peer(own, ..) => own + 1,
            _ => 1,
        };
        let sync = if flushes { "" } else { "dbnosync\n" };
        let log = match role {
            Role::Peer(_, _, true) => format!(
                "moduleload accesslog.so\ndatabase mdb\nsuffix cn=log\nrootdn \"{ROOT_DN}\"\n\
                 directory {folder}/log\nmaxsize 34359738368\n\
                 index reqStart,reqEnd,reqResult,entryCSN,objectClass eq\noverlay syncprov\n\
                 syncprov-nopresent TRUE\nsyncprov-reloadhint TRUE\n"
            ),
            _ => String::new(),
        };
        let role = match role {
            Role::Alone => String::new(),
            Role::Provider => "overlay syncprov\nsyncprov-checkpoint 10000 10\n\
                syncprov-sessionlog 1000000\n"
                .to_owned(),
            Role::Peer(own, ports, with_log) => peers_text(own, ports, with_log),
            Role::Consumer(port) => format!(
                "syncrepl rid=001 provider=ldap://127.0.0.1:{port} type=refreshAndPersist \
                 retry=\"1 +\" searchbase=\"{SUFFIX}\" bindmethod=simple binddn=\"{ROOT_DN}\" \
                 credentials={PASSWORD}\n"
            ),
        };
        format!(
            "{schema}modulepath {root}/usr/lib/ldap\nmoduleload back_mdb.so\n\
             moduleload syncprov.so\nsizelimit unlimited\nloglevel 0\ntool-threads 2\n\
             pidfile {folder}/pid\nserverID {server}\n{log}database mdb\nsuffix \"{SUFFIX}\"\n\
             rootdn \"{ROOT_DN}\"\nrootpw {PASSWORD}\ndirectory {folder}/data\n\
             maxsize 34359738368\n{sync}{INDEXES}{role}"
        )
    }

    fn configuration(&self) -> PathBuf {
        self.folder.join("slapd.conf")
    }

    fn program(&self, slapd: &str) -> PathBuf {
        match self.make {
            Make::Ours => self.ours.clone(),
            Make::Slapd => slapd_root(&self.project, false)
                .join("usr/sbin")
                .join(slapd),
        }
    }

    fn command(&self, slapd: &str) -> Command {
        let mut command = Command::new(self.program(slapd));
        command
            .env(
                "LD_LIBRARY_PATH",
                library_path(&slapd_root(&self.project, false)),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Loads LDIF, with the state that consumers ask for.
    pub(crate) fn load(&self, ldif: &Path) -> anyhow::Result<()> {
        let mut command = self.command("slapadd");
        match self.make {
            Make::Ours => command.args(["load", "--quiet", "--config"]),
            Make::Slapd => command.args(["-q", "-w", "-S", "1", "-f"]),
        };
        command.arg(self.configuration());
        match self.make {
            Make::Ours => command.args(["--suffix", SUFFIX]).arg(ldif),
            Make::Slapd => command.args(["-b", SUFFIX, "-l"]).arg(ldif),
        };
        ensure!(command.status()?.success(), "{:?} cannot load", self.make);
        Ok(())
    }

    /// Copies the store of a server that is stopped.
    pub(crate) fn take_files(&self, other: &Node) -> anyhow::Result<()> {
        let (from, to) = (other.folder.join("data"), self.folder.join("data"));
        copy_files(&from, &to, Medium::Disk)
    }

    /// Starts the server, and waits until it answers.
    pub(crate) fn start(&mut self) -> anyhow::Result<()> {
        let mut command = self.command("slapd");
        let url = format!("ldap://127.0.0.1:{}", self.port);
        match self.make {
            Make::Ours => {
                command.args(["serve", "--log-level", "error", "--listen", &url]);
                command.arg("--config");
            }
            Make::Slapd => {
                command.args(["-d", "0", "-h", &url, "-f"]);
            }
        }
        command.arg(self.configuration());
        self.running = Some(command.spawn().context("cannot start a server")?);
        let begun = Instant::now();
        while Client::connect(("127.0.0.1", self.port)).is_err() {
            ensure!(
                begun.elapsed() < PATIENCE,
                "{:?} does not answer",
                self.make
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Connects as the one to whom nothing is forbidden.
    pub(crate) fn connect(&self) -> anyhow::Result<Client> {
        let mut client = Client::connect(("127.0.0.1", self.port))?;
        let bound = client.bind(ROOT_DN, PASSWORD.as_bytes())?;
        ensure!(
            bound.is_success(),
            "a bind is refused: {}",
            bound.code.name()
        );
        Ok(client)
    }

    /// Returns the contextCSN, sorted; empty before there is any.
    pub(crate) fn state(client: &mut Client) -> anyhow::Result<Vec<Vec<u8>>> {
        let filter = "(objectClass=*)";
        let found = client.search(SUFFIX, Scope::Base, filter, &["contextCSN"])?;
        let entry = found.entries.first();
        let mut state = entry.map_or_else(Vec::new, |entry| entry.values("contextCSN").to_vec());
        state.sort();
        Ok(state)
    }

    /// Waits until this server is in the state of another one.
    pub(crate) fn follow(&self, provider: &Node) -> anyhow::Result<()> {
        let (mut own, mut other) = (self.connect()?, provider.connect()?);
        let begun = Instant::now();
        loop {
            let wanted = Self::state(&mut other)?;
            if !wanted.is_empty() && Self::state(&mut own)? == wanted {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                bail!("a copy of {:?} does not follow", provider.make);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the number of entries.
    pub(crate) fn entries(&self) -> anyhow::Result<usize> {
        let mut client = self.connect()?;
        let found = client.search(SUFFIX, Scope::Subtree, "(objectClass=*)", &["1.1"])?;
        ensure!(found.result.is_success(), "the entries cannot be counted");
        Ok(found.entries.len())
    }

    /// Returns the bytes of anonymous memory.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        let pid = self.running.as_ref().context("not running")?.id();
        let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
        let line = text.lines().find(|line| line.starts_with("Anonymous:"));
        let kibibytes = line.and_then(|line| line.split_whitespace().nth(1));
        Ok(kibibytes.context("no figure of memory")?.parse::<u64>()? << 10)
    }

    /// Ends the server as a power cut of its process does.
    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        if let Some(mut process) = self.running.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// Removes the databases of a server that does not run.
    pub(crate) fn lose_disk(&self) -> anyhow::Result<()> {
        for database in ["data", "log"].map(|name| self.folder.join(name)) {
            fs::remove_dir_all(&database)?;
            fs::create_dir(&database)?;
        }
        Ok(())
    }

    /// Ends the server as administrators do.
    pub(crate) fn stop(&mut self) -> anyhow::Result<()> {
        if let Some(mut process) = self.running.take() {
            Command::new("kill")
                .arg(process.id().to_string())
                .status()?;
            process.wait()?;
        }
        Ok(())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// Returns the overlays of a provider among others, and where it copies from.
fn peers_text(own: usize, ports: [u16; 3], with_log: bool) -> String {
    let mut text = String::from("overlay syncprov\nsyncprov-checkpoint 1000 10\n");
    let mut by_log = "";
    if with_log {
        text += "overlay accesslog\nlogdb cn=log\nlogops writes\nlogsuccess TRUE\n";
        by_log = "logbase=\"cn=log\" syncdata=accesslog \
            logfilter=\"(&(objectClass=auditWriteObject)(reqResult=0))\"";
    }
    for (number, port) in ports
        .iter()
        .enumerate()
        .filter(|(number, _)| *number != own)
    {
        text += &format!(
            "syncrepl rid=00{number} provider=ldap://127.0.0.1:{port} type=refreshAndPersist \
             retry=\"1 +\" searchbase=\"{SUFFIX}\" bindmethod=simple binddn=\"{ROOT_DN}\" \
             credentials={PASSWORD} {by_log}\n"
        );
    }
    text + "multiprovider on\n"
}
