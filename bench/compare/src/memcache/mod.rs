//! Stores behind the protocol of memcached: what its clients wait for.
//!
//! ```text
//!   mod.rs      one front end or server after the other, the same requests to each
//!   front.rs    a store as a server: text protocol, a thread for each connection
//!   servers.rs  whole servers: memcached, Redis, our own
//!   client.rs   clients that set and get, and compare what they get
//! ```
//!
//! MemcacheDB put Berkeley DB, later LMDB, behind that protocol. It is no longer packaged, so this
//! front end takes its place. memcached itself keeps everything in memory, and forgets it. Redis
//! joins where each value is waited for.

mod client;
mod front;
mod servers;

pub(crate) use front::Front;
pub(crate) use servers::MEMCACHED;
#[cfg(test)]
pub(crate) use servers::is_server;

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use crate::directory::{on_core, wait};
use crate::engines::{Engine, library_folders};
use crate::folders::Folders;
use crate::results::{Missing, Present, Results, Row};
use crate::workload::{Figure, Medium};
use client::{CLIENTS, DURABLE_CLIENTS, Operation, Protocol, Question};
use servers::{SERVERS, WholeServer};

/// Records in all.
const RECORDS: u64 = 100_000;

/// The engines behind the front end.
const ENGINES: &[&str] = &["fulgurite", "lmdb-0.9.36", "berkeley"];

/// The questions of one row.
#[derive(Debug, Clone, Copy)]
struct Asked {
    name: &'static str,
    operation: Operation,
    clients: u64,
}

/// The questions to servers that wait for no disk.
const QUICK: &[Asked] = &[
    Asked {
        name: "memcache-set",
        operation: Operation::Set,
        clients: CLIENTS,
    },
    Asked {
        name: "memcache-get",
        operation: Operation::Get,
        clients: CLIENTS,
    },
    Asked {
        name: "memcache-get-batches",
        operation: Operation::GetBatches,
        clients: CLIENTS,
    },
];

/// The questions to servers that wait for the disk.
const DURABLE: &[Asked] = &[Asked {
    name: "memcache-set-durable",
    operation: Operation::Set,
    clients: DURABLE_CLIENTS,
}];

/// Records of a durable row: a part of the others.
const DURABLE_PART: u64 = 10;

/// The longest time that a server takes to start and to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Rows with their titles.
pub(crate) const ROWS: &[(&str, &str)] = &[
    (
        "memcache-set",
        "values of 100 bytes stored by 4 clients, latency",
    ),
    ("memcache-get", "the same values read by 4 clients, latency"),
    (
        "memcache-get-batches",
        "the same values read by 4 clients, 50 requests before an answer is read",
    ),
    (
        "memcache-set-durable",
        "values of 100 bytes stored by 64 clients, each waited for",
    ),
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
    pub(crate) disk: PathBuf,
}

/// A running server.
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
    // Each client needs a whole batch.
    let records = (RECORDS / plan.scale).max(200);
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
    let mut folders = Folders::new(&plan.memory, &plan.disk)?;
    for round in 0..plan.rounds {
        for name in ENGINES {
            let folder = folders.fresh(Medium::Memory)?;
            let asked = (QUICK, records, round);
            match plan.front(name, &folder, &mut results) {
                Ok(Some(server)) => {
                    let ended = plan.ask(server, (name, Protocol::Memcached), asked, &mut results);
                    if let Err(error) = ended {
                        results.note(("memcache-set", name, round), Err(error));
                    }
                }
                Ok(None) => {}
                Err(error) => results.note(("memcache-set", name, round), Err(error)),
            }
            std::fs::remove_dir_all(&folder)?;
        }
        for server in SERVERS {
            let (rows, medium, part) = match server.is_durable {
                true => (DURABLE, Medium::Disk, DURABLE_PART),
                false => (QUICK, Medium::Memory, 1),
            };
            let folder = folders.fresh(medium)?;
            let records = (records / part).max(DURABLE_CLIENTS);
            let asked = (rows, records, round);
            let first = rows.first().map_or("", |row| row.name);
            match plan.whole(server, &folder, &mut results) {
                Ok(Some(running)) => {
                    let names = (server.name, server.protocol);
                    if let Err(error) = plan.ask(running, names, asked, &mut results) {
                        results.note((first, server.name, round), Err(error));
                    }
                }
                Ok(None) => {}
                Err(error) => results.note((first, server.name, round), Err(error)),
            }
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
        threads: match name {
            "memcache-set-durable" => DURABLE_CLIENTS,
            _ => CLIENTS,
        },
        figure: Figure::Wall,
        writes: false,
        faults: Vec::new(),
        played: Vec::new(),
        plan: None,
    }
}

impl Plan {
    /// Starts the front end of an engine; none if the engine is not here, which the results then
    /// say.
    fn front(
        &self,
        name: &str,
        folder: &Path,
        results: &mut Results,
    ) -> anyhow::Result<Option<Server>> {
        let Some(engine) = Engine::named(name) else {
            return Ok(None);
        };
        let present = Present {
            name: name.to_owned(),
            title: engine.title.to_owned(),
            version: "a front end of this bench".to_owned(),
            code_bytes: None,
            tuning: engine.tuning.to_owned(),
        };
        start(self.front_command(engine, folder), present, results)
    }

    /// Starts a whole server; none if it is not here, which the results then say.
    fn whole(
        &self,
        server: &WholeServer,
        folder: &Path,
        results: &mut Results,
    ) -> anyhow::Result<Option<Server>> {
        let present = Present {
            name: server.name.to_owned(),
            title: server.title.to_owned(),
            version: server.version(&self.project),
            code_bytes: None,
            tuning: server.tuning.to_owned(),
        };
        start(server.command(&self.project, folder), present, results)
    }

    /// The front end of an engine. It tells its port.
    fn front_command(
        &self,
        engine: &Engine,
        folder: &Path,
    ) -> Result<(Command, Option<u16>), String> {
        let library = engine.library(&self.project)?;
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let folders = std::env::join_paths(library_folders(&self.project));
        let mut command = Command::new(own);
        command
            .args(["memcache", "--engine", engine.name])
            .args(["--connections", &(3 * CLIENTS).to_string()])
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

    /// Asks a server the questions of some rows, in turn, until one fails.
    fn ask(
        &self,
        server: Server,
        (name, protocol): (&str, Protocol),
        asked: (&[Asked], u64, u64),
        results: &mut Results,
    ) -> anyhow::Result<()> {
        let (rows, records, round) = asked;
        let mut is_right = true;
        for row in rows {
            let outcome = match is_right {
                true => client::ask(Question {
                    port: server.port,
                    protocol,
                    operation: row.operation,
                    clients: row.clients,
                    records,
                    seed: self.seed + round,
                }),
                false => Err(anyhow::anyhow!("an earlier row failed")),
            };
            is_right = outcome.is_ok();
            results.note((row.name, name, round), outcome);
        }
        server.end(is_right)
    }
}

/// Starts a command, and notes the contender or the reason why it is missing.
fn start(
    command: Result<(Command, Option<u16>), String>,
    present: Present,
    results: &mut Results,
) -> anyhow::Result<Option<Server>> {
    let (command, port) = match command {
        Ok(command) => command,
        Err(why) => {
            if !results.missing.iter().any(|one| one.title == present.title) {
                results.missing.push(Missing {
                    title: present.title,
                    why,
                });
            }
            return Ok(None);
        }
    };
    if !results.engines.iter().any(|one| one.name == present.name) {
        results.engines.push(present);
    }
    Server::start(&command, port).map(Some)
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
