//! A directory server as a process: loaded, started, watched, stopped.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use super::ds389;
use super::people::{ROOT_DN, ROOT_PASSWORD, SUFFIX};

/// How long a server may take for anything.
const PATIENCE: Duration = Duration::from_secs(1800);

/// The product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Make {
    Fulgurite,
    Slapd,
    Ds389,
    /// Answers without a directory.
    Echo,
}

impl Make {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Make::Fulgurite => "fulgurite",
            Make::Slapd => "slapd",
            Make::Ds389 => "389-ds",
            Make::Echo => "echo",
        }
    }
}

/// The cost of a command, from its start to its end.
#[derive(Default)]
pub(crate) struct Spent {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
}

/// A server's programs, files and address.
pub(crate) struct Installed {
    pub(crate) make: Make,
    project: PathBuf,
    folder: PathBuf,
    pub(crate) port: u16,
    /// Entries that an echo server answers with where there are as many as people.
    pub(crate) echoed: u64,
    running: Option<Child>,
}

impl Installed {
    pub(crate) fn new(make: Make, project: &Path, folder: PathBuf, port: u16) -> Self {
        Installed {
            make,
            project: project.to_owned(),
            folder,
            port,
            echoed: 1,
            running: None,
        }
    }

    /// Returns the first missing file, if any.
    pub(crate) fn missing(&self) -> Option<String> {
        let program = self.program();
        (!program.exists()).then(|| format!("there is no {}", program.display()))
    }

