//! Several databases in one server, asked at the same time.
//!
//! ```text
//!   1, 2 and 6 databases:   load, start, every operation, stop; files in memory
//!                           six: the people are added one by one instead of loaded
//!   1, 2 and 6 databases:   load, start, modify, stop; files on a disk, each change is waited for
//! ```
//!
//! The people are divided among the databases. Each database has its own load generator with its
//! own connections. Server and generators have a core each, as everywhere.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use anyhow::Context as _;

use super::client::{answer, program, start};
use super::contender::CONTENDERS;
use super::databases::{self, PASSWORD};
use super::duty::Duty;
use super::patience::Late;
use super::plan::Plan;
use super::server::{Installed, Spent, on_core};
use crate::folders::{Folders, bytes_in};
use crate::measure::Outcome;
use crate::results::{Gap, Missing, Present, Results, Row};
use crate::workload::{Figure, Medium};

/// Numbers of databases; the last one is the largest.
const COUNTS: [u64; 3] = [1, 2, SIX];
const SIX: u64 = 6;

/// Connections in all.
const CONNECTIONS: u64 = 24;
/// Those that add: one for each database, so that uids ascend.
const ADDING: u64 = SIX;

/// Requests in all of each operation but adds.
const REQUESTS: u64 = 30_000;

/// Seconds of the changes that are waited for.
const DURABLE_SECONDS: u64 = 3;

/// An operation, as the load generator and rows name it.
#[derive(Debug, Clone, Copy)]
struct Operation {
    name: &'static str,
    title: &'static str,
    connections: u64,
    as_root: bool,
}

const fn operation(name: &'static str, title: &'static str) -> Operation {
    Operation {
        name,
        title,
        connections: CONNECTIONS,
        as_root: false,
    }
}

const ADD: Operation = Operation {
    connections: ADDING,
    as_root: true,
    ..operation("add-ldif", "people added, uid ascending")
};
const MODIFY: Operation = Operation {
    as_root: true,
    ..operation("modify", "description replaced")
};
const READS: [Operation; 3] = [
    operation("uid", "search of one uid"),
    operation("compare", "compare"),
    operation("bind", "simple bind"),
];

/// Returns the names of all rows, with their titles.
pub(crate) fn rows() -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for count in COUNTS {
        let databases = match count {
            1 => "one database".to_owned(),
            count => format!("{count} databases"),
        };
        let mut operations = READS.to_vec();
        operations.push(MODIFY);
        operations.extend((count == SIX).then_some(ADD));
        for one in operations {
            rows.push((row_name(count, one), format!("{}, {databases}", one.title)));
        }
        rows.push((
            durable_name(count),
            format!("the same modifications, durably, {databases}"),
        ));
        rows.push((
            resident_name(count),
            format!("resident memory, {databases}"),
        ));
    }
    rows
}

fn row_name(count: u64, operation: Operation) -> String {
    format!("databases-{count}-{}", operation.name)
}

fn durable_name(count: u64) -> String {
    format!("databases-{count}-modify-durable")
}

fn resident_name(count: u64) -> String {
    format!("databases-{count}-resident")
}

/// A run, and its results so far.
struct Run<'p> {
    plan: &'p Plan,
    folders: Folders,
    results: Results,
}

/// Several databases of one server: their number, files and load.
struct Databases {
    server: Installed,
    count: u64,
    /// LDIF of the people of each.
    people: Vec<PathBuf>,
    /// LDIF of the entry at the top of each.
    tops: Vec<PathBuf>,
}

/// Runs the plan with the servers that it names.
/// # Errors
/// Folders and programs that are not there; what servers do wrong is in the results.
pub(crate) fn run(plan: &Plan) -> anyhow::Result<Results> {
    let results = Results {
        title: format!("Several databases, {} people", plan.people),
        ..plan.results()
    };
    let mut run = Run {
        plan,
        folders: Folders::new(&plan.memory, &plan.disk)?,
        results,
    };
    for (name, title) in rows() {
        run.add_row(name, title);
    }
    for round in 0..plan.rounds {
        for contender in CONTENDERS.iter().filter(|one| one.takes_part(&plan.with)) {
            for count in COUNTS {
                for duty in [Duty::Nothing, Duty::Durable] {
                    let databases = run.databases(contender.name, count, duty)?;
                    if let Some(mut databases) = databases {
                        run.play(&mut databases, duty, round)?;
                    }
                }
            }
        }
        for row in &run.results.rows {
            crate::amounts::progress(row, &run.results.reference, &run.results.ours);
        }
    }
    Ok(run.results)
}

