//! The directory's half: the same people in ours and in slapd, the same questions, turn and turn
//! about.
//!
//! ```text
//!   each round:   load, export, start           one server after the other
//!                 every question                 both servers run, each on the first core; the load generator asks one of them
//!                 memory, stop
//! ```
//!
//! The figure is the server's CPU time for each operation. An echo server, which answers without a
//! directory, takes part too.

mod accounts;
mod callgrind;
mod client;
mod contender;
mod data_set;
mod databases;
mod ds389;
mod duty;
pub(crate) mod instructions;
mod patience;
mod people;
mod pieces;
mod plan;
mod server;
pub(crate) mod several;
mod slapd_conf;
mod staff;
mod table;

#[cfg(test)]
pub(crate) use contender::Contender;
pub(crate) use data_set::DataSet;
pub(crate) use instructions::{Price, prices};
pub(crate) use patience::wait;
pub(crate) use plan::Plan;
pub(crate) use server::{free_port, on_core};

use std::fs::File;
use std::io::{BufWriter, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use crate::folders::{Folders, bytes_in, copy_files};
use crate::measure::Outcome;
use crate::results::{Gap, Missing, Present, Results, Row};
use crate::workload::{Figure, Medium, Tier};
use client::{Generator, answer, start};
use contender::{CONTENDERS, Make, OURS, Presence, REFERENCE};
use duty::Duty;
use patience::Late;
use server::{Installed, Spent};
use table::{
    Beside, CHANGES, EVERYTHING, MEMORY, OTHER_ROWS, QUESTIONS, Question, ROWS_OF_ACCOUNTS,
    ROWS_OF_PEOPLE, SCANS, WHOLE,
};

struct Run<'p> {
    plan: &'p Plan,
    ldif: PathBuf,
    servers: Vec<Installed>,
    /// Of them, those that did not start.
    left_out: Vec<usize>,
    /// Where those write that have to be durable.
    durable: PathBuf,
    /// Where those write that log operations.
    logging: PathBuf,
    results: Results,
}

/// Runs the plan.
/// # Errors
/// Folders and programs that are not there; what servers do wrong is in the results.
pub(crate) fn run(plan: &Plan) -> anyhow::Result<Results> {
    plan.require_names()?;
    let mut folders = Folders::new(&plan.memory, &plan.disk)?;
    let ldif = folders.fresh(Medium::Memory)?.join("people.ldif");
    plan.data
        .write(plan.people, &mut BufWriter::new(File::create(&ldif)?))?;
    let mut servers = Vec::new();
    let mut results = plan.results();
    for contender in CONTENDERS {
        if !contender.takes_part(&plan.with) {
            continue;
        }
        let folder = folders.fresh(Medium::Memory)?;
        let server = Installed::new(
            contender,
            &plan.project,
            folder,
            (plan.data, plan.people),
            plan.patience(),
        )?;
        if let Some(why) = server.missing() {
            results.missing.push(Missing {
                title: contender.title.to_owned(),
                why,
            });
            continue;
        }
        results.engines.push(Present {
            name: contender.name.to_owned(),
            title: contender.title.to_owned(),
            version: crate::machine::server_version(contender.name, &plan.project),
            code_bytes: None,
            tuning: contender.tuning.to_owned(),
        });
        servers.push(server);
    }
    let durable = folders.fresh(Medium::Disk)?;
    let logging = folders.fresh(Medium::Memory)?;
    let mut run = Run {
        plan,
        ldif,
        servers,
        left_out: Vec::new(),
        durable,
        logging,
        results,
    };
    run.add_rows();
    for round in 0..plan.rounds {
        run.round(round)?;
    }
    Ok(run.results)
}

