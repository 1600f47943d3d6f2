//! The parent's side: seeds are given out to child processes in batches, and what they find is
//! collected.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fulgurite_testkit::{Ended, run_bounded};

use crate::child::MARK;
use crate::minimise::minimise;
use crate::run::{IN_REFERENCE, WITNESS};
use crate::settings::{DIR, JOB, STEPS, Settings, TRACE, format_steps};

/// Seeds of one child process.
const BATCH: u64 = 25;
/// A batch takes about a second; a single seed far less.
const BATCH_LIMIT: Duration = Duration::from_secs(90);
/// The limit of a run of one seed.
const SEED_LIMIT: Duration = Duration::from_secs(10);
/// Number of seeds that certainly make every call with every outcome that matters.
const SEEDS_FOR_ALL: u64 = 1000;
/// Outcomes that must occur: a plan that no longer reaches these compares less than it seems.
const REQUIRED: [&str; 44] = [
    "mdb_cursor_get FIRST OK",
    "mdb_cursor_get FIRST_DUP OK",
    "mdb_cursor_get GET_BOTH OK",
    "mdb_cursor_get GET_BOTH_RANGE OK",
    "mdb_cursor_get GET_CURRENT OK",
    "mdb_cursor_get GET_MULTIPLE OK",
    "mdb_cursor_get LAST OK",
    "mdb_cursor_get LAST_DUP OK",
    "mdb_cursor_get NEXT OK",
    "mdb_cursor_get NEXT_DUP OK",
    "mdb_cursor_get NEXT_MULTIPLE OK",
    "mdb_cursor_get NEXT_NODUP OK",
    "mdb_cursor_get PREV OK",
    "mdb_cursor_get PREV_DUP OK",
    "mdb_cursor_get PREV_NODUP OK",
    "mdb_cursor_get PREV_MULTIPLE NOTFOUND",
    "mdb_cursor_get SET OK",
    "mdb_cursor_get SET_KEY OK",
    "mdb_cursor_get SET_RANGE OK",
    "mdb_cursor_put CURRENT OK",
    "mdb_cursor_put CURRENT|RESERVE OK",
    "mdb_cursor_put MULTIPLE OK",
    "mdb_cursor_put NODUPDATA|MULTIPLE KEYEXIST",
    "mdb_cursor_put RESERVE OK",
    "mdb_cursor_del 0x0 OK",
    "mdb_cursor_del NODUPDATA OK",
    "mdb_cursor_renew OK",
    "mdb_put APPEND OK",
    "mdb_put APPEND KEYEXIST",
    "mdb_put APPENDDUP OK",
    "mdb_put APPENDDUP KEYEXIST",
    "mdb_put NODUPDATA KEYEXIST",
    "mdb_put NOOVERWRITE KEYEXIST",
    "mdb_put RESERVE OK",
    "mdb_put 0x0 MAP_FULL",
    "mdb_del OK",
    "mdb_drop OK",
    "mdb_dbi_close OK",
    "mdb_env_set_mapsize OK",
    "mdb_txn_begin child OK",
    "mdb_txn_begin RDONLY READERS_FULL",
    "mdb_txn_commit BAD_TXN",
    "mdb_txn_renew OK",
    "walk GET_MULTIPLE|NEXT_MULTIPLE NOTFOUND",
];
/// Kinds of differences that are minimised.
const MINIMISED_MAX: usize = 8;

/// How a seed ended that did not end well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The seed.
    pub(crate) seed: u64,
    /// The kind: equal for two failures that are probably the same.
    pub(crate) signature: String,
    /// The step it came up at, if it is known.
    pub(crate) step: Option<usize>,
    /// For people.
    pub(crate) report: String,
}

/// Runs all seeds; the reports of those that failed.
pub(crate) fn run(settings: &Settings) -> Vec<String> {
    let work = Work::new(settings);
    println!("reference {}", settings.reference.display());
    println!("ours      {}", settings.ours.display());
    let started = Instant::now();
    let mut failures = match settings.seed {
        Some(seed) => work
            .run_one(seed, settings.steps.as_deref())
            .failure
            .into_iter()
            .collect(),
        None => work.run_many(),
    };
    if work.settings.seed.is_none() && failures.is_empty() && settings.seeds >= SEEDS_FOR_ALL {
        work.require_all();
    }
    failures.sort_by_key(|failure: &Failure| failure.seed);
    let (seeds, calls) = (
        work.seeds.load(Ordering::Relaxed),
        work.calls.load(Ordering::Relaxed),
    );
    println!(
        "{seeds} seeds alike, {} left out, {calls} calls compared, {:.1?}",
        work.left_out.load(Ordering::Relaxed),
        started.elapsed()
    );
    if settings.coverage {
        for (name, count) in &*work.counts.lock().expect("no worker panicked") {
            println!("{count:>9} {name}");
        }
    }
    reports(&work, &failures)
}

