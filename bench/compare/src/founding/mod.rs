//! The founding tables: what the papers on LMDB and back-mdb measured, measured again.
//!
//! ```text
//!   papers.rs    shape of a table         tables.rs       their figures, and the source of today's
//!   mod.rs       the parts of a run       filesystems.rs  file systems for synchronous writes
//!   today.rs     figures out of runs      page.rs         the page
//! ```
//!
//! The parts are runs of the other two halves: the same rows, engines and servers.

mod filesystems;
mod page;
mod papers;
mod tables;
mod today;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

use crate::directory::{self, DataSet};
use crate::engines::Engine;
use crate::report;
use crate::results::{Half, Missing, Piece, Results};
use crate::rounds;
use crate::workload::{Workload, table};
use filesystems::FILE_SYSTEMS;
use tables::{ACCOUNTS, ENGINE, ENVIRONMENT, LOGGED, PEOPLE, TABLES, UNSTAMPED};
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
/// Those with a log of changes.
const SERVERS_WITH_LOG: &[&str] = &["slapd", "mdb-2.4", "hdb"];
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
const PARTS: &[&str] = &[
    ENGINE,
    ENVIRONMENT,
    FILE_SYSTEM,
    PEOPLE,
    UNSTAMPED,
    LOGGED,
    ACCOUNTS,
    INSTRUCTIONS,
];

impl Size {
    /// Divides records and requests.
    fn scale(self) -> u64 {
        if self == Size::Tiny { 1000 } else { 1 }
    }

    fn people(self) -> u64 {
        match self {
            Size::Tiny => 600,
            Size::Short => 100_000,
            Size::Full => 1_000_000,
        }
    }
}

/// Runs the plan, and writes page and figures.
/// # Errors
/// Folders that cannot be made; wrong answers and failed parts, after everything is written.
pub(crate) fn run(plan: &Plan, circumstances: &[(String, String)]) -> anyhow::Result<()> {
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
        ..Measured::default()
    };
    for (position, part) in PARTS.iter().enumerate() {
        if plan.only.is_empty() || plan.only.iter().any(|only| only == part) {
            eprintln!(
                "founding tables, part {} of {}: {part}",
                position + 1,
                PARTS.len()
            );
            if let Err(error) = plan.part(part, &mut measured) {
                eprintln!("    {error:#}");
                measured.faults.push(format!("part {part}: {error:#}"));
            }
        }
    }
    let page = page::markdown(circumstances, &measured, plan.size.scale());
    std::fs::write(plan.out.join("founding-tables.md"), page)?;
    let tables = serde_json::to_value(page::fill(&measured))?;
    report::store_piece(&Piece::Tables(tables), &plan.out)?;
    println!(
        "{}/founding-tables.md has {} tables",
        plan.out.display(),
        TABLES.len()
    );
    let faults = measured.faults.len();
    ensure!(
        faults == 0,
        "{faults} faults, listed on the page: a figure of wrong answers is none"
    );
    Ok(())
}

impl Plan {
    fn part(&self, part: &str, measured: &mut Measured) -> anyhow::Result<()> {
        let people = self.people.unwrap_or(self.size.people());
        match part {
            ENGINE => {
                let results = self.engines(ROWS_OF_ENGINE, ENGINES, &self.disk)?;
                self.keep(part, results, measured)
            }
            ENVIRONMENT => {
                let results = self.engines(&["get"], ENVIRONMENTS, &self.disk)?;
                self.keep(part, results, measured)
            }
            FILE_SYSTEM => self.file_systems(measured),
            PEOPLE => {
                let rows = (ROWS_OF_PEOPLE, SERVERS_WITH_CACHES);
                let results = self.directory(DataSet::People, people, rows)?;
                self.keep(part, results, measured)
            }
            UNSTAMPED => {
                let rows = (["modify"].as_slice(), SERVERS);
                let results = self.directory(DataSet::Unstamped, people.div_ceil(5), rows)?;
                self.keep(part, results, measured)
            }
            LOGGED => {
                let rows = (["modify"].as_slice(), SERVERS_WITH_LOG);
                let results = self.directory(DataSet::Logged, people.div_ceil(5), rows)?;
                self.keep(part, results, measured)
            }
            ACCOUNTS => {
                let rows = (ROWS_OF_ACCOUNTS, SERVERS);
                let results = self.directory(DataSet::Accounts, people, rows)?;
                self.keep(part, results, measured)
            }
            _ => {
                self.instructions(measured);
                Ok(())
            }
        }
    }

