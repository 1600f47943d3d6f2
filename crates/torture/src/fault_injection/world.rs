//! One run of a history: takes the steps, knows what must be there, and judges each failure.
//!
//! A failed step is judged and repeated, as a user would do. If the environment reports that it is
//! unusable, the step first closes and reopens it. So every history comes to its end, and at its
//! end everything is there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use fulgurite::check::{PreviousSnapshot, check_file};
use fulgurite::seam::{Call, FileRole, install};
use fulgurite::{CompactStep, Compaction, Durability, Environment, Error, OpenError, OpenOptions};

use super::changes;
use super::errnos;
use super::injector::{Fired, Plan};
use super::model::{self, Model};
use super::neighbour::{self, Neighbour};
use super::script::{History, Opening, Step};
use super::shadow::Shadow;

/// How often a step is taken at most. Two faults can spoil two attempts, and a broken environment
/// two more.
const ATTEMPTS: usize = 6;
/// The code of errors after which an environment has to be closed.
const PANIC: i32 = -30795;

/// More steps than any compaction here takes.
const COMPACT_STEPS: usize = 400;

/// Why a step was not taken.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) text: String,
    pub(super) code: i32,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal {
            code: error.code(),
            text: error.to_string(),
        }
    }
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Refusal {
        Refusal {
            code: error.code(),
            text: error.to_string(),
        }
    }
}

/// The environment of a run, and what is known of it.
pub(super) struct World<'n> {
    home: PathBuf,
    directory: PathBuf,
    plan: Arc<Plan>,
    shadow: Option<Arc<Shadow>>,
    neighbour: &'n mut Neighbour,
    first: Option<Arc<Environment>>,
    second: Option<Arc<Environment>>,
    opening: Opening,
    /// How the second handle was opened, if there is to be one.
    joined: Option<Opening>,
    /// The content that must be present.
    committed: Model,
    /// The content before the last commit.
    before: Model,
    /// The content allowed instead, after a commit with an unknown outcome.
    unknown: Option<Model>,
    /// A failed flush or meta page: writing must be refused.
    poisoned: bool,
    neighbours: u32,
    copies: u32,
    depth: u32,
}

/// Takes a history from beginning to end under a plan.
pub(super) fn run(
    history: &History,
    home: &Path,
    plan: &Arc<Plan>,
    shadow: Option<Arc<Shadow>>,
    neighbour: &mut Neighbour,
) -> anyhow::Result<()> {
    let directory = home.join("store");
    std::fs::create_dir(&directory)?;
    let mut world = World {
        home: home.to_owned(),
        directory,
        plan: Arc::clone(plan),
        shadow,
        neighbour,
        first: None,
        second: None,
        opening: Opening::default(),
        joined: None,
        committed: Model::new(),
        before: Model::new(),
        unknown: None,
        poisoned: false,
        neighbours: 0,
        copies: 0,
        depth: 0,
    };
    let installed = install(Arc::clone(plan) as Arc<_>);
    for (index, step) in history.steps.iter().enumerate() {
        let taken = world.take(step);
        taken.with_context(|| format!("step {} ({step:?})", index + 1))?;
    }
    drop(installed);
    world.end().context("at the end")
}

