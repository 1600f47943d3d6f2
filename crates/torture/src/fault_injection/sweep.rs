//! Runs histories again and again: once to count their calls, then with each call failing, then
//! with pairs of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use fulgurite::seam::{Call, Site, Verdict};
use fulgurite_testkit::Random;

use super::errnos;
use super::injector::{Fault, Fired, Made, Plan};
use super::leaks::Resources;
use super::neighbour::Neighbour;
use super::script::History;
use super::shadow::{Malice, Shadow};
use super::world;
use crate::tally::Tally;

/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sites with fewer faults so far are not passed over.
const RARE: u64 = 4;

/// The counts of the runs.
#[derive(Debug, Default)]
pub(super) struct SweepTally {
    pub(super) runs: u64,
    pub(super) pairs: u64,
    /// Calls in runs without faults.
    pub(super) calls: Tally<Site>,
    /// Faults, each with the result of the call.
    pub(super) faults: Tally<(Site, &'static str)>,
    /// The failures, with the way to repeat each.
    pub(super) failures: Vec<String>,
}

/// How much is tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// Verdicts per call.
    pub(super) verdicts: usize,
    /// The distance of the calls that fail in long histories.
    pub(super) stride: usize,
    /// Faults found at most, before it ends.
    pub(super) found_max: usize,
}

/// Runs histories, and keeps what it learns.
pub(super) struct Sweep {
    home: PathBuf,
    number: u64,
    neighbour: Neighbour,
    pub(super) tally: SweepTally,
    watch: Arc<Watch>,
    effort: Effort,
}

/// The present run, and its start.
#[derive(Debug, Default)]
struct Watch {
    what: Mutex<String>,
    runs: AtomicU64,
}

impl Sweep {
    pub(super) fn new(home: PathBuf, effort: Effort) -> anyhow::Result<Sweep> {
        let watch = Arc::new(Watch::default());
        let watched = Arc::clone(&watch);
        std::thread::spawn(move || end_what_hangs(&watched));
        Ok(Sweep {
            home,
            number: 0,
            neighbour: Neighbour::start()?,
            tally: SweepTally::default(),
            watch,
            effort,
        })
    }

    /// Returns true if enough failures were found.
    pub(super) fn is_full(&self) -> bool {
        self.tally.failures.len() >= self.effort.found_max
    }

    /// The calls of a history, which must pass without faults.
    pub(super) fn count(&mut self, history: &History) -> anyhow::Result<Vec<Made>> {
        // Twice: the first run fills what a process keeps for good.
        self.run(history, &[])?;
        let plan = self.run(history, &[])?;
        let made = plan.made();
        for call in &made {
            self.tally.calls.note(call.site);
        }
        Ok(made)
    }

    /// Lets each call fail in each way.
    pub(super) fn singles(&mut self, history: &History, made: &[Made], shift: usize) {
        let stride = self.effort.stride.max(1);
        for (index, call) in made.iter().enumerate() {
            // Rare calls fail each time.
            if index % stride != shift % stride && !self.is_rare(call.site) {
                continue;
            }
            let all = errnos::verdicts(call.site, call.len, usize::MAX);
            // Not the same one everywhere, if it is to be one.
            let chosen = all.iter().cycle().skip(index + shift);
            for &verdict in chosen.take(all.len().min(self.effort.verdicts)) {
                let number = index as u64 + 1;
                let fault = Fault { number, verdict };
                if let Some(plan) = self.try_faults(history, &[fault]) {
                    self.on_error_paths(history, made, fault, &plan.made());
                }
                if self.is_full() {
                    return;
                }
            }
        }
    }

    /// Calls that are only made because another one failed fail too.
    fn on_error_paths(&mut self, history: &History, made: &[Made], first: Fault, after: &[Made]) {
        let later = (first.number..).zip(after.iter().skip(first.number as usize));
        for (before, call) in later {
            let is_usual = made.iter().any(|usual| usual.site == call.site);
            if is_usual || !self.is_rare(call.site) {
                continue;
            }
            for verdict in errnos::verdicts(call.site, call.len, 1) {
                let number = before + 1;
                self.tally.pairs += 1;
                self.try_faults(history, &[first, Fault { number, verdict }]);
            }
        }
    }

    fn is_rare(&self, site: Site) -> bool {
        self.tally.faults.sum(|(failed, _)| *failed == site) < RARE
    }

    /// Lets each call fail, and then each call that follows. The other way round there are no
    /// pairs: what follows a failure are other calls than before.
    pub(super) fn pairs(&mut self, history: &History, made: &[Made], until: Instant) {
        for (index, call) in made.iter().enumerate() {
            let Some(&verdict) = errnos::verdicts(call.site, call.len, 1).first() else {
                continue;
            };
            let number = index as u64 + 1;
            let first = Fault { number, verdict };
            let Some(plan) = self.try_faults(history, &[first]) else {
                continue;
            };
            for (later, call) in plan.made().iter().enumerate().skip(index + 1) {
                for verdict in errnos::verdicts(call.site, call.len, 1) {
                    let number = later as u64 + 1;
                    self.tally.pairs += 1;
                    self.try_faults(history, &[first, Fault { number, verdict }]);
                }
                if self.is_full() || Instant::now() > until {
                    return;
                }
            }
        }
    }