    /// Stores a part's results and notes its faults.
    fn keep(
        &self,
        part: &str,
        mut results: Results,
        measured: &mut Measured,
    ) -> anyhow::Result<()> {
        for row in &results.rows {
            let faults = row.faults.iter();
            let faults = faults.map(|fault| format!("part {part}, {}: {fault}", row.name));
            measured.faults.extend(faults);
        }
        results.stem = format!("founding-{part}");
        results.half = Half::Founding;
        let piece = Piece::Run(results);
        report::store_piece(&piece, &self.out)?;
        if let Piece::Run(results) = piece {
            measured.runs.push((part.to_owned(), results));
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

    fn file_systems(&self, measured: &mut Measured) -> anyhow::Result<()> {
        for one in FILE_SYSTEMS {
            match one.mount(&self.memory, &self.disk) {
                Ok(mounted) => {
                    let results =
                        self.engines(&["sync-fill-scattered"], ENGINES, &mounted.folder)?;
                    self.keep(one.name, results, measured)?;
                }
                Err(why) => measured.missing.push(Missing {
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
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        directory::run(&directory::Plan {
            project: self.project.clone(),
            people,
            data,
            seed: self.seed,
            rounds: self.rounds,
            scale: self.size.scale().min(100),
            full: true,
            only: owned(rows),
            with: owned(servers),
            memory: self.memory.clone(),
            disk: self.disk.clone(),
        })
    }

    fn instructions(&self, measured: &mut Measured) {
        for &server in COUNTED {
            let prices = if crate::count::can_count() {
                directory::prices(server, &self.project, &self.memory)
            } else {
                Err(anyhow::anyhow!("there is no valgrind"))
            };
            match prices.with_context(|| format!("instructions of {server}")) {
                Ok(prices) => {
                    let prices = prices.into_iter().map(|price| (server.to_owned(), price));
                    measured.prices.extend(prices);
                }
                Err(error) => {
                    eprintln!("    {error:#}");
                    measured.missing.push(Missing {
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
        let rows_of = |part: &str| -> &[&str] {
            match part {
                ENGINE => ROWS_OF_ENGINE,
                ENVIRONMENT => &["get"],
                PEOPLE => ROWS_OF_PEOPLE,
                ACCOUNTS => ROWS_OF_ACCOUNTS,
                UNSTAMPED | LOGGED => &["modify"],
                name if FILE_SYSTEMS.iter().any(|one| one.name == name) => &["sync-fill-scattered"],
                _ => &[],
            }
        };
        for line in TABLES.iter().flat_map(|table| table.lines) {
            let wanted: Vec<(&str, &str)> = match line.today {
                Today::Row(part, row) | Today::Clock(part, row) | Today::Files(part, row) => {
                    vec![(part, row)]
                }
                Today::Quotient(part, row, other) | Today::RateQuotient(part, row, other) => {
                    vec![(part, row), (part, other)]
                }
                Today::BestRate(part, rows) | Today::BestClients(part, rows) => {
                    let first = rows_of(part).iter().find(|row| row.starts_with(rows));
                    vec![(part, first.copied().unwrap_or(rows))]
                }
                _ => Vec::new(),
            };
            for (part, row) in wanted {
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
            assert!(name.is_empty() || is_known, "{name}");
        }
    }
}
