//! Many mutations, given to several subjects side by side, by as many workers as there are
//! processors to spare.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fulgurite_testkit::Random;

use super::bases::{self, Base};
use super::draw::draw;
use super::lock_file::Holder;
use super::mutation::Mutation;
use super::subject::{Answer, Subject, Walker};
use super::tally::{Fate, SubjectTally};
use crate::options::RunClock;

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The seed of all choices, and the time of the run.
    pub clock: RunClock,
    /// The first mutation's number.
    pub first: u64,
    /// How many mutations.
    pub count: u64,
    /// How many at a time.
    pub jobs: usize,
    /// Whom they are given to, by name.
    pub subjects: Vec<(String, Subject)>,
    /// Where the files are put; a file system in memory is by far the fastest.
    pub scratch: PathBuf,
    /// Nothing is mutated: shows what a library does to sound files.
    pub is_control: bool,
    /// Files are sound when they are opened, and cut or overwritten at a random moment of the walk.
    pub is_live: bool,
}

/// A mutation that a subject did not survive.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The subject's name.
    pub subject: String,
    /// The mutation's number.
    pub number: u64,
    /// The results.
    pub fate: Fate,
}

/// The results of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The counts, in the order of the subjects.
    pub tallies: Vec<SubjectTally>,
    /// The version that each subject reported.
    pub said: Vec<String>,
    /// All failures, in no order.
    pub failures: Vec<Failure>,
}

