//! A directory server as a process: loaded, started, watched, stopped.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use super::contender::{Contender, Make};
use super::data_set::DataSet;
use super::ds389;
use super::duty::Duty;
use super::patience::{self, Patience};
use super::slapd_conf::{LOG_FOLDER, SCHEMA, SlapdConf};
use crate::measure::Outcome;

/// The file of a server that logs operations.
const LOG: &str = "operations.log";

/// The cost of a command, from its start to its end.
#[derive(Default)]
pub(crate) struct Spent {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
}

impl Spent {
    /// Returns the outcome of one operation at this cost.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome {
            operations: 1,
            wall_ns: u64::try_from(self.wall.as_nanos()).unwrap_or(u64::MAX),
            cpu_ns: u64::try_from(self.cpu.as_nanos()).unwrap_or(u64::MAX),
            digest: 0,
            latencies: None,
            beside: 0,
            file_bytes: 0,
            errors: 0,
            wrong: 0,
            version: String::new(),
        }
    }
}

/// A server's programs, files and address.
pub(crate) struct Installed {
    pub(crate) contender: &'static Contender,
    project: PathBuf,
    folder: PathBuf,
    pub(crate) port: u16,
    data_set: DataSet,
    people: u64,
    /// Entries of the database.
    entries: u64,
    duty: Duty,
    /// Databases of [`DataSet::Databases`].
    databases: u64,
    patience: Patience,
    running: Option<Child>,
}

impl Installed {
    pub(crate) fn new(
        contender: &'static Contender,
        project: &Path,
        folder: PathBuf,
        (data, people): (DataSet, u64),
        patience: Patience,
    ) -> anyhow::Result<Self> {
        Ok(Installed {
            contender,
            project: project.to_owned(),
            folder,
            port: free_port()?,
            data_set: data,
            entries: data.entries(people),
            people,
            duty: Duty::Nothing,
            databases: 1,
            patience,
            running: None,
        })
    }

    /// The same server with a duty, in another folder and on another port.
    pub(crate) fn with_duty(&self, duty: Duty, folder: PathBuf) -> anyhow::Result<Self> {
        let mut server = Installed::new(
            self.contender,
            &self.project,
            folder,
            (self.data_set, self.people),
            self.patience,
        )?;
        server.duty = duty;
        Ok(server)
    }

    /// Sets the number of databases and the server's duty.
    pub(crate) fn set_databases(&mut self, count: u64, duty: Duty) {
        (self.databases, self.duty) = (count, duty);
    }

    pub(crate) fn make(&self) -> Make {
        self.contender.make
    }