impl Run<'_> {
    fn generator(&self) -> Generator<'_> {
        Generator {
            plan: self.plan,
            ldif: &self.ldif,
        }
    }

    fn wants(&self, name: &str) -> bool {
        let of_accounts = name.starts_with(ROWS_OF_ACCOUNTS);
        if of_accounts && self.plan.data != DataSet::Accounts {
            return false;
        }
        if self.plan.data == DataSet::Staff && ROWS_OF_PEOPLE.contains(&name) {
            return false;
        }
        let question = QUESTIONS.iter().find(|question| question.name == name);
        let is_long = question.is_some_and(|question| question.tier == Tier::Full);
        match self.plan.only.as_slice() {
            [] => self.plan.full || !is_long,
            only => only.iter().any(|only| only == name),
        }
    }

    fn add_rows(&mut self) {
        let ldif_mib = std::fs::metadata(&self.ldif).map_or(0, |file| file.len() >> 20);
        self.add_row(
            "load",
            &format!("load of {ldif_mib} MiB of LDIF, CPU time"),
            WHOLE,
            Figure::Cpu,
        );
        self.add_row("load-wall", "the same load", WHOLE, Figure::Wall);
        self.add_row("export", "export as LDIF", WHOLE, Figure::Cpu);
        self.add_row("start", "start until the first answer", WHOLE, Figure::Wall);
        for question in QUESTIONS {
            self.add_row(
                question.name,
                question.title,
                question.part,
                question.figure,
            );
        }
        self.add_row(
            "modifies-beside",
            "the two clients that modify meanwhile",
            CHANGES,
            Figure::Wall,
        );
        self.add_row(
            "reads-beside",
            "the reads of the file meanwhile, the second of two",
            SCANS,
            Figure::Wall,
        );
        let (anonymous, resident) = (
            "anonymous memory after all questions",
            "resident memory, that of mapped files included",
        );
        self.add_row("memory", anonymous, MEMORY, Figure::Bytes);
        self.add_row("resident", resident, MEMORY, Figure::Bytes);
        if let Some(row) = self.row("load") {
            row.writes = true;
        }
    }

    fn add_row(&mut self, name: &str, title: &str, part: &str, figure: Figure) {
        let always = matches!(name, "load" | "load-wall");
        if always || self.wants(name) {
            self.results.rows.push(Row {
                name: name.to_owned(),
                title: title.to_owned(),
                part: part.to_owned(),
                records: self.plan.people,
                threads: 1,
                figure,
                writes: false,
                faults: Vec::new(),
                played: Vec::new(),
                plan: None,
            });
        }
    }

    fn row(&mut self, name: &str) -> Option<&mut Row> {
        self.results.rows.iter_mut().find(|row| row.name == name)
    }

    fn note(&mut self, name: &str, engine: &str, round: u64, outcome: anyhow::Result<Outcome>) {
        if let Err(error) = &outcome
            && error.downcast_ref::<Late>().is_some()
        {
            self.results.gaps.push(Gap {
                row: name.to_owned(),
                engine: engine.to_owned(),
                why: error.to_string(),
            });
            return;
        }
        self.results.note((name, engine, round), outcome);
    }

    /// Positions of the servers, another one first each time.
    fn turns(&self, round: u64) -> Vec<usize> {
        let count = self.servers.len();
        (0..count)
            .map(|at| (at + round as usize) % count.max(1))
            .filter(|&at| {
                let presence = self.servers[at].contender.presence;
                round == 0 || presence == Presence::EveryRound
            })
            .filter(|at| !self.left_out.contains(at))
            .collect()
    }

    /// A server that cannot be loaded or started is missing; without ours and the reference there
    /// is nothing to compare.
    fn leave_out(&mut self, at: usize, error: anyhow::Error) -> anyhow::Result<()> {
        let contender = self.servers[at].contender;
        if contender.presence == Presence::EveryRound {
            return Err(error);
        }
        self.servers[at].stop()?;
        self.left_out.push(at);
        self.results.missing.push(Missing {
            title: contender.title.to_owned(),
            why: format!("{error:#}"),
        });
        Ok(())
    }

    fn round(&mut self, round: u64) -> anyhow::Result<()> {
        for at in self.turns(round) {
            if let Err(error) = self.whole_database(at, round) {
                self.leave_out(at, error)?;
            }
        }
        let alone = |question: &&Question| question.duty != Duty::Nothing;
        for question in QUESTIONS.iter().filter(|question| !alone(question)) {
            if !self.wants(question.name) {
                continue;
            }
            if round == 0 {
                self.note_plan(question);
            }
            for at in self.turns(round) {
                if let Err(error) = self.ask(at, question, round) {
                    self.leave_out(at, error)?;
                }
            }
            let row = self.row(question.name);
            row.into_iter()
                .for_each(|row| crate::amounts::progress(row, REFERENCE, &[OURS.to_owned()]));
        }
        for at in self.turns(round) {
            if let Err(error) = self.end(at, round) {
                self.leave_out(at, error)?;
            }
        }
        for question in QUESTIONS.iter().filter(alone) {
            if self.wants(question.name) {
                for at in self.turns(round) {
                    self.ask_alone(at, question, round)?;
                }
            }
        }
        Ok(())
    }

    /// Notes our plan of a question's first search.
    fn note_plan(&mut self, question: &Question) {
        let ours = self.servers.iter().find(|server| server.name() == OURS);
        let plan = ours.and_then(|ours| self.generator().plan_of(ours, question));
        if let Some(row) = self.row(question.name) {
            row.plan = plan;
        }
    }

    /// Load, export and start; the echo server is only started.
    fn whole_database(&mut self, at: usize, round: u64) -> anyhow::Result<()> {
        let (make, engine) = (self.servers[at].make(), self.servers[at].name());
        if make != Make::Echo {
            let server = &self.servers[at];
            server.configure()?;
            let spent = server
                .load(&self.ldif)
                .with_context(|| format!("{engine} cannot load"))?;
            let bytes = bytes_in(&server.data());
            for name in ["load", "load-wall"] {
                let outcome = Outcome {
                    file_bytes: bytes,
                    ..spent.outcome()
                };
                self.note(name, engine, round, Ok(outcome));
            }
            if self.wants("export") {
                let outcome = self.servers[at].export().and_then(|(spent, entries)| {
                    let expected = self.plan.data.entries(self.plan.people);
                    ensure!(
                        entries == expected,
                        "{entries} entries exported, {expected} loaded"
                    );
                    Ok(spent.outcome())
                });
                self.note("export", engine, round, outcome);
            }
        }
        let wall = self.servers[at].start()?;
        if make != Make::Echo {
            let outcome = Spent { wall, cpu: wall }.outcome();
            self.note("start", engine, round, Ok(outcome));
        }
        Ok(())
    }

    /// Asks a server, and starts it again if it does not answer in time.
    /// # Errors
    /// Fails if the server does not start again.
    fn ask(&mut self, at: usize, question: &Question, round: u64) -> anyhow::Result<()> {
        let (make, engine) = (self.servers[at].make(), self.servers[at].name());
        // Scans and searches of whole databases say nothing of a server that has none.
        let is_all = question
            .filter
            .is_none_or(|(filter, _)| filter == EVERYTHING);
        let is_empty = make == Make::Echo && (!is_all || question.beside != Beside::Nothing);
        if is_empty || !self.plan.plays(engine, question.name) {
            return Ok(());
        }
        let outcome = self.outcome(at, question, round);
        let (outcome, beside) = match outcome {
            Ok((outcome, beside)) => (Ok(outcome), beside),
            Err(error) => (Err(error), None),
        };
        let is_late = matches!(&outcome, Err(error) if error.downcast_ref::<Late>().is_some());
        self.note(question.name, engine, round, outcome);
        if let Some(beside) = beside {
            let row = match question.beside {
                Beside::FileReads => "reads-beside",
                _ => "modifies-beside",
            };
            self.note(row, engine, round, Ok(beside));
        }
        if is_late {
            self.servers[at].restart()?;
        }
        Ok(())
    }

    fn outcome(
        &self,
        at: usize,
        question: &Question,
        round: u64,
    ) -> anyhow::Result<(Outcome, Option<Outcome>)> {
        let server = &self.servers[at];
        let load = self.generator();
        let (make, patience) = (server.make(), self.plan.patience());
        let mut generator = load.command(server, question, round);
        match question.beside {
            Beside::Nothing => {
                return Ok((answer(start(&mut generator)?, make, patience)?, None));
            }
            Beside::FileReads => {
                let scans = start(&mut generator)?;
                let reads = reads_of_largest(&server.data());
                return Ok((answer(scans, make, patience)?, Some(reads?)));
            }
            Beside::Modifies => {}
        }
        let modify = Question {
            kind: "modify",
            connections: 2,
            as_root: true,
            ..*question
        };
        // Both end by the clock.
        let time = ["--seconds", if self.plan.scale > 1 { "1" } else { "3" }];
        let mut modifies = load.command(server, &modify, round);
        let modifies = start(modifies.args(time))?;
        let searches = start(generator.args(time))?;
        let outcome = answer(searches, make, patience);
        let beside = answer(modifies, make, patience)?;
        Ok((outcome?, Some(beside)))
    }

    /// Memory after all of it; then the server is stopped.
    fn end(&mut self, at: usize, round: u64) -> anyhow::Result<()> {
        let (make, engine) = (self.servers[at].make(), self.servers[at].name());
        if let (Some((anonymous, resident)), true) = (self.servers[at].memory(), make != Make::Echo)
        {
            for (name, kibibytes) in [("memory", anonymous), ("resident", resident)] {
                let outcome = Outcome {
                    file_bytes: kibibytes << 10,
                    ..Spent::default().outcome()
                };
                self.note(name, engine, round, Ok(outcome));
            }
        }
        self.servers[at].stop()
    }

    /// A question to a server of one duty: the files of a durable one are on a disk.
    fn ask_alone(&mut self, at: usize, question: &Question, round: u64) -> anyhow::Result<()> {
        let own = &self.servers[at];
        if own.make() == Make::Echo {
            return Ok(());
        }
        let (root, medium) = match question.duty {
            Duty::Durable => (&self.durable, Medium::Disk),
            Duty::Logging | Duty::Nothing => (&self.logging, Medium::Memory),
        };
        let folder = root.join(own.name());
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        let mut server = own.with_duty(question.duty, folder.clone())?;
        server.configure()?;
        copy_files(&own.data(), &server.data(), medium)?;
        server.start()?;
        std::mem::swap(&mut self.servers[at], &mut server);
        let asked = self.ask(at, question, round);
        std::mem::swap(&mut self.servers[at], &mut server);
        asked?;
        server.stop()?;
        // A log may be written late, but not after the end.
        if question.duty == Duty::Logging
            && let Err(error) = server.require_log(self.plan.requests(question))
        {
            self.note(question.name, server.name(), round, Err(error));
        }
        // Several copies do not fit into the memory of a small machine.
        std::fs::remove_dir_all(&folder)?;
        Ok(())
    }
}

