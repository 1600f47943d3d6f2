//! The founding tables: what the papers on LMDB and back-mdb measured, measured again.
//!
//! ```text
//!   papers.rs    shape of a table         tables.rs       all tables: stores.rs, servers.rs
//!   mod.rs       the parts of a run       filesystems.rs  file systems for synchronous writes
//!   today.rs     figures out of runs      page.rs         the page
//!   part.rs      parts as files, so that a page is filled part by part
//! ```
//!
//! The parts are runs of the other two halves: the same rows, engines and servers.

mod filesystems;
mod page;
mod papers;
mod part;
mod servers;
mod stores;
mod tables;
mod today;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, ensure};

use crate::directory::{self, DataSet};
use crate::engines::Engine;
use crate::machine;
use crate::memcache;
use crate::report;
use crate::results::{Half, Missing, Piece, Results};
use crate::rounds;
use crate::workload::{Workload, table};
use filesystems::FILE_SYSTEMS;
use papers::{ACCOUNTS, DATABASES, ENGINE, ENVIRONMENT, LOGGED, MEMCACHE, PEOPLE, UNSTAMPED};
use part::Part;
use tables::TABLES;
use today::Measured;

/// The amount of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Size {
    /// About a minute: tests the bench itself.
    Tiny,
    /// About half an hour on two cores.
    Short,
    /// Hours: a million people.
    Full,
}

/// The plan of a run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) project: PathBuf,
    pub(crate) size: Size,
    /// Names of parts; none for all.
    pub(crate) only: Vec<String>,
    /// In place of the size's own number of people and of accounts.
    pub(crate) people: Option<u64>,
    pub(crate) rounds: u64,
    pub(crate) seed: u64,
    pub(crate) memory: PathBuf,
    pub(crate) disk: PathBuf,
    pub(crate) out: PathBuf,
}

const ROWS_OF_ENGINE: &[&str] = &[
    "scan",
    "get",
    "large-get",
    "large-scan-keys",
    "large-scan-whole",
    "append",
    "put-sequential",
    "put-scattered",
    "put-single-sequential",
    "put-single-scattered",
    "sync-fill-sequential",
    "sync-fill-scattered",
];
const ENGINES: &[&str] = &[
    "fulgurite",
    "lmdb-0.9.36",
    "berkeley",
    "leveldb",
    "kyoto",
    "sqlite",
];
const ENVIRONMENTS: &[&str] = &[
    "fulgurite",
    "lmdb-0.9.36",
    "berkeley-tree",
    "berkeley-tree-bare",
    "berkeley-hash",
    "berkeley-hash-bare",
];

const ROWS_OF_PEOPLE: &[&str] = &[
    "scan-first",
    "scan",
    "scan-2",
    "scan-4",
    "scan-8",
    "scan-16",
    "scan-beside-reads",
    "reads-beside",
    "uid-1",
    "uid-16",
    "base-16",
    "modify",
    "uid-beside-modify",
    "modifies-beside",
    "memory",
    "resident",
];
const ROWS_OF_ACCOUNTS: &[&str] = &[
    "mail-server-1",
    "mail-server-2",
    "mail-server-4",
    "mail-server-8",
    "mail-server-16",
    "mail-server-32",
    "mail-server-64",
    "memory",
    "resident",
];
const SERVERS_WITH_CACHES: &[&str] = &[
    "fulgurite",
    "slapd",
    "mdb-2.4",
    "hdb",
    "hdb-tenth",
    "hdb-entries",
    "hdb-uncached",
];
const SERVERS: &[&str] = &["fulgurite", "slapd", "mdb-2.4", "hdb"];
/// Those that show their caches, and the rows of their tables.
const PARTIAL: &[(&str, &[&str])] = &[
    ("hdb-tenth", ROWS_OF_CACHES),
    ("hdb-entries", &["uid-16", "base-16"]),
    ("hdb-uncached", ROWS_OF_CACHES),
];
const ROWS_OF_CACHES: &[&str] = &[
    "scan-first",
    "scan",
    "uid-1",
    "uid-16",
    "base-16",
    "memory",
    "resident",
];
/// Those with a log of changes. Our `load` takes the log's folder for the database's, if the log
/// is declared first.
const SERVERS_WITH_LOG: &[&str] = &["slapd", "mdb-2.4", "hdb"];
/// Those with several databases.
const SEVERAL: &[&str] = &["fulgurite", "slapd", "mdb-2.4"];
/// Those whose instructions are counted.
const COUNTED: &[&str] = &[
    "fulgurite",
    "slapd",
    "mdb-2.4",
    "hdb",
    "hdb-entries",
    "hdb-uncached",
];