/// One report for each kind of failure, minimised.
fn reports(work: &Work<'_>, failures: &[Failure]) -> Vec<String> {
    let mut kinds = BTreeSet::new();
    let mut out = Vec::new();
    for failure in failures {
        let first = kinds.insert(failure.signature.clone());
        let mut text = format!("seed {}: {}", failure.seed, failure.signature);
        if first {
            text.push_str(&format!("\n{}", failure.report));
            if kinds.len() <= MINIMISED_MAX && work.settings.steps.is_none() {
                text.push_str(&minimise(work, failure));
            }
        }
        println!("{text}");
        out.push(text.lines().next().unwrap_or_default().to_owned());
    }
    out
}

/// The state that all workers share.
pub(crate) struct Work<'a> {
    settings: &'a Settings,
    dir: tempfile::TempDir,
    numbers: AtomicU64,
    seeds: AtomicU64,
    calls: AtomicU64,
    left_out: AtomicU64,
    counts: Mutex<BTreeMap<String, u64>>,
}

/// How a run of one seed ended.
pub(crate) struct OneRun {
    /// Not well.
    pub(crate) failure: Option<Failure>,
    /// The calls that were made.
    pub(crate) trace: Vec<String>,
}

impl<'a> Work<'a> {
    fn new(settings: &'a Settings) -> Self {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        };
        let dir = tempfile::Builder::new()
            .prefix("fulgurite-differential-")
            .tempdir_in(parent)
            .expect("make a directory for environments");
        Self {
            settings,
            dir,
            numbers: AtomicU64::new(0),
            seeds: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            left_out: AtomicU64::new(0),
            counts: Mutex::default(),
        }
    }

    /// Fails if some call or outcome never came up.
    fn require_all(&self) {
        let counts = self.counts.lock().expect("no worker panicked");
        let never: Vec<&str> = REQUIRED
            .into_iter()
            .filter(|name| !counts.contains_key(*name))
            .collect();
        assert!(never.is_empty(), "the plans never came to: {never:?}");
    }

