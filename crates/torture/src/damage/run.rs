//! Many mutations, given to several subjects side by side, by as many workers as there are
//! processors to spare.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use fulgurite_testkit::Random;

use super::bases::{self, Base};
use super::draw::draw;
use super::lock_file::Holder;
use super::mutation::Mutation;
use super::subject::{Answer, Subject, Walker};
use super::tally::{Fate, Tally};

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The seed of all choices.
    pub seed: u64,
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
    pub tallies: Vec<Tally>,
    /// The version that each subject reported.
    pub said: Vec<String>,
    /// All failures, in no order.
    pub failures: Vec<Failure>,
}

/// Runs a plan; `tell` is called now and then with how many mutations are done.
/// # Errors
/// Of the machine, not of the subjects: no room, no processes.
pub fn run(plan: &Plan, bases: &[Base], tell: &(dyn Fn(u64) + Sync)) -> anyhow::Result<Outcome> {
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let total = Mutex::new(Outcome {
        tallies: vec![Tally::default(); plan.subjects.len()],
        said: vec![String::new(); plan.subjects.len()],
        failures: Vec::new(),
    });
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.jobs.max(1))
            .map(|_| {
                scope.spawn(|| {
                    let done = work(plan, bases, &next, &stop, &total, tell);
                    stop.fetch_or(done.is_err(), Ordering::Relaxed);
                    done
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    Ok(total
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner))
}

const TELL_EVERY: u64 = 1000;

fn work(
    plan: &Plan,
    bases: &[Base],
    next: &AtomicU64,
    stop: &AtomicBool,
    total: &Mutex<Outcome>,
    tell: &(dyn Fn(u64) + Sync),
) -> anyhow::Result<()> {
    let mut place = WorkerDirectory::new(plan)?;
    loop {
        let done = next.fetch_add(1, Ordering::Relaxed);
        if done >= plan.count || stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let number = plan.first + done;
        let mut mutation = draw(plan.seed, number, bases);
        if plan.is_control {
            mutation.edits.clear();
            mutation.lock_file = None;
        }
        let bytes = mutation.bytes(bases);
        for (index, (name, _)) in plan.subjects.iter().enumerate() {
            let answer = if plan.is_live {
                place.try_live(index, number, &mutation, bases)?
            } else {
                place.try_one(index, number, &mutation, &bytes)?
            };
            let mut total = total
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            let millis = answer.took.as_millis() as u64;
            if let Some(tally) = total.tallies.get_mut(index) {
                tally.add(answer.fate);
                tally.calls += answer.calls;
                tally.slowest = tally.slowest.max((millis, number));
            }
            if let Some(said) = total.said.get_mut(index) {
                place.walkers[index].said.clone_into(said);
            }
            if answer.fate.is_failure() {
                total.failures.push(Failure {
                    subject: name.clone(),
                    number,
                    fate: answer.fate,
                });
            }
        }
        if done % TELL_EVERY == TELL_EVERY - 1 {
            tell(done + 1);
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
    let mut mutation = draw(plan.seed, number, bases);
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
