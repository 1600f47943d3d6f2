//! The directory's half: the same people in ours and in slapd, the same questions, turn and turn about.
//!
//! ```text
//!   each round:   load, export, start           one server after the other
//!                 every question                 both servers run, each on the first core; the load generator asks one of them
//!                 memory, stop
//! ```
//!
//! The figure is the server's CPU time for each operation. Beside it stands an echo server, which answers without a directory.

mod people;
mod server;
mod table;

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;

use crate::folders::{Folders, bytes_in, copy_files};
use crate::measure::{Latencies, Outcome};
use crate::results::{Missing, Played, Present, Results, Row, Wanted};
use crate::workload::Place;
use server::{Installed, Make, Spent, on_core};
use table::{ASKED, QUESTIONS, Question, SIZE_AT_MOST, WHOLE};

/// What is to be run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) project: PathBuf,
    pub(crate) people: u64,
    pub(crate) wide: bool,
    pub(crate) rounds: u64,
    /// Names of rows; none for all.
    pub(crate) only: Vec<String>,
    pub(crate) memory: PathBuf,
    pub(crate) disk: PathBuf,
}

/// What the load generator prints.
#[derive(Debug, Deserialize)]
struct Answered {
    requests: u64,
    entries: u64,
    errors: u64,
    wrong: u64,
    wall_us: u64,
    p50_us: u64,
    p99_us: u64,
    max_us: u64,
    server_cpu_us: Option<u64>,
}

struct Run<'p> {
    plan: &'p Plan,
    ldif: PathBuf,
    servers: Vec<Installed>,
    /// Where those write that have to be durable.
    durable: PathBuf,
    results: Results,
}

/// Runs the plan.
/// # Errors
/// Folders and programs that are not there; what servers do wrong is in the results.
pub(crate) fn run(plan: &Plan) -> anyhow::Result<Results> {
    let mut folders = Folders::new(&plan.memory, &plan.disk)?;
    let ldif = folders.fresh(Place::Memory)?.join("people.ldif");
    people::write(
        plan.people,
        plan.wide,
        &mut BufWriter::new(File::create(&ldif)?),
    )?;
    let mut servers = Vec::new();
    let mut results = Results {
        title: format!(
            "Directories of {} people{}",
            plan.people,
            if plan.wide { ", wide ones" } else { "" }
        ),
        stem: "directory".to_owned(),
        reference: Make::Slapd.name().to_owned(),
        ours: vec![Make::Fulgurite.name().to_owned()],
        asked: ASKED
            .iter()
            .map(|(row, asked, hoped)| Wanted::new(row, Make::Fulgurite.name(), *asked, *hoped))
            .collect(),
        size_at_most: SIZE_AT_MOST,
        ..Results::default()
    };
    for (make, port, title) in [
        (Make::Fulgurite, 3893, "Fulgurite"),
        (Make::Slapd, 3894, "slapd, back-mdb"),
        (Make::Echo, 3895, "echo, no directory"),
    ] {
        let server = Installed::new(make, &plan.project, folders.fresh(Place::Memory)?, port);
        if let Some(why) = server.missing() {
            results.missing.push(Missing {
                title: title.to_owned(),
                why,
            });
            continue;
        }
        results.contenders.push(Present {
            name: make.name().to_owned(),
            title: title.to_owned(),
            version: crate::machine::server_version(make.name(), &plan.project),
            code_bytes: None,
        });
        servers.push(server);
    }
    results.missing.push(Missing {
        title: "389-ds".to_owned(),
        why:
            "there is no adapter; its instances are made by dscreate on a system it is installed on"
                .to_owned(),
    });
    let durable = folders.fresh(Place::Disk)?;
    let mut run = Run {
        plan,
        ldif,
        servers,
        durable,
        results,
    };
    run.add_rows();
    for round in 0..plan.rounds {
        run.round(round)?;
    }
    Ok(run.results)
}