impl Run<'_> {
    fn add_row(&mut self, name: String, title: String) {
        let figure = match name.as_str() {
            name if name.ends_with("-resident") => Figure::Bytes,
            name if name.ends_with("-durable") => Figure::Wall,
            _ => Figure::Cpu,
        };
        self.results.rows.push(Row {
            title,
            part: "Several databases".to_owned(),
            records: self.plan.people,
            threads: 1,
            figure,
            writes: name.ends_with("-add-ldif"),
            name,
            faults: Vec::new(),
            played: Vec::new(),
            plan: None,
        });
    }

    /// Makes folders, settings and LDIF; none if the server is not there.
    fn databases(
        &mut self,
        name: &str,
        count: u64,
        duty: Duty,
    ) -> anyhow::Result<Option<Databases>> {
        let medium = match duty {
            Duty::Durable => Medium::Disk,
            Duty::Nothing | Duty::Logging => Medium::Memory,
        };
        let folder = self.folders.fresh(medium)?;
        let contender = super::contender::Contender::named(name).context("no such server")?;
        let plan = self.plan;
        let mut server = Installed::new(
            contender,
            &plan.project,
            folder.clone(),
            (plan.data, plan.people),
            plan.patience(),
        )?;
        server.set_databases(count, duty);
        let is_known = |title: &str| self.results.missing.iter().any(|one| one.title == title);
        if let Some(why) = server.missing() {
            if !is_known(contender.title) {
                let title = contender.title.to_owned();
                self.results.missing.push(Missing { title, why });
            }
            return Ok(None);
        }
        if !self.results.engines.iter().any(|one| one.name == name) {
            self.results.engines.push(Present {
                name: name.to_owned(),
                title: contender.title.to_owned(),
                version: crate::machine::server_version(name, &plan.project),
                code_bytes: None,
                tuning: contender.tuning.to_owned(),
            });
        }
        server.configure()?;
        let (mut people, mut tops) = (Vec::new(), Vec::new());
        for database in 0..count {
            let file = folder.join(format!("people-{database}.ldif"));
            let mut out = BufWriter::new(File::create(&file)?);
            databases::write_people(database, plan.people / count, &mut out)?;
            out.flush()?;
            people.push(file);
            let file = folder.join(format!("top-{database}.ldif"));
            databases::write_top(database, &mut File::create(&file)?)?;
            tops.push(file);
        }
        Ok(Some(Databases {
            server,
            count,
            people,
            tops,
        }))
    }

    /// Asks everything of one server. A step that fails or is late ends what follows it.
    fn play(&mut self, databases: &mut Databases, duty: Duty, round: u64) -> anyhow::Result<()> {
        let count = databases.count;
        let adds = count == SIX && duty == Duty::Nothing;
        let operations: Vec<Operation> = match duty {
            Duty::Durable => vec![MODIFY],
            _ if adds => [ADD].into_iter().chain(READS).chain([MODIFY]).collect(),
            _ => READS.into_iter().chain([MODIFY]).collect(),
        };
        let name_of = |operation| match duty {
            Duty::Durable => durable_name(count),
            _ => row_name(count, operation),
        };
        if let Err(error) = databases.begin(adds) {
            let names = operations.iter().map(|&one| name_of(one));
            for name in names.collect::<Vec<_>>() {
                self.note(&name, databases, round, Err(anyhow::anyhow!("{error:#}")));
            }
            return databases.server.stop();
        }
        for operation in operations {
            let outcome = databases.ask(operation, duty, self.plan, round);
            let is_late = matches!(&outcome, Err(error) if error.downcast_ref::<Late>().is_some());
            self.note(&name_of(operation), databases, round, outcome);
            if is_late {
                databases.server.restart()?;
            }
        }
        if duty == Duty::Nothing
            && let Some((_, resident)) = databases.server.memory()
        {
            let outcome = Outcome {
                file_bytes: resident << 10,
                ..Spent::default().outcome()
            };
            self.note(&resident_name(count), databases, round, Ok(outcome));
        }
        databases.server.stop()?;
        let folder = databases.server.data();
        Ok(std::fs::remove_dir_all(folder)?)
    }

    fn note(
        &mut self,
        name: &str,
        databases: &Databases,
        round: u64,
        outcome: anyhow::Result<Outcome>,
    ) {
        let engine = databases.server.name();
        let late = outcome
            .as_ref()
            .err()
            .and_then(|error| error.downcast_ref::<Late>());
        if let Some(late) = late {
            self.results.gaps.push(Gap {
                row: name.to_owned(),
                engine: engine.to_owned(),
                why: late.to_string(),
            });
            return;
        }
        self.results.note((name, engine, round), outcome);
    }
}