    /// A random single fault or pair of a history that has these calls.
    pub(super) fn at_random(&mut self, history: &History, made: &[Made], random: &mut Random) {
        let first = random.below(made.len());
        let Some(call) = made.get(first) else {
            return;
        };
        let verdicts = errnos::verdicts(call.site, call.len, usize::MAX);
        let first = Fault {
            number: first as u64 + 1,
            verdict: *random.pick(&verdicts),
        };
        // The call that the second fault will hit is unknown, so its error is one that every call
        // can have.
        let second = Fault {
            number: first.number + random.between(1, 40) as u64,
            verdict: Verdict::Fail(*random.pick(&[5, 28, 12])),
        };
        self.tally.pairs += 1;
        self.try_faults(history, &[first, second]);
    }

    /// Runs a history with faults and notes what is not survived.
    pub(super) fn try_faults(&mut self, history: &History, faults: &[Fault]) -> Option<Arc<Plan>> {
        match self.run(history, faults) {
            Ok(plan) => Some(plan),
            Err(error) => {
                let replay = replay_text(history, faults);
                let told = format!("{replay}: {error:#}");
                eprintln!("{told}");
                self.tally.failures.push(told);
                None
            }
        }
    }

    fn run(&mut self, history: &History, faults: &[Fault]) -> anyhow::Result<Arc<Plan>> {
        let mut leaks = Vec::new();
        // A process takes lasting resources once; a leak shows each time.
        for _ in 0..3 {
            let (plan, leak) = self.run_once(history, faults)?;
            match leak {
                None => return Ok(plan),
                Some(leak) => leaks.push(leak),
            }
        }
        bail!("each time {}", leaks.join(", "))
    }

    fn run_once(
        &mut self,
        history: &History,
        faults: &[Fault],
    ) -> anyhow::Result<(Arc<Plan>, Option<String>)> {
        self.number += 1;
        self.tally.runs += 1;
        self.watch.begin(&replay_text(history, faults));
        let home = self.home.join(format!("{}", self.number));
        std::fs::create_dir(&home).context("a directory for a run")?;
        let malice = [Malice::Loses, Malice::Mixes][(self.number % 2) as usize];
        let shadow = history.shadowed.then(|| Arc::new(Shadow::new(malice)));
        let plan = Arc::new(Plan::new(faults, shadow.clone(), history.name == "fixed"));
        let before = Resources::now(&home);
        let neighbour = &mut self.neighbour;
        let result = catch_unwind(AssertUnwindSafe(|| {
            world::run(history, &home, &plan, shadow, neighbour)
        }));
        let after = Resources::now(&home);
        let own = plan.held_octets();
        let fired = plan.fired(0);
        let removed = std::fs::remove_dir_all(&home);
        match result {
            Ok(result) => result?,
            Err(_) => bail!("a panic"),
        }
        removed.context("remove what a run left")?;
        self.note(&fired);
        let keeps_maps = fired.iter().any(|fired| fired.site.call == Call::Unmap);
        Ok((plan, after.more_than(&before, own, keeps_maps)))
    }

    fn note(&mut self, fired: &[Fired]) {
        for fired in fired {
            let how = match fired.verdict {
                Verdict::Fail(errno) => errnos::name(errno),
                Verdict::Short(_) => "short",
                Verdict::Go => "go",
            };
            self.tally.faults.note((fired.site, how));
        }
    }
}

/// How to do it again.
pub(super) fn replay_text(history: &History, faults: &[Fault]) -> String {
    let faults: Vec<String> = faults.iter().map(Fault::to_string).collect();
    format!("--replay {}:{}", history.name, faults.join(","))
}

impl Watch {
    fn begin(&self, what: &str) {
        let mut now = self.what.lock().unwrap_or_else(PoisonError::into_inner);
        now.clear();
        now.push_str(what);
        self.runs.fetch_add(1, Ordering::Relaxed);
    }
}

/// Ends the program when a run makes no progress: it waits for something that never comes.
fn end_what_hangs(watch: &Watch) {
    let mut last = (watch.runs.load(Ordering::Relaxed), Instant::now());
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let runs = watch.runs.load(Ordering::Relaxed);
        if runs != last.0 {
            last = (runs, Instant::now());
        } else if runs > 0 && last.1.elapsed() > PATIENCE {
            let what = watch.what.lock().unwrap_or_else(PoisonError::into_inner);
            eprintln!("{what}: hangs");
            std::process::exit(3);
        }
    }
}