    pub(crate) fn name(&self) -> &'static str {
        self.contender.name
    }

    /// Returns the first missing file, if any.
    pub(crate) fn missing(&self) -> Option<String> {
        let program = self.program();
        (!program.exists()).then(|| format!("there is no {}", program.display()))
    }

    fn program(&self) -> PathBuf {
        match self.make() {
            Make::Ds389 => crate::folders::ds389_root(&self.project).join("usr/sbin/ns-slapd"),
            Make::Fulgurite => self.project.join("target/release/fulgurite"),
            Make::Slapd | Make::OldSlapd => self.slapd_root().join("usr/sbin/slapd"),
            Make::Echo => self.project.join("target/release/fulgurite-echo"),
        }
    }

    /// Where a slapd is unpacked: its own, or the one with the schema that ours reads.
    fn slapd_root(&self) -> PathBuf {
        crate::folders::slapd_root(&self.project, self.make() == Make::OldSlapd)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// One of the make's programs, with slapd's libraries, or its own.
    fn command(&self, ours: &str, slapd: &str) -> Command {
        let mut command = match self.make() {
            Make::Slapd | Make::OldSlapd => {
                Command::new(self.slapd_root().join("usr/sbin").join(slapd))
            }
            _ => Command::new(self.program()),
        };
        if self.make() == Make::Fulgurite {
            command.arg(ours);
        }
        let libraries = match self.make() {
            Make::Ds389 => ds389::library_path(&self.project),
            _ => crate::folders::library_path(&self.slapd_root()),
        };
        command
            .env("LD_LIBRARY_PATH", libraries)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .stdout(Stdio::null());
        command
    }

    /// Writes the settings. Ours reads slapd's.
    pub(crate) fn configure(&self) -> anyhow::Result<()> {
        fs::create_dir_all(self.data())?;
        if self.make() == Make::Ds389 {
            return ds389::configure(&self.project, &self.folder, self.port, self.duty);
        }
        if self.data_set == DataSet::Databases {
            for database in 0..self.databases {
                fs::create_dir_all(self.data().join(database.to_string()))?;
            }
        }
        if self.data_set == DataSet::Logged {
            fs::create_dir_all(self.folder.join(LOG_FOLDER))?;
        }
        if let Some(text) = self.data_set.schema() {
            fs::write(self.folder.join(SCHEMA), text)?;
        }
        let conf = SlapdConf {
            root: &self.slapd_root(),
            folder: &self.folder,
            backend: self.contender.backend,
            data_set: self.data_set,
            databases: self.databases,
            entries: self.entries,
            durable: self.duty == Duty::Durable,
            threads: self.contender.threads,
        };
        fs::write(self.configuration(), conf.text()).context("cannot write the configuration")
    }

    fn configuration(&self) -> PathBuf {
        self.folder.join("slapd.conf")
    }

    /// A new database out of LDIF.
    pub(crate) fn load(&self, ldif: &Path) -> anyhow::Result<Spent> {
        let _ = fs::remove_dir_all(self.data());
        fs::create_dir_all(self.data())?;
        if self.make() == Make::Ds389 {
            let mut command = self.command("load", "slapadd");
            let own = self.folder.join("ldif/people.ldif");
            ds389::with_access(ldif, &own)?;
            command.args(["ldif2db", "-n", "userRoot", "-D"]);
            command.arg(self.folder.join("conf")).arg("-i").arg(&own);
            let spent = self.spent(&mut command);
            fs::remove_file(own)?;
            return spent;
        }
        self.load_database(self.data_set.suffix(), ldif)
    }

    /// Adds LDIF to the database of a suffix.
    pub(crate) fn load_database(&self, suffix: &str, ldif: &Path) -> anyhow::Result<Spent> {
        let mut command = self.command("load", "slapadd");
        if self.make() == Make::Fulgurite {
            command
                .args(["--quiet", "--config"])
                .arg(self.configuration())
                .args(["--suffix", suffix])
                .arg(ldif);
        } else {
            command
                .args(["-q", "-f"])
                .arg(self.configuration())
                .args(["-b", suffix])
                .arg("-l")
                .arg(ldif);
        }
        let spent = self.spent(&mut command);
        self.forget_regions();
        spent
    }

    /// Removes the memory of Berkeley DB, which is files, after its program has ended. A start
    /// makes it again; it is no part of the database.
    fn forget_regions(&self) {
        let files = fs::read_dir(self.data()).into_iter().flatten().flatten();
        for file in files {
            if file.file_name().to_string_lossy().starts_with("__db.") {
                // A file that stays is only larger.
                let _ = fs::remove_file(file.path());
            }
        }
    }

    /// The database as LDIF; also how many entries that are.
    pub(crate) fn export(&self) -> anyhow::Result<(Spent, u64)> {
        let to = self.folder.join("export.ldif");
        let mut command = self.command("export", "slapcat");
        let flag = if self.make() == Make::Fulgurite {
            "--config"
        } else {
            "-f"
        };
        if self.make() == Make::Ds389 {
            command.args(["db2ldif", "-n", "userRoot", "-D"]);
            command.arg(self.folder.join("conf")).arg("-a").arg(&to);
        } else {
            command
                .arg(flag)
                .arg(self.configuration())
                .stdout(File::create(&to)?);
        }
        let spent = self.spent(&mut command)?;
        let text = fs::read(&to)?;
        fs::remove_file(&to)?;
        let lines = text.split(|&byte| byte == b'\n');
        let entries = lines.filter(|line| line.starts_with(b"dn:")).count() as u64;
        Ok((spent, entries))
    }

    /// Returns what our `explain` says of a search for a filter.
    pub(crate) fn explain(&self, filter: &str) -> Option<String> {
        let mut command = self.command("explain", "");
        command
            .arg("--config")
            .arg(self.configuration())
            .arg(filter);
        let output = command.stdout(Stdio::piped()).output().ok()?;
        String::from_utf8(output.stdout).ok()
    }

    /// Starts the server on one core; tells how long it took until the first answer.
    pub(crate) fn start(&mut self) -> anyhow::Result<Duration> {
        let mut command = on_core(0, &self.start_command());
        if self.duty == Duty::Logging && self.make() != Make::Ds389 {
            command.stderr(File::create(self.folder.join(LOG))?);
        }
        let begun = Instant::now();
        self.running = Some(command.spawn().context("cannot start the server")?);
        while begun.elapsed() < self.patience.answer {
            if self.answers() {
                return Ok(begun.elapsed());
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        bail!("{} does not answer", self.name())
    }

    /// The command that serves, without a core.
    pub(super) fn start_command(&self) -> Command {
        let logs = self.duty == Duty::Logging;
        let url = format!("ldap://127.0.0.1:{}", self.port);
        let mut command = self.command("serve", "slapd");
        match self.make() {
            Make::Fulgurite => {
                command.arg("--config").arg(self.configuration());
                command.args(["--log-level", "error", "--listen", &url]);
                command.args(logs.then_some("--log-operations"));
            }
            Make::Slapd | Make::OldSlapd => {
                let level = if logs { "stats" } else { "0" };
                command.args(["-d", level, "-h", &url, "-f"]);
                command.arg(self.configuration());
            }
            Make::Ds389 => {
                command
                    .args(["-d", "0", "-D"])
                    .arg(self.folder.join("conf"));
                command.arg("-i").arg(self.folder.join("run/pid"));
            }
            Make::Echo => {
                command.args(["--listen", &format!("127.0.0.1:{}", self.port)]);
                command.args(["--entries", &self.entries.to_string()]);
            }
        }
        command
    }

    /// Requires that a server of [`Duty::Logging`] has written a line for each operation.
    pub(crate) fn require_log(&self, operations: u64) -> anyhow::Result<()> {
        let file = match self.make() {
            Make::Ds389 => self.folder.join("log/access"),
            _ => self.folder.join(LOG),
        };
        let text = fs::read(&file).with_context(|| format!("no log {}", file.display()))?;
        let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64;
        ensure!(
            lines >= operations,
            "{lines} lines logged for {operations} operations"
        );
        Ok(())
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

    /// User and system time of the running server, of all its threads.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        let pid = self.pid().context("the server does not run")?;
        let mut sum = Duration::ZERO;
        for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
            let text = fs::read_to_string(thread?.path().join("schedstat"))?;
            let nanoseconds = text.split_ascii_whitespace().next().unwrap_or_default();
            sum += Duration::from_nanos(nanoseconds.parse()?);
        }
        Ok(sum)
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
        patience::wait(&mut process, "ended", self.patience.answer)?;
        self.forget_regions();
        Ok(())
    }

    /// Ends a server that does not answer, and starts it again.
    pub(crate) fn restart(&mut self) -> anyhow::Result<()> {
        if let Some(mut process) = self.running.take() {
            process.kill()?;
            process.wait()?;
        }
        self.start()?;
        Ok(())
    }

    /// Runs a command to its end.
    fn spent(&self, command: &mut Command) -> anyhow::Result<Spent> {
        let (begun, cpu) = (Instant::now(), cpu_of_children()?);
        let mut process = command.spawn().context("cannot run a command")?;
        let status = patience::wait(&mut process, "finished", self.patience.load)?;
        ensure!(status.success(), "{:?}: {status}", command.get_program());
        Ok(Spent {
            wall: begun.elapsed(),
            cpu: cpu_of_children()?.saturating_sub(cpu),
        })
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

/// A port that no program listens on.
pub(crate) fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no port is free")?;
    Ok(listener.local_addr()?.port())
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