    fn run_many(&self) -> Vec<Failure> {
        let (first, end) = (
            self.settings.first,
            self.settings.first + self.settings.seeds,
        );
        let batches: VecDeque<(u64, u64)> = (first..end)
            .step_by(BATCH as usize)
            .map(|a| (a, (a + BATCH).min(end)))
            .collect();
        let (batches, failures) = (Mutex::new(batches), Mutex::new(Vec::new()));
        let workers = std::thread::available_parallelism().map_or(2, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    loop {
                        let next = batches.lock().expect("no worker panicked").pop_front();
                        let Some((from, to)) = next else { break };
                        let Some((seed, failure)) = self.run_batch(from, to) else {
                            continue;
                        };
                        let mut found = failures.lock().expect("no worker panicked");
                        found.extend(failure);
                        let mut batches = batches.lock().expect("no worker panicked");
                        if found.len() >= self.settings.failures_max {
                            batches.clear();
                        } else if seed + 1 < to {
                            batches.push_front((seed + 1, to));
                        }
                    }
                });
            }
        });
        failures.into_inner().expect("no worker panicked")
    }

    /// Runs the seeds up to the first that did not end well: a failure, or a death of the
    /// reference.
    fn run_batch(&self, from: u64, to: u64) -> Option<(u64, Option<Failure>)> {
        let dir = self.fresh_dir();
        let mut command = self.child(from, to - from, &dir);
        let ended = run_bounded(&mut command, BATCH_LIMIT);
        let at_work = std::fs::read(dir.join(WITNESS)).unwrap_or_default();
        let _ = std::fs::remove_dir_all(&dir);
        let told = ChildReport::read(&ended.stdout);
        self.seeds.fetch_add(told.same, Ordering::Relaxed);
        self.calls.fetch_add(told.calls, Ordering::Relaxed);
        let mut counts = self.counts.lock().expect("no worker panicked");
        for (name, count) in told.counts {
            *counts.entry(name).or_default() += count;
        }
        drop(counts);
        if ended.success() && told.differs.is_none() {
            return None;
        }
        let seed = told.started.unwrap_or(from);
        if told.differs.is_none() && at_work == [IN_REFERENCE] {
            // The reference itself has died: nothing to compare with, so the rest of the batch goes
            // on behind it.
            self.left_out.fetch_add(1, Ordering::Relaxed);
            println!(
                "seed {seed} is left out: the reference died ({:?})",
                ended.ended
            );
            return (seed + 1 < to).then_some((seed, None));
        }
        let failure = told.differs.unwrap_or_else(|| {
            // Run it again alone: with its trace the report can say at which call it died.
            let again = self.run_one(seed, None).failure;
            again.unwrap_or_else(|| died(seed, ended.ended, &ended.stderr, &[]))
        });
        Some((seed, Some(failure)))
    }

    /// Runs one seed, or some of its steps, with a trace.
    pub(crate) fn run_one(&self, seed: u64, steps: Option<&[usize]>) -> OneRun {
        let dir = self.fresh_dir();
        let trace = dir.with_extension("trace");
        let mut command = self.child(seed, 1, &dir);
        command.env(TRACE, &trace);
        if let Some(steps) = steps {
            command.env(STEPS, format_steps(steps));
        }
        let ended = run_bounded(&mut command, SEED_LIMIT);
        let calls: Vec<String> = std::fs::read_to_string(&trace)
            .unwrap_or_default()
            .lines()
            .map(ToOwned::to_owned)
            .collect();
        let _ = std::fs::remove_file(&trace);
        let _ = std::fs::remove_dir_all(&dir);
        let told = ChildReport::read(&ended.stdout);
        self.calls.fetch_add(told.calls, Ordering::Relaxed);
        let failure = match told.differs {
            None if ended.success() => None,
            None => Some(died(seed, ended.ended, &ended.stderr, &calls)),
            differs => differs,
        };
        OneRun {
            failure,
            trace: calls,
        }
    }

    fn fresh_dir(&self) -> PathBuf {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let dir = self.dir.path().join(number.to_string());
        std::fs::create_dir_all(&dir).expect("make a directory for a child");
        dir
    }

    fn child(&self, first: u64, count: u64, dir: &Path) -> Command {
        let exe = std::env::current_exe().expect("know the path of this program");
        let mut command = Command::new(exe);
        command
            .args([
                "both_libraries_return_the_same",
                "--exact",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(JOB, format!("{first} {count}"))
            .env(DIR, dir)
            .env_remove(STEPS)
            .env_remove(TRACE);
        command
    }
}

/// The parsed lines of a child.
#[derive(Default)]
struct ChildReport {
    started: Option<u64>,
    same: u64,
    calls: u64,
    counts: Vec<(String, u64)>,
    differs: Option<Failure>,
}

impl ChildReport {
    fn read(stdout: &str) -> Self {
        let mut told = Self::default();
        for line in stdout.lines() {
            // The test harness may have begun the line.
            let Some(at) = line.find(MARK) else { continue };
            told.line(&line[at + MARK.len()..]);
        }
        told
    }

    fn line(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (first, last) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "start" => self.started = first.parse().ok(),
            "same" => {
                self.same += 1;
                self.calls += last.parse::<u64>().unwrap_or_default();
            }
            "count" => self
                .counts
                .push((last.to_owned(), first.parse().unwrap_or_default())),
            "differs" => {
                let (step, signature) = last.split_once(' ').unwrap_or((last, ""));
                self.differs = Some(Failure {
                    seed: first.parse().unwrap_or_default(),
                    signature: signature.to_owned(),
                    step: step.parse().ok(),
                    report: String::new(),
                });
            }
            "|" => {
                if let Some(differs) = &mut self.differs {
                    differs.report.push_str(&format!("  {rest}\n"));
                }
            }
            _ => {}
        }
    }
}

fn died(seed: u64, ended: Ended, stderr: &str, calls: &[String]) -> Failure {
    let how = match ended {
        Ended::Signal(signal) => format!("signal {signal}"),
        Ended::TimeLimit => "no end".to_owned(),
        Ended::Exit(code) => format!("exit {code}"),
    };
    let function = calls
        .last()
        .map_or("?", |call| call.split(' ').next().unwrap_or("?"));
    let mut report = format!("  seed {seed}: {how} in the last of these calls\n");
    for call in &calls[calls.len().saturating_sub(20)..] {
        report.push_str(&format!("    {call}\n"));
    }
    let lines: Vec<&str> = stderr.lines().collect();
    for line in &lines[lines.len().saturating_sub(12)..] {
        report.push_str(&format!("  stderr: {line}\n"));
    }
    Failure {
        seed,
        signature: format!("{function}: {how}"),
        step: None,
        report,
    }
}