/// The other parts.
const FILE_SYSTEM: &str = "file-systems";
const INSTRUCTIONS: &str = "instructions";
pub(crate) const PARTS: &[&str] = &[
    ENGINE,
    ENVIRONMENT,
    FILE_SYSTEM,
    PEOPLE,
    UNSTAMPED,
    LOGGED,
    ACCOUNTS,
    DATABASES,
    MEMCACHE,
    INSTRUCTIONS,
];

impl Size {
    /// Divides records and requests.
    fn scale(self) -> u64 {
        if self == Size::Tiny { 1000 } else { 1 }
    }

    /// The longest time of a question to a server, in seconds.
    fn limit(self) -> u64 {
        match self {
            Size::Tiny | Size::Short => 20,
            Size::Full => 120,
        }
    }

    fn people(self) -> u64 {
        match self {
            Size::Tiny => 600,
            Size::Short => 100_000,
            Size::Full => 1_000_000,
        }
    }
}

/// Runs the plan, and writes page and figures. Parts of an earlier run stay, if this one does not
/// name them.
/// # Errors
/// Folders that cannot be made; wrong answers and failed parts, after everything is written.
pub(crate) fn run(plan: &Plan) -> anyhow::Result<()> {
    for name in &plan.only {
        ensure!(
            PARTS.contains(&name.as_str()),
            "there is no part {name}; there are {}",
            PARTS.join(", ")
        );
    }
    std::fs::create_dir_all(&plan.out)?;
    let mut measured = Measured {
        code: code(&plan.project),
        parts: part::read(&plan.out, PARTS)?,
    };
    let mut faults = 0;
    for (position, name) in PARTS.iter().enumerate() {
        if !plan.only.is_empty() && !plan.only.iter().any(|only| only == name) {
            continue;
        }
        let count = PARTS.len();
        eprintln!("founding tables, part {} of {count}: {name}", position + 1);
        let earlier = measured.parts.iter().position(|part| part.name == *name);
        let earlier = earlier.map(|at| measured.parts.remove(at));
        earlier.into_iter().for_each(|part| part.remove(&plan.out));
        let part = plan.whole_part(name)?;
        faults += part.faults.len();
        let is_before = |one: &Part| PARTS.iter().take(position).any(|name| one.name == *name);
        let at = measured.parts.iter().filter(|one| is_before(one)).count();
        measured.parts.insert(at, part);
        // A run that is ended early has the page of its parts.
        write(&measured, &plan.out)?;
    }
    println!(
        "{}/founding-tables.md has {} tables",
        plan.out.display(),
        TABLES.len()
    );
    ensure!(
        faults == 0,
        "{faults} faults, listed on the page: a figure of wrong answers is none"
    );
    Ok(())
}

/// Writes the page again, if a folder has parts of it.
/// # Errors
/// Fails if a part cannot be read, or the page cannot be written.
pub(crate) fn rewrite(project: &Path, folder: &Path) -> anyhow::Result<()> {
    let parts = part::read(folder, PARTS)?;
    if parts.is_empty() {
        return Ok(());
    }
    let code = code(project);
    write(&Measured { parts, code }, folder)
}

fn write(measured: &Measured, folder: &Path) -> anyhow::Result<()> {
    let page = page::markdown(measured);
    std::fs::write(folder.join("founding-tables.md"), page)?;
    let tables = serde_json::to_value(page::fill(measured))?;
    report::store_piece(&Piece::Tables(tables), folder)?;
    Ok(())
}