impl Run<'_> {
    fn wants(&self, name: &str) -> bool {
        self.plan.only.is_empty() || self.plan.only.iter().any(|only| only == name)
    }

    fn add_rows(&mut self) {
        let ldif_mib = std::fs::metadata(&self.ldif).map_or(0, |file| file.len() >> 20);
        self.add_row(
            "load",
            &format!("load of {ldif_mib} MiB of LDIF, CPU time"),
            WHOLE,
            false,
        );
        self.add_row("load-wall", "the same on the clock", WHOLE, true);
        self.add_row("export", "export as LDIF", WHOLE, false);
        self.add_row("start", "start until the first answer", WHOLE, true);
        for question in QUESTIONS {
            self.add_row(
                question.name,
                question.title,
                question.part,
                question.by_wall,
            );
        }
        self.add_row(
            "modifies-beside",
            "the two clients that modify meanwhile",
            "Changes",
            true,
        );
        if let Some(row) = self.row("load") {
            row.writes = true;
        }
    }

    fn add_row(&mut self, name: &str, title: &str, part: &str, by_wall: bool) {
        let always = matches!(name, "load" | "load-wall");
        if always || self.wants(name) {
            self.results.rows.push(Row {
                name: name.to_owned(),
                title: title.to_owned(),
                part: part.to_owned(),
                records: self.plan.people,
                threads: 1,
                by_wall,
                writes: false,
                faults: Vec::new(),
                played: Vec::new(),
            });
        }
    }

    fn row(&mut self, name: &str) -> Option<&mut Row> {
        self.results.rows.iter_mut().find(|row| row.name == name)
    }

    fn note(&mut self, name: &str, make: Make, round: u64, outcome: anyhow::Result<Outcome>) {
        let Some(row) = self.row(name) else {
            return;
        };
        match outcome {
            Ok(outcome) => {
                if let Some(played) = row
                    .played
                    .iter_mut()
                    .find(|one| one.contender == make.name())
                {
                    played.rounds.push((round, outcome));
                } else {
                    row.played.push(Played {
                        contender: make.name().to_owned(),
                        rounds: vec![(round, outcome)],
                    });
                }
            }
            Err(error) => {
                row.faults
                    .push(format!("{}, round {}: {error:#}", make.name(), round + 1))
            }
        }
    }

    /// Positions of the servers, another one first each time.
    fn turns(&self, round: u64) -> Vec<usize> {
        let count = self.servers.len();
        (0..count)
            .map(|at| (at + round as usize) % count.max(1))
            .collect()
    }

    fn round(&mut self, round: u64) -> anyhow::Result<()> {
        for at in self.turns(round) {
            self.whole_database(at, round)?;
        }
        for question in QUESTIONS.iter().filter(|question| !question.durable) {
            if !self.wants(question.name) {
                continue;
            }
            for at in self.turns(round) {
                self.ask(at, question, round);
            }
            let row = self.row(question.name);
            row.into_iter()
                .for_each(|row| crate::report::progress(row, "slapd", &["fulgurite".to_owned()]));
        }
        for at in self.turns(round) {
            self.end(at, round)?;
        }
        for question in QUESTIONS.iter().filter(|question| question.durable) {
            if self.wants(question.name) {
                for at in self.turns(round) {
                    self.ask_durable(at, question, round)?;
                }
            }
        }
        Ok(())
    }

    /// Load, export and start; the echo server is only started.
    fn whole_database(&mut self, at: usize, round: u64) -> anyhow::Result<()> {
        let make = self.servers[at].make;
        if make != Make::Echo {
            let server = &self.servers[at];
            server.configure(false)?;
            let spent = server
                .load(&self.ldif)
                .with_context(|| format!("{} cannot load", make.name()))?;
            let bytes = bytes_in(&server.data());
            for name in ["load", "load-wall"] {
                let outcome = Outcome {
                    file_bytes: bytes,
                    ..outcome_of(&spent)
                };
                self.note(name, make, round, Ok(outcome));
            }
            if self.wants("export") {
                let outcome = self.servers[at].export().and_then(|(spent, entries)| {
                    let expected = people::entries(self.plan.people);
                    ensure!(
                        entries == expected,
                        "{entries} entries exported, {expected} loaded"
                    );
                    Ok(outcome_of(&spent))
                });
                self.note("export", make, round, outcome);
            }
        }
        let wall = self.servers[at].start()?;
        if make != Make::Echo {
            let outcome = outcome_of(&Spent { wall, cpu: wall });
            self.note("start", make, round, Ok(outcome));
        }
        Ok(())
    }

    fn ask(&mut self, at: usize, question: &Question, round: u64) {
        let make = self.servers[at].make;
        // Scans and searches of whole databases say nothing of a server that has none.
        if make == Make::Echo && (question.kind == "scan" || question.beside_modifies) {
            return;
        }
        let outcome = self.outcome(at, question, round);
        let (outcome, beside) = match outcome {
            Ok((outcome, beside)) => (Ok(outcome), beside),
            Err(error) => (Err(error), None),
        };
        self.note(question.name, make, round, outcome);
        if let Some(beside) = beside {
            self.note("modifies-beside", make, round, Ok(beside));
        }
    }

    fn outcome(
        &self,
        at: usize,
        question: &Question,
        round: u64,
    ) -> anyhow::Result<(Outcome, Option<Outcome>)> {
        let server = &self.servers[at];
        let mut generator = self.generator(server, question, round);
        if !question.beside_modifies {
            return Ok((answer(start(&mut generator)?, server.make)?, None));
        }
        let modify = Question {
            kind: "modify",
            connections: 2,
            as_root: true,
            ..*question
        };
        // Both end by the clock.
        let time = ["--seconds", "3"];
        let mut modifies = self.generator(server, &modify, round);
        let modifies = start(modifies.args(time))?;
        let searches = start(generator.args(time))?;
        let outcome = answer(searches, server.make);
        let beside = answer(modifies, server.make)?;
        Ok((outcome?, Some(beside)))
    }

    /// The load generator, about to ask one server one kind of question.
    fn generator(&self, server: &Installed, question: &Question, round: u64) -> Command {
        let mut command = Command::new(self.plan.project.join("target/release/fulgurite-bench"));
        command.arg(question.kind).arg("--json");
        let mut set = |name: &str, value: String| {
            command.arg(name).arg(value);
        };
        set("--server", format!("127.0.0.1:{}", server.port));
        set("--base", people::SUFFIX.to_owned());
        set("--ldif", self.ldif.display().to_string());
        set("--connections", question.connections.to_string());
        set("--depth", question.depth.to_string());
        set("--requests", question.requests.to_string());
        set("--seed", (round + 1).to_string());
        if let Some(pid) = server.pid() {
            set("--server-pid", pid.to_string());
        }
        if let Some((filter, expected)) = question.filter {
            set("--filter", filter.to_owned());
            set("--expect-entries", expected(self.plan.people).to_string());
        }
        if question.kind == "bind" {
            set("--password", people::PASSWORD.to_owned());
        } else if question.as_root {
            set("--bind-dn", people::ROOT_DN.to_owned());
            set("--password", people::ROOT_PASSWORD.to_owned());
        }
        if server.make == Make::Echo {
            command.arg("--unchecked");
        }
        on_core(1, &command)
    }

    /// Memory after all of it; then the server is stopped.
    fn end(&mut self, at: usize, round: u64) -> anyhow::Result<()> {
        let make = self.servers[at].make;
        if let (Some((anonymous, resident)), true) = (self.servers[at].memory(), make != Make::Echo)
        {
            self.results.circumstances.push((
                format!(
                    "memory of {} after all questions, round {}",
                    make.name(),
                    round + 1
                ),
                format!(
                    "{:.1} MiB anonymous, {:.1} MiB resident",
                    anonymous as f64 / 1024.0,
                    resident as f64 / 1024.0
                ),
            ));
        }
        self.servers[at].stop()
    }

    /// A question to a server whose files are on a disk, and whose commits are waited for.
    fn ask_durable(&mut self, at: usize, question: &Question, round: u64) -> anyhow::Result<()> {
        let make = self.servers[at].make;
        if make == Make::Echo {
            return Ok(());
        }
        let folder = self.durable.join(make.name());
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        let port = self.servers[at].port + 10;
        let mut server = Installed::new(make, &self.plan.project, folder, port);
        server.configure(true)?;
        copy_files(&self.servers[at].data(), &server.data(), Place::Disk)?;
        server.start()?;
        std::mem::swap(&mut self.servers[at], &mut server);
        self.ask(at, question, round);
        std::mem::swap(&mut self.servers[at], &mut server);
        server.stop()
    }
}

