//! The torture from the command line.

use std::path::PathBuf;

use anyhow::{Context, bail};
use fulgurite_testkit::{reference_libraries, walker_program};

use super::run::{self, Failure, Outcome, Plan};
use super::subject::Subject;
use super::{bases, child, draw};
use crate::options::{RunClock, RunOptions};

/// Whom to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Whom {
    /// Our engine by its own interface
    Rust,
    /// Our liblmdb.so
    C,
    /// The newest real library of this machine
    Real,
    /// The system's real library
    System,
}

/// The subjects and the length of the run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Shared by all runs.
    #[command(flatten)]
    pub run: RunOptions,
    /// How many mutations
    #[arg(long, default_value_t = 20_000)]
    pub count: u64,
    /// Whom to give them to, side by side
    #[arg(long, value_delimiter = ',', default_value = "rust")]
    pub subjects: Vec<Whom>,
    /// Our liblmdb.so [default: the one next to this program]
    #[arg(long)]
    pub library: Option<PathBuf>,
    /// How many at a time
    #[arg(long, default_value_t = 1)]
    pub jobs: usize,
    /// Where the files are put [default: a file system in memory]
    #[arg(long)]
    pub scratch: Option<PathBuf>,
    /// Mutate nothing: shows what a library does to sound files
    #[arg(long)]
    pub control: bool,
    /// Cut or overwrite sound files while they are walked; the moment is not the same in a replay
    #[arg(long)]
    pub live: bool,
    /// Keep the mutated file of each failure of ours in this directory
    #[arg(long)]
    pub keep: Option<PathBuf>,
    /// Be the process that walks through an environment
    #[arg(long, hide = true)]
    pub child: Option<PathBuf>,
}

/// How many failures of ours are minimised and shown.
const SHOWN: usize = 10;

/// Runs the torture and prints what was tried.
/// # Errors
/// The first thing that the store did not survive, with all that is needed to repeat it.
pub fn run(options: &Options) -> anyhow::Result<()> {
    if let Some(dir) = &options.child {
        return child::serve(dir);
    }
    let plan = options.plan()?;
    let bases = bases::all();
    println!(
        "{} bases, mutations {} to {}",
        bases.len(),
        plan.first,
        plan.first + plan.count - 1
    );
    let outcome = run::run(&plan, &bases, &|done| {
        if done.is_multiple_of(50_000) {
            eprintln!("{done} in {:.0} s", plan.clock.seconds());
        }
    })?;
    let seconds = plan.clock.seconds();
    for (((name, _), tally), said) in plan
        .subjects
        .iter()
        .zip(&outcome.tallies)
        .zip(&outcome.said)
    {
        println!("{name} ({said}): {tally}");
    }
    let tried: u64 = outcome
        .tallies
        .iter()
        .map(|tally| tally.fates.total())
        .sum();
    println!(
        "{tried} walks in {seconds:.1} s, {:.0} per second and job",
        tried as f64 / seconds / plan.jobs.max(1) as f64
    );
    options.judge(&plan, &bases, &outcome)
}

impl Options {
    fn plan(&self) -> anyhow::Result<Plan> {
        let subjects = self.subjects.iter().map(|whom| self.subject(*whom));
        let (clock, first, count) = match &self.run.replay {
            Some(case) => {
                let (seed, number) = case.split_once(':').context("a case is SEED:NUMBER")?;
                (RunClock::endless(seed.parse()?), number.parse()?, 1)
            }
            None => (self.run.start("corruption", None), 0, self.count),
        };
        Ok(Plan {
            clock,
            first,
            count,
            jobs: self.jobs,
            subjects: subjects.collect::<anyhow::Result<_>>()?,
            scratch: self.scratch.clone().unwrap_or_else(run::default_scratch),
            is_control: self.control,
            is_live: self.live,
        })
    }

    fn subject(&self, whom: Whom) -> anyhow::Result<(String, Subject)> {
        let program = std::env::current_exe()?;
        let real = reference_libraries();
        let (name, library) = match whom {
            Whom::Rust => return Ok(("ours, Rust".to_owned(), Subject::Rust(program))),
            Whom::C => {
                let beside = program.with_file_name("liblmdb.so");
                ("ours, C", self.library.clone().unwrap_or(beside))
            }
            Whom::Real => ("real", real.last().context("a real library")?.clone()),
            Whom::System => ("real, the system's", real.first().context("one")?.clone()),
        };
        if !library.exists() {
            bail!("{} is missing: build fulgurite-lmdb", library.display());
        }
        let subject = Subject::C {
            program: walker_program(),
            library,
            is_ours: whom == Whom::C,
        };
        Ok((name.to_owned(), subject))
    }

    /// A mutation that ours did not survive is printed in its smallest form, and is an error.
    fn judge(&self, plan: &Plan, bases: &[bases::Base], outcome: &Outcome) -> anyhow::Result<()> {
        let mut ours: Vec<&Failure> = outcome
            .failures
            .iter()
            .filter(|failure| failure.subject.starts_with("ours"))
            .collect();
        ours.sort_by_key(|failure| failure.number);
        for failure in ours.iter().take(SHOWN) {
            let Failure {
                subject,
                number,
                fate,
            } = failure;
            let index = plan.subjects.iter().position(|(name, _)| name == subject);
            let small = run::minimise(plan, bases, index.unwrap_or_default(), *number, *fate)?;
            println!(
                "{subject}: {fate:?} by --replay {}:{number}: {}",
                plan.clock.seed,
                small.describe(bases)
            );
            if let Some(dir) = &self.keep {
                std::fs::create_dir_all(dir)?;
                let bytes = draw::draw(plan.clock.seed, *number, bases).bytes(bases);
                std::fs::write(dir.join(format!("{number}.mdb")), bytes)?;
            }
        }
        if ours.is_empty() {
            return Ok(());
        }
        bail!("{} of our walks failed", ours.len())
    }
}
