//! Stores behind the protocol of memcached: what its clients wait for.
//!
//! ```text
//!   mod.rs    one front end after the other, the same requests to each
//!   front.rs  a store as a server: text protocol, a thread for each connection
//!   client.rs clients that set and get, and compare what they get
//! ```
//!
//! MemcacheDB put Berkeley DB, later LMDB, behind that protocol. It is no longer packaged, so this
//! front end takes its place. memcached itself keeps everything in memory, and forgets it.

mod client;
mod front;

pub(crate) use front::Front;

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use crate::directory::{free_port, on_core, wait};
use crate::engines::{Engine, library_folders};
use crate::folders::{Folders, library_path};
use crate::measure::Outcome;
use crate::results::{Missing, Present, Results, Row};
use crate::workload::{Figure, Medium};
use client::{CLIENTS, Operation};

/// Records in all.
const RECORDS: u64 = 100_000;

/// The engines behind the front end, and the name of memcached.
const ENGINES: &[&str] = &["fulgurite", "lmdb-0.9.36", "berkeley"];
pub(crate) const MEMCACHED: &str = "memcached";

/// The longest time that a server takes to start and to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Rows with their titles.
pub(crate) const ROWS: &[(&str, &str)] = &[
    (
        "memcache-set",
        "values of 100 bytes stored by 4 clients, latency",
    ),
    ("memcache-get", "the same values read by 4 clients, latency"),
];

/// The plan of a run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) project: PathBuf,
    pub(crate) rounds: u64,
    /// Divides the number of records.
    pub(crate) scale: u64,
    pub(crate) seed: u64,
    pub(crate) memory: PathBuf,
}

/// A server of the protocol.
struct Server {
    process: Child,
    port: u16,
    /// True if it ends with its last connection.
    is_front: bool,
}

/// Runs the plan.
/// # Errors
/// Folders that cannot be made; what servers do wrong is in the results.
pub(crate) fn run(plan: &Plan) -> anyhow::Result<Results> {
    let records = (RECORDS / plan.scale).max(100);
    let mut results = Results {
        title: "Stores behind the protocol of memcached".to_owned(),
        reference: crate::engines::REFERENCE.to_owned(),
        ours: vec!["fulgurite".to_owned()],
        scale: plan.scale,
        rows: ROWS
            .iter()
            .map(|(name, title)| row(name, title, records))
            .collect(),
        ..Results::default()
    };
    let mut folders = Folders::new(&plan.memory, &plan.memory)?;
    for round in 0..plan.rounds {
        for name in ENGINES.iter().copied().chain([MEMCACHED]) {
            let folder = folders.fresh(Medium::Memory)?;
            let server = match plan.server(name, &folder, &mut results) {
                Ok(Some(server)) => server,
                Ok(None) => continue,
                Err(error) => {
                    results.note(("memcache-set", name, round), Err(error));
                    continue;
                }
            };
            let (set, get) = plan.ask(server, records, round);
            results.note(("memcache-set", name, round), set);
            results.note(("memcache-get", name, round), get);
            std::fs::remove_dir_all(&folder)?;
        }
    }
    for row in &results.rows {
        crate::amounts::progress(row, &results.reference, &results.ours);
    }
    Ok(results)
}

fn row(name: &str, title: &str, records: u64) -> Row {
    Row {
        name: name.to_owned(),
        title: title.to_owned(),
        part: "Behind the protocol of memcached".to_owned(),
        records,
        threads: CLIENTS,
        figure: Figure::Wall,
        writes: false,
        faults: Vec::new(),
        played: Vec::new(),
        plan: None,
    }
}

impl Plan {
    /// Starts a server; none if it is not here, which the results then say.
    fn server(
        &self,
        name: &str,
        folder: &Path,
        results: &mut Results,
    ) -> anyhow::Result<Option<Server>> {
        let command = match Engine::named(name) {
            Some(engine) => self.front(engine, folder),
            None => self.memcached(),
        };
        let (title, tuning) = match Engine::named(name) {
            Some(engine) => (engine.title, engine.tuning),
            None => (MEMCACHED, "-t 4 -m 1024; keeps all in memory"),
        };
        let (command, port) = match command {
            Ok(command) => command,
            Err(why) => {
                if !results.missing.iter().any(|one| one.title == title) {
                    results.missing.push(Missing {
                        title: title.to_owned(),
                        why,
                    });
                }
                return Ok(None);
            }
        };
        if !results.engines.iter().any(|one| one.name == name) {
            results.engines.push(Present {
                name: name.to_owned(),
                title: title.to_owned(),
                version: version(&command, name),
                code_bytes: None,
                tuning: tuning.to_owned(),
            });
        }
        Server::start(&command, port).map(Some)
    }