/// Reads the largest file of a folder twice, in pieces of a mebibyte; tells of the second time.
/// slapd's file has the size of the map, with a hole behind the data; the hole is not read.
fn reads_of_largest(folder: &Path) -> anyhow::Result<Outcome> {
    let files = std::fs::read_dir(folder)?.flatten();
    let sizes = files.filter_map(|file| Some((file.metadata().ok()?.blocks() * 512, file.path())));
    let (bytes, largest) = sizes.max().context("a database without files")?;
    let mut piece = vec![0; 1 << 20];
    let mut wall = Duration::ZERO;
    for _ in 0..2 {
        let begun = Instant::now();
        let mut file = File::open(&largest)?.take(bytes);
        while file.read(&mut piece)? > 0 {}
        wall = begun.elapsed();
    }
    Ok(Spent { wall, cpu: wall }.outcome())
}

/// Names of rows, and what they are.
pub(crate) fn rows() -> impl Iterator<Item = (String, String)> {
    let whole = OTHER_ROWS.iter().map(|name| (*name, WHOLE.to_owned()));
    let single = whole.chain(QUESTIONS.iter().map(|question| {
        let full = match question.tier {
            Tier::Short => "",
            Tier::Full => ", full runs only",
        };
        (question.name, format!("{}{full}", question.title))
    }));
    let single = single.map(|(name, title)| (name.to_owned(), title));
    single.chain(
        several::rows()
            .into_iter()
            .map(|(name, title)| (name, format!("{title}, founding tables only"))),
    )
}

/// Names of servers, and what they are.
pub(crate) fn servers() -> impl Iterator<Item = (&'static str, &'static str)> {
    CONTENDERS.iter().map(|one| (one.name, one.title))
}

/// Returns true if the load generator has been built.
pub(crate) fn is_there() -> bool {
    client::program().exists()
}
