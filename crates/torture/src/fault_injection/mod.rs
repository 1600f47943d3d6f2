//! Every system call of a history fails, one by one and in pairs.
//!
//! ```text
//!   history ---> run without faults: which calls does it make?
//!      |
//!      '-------> run with call n failing, for each n and each error it can have, then with a second one ---> judge
//!
//!   the judge:   a clean error for whoever asked; nothing committed is lost, nothing undone is there; the environment goes
//!                on or says plainly that it does not; another process can write; the file is sound, also on a disk that
//!                forgot whatever a failed flush should have kept; no descriptor, mapping or memory is left
//! ```
//!
//! A step that fails is taken again, so every history comes to its end whatever happens in the
//! middle.

mod changes;
mod errnos;
mod histories;
mod injector;
mod leaks;
mod model;
mod neighbour;
mod report;
mod script;
mod shadow;
mod sweep;
mod world;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use fulgurite::seam::CountingAllocator;
use fulgurite_testkit::Random;

use injector::Fault;
use script::History;
use sweep::{Effort, Sweep};

use crate::options::RunOptions;

#[global_allocator]
static COUNTING: CountingAllocator = CountingAllocator;

/// The kinds of faults and the length of the run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Shared by all runs; its seconds begin after all single faults.
    #[command(flatten)]
    pub run: RunOptions,
    /// One error per call, every seventh call of long histories, no pairs
    #[arg(long)]
    pub quick: bool,
    /// Only histories whose name has this in it
    #[arg(long)]
    pub only: Option<String>,
    /// Run as the neighbour process
    #[arg(long, hide = true)]
    pub neighbour: bool,
    /// Be a process that dies with a read transaction
    #[arg(long, hide = true)]
    pub die_reading: Option<PathBuf>,
    /// Be a process that dies with the write transaction
    #[arg(long, hide = true)]
    pub die_writing: Option<PathBuf>,
}

/// The default time for pairs and random histories.
const SECONDS: u64 = 60;

/// Runs the torture and prints what was tried.
/// # Errors
/// Fails with the faults that the store did not survive, and how to repeat them. Also fails if no
/// history made some kind of call.
pub fn run(options: &Options) -> anyhow::Result<()> {
    if options.neighbour {
        return neighbour::serve();
    }
    if let Some(directory) = &options.die_reading {
        return neighbour::die(directory, false);
    }
    if let Some(directory) = &options.die_writing {
        return neighbour::die(directory, true);
    }
    // Uses a file system in memory where there is one, because the disk's speed is not judged.
    let parent = Path::new("/dev/shm");
    let home = match tempfile::tempdir_in(parent) {
        Ok(home) => home,
        Err(_) => tempfile::tempdir()?,
    };
    match &options.run.replay {
        Some(replay) => replay_one(home.path(), replay),
        None => sweep_all(home.path(), options),
    }
}

fn sweep_all(home: &Path, options: &Options) -> anyhow::Result<()> {
    let clock = options.run.start("fault-injection", Some(SECONDS));
    let effort = Effort {
        verdicts: if options.quick { 1 } else { usize::MAX },
        stride: if options.quick { 7 } else { 1 },
        found_max: 20,
    };
    let wanted = |history: &History| match &options.only {
        Some(part) => history.name.contains(part.as_str()),
        None => true,
    };
    let mut sweep = Sweep::new(home.to_owned(), effort)?;
    let mut random = Random::new(clock.seed);
    let mut short = Vec::new();
    for history in histories::short().into_iter().filter(wanted) {
        let made = count(&mut sweep, &history)?;
        sweep.singles(&history, &made, 0);
        short.push((history, made));
    }
    for history in histories::long().into_iter().filter(wanted) {
        let made = count(&mut sweep, &history)?;
        let shift = random.below(effort.stride);
        sweep.singles(&history, &made, shift);
    }
    println!(
        "single faults: {} runs in {:.0} s",
        sweep.tally.runs,
        clock.seconds()
    );
    if !options.quick {
        let half = clock.length() / 2;
        let share = half / short.len().max(1) as u32;
        for (history, made) in &short {
            sweep.pairs(history, made, Instant::now() + share);
        }
        try_random(&mut sweep, &mut random, options, Instant::now() + half)?;
    }
    report::print(&sweep.tally, &clock);
    ensure!(
        sweep.tally.failures.is_empty(),
        "{} faults found",
        sweep.tally.failures.len()
    );
    if options.only.is_none() {
        report::all_calls_reached(&sweep.tally)?;
    }
    Ok(())
}

fn count(sweep: &mut Sweep, history: &History) -> anyhow::Result<Vec<injector::Made>> {
    sweep
        .count(history)
        .with_context(|| format!("history {}, without any fault", history.name))
}

/// Random histories, and random pairs in them and in the others.
fn try_random(
    sweep: &mut Sweep,
    random: &mut Random,
    options: &Options,
    until: Instant,
) -> anyhow::Result<()> {
    let known = histories::long();
    while Instant::now() < until && !sweep.is_full() {
        let history = if random.chance(30) {
            random.pick(&known).clone()
        } else {
            histories::random(random.bits() >> 32)
        };
        if options
            .only
            .as_ref()
            .is_some_and(|part| !history.name.contains(part.as_str()))
        {
            continue;
        }
        let made = count(sweep, &history)?;
        for _ in 0..40 {
            sweep.at_random(&history, &made, random);
        }
    }
    Ok(())
}

fn replay_one(home: &Path, replay: &str) -> anyhow::Result<()> {
    let (name, faults) = replay.split_once(':').context("HISTORY:CALL=ERROR,...")?;
    let history = match name.strip_prefix("random-") {
        Some(seed) => histories::random(seed.parse()?),
        None => histories::short()
            .into_iter()
            .chain(histories::long())
            .find(|history| history.name == name)
            .with_context(|| format!("there is no history {name}"))?,
    };
    let mut parsed = Vec::new();
    for fault in faults.split(',').filter(|fault| !fault.is_empty()) {
        let (number, verdict) = fault.split_once('=').context("CALL=ERROR")?;
        parsed.push(Fault {
            number: number.parse()?,
            verdict: errnos::verdict(verdict).with_context(|| format!("what is {verdict}?"))?,
        });
    }
    let effort = Effort {
        verdicts: 1,
        stride: 1,
        found_max: 1,
    };
    let mut sweep = Sweep::new(home.to_owned(), effort)?;
    println!("{:#?}", history.steps);
    // Twice: each other run has another kind of disk.
    for _ in 0..2 {
        match sweep.try_faults(&history, &parsed) {
            Some(plan) => report::print_calls(&plan.made(), &parsed),
            None => bail!("not survived"),
        }
    }
    Ok(())
}