impl Plan {
    /// Runs a part, and writes its files.
    fn whole_part(&self, name: &str) -> anyhow::Result<Part> {
        let circumstances = machine::circumstances(&self.project, &self.memory, &self.disk);
        let mut part = Part::new(name, self.size.scale(), &circumstances);
        let begun = Instant::now();
        if let Err(error) = self.part(name, &mut part) {
            eprintln!("    {error:#}");
            part.faults.push(format!("{error:#}"));
        }
        part.seconds = begun.elapsed().as_secs();
        eprintln!("    {name} took {} s", part.seconds);
        part.store(&self.out)?;
        Ok(part)
    }

    fn part(&self, name: &str, part: &mut Part) -> anyhow::Result<()> {
        let people = self.people.unwrap_or(self.size.people());
        let results = match name {
            ENGINE => self.engines(ROWS_OF_ENGINE, ENGINES, &self.disk)?,
            ENVIRONMENT => self.engines(&["get"], ENVIRONMENTS, &self.disk)?,
            FILE_SYSTEM => return self.file_systems(part),
            PEOPLE => {
                let rows = (ROWS_OF_PEOPLE, SERVERS_WITH_CACHES);
                self.directory(DataSet::People, people, rows)?
            }
            UNSTAMPED => {
                let rows = (["modify"].as_slice(), SERVERS);
                self.directory(DataSet::Unstamped, people.div_ceil(5), rows)?
            }
            LOGGED => {
                let rows = (["modify"].as_slice(), SERVERS_WITH_LOG);
                self.directory(DataSet::Logged, people.div_ceil(5), rows)?
            }
            ACCOUNTS => {
                let rows = (ROWS_OF_ACCOUNTS, SERVERS);
                self.directory(DataSet::Accounts, people, rows)?
            }
            DATABASES => {
                // Six times a fifth of the people.
                let people = people.div_ceil(5) * 6;
                directory::several::run(&self.plan_of(DataSet::Databases, people, &[], SEVERAL))?
            }
            MEMCACHE => memcache::run(&memcache::Plan {
                project: self.project.clone(),
                rounds: self.rounds,
                scale: self.size.scale(),
                seed: self.seed,
                memory: self.memory.clone(),
                disk: self.disk.clone(),
            })?,
            _ => {
                self.instructions(part);
                return Ok(());
            }
        };
        self.keep(name, results, part)
    }

    /// Stores the results of a run, and notes its faults.
    fn keep(&self, name: &str, mut results: Results, part: &mut Part) -> anyhow::Result<()> {
        for row in &results.rows {
            let faults = row.faults.iter();
            let faults = faults.map(|fault| format!("{name}, {}: {fault}", row.name));
            part.faults.extend(faults);
        }
        results.stem = part::stem(name);
        results.half = Half::Founding;
        let circumstances = part.circumstances.iter().cloned();
        results.circumstances.splice(0..0, circumstances);
        let piece = Piece::Run(results);
        report::store_piece(&piece, &self.out)?;
        if let Piece::Run(results) = piece {
            part.runs.push(name.to_owned());
            part.results.push(results);
        }
        Ok(())
    }

    fn engines(&self, rows: &[&str], engines: &[&str], disk: &Path) -> anyhow::Result<Results> {
        let scale = self.size.scale();
        let workloads: Vec<Workload> = table()
            .into_iter()
            .filter(|workload| rows.contains(&workload.name.as_str()))
            .map(|workload| workload.scaled(scale))
            .collect();
        ensure!(
            workloads.len() == rows.len(),
            "a row of the engines is missing"
        );
        rounds::run(&rounds::Plan {
            project: self.project.clone(),
            workloads,
            engines: engines.iter().map(|&name| name.to_owned()).collect(),
            rounds: self.rounds,
            scale,
            memory: self.memory.clone(),
            disk: disk.to_owned(),
            ours: None,
        })
    }