impl Databases {
    /// Loads the databases, or their top entries alone, and starts the server.
    fn begin(&mut self, adds: bool) -> anyhow::Result<()> {
        for (database, (top, people)) in (0..).zip(self.tops.iter().zip(&self.people)) {
            let suffix = databases::suffix(database);
            let mut text = std::fs::read(top)?;
            if !adds {
                text.extend(std::fs::read(people)?);
            }
            let ldif = top.with_extension("load");
            std::fs::write(&ldif, text)?;
            self.server.load_database(&suffix, &ldif)?;
            std::fs::remove_file(ldif)?;
        }
        self.server.start()?;
        Ok(())
    }

    /// Lets a load generator for each database ask at the same time, and adds up their figures.
    fn ask(
        &self,
        operation: Operation,
        duty: Duty,
        plan: &Plan,
        round: u64,
    ) -> anyhow::Result<Outcome> {
        let (make, patience) = (self.server.make(), plan.patience());
        let before = self.server.cpu()?;
        let generators = (0..).zip(&self.people).map(|(database, ldif)| {
            let mut command = self.generator(operation, database, ldif, plan, round);
            let (requests, seconds) = match duty {
                Duty::Durable if plan.scale > 1 => (u64::MAX, Some(1)),
                Duty::Durable => (u64::MAX, Some(DURABLE_SECONDS)),
                _ if operation.name == ADD.name => (plan.people, None),
                _ => ((REQUESTS / plan.scale).max(CONNECTIONS), Some(plan.limit)),
            };
            command.args(["--requests", &requests.div_ceil(self.count).to_string()]);
            if let Some(seconds) = seconds {
                command.args(["--seconds", &seconds.to_string()]);
            }
            start(&mut on_core(1, &command))
        });
        let generators = generators.collect::<anyhow::Result<Vec<Child>>>()?;
        let answers = generators
            .into_iter()
            .map(|one| answer(one, make, patience));
        // All are waited for, even if one fails.
        let answers: Vec<anyhow::Result<Outcome>> = answers.collect();
        let cpu = self.server.cpu()?.saturating_sub(before);
        let answers = answers.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
        let wall_ns = answers.iter().map(|one| one.wall_ns).max();
        Ok(Outcome {
            operations: answers.iter().map(|one| one.operations).sum(),
            digest: answers.iter().map(|one| one.digest).sum(),
            wall_ns: wall_ns.unwrap_or_default(),
            file_bytes: bytes_in(&self.server.data()),
            ..Spent {
                wall: Duration::ZERO,
                cpu,
            }
            .outcome()
        })
    }

    fn generator(
        &self,
        operation: Operation,
        database: u64,
        ldif: &Path,
        plan: &Plan,
        round: u64,
    ) -> Command {
        let mut command = Command::new(program());
        command.arg(operation.name).arg("--json");
        let mut set = |name: &str, value: String| {
            command.arg(name).arg(value);
        };
        set("--server", format!("127.0.0.1:{}", self.server.port));
        set("--base", databases::suffix(database));
        set("--ldif", ldif.display().to_string());
        set(
            "--connections",
            (operation.connections / self.count).to_string(),
        );
        set("--seed", (plan.seed + round).to_string());
        if let Some(pid) = self.server.pid() {
            set("--server-pid", pid.to_string());
        }
        if operation.as_root {
            set("--bind-dn", databases::root_dn(database));
        }
        if operation.as_root || operation.name == "bind" {
            set("--password", PASSWORD.to_owned());
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_of_rows_differ() {
        let rows = rows();
        let names: HashSet<_> = rows.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), rows.len());
        assert!(rows.iter().any(|(name, _)| name == "databases-6-add-ldif"));
    }

    #[test]
    fn connections_are_shared_out() {
        for count in COUNTS {
            assert_eq!(CONNECTIONS % count, 0);
            assert_eq!(ADDING % count, 0);
        }
    }
}