/// Runs a plan; calls `tell` now and then with the number of mutations done.
/// # Errors
/// Of the machine, not of the subjects: no room, no processes.
pub fn run(plan: &Plan, bases: &[Base], tell: &(dyn Fn(u64) + Sync)) -> anyhow::Result<Outcome> {
    let workers = Workers {
        plan,
        bases,
        tell,
        next: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        outcome: Mutex::new(Outcome {
            tallies: vec![SubjectTally::default(); plan.subjects.len()],
            said: vec![String::new(); plan.subjects.len()],
            failures: Vec::new(),
        }),
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.jobs.max(1))
            .map(|_| {
                scope.spawn(|| {
                    let done = workers.work();
                    workers.stop.fetch_or(done.is_err(), Ordering::Relaxed);
                    done
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    let outcome = workers.outcome.into_inner();
    Ok(outcome.unwrap_or_else(PoisonError::into_inner))
}

const TELL_EVERY: u64 = 1000;

/// The state that the workers of a run share.
struct Workers<'r> {
    plan: &'r Plan,
    bases: &'r [Base],
    tell: &'r (dyn Fn(u64) + Sync),
    next: AtomicU64,
    stop: AtomicBool,
    outcome: Mutex<Outcome>,
}

impl Workers<'_> {
    /// Takes mutations until there are no more, or the time is over.
    fn work(&self) -> anyhow::Result<()> {
        let plan = self.plan;
        let mut directory = WorkerDirectory::new(plan)?;
        loop {
            let done = self.next.fetch_add(1, Ordering::Relaxed);
            let is_over = done >= plan.count || plan.clock.is_over();
            if is_over || self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let number = plan.first + done;
            let mut mutation = draw(plan.clock.seed, number, self.bases);
            if plan.is_control {
                mutation.edits.clear();
                mutation.lock_file = None;
            }
            let bytes = mutation.bytes(self.bases);
            for index in 0..plan.subjects.len() {
                let answer = if plan.is_live {
                    directory.try_live(index, number, &mutation, self.bases)?
                } else {
                    directory.try_one(index, number, &mutation, &bytes)?
                };
                self.note(index, number, answer, &directory.walkers[index].said);
            }
            if done % TELL_EVERY == TELL_EVERY - 1 {
                (self.tell)(done + 1);
            }
        }
    }

    /// Counts the answer of one subject.
    fn note(&self, subject: usize, number: u64, answer: Answer, version: &str) {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        let tally = &mut outcome.tallies[subject];
        let millis = answer.took.as_millis() as u64;
        tally.fates.note(answer.fate);
        tally.calls += answer.calls;
        tally.slowest = tally.slowest.max((millis, number));
        version.clone_into(&mut outcome.said[subject]);
        if answer.fate.is_failure() {
            outcome.failures.push(Failure {
                subject: self.plan.subjects[subject].0.clone(),
                number,
                fate: answer.fate,
            });
        }
    }
}

/// A worker's directory, and its processes.
pub(super) struct WorkerDirectory {
    dir: tempfile::TempDir,
    walkers: Vec<Walker>,
    holder: Option<Holder>,
}

impl WorkerDirectory {
    pub(super) fn new(plan: &Plan) -> anyhow::Result<WorkerDirectory> {
        let dir = tempfile::Builder::new()
            .prefix("torture-")
            .tempdir_in(&plan.scratch)?;
        let walkers = plan
            .subjects
            .iter()
            .map(|(_, subject)| Walker::new(subject.clone(), dir.path()))
            .collect();
        Ok(WorkerDirectory {
            dir,
            walkers,
            holder: None,
        })
    }

    /// Gives one mutated file to one subject.
    pub(super) fn try_one(
        &mut self,
        subject: usize,
        number: u64,
        mutation: &Mutation,
        bytes: &[u8],
    ) -> anyhow::Result<Answer> {
        let dir = self.dir.path();
        bases::place(dir, bytes)?;
        self.place_lock_file(mutation.lock_file.as_deref())?;
        let walker = &mut self.walkers[subject];
        walker.ask(number, mutation.walk_seed)
    }

    /// Gives a sound file to one subject, and truncates or overwrites it during the walk.
    fn try_live(
        &mut self,
        subject: usize,
        number: u64,
        mutation: &Mutation,
        bases: &[Base],
    ) -> anyhow::Result<Answer> {
        let sound = &bases[mutation.base].bytes;
        bases::place(self.dir.path(), sound)?;
        self.place_lock_file(None)?;
        let data = self.dir.path().join("data.mdb");
        let data = std::fs::OpenOptions::new().write(true).open(data)?;
        let mut random = Random::new(mutation.walk_seed);
        let moment = Duration::from_micros(random.below(4000) as u64);
        let cut = random.chance(60).then(|| random.below(sound.len()) as u64);
        let mutated = mutation.bytes(bases);
        let walker = &mut self.walkers[subject];
        std::thread::scope(|scope| {
            let meanwhile = scope.spawn(move || {
                std::thread::sleep(moment);
                match cut {
                    Some(len) => data.set_len(len),
                    None => data.write_all_at(&mutated, 0),
                }
            });
            let mut answer = walker.ask(number, mutation.walk_seed)?;
            if answer.fate == Fate::Spoilt {
                // By who wrote over it.
                answer.fate = Fate::Errors;
            }
            meanwhile
                .join()
                .map_err(|_| anyhow::anyhow!("the writer panicked"))??;
            Ok(answer)
        })
    }

    fn place_lock_file(&mut self, octets: Option<&[u8]>) -> anyhow::Result<()> {
        let dir = self.dir.path();
        match std::fs::remove_file(dir.join("lock.mdb")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let Some(octets) = octets else {
            return Ok(());
        };
        if self.holder.is_none() {
            self.holder = Some(Holder::start(dir)?);
        }
        if let Some(holder) = &self.holder {
            holder.lend(dir, octets)?;
        }
        Ok(())
    }
}

/// The smallest part of a mutation's edits that still has the same fate.
/// # Errors
/// As [`run`].
pub fn minimise(
    plan: &Plan,
    bases: &[Base],
    subject: usize,
    number: u64,
    fate: Fate,
) -> anyhow::Result<Mutation> {
    let mut place = WorkerDirectory::new(plan)?;
    let mut mutation = draw(plan.clock.seed, number, bases);
    let mut fails = |mutation: &Mutation| -> anyhow::Result<bool> {
        let bytes = mutation.bytes(bases);
        Ok(place.try_one(subject, number, mutation, &bytes)?.fate == fate)
    };
    let mut candidate = mutation.clone();
    candidate.lock_file = None;
    if mutation.lock_file.is_some() && fails(&candidate)? {
        mutation = candidate;
    }
    let mut index = 0;
    while index < mutation.edits.len() {
        let mut fewer = mutation.clone();
        fewer.edits.remove(index);
        if fails(&fewer)? {
            mutation = fewer;
        } else {
            index += 1;
        }
    }
    Ok(mutation)
}

/// Where files are put by default: in memory, if the system has such a place.
#[must_use]
pub fn default_scratch() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    }
}