    fn program(&self) -> PathBuf {
        if self.make == Make::Ds389 {
            return crate::folders::ds389_root(&self.project).join("usr/sbin/ns-slapd");
        }
        self.project.join(match self.make {
            Make::Fulgurite => "target/release/fulgurite",
            Make::Slapd => "build/slapd/usr/sbin/slapd",
            Make::Echo | Make::Ds389 => "target/release/fulgurite-echo",
        })
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// One of the make's programs, with slapd's libraries, or its own.
    fn command(&self, ours: &str, slapd: &str) -> Command {
        let mut command = match self.make {
            Make::Slapd => Command::new(self.project.join("build/slapd/usr/sbin").join(slapd)),
            _ => Command::new(self.program()),
        };
        if self.make == Make::Fulgurite {
            command.arg(ours);
        }
        let libraries = format!("build/slapd/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        command.env("LD_LIBRARY_PATH", self.project.join(libraries));
        if self.make == Make::Ds389 {
            command.env("LD_LIBRARY_PATH", ds389::library_path(&self.project));
        }
        command
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .stdout(Stdio::null());
        command
    }

    /// The same settings for both: slapd.conf is read by either.
    pub(crate) fn configure(&self, durable: bool) -> anyhow::Result<()> {
        fs::create_dir_all(self.data())?;
        if self.make == Make::Ds389 {
            return ds389::configure(&self.project, &self.folder, self.port, durable);
        }
        let root = self.project.join("build/slapd");
        let root = root.display();
        let schemas = ["core", "cosine", "inetorgperson"]
            .map(|name| format!("include {root}/etc/ldap/schema/{name}.schema\n"))
            .concat();
        let sync = if durable { "" } else { "dbnosync\n" };
        let text = format!(
            "{schemas}modulepath {root}/usr/lib/ldap\nmoduleload back_mdb.so\nsizelimit unlimited\n\
             pidfile {}/pid\ndatabase mdb\nmaxsize 34359738368\n{sync}suffix \"{SUFFIX}\"\nrootdn \"{ROOT_DN}\"\n\
             rootpw \"{ROOT_PASSWORD}\"\ndirectory {}\nindex objectClass,entryUUID,entryCSN eq\n\
             index uid,mail eq,pres,sub\nindex cn,sn,givenName eq,sub\nindex l,st eq\nindex member eq\n",
            self.folder.display(),
            self.data().display(),
        );
        fs::write(self.configuration(), text).context("cannot write the configuration")
    }

    fn configuration(&self) -> PathBuf {
        self.folder.join("slapd.conf")
    }

    /// A new database out of LDIF.
    pub(crate) fn load(&self, ldif: &Path) -> anyhow::Result<Spent> {
        let _ = fs::remove_dir_all(self.data());
        fs::create_dir_all(self.data())?;
        let mut command = self.command("load", "slapadd");
        if self.make == Make::Ds389 {
            let own = self.folder.join("ldif/people.ldif");
            ds389::with_access(ldif, &own)?;
            command.args(["ldif2db", "-n", "userRoot", "-D"]);
            command.arg(self.folder.join("conf")).arg("-i").arg(&own);
            let spent = spent(&mut command);
            fs::remove_file(own)?;
            return spent;
        }
        if self.make == Make::Fulgurite {
            command
                .args(["--quiet", "--config"])
                .arg(self.configuration())
                .arg(ldif);
        } else {
            command
                .args(["-q", "-f"])
                .arg(self.configuration())
                .arg("-l")
                .arg(ldif);
        }
        spent(&mut command)
    }

    /// The database as LDIF; also how many entries that are.
    pub(crate) fn export(&self) -> anyhow::Result<(Spent, u64)> {
        let to = self.folder.join("export.ldif");
        let mut command = self.command("export", "slapcat");
        let flag = if self.make == Make::Fulgurite {
            "--config"
        } else {
            "-f"
        };
        if self.make == Make::Ds389 {
            command.args(["db2ldif", "-n", "userRoot", "-D"]);
            command.arg(self.folder.join("conf")).arg("-a").arg(&to);
        } else {
            command
                .arg(flag)
                .arg(self.configuration())
                .stdout(File::create(&to)?);
        }
        let spent = spent(&mut command)?;
        let text = fs::read(&to)?;
        fs::remove_file(&to)?;
        let lines = text.split(|&octet| octet == b'\n');
        let entries = lines.filter(|line| line.starts_with(b"dn:")).count() as u64;
        Ok((spent, entries))
    }

    /// Starts the server on one core; tells how long it took until the first answer.
    pub(crate) fn start(&mut self) -> anyhow::Result<Duration> {
        let command = match self.make {
            Make::Fulgurite => {
                let mut command = self.command("serve", "");
                command.arg("--config").arg(self.configuration());
                command.args([
                    "--log-level",
                    "error",
                    "--listen",
                    &format!("ldap://127.0.0.1:{}", self.port),
                ]);
                command
            }
            Make::Slapd => {
                let mut command = self.command("", "slapd");
                command.args([
                    "-d",
                    "0",
                    "-h",
                    &format!("ldap://127.0.0.1:{}", self.port),
                    "-f",
                ]);
                command.arg(self.configuration());
                command
            }
            Make::Ds389 => {
                let mut command = self.command("", "");
                command
                    .args(["-d", "0", "-D"])
                    .arg(self.folder.join("conf"));
                command.arg("-i").arg(self.folder.join("run/pid"));
                command
            }
            Make::Echo => {
                let mut command = self.command("", "");
                command.args(["--listen", &format!("127.0.0.1:{}", self.port)]);
                command.args(["--entries", &self.echoed.to_string()]);
                command
            }
        };
        let mut command = on_core(0, &command);
        let begun = Instant::now();
        self.running = Some(command.spawn().context("cannot start the server")?);
        while begun.elapsed() < Duration::from_secs(60) {
            if self.answers() {
                return Ok(begun.elapsed());
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        bail!("{} does not answer", self.make.name())
    }

    /// Returns true if the server answers an anonymous bind.
    fn answers(&self) -> bool {
        const BIND: [u8; 14] = [0x30, 12, 2, 1, 1, 0x60, 7, 2, 1, 3, 4, 0, 0x80, 0];
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else {
            return false;
        };
        let patience = stream.set_read_timeout(Some(Duration::from_secs(30)));
        patience.is_ok()
            && stream.write_all(&BIND).is_ok()
            && stream.read(&mut [0; 64]).is_ok_and(|len| len > 0)
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(Child::id)
    }

    /// Kibibytes of the running server that no file backs, and all that it has in memory.
    pub(crate) fn memory(&self) -> Option<(u64, u64)> {
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid()?)).ok()?;
        let line = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse().ok()
        };
        Some((line("Anonymous:")?, line("Rss:")?))
    }

    /// Ends the server as administrators do.
    pub(crate) fn stop(&mut self) -> anyhow::Result<()> {
        let Some(mut process) = self.running.take() else {
            return Ok(());
        };
        Command::new("kill")
            .arg(process.id().to_string())
            .status()?;
        process.wait()?;
        Ok(())
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

/// The same command held on one core, where there are several: servers on the first, those who ask
/// on another.
pub(crate) fn on_core(core: usize, command: &Command) -> Command {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut held = Command::new("taskset");
    held.args(["-c", &(core % cores).to_string()])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            held.env(name, value);
        }
    }
    held.stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    held
}

/// Runs a command to its end.
fn spent(command: &mut Command) -> anyhow::Result<Spent> {
    let (begun, cpu) = (Instant::now(), cpu_of_children()?);
    let mut process = command.spawn().context("cannot run a command")?;
    loop {
        if let Some(status) = process.try_wait()? {
            ensure!(status.success(), "{:?}: {status}", command.get_program());
            break;
        }
        if begun.elapsed() > PATIENCE {
            process.kill()?;
            process.wait()?;
            bail!("{:?} does not end", command.get_program());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(Spent {
        wall: begun.elapsed(),
        cpu: cpu_of_children()?.saturating_sub(cpu),
    })
}

/// CPU time of all processes that this one has waited for.
fn cpu_of_children() -> anyhow::Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks: u64 = fields
        .split_ascii_whitespace()
        .skip(13)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    // A hundred ticks a second, on any Linux.
    Ok(Duration::from_millis(ticks * 10))
}
