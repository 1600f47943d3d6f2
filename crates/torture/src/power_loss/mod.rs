//! Every state a disk could hold after a power loss: each must open as a snapshot that was
//! promised.
//!
//! ```text
//!   history     random transactions on a real environment             mode + seed say all of it
//!      |  recording    what it asked of the disk, in order            Recorder, a DiskObserver of the engine
//!      v
//!   disk        what is durable, what is on its way                   every sync moves the one into the other
//!      |  cut          the power goes after so many events
//!      v
//!   states      by sector, page or write; any order; torn; file length older or newer than what was written
//!      |  judge        at a glance: which snapshot, is it all there?   all states
//!      v  inspector    opened, read, checked, written to               one of each kind, and some by chance
//! ```
//!
//! A state has a name, `MODE:SEED:CUT:CHOICE`, by which it can be made again.
//!
//! With checkpoints, the file that describes them is cut in the same way. Each state is opened as
//! after another start of the system. Some moments are also opened as after the end of the process
//! alone: then the last commit must be there.
//!
//! # What a disk may do here
//!
//! A completed sync is permanent. Each sector of 512 bytes written later holds any content it had
//! since, independent of all others. So writes arrive in any order, in part, or not at all; the
//! same holds for the file's length. A sector may also hold the first octets of a newer content and
//! the last of an older one. With a writable map, pages reach the disk whenever the system likes.
//! Two further modes have no promise and are only counted. [`Mode::Liar`] is a disk that reports
//! syncs without doing them. [`Mode::TornMeta`] mixes the bytes within the sector of a meta page in
//! any way.

mod alter;
mod content;
mod cut;
mod description;
mod disk;
mod history;
mod inspector;
mod judge;
mod mode;
mod recording;
mod sectors;
mod survey;
mod tally;

pub use alter::Alteration;
pub use mode::Mode;
pub use survey::{Effort, StateId, replay, survey};
pub use tally::{Count, ModeTally};

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use sectors::mix;

use crate::options::{RunClock, RunOptions};
use crate::tally::Tally;

/// The modes and the length of the run.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Shared by all runs.
    #[command(flatten)]
    pub run: RunOptions,
    /// Modes to try, separated by commas; all if not given
    #[arg(long, value_delimiter = ',')]
    pub mode: Vec<Mode>,
    /// Ends after this many disk states
    #[arg(long, default_value_t = 1_000_000)]
    pub states: u64,
    /// Threads that try histories at the same time
    #[arg(long, default_value_t = 2)]
    pub jobs: usize,
    /// Random states of a cut that has too many to try them all
    #[arg(long, default_value_t = 400)]
    pub samples: u64,
    /// The number of states opened, of 1000 that differ from an opened one in nothing that matters
    #[arg(long, default_value_t = 20)]
    pub opened: usize,
    /// With --replay: keeps the state's data file there
    #[arg(long, value_name = "FILE", requires = "replay")]
    pub keep: Option<PathBuf>,
}

/// The longest run by default, in seconds.
const SECONDS: u64 = 3600;

/// Runs the torture and prints what was tried.
/// # Errors
/// The first thing that the store did not survive, with all that is needed to repeat it.
pub fn run(options: &Options) -> anyhow::Result<()> {
    if let Some(case) = &options.run.replay {
        let id: StateId = case.parse().map_err(anyhow::Error::msg)?;
        println!("{}", replay(id, options.keep.as_deref())?);
        return Ok(());
    }
    let clock = options.run.start("power-loss", Some(SECONDS));
    let run = Run::new(options, clock);
    let first_failure = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.jobs.max(1))
            .map(|_| scope.spawn(|| run.work()))
            .collect();
        let joined = threads.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(_) => Err(anyhow::anyhow!("the simulator itself failed")),
        });
        joined.collect::<Vec<_>>().into_iter().find_map(Result::err)
    });
    run.print();
    match first_failure {
        Some(failure) => Err(failure.context(format!("power-loss, seed {}", clock.seed))),
        None => Ok(()),
    }
}

/// A run of many histories by several threads.
struct Run<'o> {
    options: &'o Options,
    modes: Vec<Mode>,
    clock: RunClock,
    states: AtomicU64,
    failed: AtomicBool,
    progress: Mutex<BTreeMap<Mode, Progress>>,
}

/// How far a mode is.
#[derive(Debug, Default)]
struct Progress {
    /// Histories that were begun.
    begun: u64,
    /// Histories that are being tried.
    active: u32,
    tally: ModeTally,
}

impl Run<'_> {
    fn new(options: &Options, clock: RunClock) -> Run<'_> {
        let modes = if options.mode.is_empty() {
            Mode::ALL.to_vec()
        } else {
            options.mode.clone()
        };
        Run {
            options,
            modes,
            clock,
            states: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            progress: Mutex::default(),
        }
    }

    fn work(&self) -> anyhow::Result<()> {
        let effort = Effort {
            samples: self.options.samples,
            opened_permille: self.options.opened,
            written_percent: 10,
        };
        while !self.is_over() {
            let (mode, number) = self.begin();
            let seed = mix(self.clock.seed ^ mix(mode as u64 ^ mix(number))) >> 16;
            let tally = survey(mode, seed, effort, Alteration::None)
                .with_context(|| format!("history {mode}:{seed}"))
                .inspect_err(|_| self.failed.store(true, Ordering::Relaxed))?;
            self.states
                .fetch_add(tally.of(Count::States), Ordering::Relaxed);
            let mut progress = self.progress();
            let progress = progress.entry(mode).or_default();
            progress.tally.merge(&tally);
            progress.active -= 1;
        }
        Ok(())
    }

    /// The next history: of the mode that has had the least time so far.
    fn begin(&self) -> (Mode, u64) {
        let mut progress = self.progress();
        let least = |mode: &&Mode| {
            let known = progress.get(*mode);
            known.map_or((0, Duration::ZERO), |known| {
                (known.active, known.tally.time)
            })
        };
        let mode = self.modes.iter().min_by_key(least).copied();
        let mode = mode.unwrap_or(Mode::Full);
        let progress = progress.entry(mode).or_default();
        progress.begun += 1;
        progress.active += 1;
        (mode, progress.begun)
    }

    fn progress(&self) -> MutexGuard<'_, BTreeMap<Mode, Progress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
            || self.states.load(Ordering::Relaxed) >= self.options.states
            || self.clock.is_over()
    }

    fn print(&self) {
        let progress = self.progress();
        println!("{}", ModeTally::heading());
        let mut total = ModeTally::default();
        for mode in &self.modes {
            let known = progress.get(mode).map(|progress| progress.tally.clone());
            let tally = known.unwrap_or_default();
            println!("{mode:<17}{tally}");
            total.merge(&tally);
        }
        total.ends = Tally::default();
        println!("{:<17}{total}", "all");
        let seconds = self.clock.seconds();
        println!(
            "{} states, {} distinct, {} opened, in {seconds:.1} s with {} threads: {:.0} states a second",
            total.of(Count::States),
            total.of(Count::Distinct),
            total.of(Count::Opened),
            self.options.jobs,
            total.of(Count::States) as f64 / seconds
        );
    }
}