    fn file_systems(&self, part: &mut Part) -> anyhow::Result<()> {
        for one in FILE_SYSTEMS {
            match one.mount(&self.memory, &self.disk) {
                Ok(mounted) => {
                    let results =
                        self.engines(&["sync-fill-scattered"], ENGINES, &mounted.folder)?;
                    self.keep(one.name, results, part)?;
                }
                Err(why) => part.missing.push(Missing {
                    title: format!("file system {}", one.name),
                    why,
                }),
            }
        }
        Ok(())
    }

    fn directory(
        &self,
        data: DataSet,
        people: u64,
        (rows, servers): (&[&str], &[&str]),
    ) -> anyhow::Result<Results> {
        directory::run(&self.plan_of(data, people, rows, servers))
    }

    fn plan_of(
        &self,
        data: DataSet,
        people: u64,
        rows: &[&str],
        servers: &[&str],
    ) -> directory::Plan {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        directory::Plan {
            project: self.project.clone(),
            people,
            data,
            seed: self.seed,
            rounds: self.rounds,
            scale: self.size.scale().min(100),
            full: true,
            limit: self.size.limit(),
            partial: PARTIAL,
            only: owned(rows),
            with: owned(servers),
            memory: self.memory.clone(),
            disk: self.disk.clone(),
        }
    }

    fn instructions(&self, part: &mut Part) {
        for &server in COUNTED {
            let prices = if crate::count::can_count() {
                directory::prices(server, &self.project, &self.memory)
            } else {
                Err(anyhow::anyhow!("there is no valgrind"))
            };
            match prices.with_context(|| format!("instructions of {server}")) {
                Ok(prices) => {
                    let prices = prices.into_iter().map(|price| (server.to_owned(), price));
                    part.prices.extend(prices);
                }
                Err(error) => {
                    eprintln!("    {error:#}");
                    part.missing.push(Missing {
                        title: format!("instructions of {server}"),
                        why: format!("{:#}", error.root_cause()),
                    });
                }
            }
        }
    }
}

/// Code and constants of each library.
fn code(project: &Path) -> Vec<(String, u64)> {
    let names = ENGINES.iter().chain(&["fulgurite-c"]);
    let found = names.filter_map(|&name| {
        let library = Engine::named(name)?.library(project).ok()?;
        let bytes = crate::machine::code_bytes(name, &library, project)?;
        Some((name.to_owned(), bytes))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::papers::Today;
    use super::*;
    use crate::directory::Contender;

    #[test]
    fn every_figure_of_today_is_measured() {
        let names = directory::several::rows();
        let databases: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        let memcache: Vec<&str> = memcache::ROWS.iter().map(|(name, _)| *name).collect();
        let rows_of = |part: &str| -> &[&str] {
            match part {
                ENGINE => ROWS_OF_ENGINE,
                ENVIRONMENT => &["get"],
                PEOPLE => ROWS_OF_PEOPLE,
                ACCOUNTS => ROWS_OF_ACCOUNTS,
                UNSTAMPED | LOGGED => &["modify"],
                DATABASES => &databases,
                MEMCACHE => &memcache,
                name if FILE_SYSTEMS.iter().any(|one| one.name == name) => &["sync-fill-scattered"],
                _ => &[],
            }
        };
        for line in TABLES.iter().flat_map(|table| table.lines) {
            let Some((part, rows)) = line.today.rows() else {
                continue;
            };
            // Of a ramp the beginning of names is known.
            let is_ramp = matches!(line.today, Today::BestRate(..) | Today::BestClients(..));
            for row in rows {
                let first = rows_of(part).iter().find(|one| one.starts_with(row));
                let row = first.copied().filter(|_| is_ramp).unwrap_or(row);
                // Every run of a directory has its load.
                let is_there = row == "load" || rows_of(part).contains(&row);
                assert!(is_there, "{part} {row}");
            }
        }
    }

    #[test]
    fn contenders_exist() {
        for contender in TABLES.iter().flat_map(|table| table.contenders) {
            let name = contender.name;
            let is_known = Engine::named(name).is_some() || Contender::named(name).is_some();
            assert!(
                name.is_empty() || memcache::is_server(name) || is_known,
                "{name}"
            );
        }
    }
}