impl World<'_> {
    /// Takes a step, however often it takes; `false` if the environment has to be closed first and
    /// cannot be now.
    fn take(&mut self, step: &Step) -> anyhow::Result<bool> {
        for _ in 0..ATTEMPTS {
            let since = self.plan.fired_count();
            let was_open = self.first.is_some();
            let result = self.attempt(step)?;
            let fired = self.plan.fired(since);
            // The steps that run with a reader have checked that themselves.
            if !matches!(step, Step::While(_)) {
                self.note_poison(&fired, was_open && self.first.is_some());
            }
            match result {
                Ok(()) => {
                    let closing = matches!(step, Step::Close);
                    let hidden = fired.iter().find(|fired| {
                        let excused = closing && errnos::gives_room_back(fired.site);
                        !fired.is_harmless() && errnos::must_be_told(fired.site) && !excused
                    });
                    if let Some(hidden) = hidden
                        && !matches!(step, Step::While(_))
                    {
                        bail!(
                            "{} failed, and nobody was told: {:?}",
                            hidden.site,
                            hidden.verdict
                        );
                    }
                    return Ok(true);
                }
                Err(refusal) => {
                    let cause = fired.iter().any(|fired| !fired.is_harmless());
                    let expected = self.poisoned && refusal.code == PANIC;
                    ensure!(
                        cause || expected,
                        "refused without a reason: {} ({}), faults {fired:?}",
                        refusal.text,
                        refusal.code
                    );
                    self.plan.clone().paused(|| self.judge(&refusal))?;
                    if self.poisoned || self.unknown.is_some() {
                        if self.depth > 0 {
                            return Ok(false);
                        }
                        let was_committed = self.reopen()?;
                        if was_committed {
                            return Ok(true);
                        }
                    }
                }
            }
        }
        bail!("refused {ATTEMPTS} times")
    }

    /// After a failed flush, or a meta page that was not written, writing must be refused until
    /// everything is closed.
    fn note_poison(&mut self, fired: &[Fired], is_open: bool) {
        let poisons = |fired: &Fired| {
            let site = (fired.site.role, fired.site.call);
            !fired.is_harmless()
                && matches!(
                    site,
                    (FileRole::Data, Call::Sync | Call::Flush)
                        | (FileRole::Data | FileRole::Meta, Call::WriteMeta)
                        | (_, Call::MutexRepair)
                )
        };
        if is_open && fired.iter().any(poisons) {
            self.poisoned = true;
        }
    }

    /// After a failure: what was committed is there, and the environment is usable or says plainly
    /// that it is not.
    fn judge(&mut self, refusal: &Refusal) -> anyhow::Result<()> {
        let Some(environment) = self.first.clone() else {
            self.unknown = None;
            return Ok(());
        };
        match model::read_environment(&environment) {
            Ok(found) => {
                self.unknown = None;
                self.compare(&found, "read after the failure")?;
            }
            Err(error) if self.poisoned && error.code() == PANIC => {}
            // With one slot per thread, this thread's reader is in the way.
            Err(Error::ReaderBusy) if self.depth > 0 => {}
            Err(error) => bail!("reading fails after \"{}\": {error}", refusal.text),
        }
        if self.opening.read_only {
            return Ok(());
        }
        match (environment.write().map(|txn| txn.abort()), self.poisoned) {
            (Ok(()), false) => {}
            (Err(error), true) if error.code() == PANIC => {}
            (Ok(()), true) => bail!("writing goes on after \"{}\"", refusal.text),
            (Err(error), _) => bail!("writing is refused after \"{}\": {error}", refusal.text),
        }
        Ok(())
    }

    fn compare(&self, found: &Model, when: &str) -> anyhow::Result<()> {
        ensure!(
            *found == self.committed,
            "{when}: {}",
            model::difference(found, &self.committed)
        );
        Ok(())
    }

    /// Closes everything and opens it again; whether a commit of which nobody knew turned out to be
    /// there.
    fn reopen(&mut self) -> anyhow::Result<bool> {
        self.close();
        let mut was_committed = false;
        if let Some(unknown) = self.unknown.take() {
            let directory = self.directory.clone();
            let found = self.plan.paused(|| -> anyhow::Result<Model> {
                let environment = Opening::default().options().open(&directory)?;
                Ok(model::read_environment(&environment)?)
            })?;
            if found == unknown {
                self.before = std::mem::replace(&mut self.committed, unknown);
                was_committed = true;
            }
        }
        ensure!(
            self.take(&Step::Open(self.opening))?,
            "opened without being open"
        );
        if let Some(joined) = self.joined {
            ensure!(self.take(&Step::Join(joined))?, "joined without being open");
        }
        Ok(was_committed)
    }

    fn close(&mut self) {
        self.second = None;
        self.first = None;
        self.poisoned = false;
    }

    fn environment(&self) -> anyhow::Result<Arc<Environment>> {
        self.first.clone().context("the history has nothing open")
    }

    /// Takes a step once. An error is a fault of the store; a refusal is to be judged.
    fn attempt(&mut self, step: &Step) -> anyhow::Result<Result<(), Refusal>> {
        Ok(match step {
            Step::Open(opening) => return Ok(self.open(opening)),
            Step::Join(opening) => self
                .observed(opening)
                .open(&self.directory)
                .map(|environment| {
                    self.second = Some(Arc::new(environment));
                    self.joined = Some(*opening);
                })
                .map_err(Refusal::from),
            Step::Leave => {
                self.second = None;
                self.joined = None;
                Ok(())
            }
            Step::Close => {
                self.close();
                self.joined = None;
                Ok(())
            }
            Step::Write(work) => return self.write(work),
            Step::Read => return self.read(),
            Step::While(steps) => return self.hold(steps),
            Step::Sync { force } => self.environment()?.sync(*force).map_err(Refusal::from),
            Step::MapSize(octets) => {
                let result = self.environment()?.set_map_size(*octets);
                result.map_err(Refusal::from)
            }
            Step::Durability(durability) => {
                self.environment()?.set_durability(*durability);
                Ok(())
            }
            Step::Copy { compact } => return self.copy(*compact, false),
            Step::CopyToPipe { compact } => return self.copy(*compact, true),
            Step::Compact => compact(&*self.environment()?),
            Step::ClearStale => {
                let cleared = self.environment()?.clear_stale_readers();
                cleared.map(drop).map_err(Refusal::from)
            }
            Step::Facts => {
                let environment = self.environment()?;
                let _ = environment.readers();
                let facts = environment.info().and_then(|_| environment.stat());
                facts.map(drop).map_err(Refusal::from)
            }
            Step::Check => return self.check(),
            Step::DeadReader => {
                self.neighbour.die(&self.directory, false)?;
                Ok(())
            }
            Step::DeadWriter => {
                self.neighbour.die(&self.directory, true)?;
                Ok(())
            }
            Step::NeighbourHolds(holds) => {
                self.neighbour.hold(holds.then_some(&self.directory))?;
                Ok(())
            }
            Step::Neighbour { records } => {
                self.let_neighbour_write(*records)?;
                Ok(())
            }
        })
    }

    fn open(&mut self, opening: &Opening) -> Result<(), Refusal> {
        let environment = self.observed(opening).open(&self.directory)?;
        self.first = Some(Arc::new(environment));
        self.opening = *opening;
        if opening.previous {
            self.committed = self.before.clone();
        }
        Ok(())
    }

    fn observed(&self, opening: &Opening) -> OpenOptions {
        let options = opening.options();
        match &self.shadow {
            Some(shadow) => options.observer(Arc::clone(shadow) as Arc<_>),
            None => options,
        }
    }

    fn write(&mut self, work: &super::script::Work) -> anyhow::Result<Result<(), Refusal>> {
        let environment = match &self.second {
            Some(second) => Arc::clone(second),
            None => self.environment()?,
        };
        let mut txn = match environment.write() {
            Ok(txn) => txn,
            Err(error) => return Ok(Err(error.into())),
        };
        let mut model = self.committed.clone();
        if let Err(error) = changes::make(
            &mut txn,
            &environment,
            &mut model,
            &work.changes,
            &self.plan,
        )? {
            if txn.is_failed() {
                let committed = self.plan.paused(|| txn.commit());
                ensure!(
                    committed.is_err(),
                    "a transaction is committed after \"{error}\""
                );
            }
            return Ok(Err(error.into()));
        }
        if !work.commit {
            txn.abort();
            return Ok(Ok(()));
        }
        match txn.commit() {
            Ok(()) => {
                self.before = std::mem::replace(&mut self.committed, model);
                // The snapshot that was gone back from is gone for good.
                self.opening.previous = false;
                Ok(Ok(()))
            }
            Err(error) => {
                self.unknown = Some(model);
                Ok(Err(error.into()))
            }
        }
    }

    fn read(&mut self) -> anyhow::Result<Result<(), Refusal>> {
        for environment in [Some(self.environment()?), self.second.clone()]
            .into_iter()
            .flatten()
        {
            match model::read_environment(&environment) {
                Ok(found) => self.compare(&found, "read")?,
                Err(error) => return Ok(Err(error.into())),
            }
        }
        Ok(Ok(()))
    }

    /// Runs steps while a reader is open. If the environment has to be closed meanwhile the rest is
    /// done without one.
    fn hold(&mut self, steps: &[Step]) -> anyhow::Result<Result<(), Refusal>> {
        let environment = self.environment()?;
        let snapshot = match environment.read() {
            Ok(snapshot) => snapshot,
            Err(error) => return Ok(Err(error.into())),
        };
        let pinned = match model::read(&snapshot) {
            Ok(pinned) => pinned,
            Err(error) => return Ok(Err(error.into())),
        };
        self.compare(&pinned, "pinned")?;
        self.depth += 1;
        let mut rest = steps.iter();
        let mut stopped = None;
        for step in rest.by_ref() {
            if !self
                .take(step)
                .with_context(|| format!("beside a reader: {step:?}"))?
            {
                stopped = Some(step);
                break;
            }
        }
        self.depth -= 1;
        let plan = Arc::clone(&self.plan);
        match plan.paused(|| model::read(&snapshot)) {
            Ok(found) => ensure!(
                found == pinned,
                "the pinned snapshot changed: {}",
                model::difference(&found, &pinned)
            ),
            Err(error) if self.poisoned && error.code() == PANIC => {}
            Err(error) => bail!("the pinned snapshot cannot be read any more: {error}"),
        }
        drop(snapshot);
        drop(environment);
        if let Some(step) = stopped {
            if self.depth > 0 {
                // The holder of the outer reader repeats all steps, so present records are then
                // there twice.
                bail!("histories hold one reader at a time");
            }
            if !self.reopen()? {
                self.take(step)?;
            }
            for step in rest {
                self.take(step)?;
            }
        }
        Ok(Ok(()))
    }

    fn copy(&mut self, compact: bool, to_descriptor: bool) -> anyhow::Result<Result<(), Refusal>> {
        self.copies += 1;
        let place = self.home.join(format!("copy{}", self.copies));
        std::fs::create_dir(&place)?;
        let path = place.join("data.mdb");
        let environment = self.environment()?;
        let since = self.plan.fired_count();
        let copied = if to_descriptor {
            let file = std::fs::File::create(&path)?;
            environment.copy_to_fd(std::os::fd::AsFd::as_fd(&file), compact)
        } else {
            environment.copy_to_path(&place, compact)
        };
        if let Err(error) = copied {
            let unlinks = |fired: &Fired| fired.site.call == Call::Unlink;
            let stays = to_descriptor || self.plan.fired(since).iter().any(unlinks);
            ensure!(
                stays || !path.exists(),
                "half a copy is left after \"{error}\""
            );
            return Ok(Err(error.into()));
        }
        self.plan.clone().paused(|| -> anyhow::Result<()> {
            assert_sound(&place)?;
            let copy = Opening::default().options().open(&place)?;
            self.compare(&model::read_environment(&copy)?, "read from the copy")
        })?;
        Ok(Ok(()))
    }

    fn check(&mut self) -> anyhow::Result<Result<(), Refusal>> {
        match check_file(&self.directory.join("data.mdb")) {
            Ok(report)
                if report.is_sound()
                    && !matches!(report.previous, PreviousSnapshot::Unusable { .. }) =>
            {
                Ok(Ok(()))
            }
            // A page that cannot be read is a finding.
            Ok(report) => Ok(Err(Refusal {
                text: report.to_string(),
                code: 0,
            })),
            Err(error) => Ok(Err(Refusal {
                text: error.to_string(),
                code: 0,
            })),
        }
    }

    fn let_neighbour_write(&mut self, records: u32) -> anyhow::Result<()> {
        let from = self.neighbours;
        self.neighbour.write(&self.directory, from, records)?;
        self.neighbours += records;
        let mut model = self.committed.clone();
        let theirs = model.entry(neighbour::DATABASE.to_owned()).or_default();
        for number in from..self.neighbours {
            theirs.insert(neighbour::key(number), [neighbour::value()].into());
        }
        self.before = std::mem::replace(&mut self.committed, model);
        Ok(())
    }

    /// Checks the end of a history: the worst disk, another process, and a reopened environment.
    fn end(mut self) -> anyhow::Result<()> {
        self.judge_shadow()?;
        let shares = !self.opening.no_lock && !self.opening.read_only;
        if let Some(environment) = self.first.clone() {
            let found = model::read_environment(&environment)?;
            self.compare(&found, "through the same handle")?;
            if shares {
                self.let_neighbour_write(1)?;
                let found = model::read_environment(&environment);
                // A map of an exact size does not follow the others.
                if !found
                    .as_ref()
                    .is_err_and(|error| matches!(error, Error::MapResized(_)))
                {
                    self.compare(&found?, "after another process wrote")?;
                }
            }
        }
        self.close();
        assert_sound(&self.directory)?;
        let environment = Opening::default().options().open(&self.directory)?;
        let found = model::read_environment(&environment)?;
        self.compare(&found, "opened again")?;
        environment.write()?.abort();
        drop(environment);
        self.let_neighbour_write(1)?;
        assert_sound(&self.directory)
    }

    /// The worst disk holds every acknowledged commit, because all commits of these histories wait
    /// for the disk.
    fn judge_shadow(&mut self) -> anyhow::Result<()> {
        let Some(shadow) = &self.shadow else {
            return Ok(());
        };
        let place = self.home.join("worst");
        std::fs::create_dir(&place)?;
        std::fs::write(place.join("data.mdb"), shadow.image())?;
        let judged = || -> anyhow::Result<()> {
            assert_sound(&place)?;
            let options = Opening {
                durability: Durability::NoSync,
                ..Opening::default()
            };
            let environment = options.options().open(&place)?;
            self.compare(
                &model::read_environment(&environment)?,
                "read from the worst disk",
            )
        };
        judged().context("a disk that forgot what a failed flush should have kept")
    }
}

/// Makes the file shorter, and holes in it.
fn compact(environment: &Environment) -> Result<(), Refusal> {
    let mut compaction = Compaction::new().punch_free_pages(true);
    for _ in 0..COMPACT_STEPS {
        match environment.compact_step(&mut compaction)? {
            CompactStep::Working => {}
            // With an open reader, nothing more is to be done.
            CompactStep::Waiting(_) | CompactStep::Done => break,
        }
    }
    Ok(())
}

fn assert_sound(directory: &Path) -> anyhow::Result<()> {
    let report = check_file(&directory.join("data.mdb"))?;
    ensure!(report.is_sound(), "the file is damaged: {report}");
    Ok(())
}