    /// The front end of an engine. It tells its port.
    fn front(&self, engine: &Engine, folder: &Path) -> Result<(Command, Option<u16>), String> {
        let library = engine.library(&self.project)?;
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let folders = std::env::join_paths(library_folders(&self.project));
        let mut command = Command::new(own);
        command
            .args(["memcache", "--engine", engine.name])
            .args(["--connections", &(2 * CLIENTS).to_string()])
            .arg("--folder")
            .arg(folder)
            .env(
                "LD_LIBRARY_PATH",
                folders.map_err(|error| error.to_string())?,
            );
        if !library.as_os_str().is_empty() {
            command.arg("--library").arg(library);
        }
        Ok((command, None))
    }

    /// memcached, unpacked or installed.
    fn memcached(&self) -> Result<(Command, Option<u16>), String> {
        let unpacked = self.project.join("build/memcached/root");
        let programs = [
            unpacked.join("usr/bin/memcached"),
            PathBuf::from("/usr/bin/memcached"),
        ];
        let program = programs.iter().find(|program| program.exists());
        let program = program.ok_or("there is no memcached")?;
        let port = free_port().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command
            .args([
                "-l",
                "127.0.0.1",
                "-U",
                "0",
                "-t",
                "4",
                "-m",
                "1024",
                "-u",
                "root",
                "-p",
            ])
            .arg(port.to_string())
            .env("LD_LIBRARY_PATH", library_path(&unpacked));
        Ok((command, Some(port)))
    }

    /// Sets all records, then gets them in another order. Each client connects twice.
    fn ask(
        &self,
        server: Server,
        records: u64,
        round: u64,
    ) -> (anyhow::Result<Outcome>, anyhow::Result<Outcome>) {
        let seed = self.seed + round;
        let set = client::ask(server.port, Operation::Set, records, seed);
        let get = match &set {
            Ok(_) => client::ask(server.port, Operation::Get, records, seed),
            Err(_) => Err(anyhow::anyhow!("nothing was stored")),
        };
        let ended = server.end(get.is_ok());
        (set, get.and_then(|outcome| ended.map(|()| outcome)))
    }
}

impl Server {
    fn start(command: &Command, port: Option<u16>) -> anyhow::Result<Server> {
        let mut held = on_core(0, command);
        let is_front = port.is_none();
        if is_front {
            held.stdout(Stdio::piped());
        }
        let mut process = held.spawn().context("cannot start a server")?;
        let port = match port {
            Some(port) => port,
            None => {
                let output = process.stdout.take().context("no output")?;
                let mut line = String::new();
                BufReader::new(output).read_line(&mut line)?;
                let Ok(port) = line.trim().parse() else {
                    process.kill()?;
                    process.wait()?;
                    bail!("the front end did not start");
                };
                port
            }
        };
        let begun = Instant::now();
        // A front end listens already, and counts its connections.
        while !is_front && TcpStream::connect(("127.0.0.1", port)).is_err() {
            ensure!(begun.elapsed() < PATIENCE, "the server does not answer");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(Server {
            process,
            port,
            is_front,
        })
    }

    /// Ends it; a front end closes its store after its last connection.
    fn end(mut self, is_right: bool) -> anyhow::Result<()> {
        if !self.is_front || !is_right {
            self.process.kill()?;
            self.process.wait()?;
            return Ok(());
        }
        let status = wait(&mut self.process, "ended", PATIENCE)?;
        ensure!(status.success(), "the front end: {status}");
        Ok(())
    }
}

/// The version that a program reports.
fn version(command: &Command, name: &str) -> String {
    if name != MEMCACHED {
        return "a front end of this bench".to_owned();
    }
    let mut asked = Command::new(command.get_program());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            asked.env(name, value);
        }
    }
    let output = asked.arg("-V").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_default()
}