fn start(command: &mut Command) -> anyhow::Result<Child> {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().context("cannot start the load generator")
}

/// What the load generator has found, if all answers were right.
fn answer(generator: Child, make: Make) -> anyhow::Result<Outcome> {
    let output = generator.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let answered: Answered =
        serde_json::from_str(text.trim()).context("the load generator's answer")?;
    if make != Make::Echo {
        ensure!(
            answered.errors == 0 && answered.wrong == 0,
            "{} errors and {} wrong answers in {}",
            answered.errors,
            answered.wrong,
            answered.requests
        );
    }
    Ok(Outcome {
        operations: answered.requests,
        wall_ns: answered.wall_us * 1000,
        cpu_ns: answered
            .server_cpu_us
            .context("no CPU time of the server")?
            * 1000,
        digest: answered.entries,
        latencies: Some(Latencies {
            p50_ns: answered.p50_us * 1000,
            p99_ns: answered.p99_us * 1000,
            max_ns: answered.max_us * 1000,
        }),
        beside: 0,
        file_bytes: 0,
        version: String::new(),
    })
}

fn outcome_of(spent: &Spent) -> Outcome {
    Outcome {
        operations: 1,
        wall_ns: u64::try_from(spent.wall.as_nanos()).unwrap_or(u64::MAX),
        cpu_ns: u64::try_from(spent.cpu.as_nanos()).unwrap_or(u64::MAX),
        digest: 0,
        latencies: None,
        beside: 0,
        file_bytes: 0,
        version: String::new(),
    }
}

/// Whether the load generator has been built.
pub(crate) fn is_there(project: &Path) -> bool {
    project.join("target/release/fulgurite-bench").exists()
}
