//! All cuts of one history, and the states of each.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Instant;

use anyhow::bail;
use fulgurite_testkit::Random;
use rustc_hash::FxHashSet;

use super::alter::Alteration;
use super::cut::{Cut, DiskState, Tear};
use super::description::{DescriptionFile, DescriptionState};
use super::disk::Disk;
use super::history::{self, History, boot_id};
use super::inspector::{Inspector, Outcome, Start, memory_directory};
use super::judge::{Bench, Glance, Judge};
use super::mode::{Mode, Promise};
use super::recording::Event;
use super::sectors::{Sectors, mix};
use super::tally::{Count, ModeTally, word};

/// The place of one disk state: enough to make it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateId {
    /// The mode of the history.
    pub mode: Mode,
    /// Its seed.
    pub seed: u64,
    /// How many events had begun when the power went.
    pub cut: usize,
    /// The number of the state among the cut's.
    pub choice: u64,
}

impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StateId {
            mode,
            seed,
            cut,
            choice,
        } = self;
        write!(f, "{mode}:{seed}:{cut}:{choice}")
    }
}

impl std::str::FromStr for StateId {
    type Err = String;

    fn from_str(text: &str) -> Result<StateId, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let [mode, seed, cut, choice] = parts[..] else {
            return Err("a state is MODE:SEED:CUT:CHOICE".to_owned());
        };
        let number = |text: &str| text.parse().map_err(|_| format!("{text} is no number"));
        Ok(StateId {
            mode: mode.parse()?,
            seed: number(seed)?,
            cut: number(cut)? as usize,
            choice: number(choice)?,
        })
    }
}

/// The number of events before the cut that a replay prints.
const EVENTS_TOLD: usize = 24;

/// The number of moments, of 100, that are opened as after the end of the process.
const PROCESS_ENDS_PERCENT: usize = 15;

/// How much of a history is tried.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Random states of a cut that has too many to try them all.
    pub samples: u64,
    /// The number of states opened, of 1000 that look like an opened one to the judge.
    pub opened_permille: usize,
    /// The number of states written to, of 100 opened.
    pub written_percent: usize,
}

/// Tries the states of one history. Returns the counts, or the first broken promise and how to
/// repeat it.
/// # Errors
/// The first state that breaks a promise; the system's errors.
pub fn survey(
    mode: Mode,
    seed: u64,
    effort: Effort,
    alteration: Alteration,
) -> anyhow::Result<ModeTally> {
    let begun = Instant::now();
    let directory = memory_directory()?;
    let mut history = history::record(mode, seed, directory.path())?;
    drop(directory);
    super::alter::alter(&mut history.events, mode, alteration);
    let mut survey = Survey::new(mode, seed, effort)?;
    survey.ignores_boot = alteration == Alteration::IgnoreBoot;
    survey.ends_process = mode == Mode::Checkpoints && alteration == Alteration::None;
    survey.run(&history)?;
    survey.count(Count::Histories);
    survey.tally.time = begun.elapsed();
    Ok(survey.tally)
}

/// Makes one state again and says what becomes of it; its file is copied to `keep` if given.
/// # Errors
/// The system's; there may be no such state.
pub fn replay(id: StateId, keep: Option<&std::path::Path>) -> anyhow::Result<String> {
    let directory = memory_directory()?;
    let history = history::record(id.mode, id.seed, directory.path())?;
    drop(directory);
    let effort = Effort {
        samples: 0,
        opened_permille: 0,
        written_percent: 0,
    };
    let mut survey = Survey::new(id.mode, id.seed, effort)?;
    survey.only = Some((id, keep.map(std::path::Path::to_owned)));
    survey.run(&history)?;
    let Some(report) = survey.report else {
        bail!("the history of {id} has no such state");
    };
    Ok(report)
}

struct Survey {
    mode: Mode,
    seed: u64,
    effort: Effort,
    sectors: Sectors,
    disk: Disk,
    judge: Judge,
    inspector: Inspector,
    tally: ModeTally,
    /// The snapshot that must be found at least.
    promised: Option<usize>,
    /// The newest snapshot that has begun to be committed.
    newest: usize,
    images: FxHashSet<u64>,
    /// The parts of opened states that opening, reading and checking depend on.
    seen: BTreeSet<u64>,
    /// Meta pages that opening was refused for.
    refused: FxHashSet<[u64; 3]>,
    /// The file that describes the checkpoint.
    description: DescriptionFile,
    /// The start of the system at the time of the cut.
    boot: u64,
    /// The snapshot that was committed or opened last.
    current: usize,
    /// A power loss changes no boot id.
    ignores_boot: bool,
    /// Some moments are also opened as after the end of the process alone.
    ends_process: bool,
    /// One state alone is wanted.
    only: Option<(StateId, Option<std::path::PathBuf>)>,
    report: Option<String>,
}

impl Survey {
    fn new(mode: Mode, seed: u64, effort: Effort) -> anyhow::Result<Survey> {
        Ok(Survey {
            mode,
            seed,
            effort,
            sectors: Sectors::new(),
            disk: Disk::default(),
            judge: Judge::default(),
            inspector: Inspector::new()?,
            tally: ModeTally::default(),
            promised: None,
            newest: 0,
            images: FxHashSet::default(),
            seen: BTreeSet::new(),
            refused: FxHashSet::default(),
            description: DescriptionFile::default(),
            boot: 0,
            current: 0,
            ignores_boot: false,
            ends_process: false,
            only: None,
            report: None,
        })
    }

    fn run(&mut self, history: &History) -> anyhow::Result<()> {
        self.learn_all(history);
        let mut unfinished: Option<&Event> = None;
        for (index, event) in history.events.iter().enumerate() {
            match unfinished.take() {
                Some(Event::Description(before)) => self.description.finish(before),
                Some(before) => self.disk.finish(before),
                None => {}
            }
            match event {
                Event::Boot(boot) => self.boot = *boot,
                Event::Description(of) => self.description.begin(index + 1, of, &mut self.sectors),
                _ => {}
            }
            if let Event::OpenedOn(snapshot) | Event::Committed(snapshot) = event {
                self.current = *snapshot;
            }
            match event {
                Event::Promised(snapshot) => self.promised = self.promised.max(Some(*snapshot)),
                Event::OpenedOn(snapshot) => self.promised = self.promised.min(Some(*snapshot)),
                Event::Committed(snapshot) => self.newest = *snapshot,
                _ => {}
            }
            self.disk.begin(index + 1, event, &mut self.sectors);
            unfinished = Some(event);
            self.cut(index + 1, history)?;
        }
        Ok(())
    }

    /// The judge knows all snapshots from the beginning, because their meta pages are pending
    /// before a commit returns.
    fn learn_all(&mut self, history: &History) {
        let mut disk = Disk::default();
        for (index, event) in history.events.iter().enumerate() {
            disk.begin(index + 1, event, &mut self.sectors);
            if let Event::Committed(snapshot) = event {
                let snapshot = &history.snapshots[*snapshot];
                self.judge.learn(snapshot, &disk, &self.sectors);
            }
        }
    }

    fn cut(&mut self, index: usize, history: &History) -> anyhow::Result<()> {
        let cut = Cut::new(index, &self.disk);
        let has_checkpoints = self.mode == Mode::Checkpoints;
        let description = has_checkpoints.then(|| self.description.cut(index));
        if let Some(description) = description.as_ref().filter(|_| self.ends_process) {
            self.end_process(&cut, description, history)?;
        }
        self.count(Count::Cuts);
        let is_torn = self.mode == Mode::TornMeta;
        let is_open = description.as_ref().is_some_and(|cut| !cut.is_settled());
        let samples = match (cut.is_settled(), cut.has_more()) {
            (true, _) if is_open => self.effort.samples / 2,
            (true, _) => 0,
            // How a meta page is torn that is written for the first time is among what the other
            // modes try.
            _ if is_torn && self.promised.is_none() => 0,
            (false, true) => self.effort.samples,
            // Everything is tried but torn sectors.
            (false, false) => self.effort.samples / 8,
        };
        let exhaustive = if is_torn { 0 } else { cut.exhaustive() };
        if !cut.has_more() {
            self.count(Count::CutsExhausted);
        }
        // The bench borrows the judge while the rest of the survey counts.
        let mut judge = std::mem::take(&mut self.judge);
        let mut bench = judge.bench(&cut, &self.disk);
        let mut state = DiskState::default();
        let choices = match &self.only {
            Some((id, _)) if id.cut == index => id.choice..id.choice + 1,
            Some(_) => 0..0,
            None => 0..exhaustive + samples,
        };
        for choice in choices {
            let cuts = (&cut, description.as_ref());
            self.choice(cuts, choice, &mut bench, &mut state, history)?;
        }
        self.judge = judge;
        Ok(())
    }

    /// Opens the state that the system has in memory, with the boot id of this moment. The last
    /// commit is there, or the one that is being made.
    fn end_process(
        &mut self,
        cut: &Cut,
        description: &Cut,
        history: &History,
    ) -> anyhow::Result<()> {
        let mut random = Random::new(mix(self.seed ^ mix(!(cut.index as u64))));
        if self.promised.is_none() || self.only.is_some() || !random.chance(PROCESS_ENDS_PERCENT) {
            return Ok(());
        }
        let mut state = DiskState::default();
        cut.choose_newest(&mut state);
        let file = self.description.newest(description, &self.sectors);
        let boot = boot_id(self.boot);
        let start = Start {
            boot: &boot,
            description: file.bytes.as_deref(),
        };
        let place = (cut, &self.disk, &self.sectors);
        let snapshots = (&history.snapshots[..], Some(&start));
        let outcome = self.inspector.inspect(place, &state, snapshots, false)?;
        self.count(Count::ProcessEnds);
        let next = history.events[cut.index..].iter();
        let next = next.filter_map(|event| match event {
            Event::Committed(snapshot) | Event::OpenedOn(snapshot) => Some(*snapshot),
            _ => None,
        });
        let content = |snapshot: usize| history.snapshots[snapshot].content;
        let mut wanted = next.take(1).chain([self.current]).map(content);
        if let Outcome::Snapshot(found) = outcome
            && wanted.any(|wanted| wanted == content(found))
        {
            return Ok(());
        }
        bail!(
            "the process ended after event {} of {}:{}, and {outcome:?} was found instead of {}",
            cut.index,
            self.mode,
            self.seed,
            self.current
        );
    }

    fn choice(
        &mut self,
        (cut, description): (&Cut, Option<&Cut>),
        choice: u64,
        bench: &mut Bench<'_>,
        state: &mut DiskState,
        history: &History,
    ) -> anyhow::Result<()> {
        let mut random = Random::new(mix(self.seed ^ mix(cut.index as u64) ^ mix(choice)));
        let mut tear = None;
        if self.mode == Mode::TornMeta {
            let kinds = [Tear::Forwards, Tear::Backwards, Tear::Words, Tear::Octets];
            let kind = kinds[choice as usize % kinds.len()];
            if !cut.choose_torn_meta(kind, &mut random, &self.sectors, state) {
                return Ok(());
            }
            tear = Some(kind);
        } else {
            cut.choose(choice, &mut random, &self.sectors, state);
        }
        let description = description.map(|description| {
            let file = &self.description;
            file.choose(description, &mut random, &self.sectors)
        });
        let file = description.as_ref();
        let bytes = file.and_then(|file| file.bytes.as_deref());
        let hash = cut.hash(state, &self.disk) ^ bytes.map_or(0, super::sectors::hash);
        self.count(Count::States);
        if self.images.insert(hash) {
            self.count(Count::Distinct);
        }
        let meta = file.and_then(|file| file.meta.as_deref());
        let glance = match meta.filter(|_| !self.ignores_boot) {
            Some(meta) => bench.glance_at(meta, (cut, &self.disk, &self.sectors), state),
            None => bench.glance(cut, &self.disk, state, &self.sectors),
        };
        let found = JudgedState {
            glance,
            tear,
            metas: bench.meta_sectors(state).filter(|_| description.is_none()),
            id: StateId {
                mode: self.mode,
                seed: self.seed,
                cut: cut.index,
                choice,
            },
        };
        self.count_glance(&found);
        let keeps = self.keeps_promise(&found, cut);
        let must_open = keeps != Some(true) && self.mode.promise() != Promise::Counted;
        if must_open || self.only.is_some() || self.is_chosen(&found, &mut random) {
            let states = (&*state, description.as_ref());
            self.open(cut, states, &found, keeps, history, &mut random)?;
        }
        Ok(())
    }

    fn count(&mut self, count: Count) {
        self.tally.counts.note(count);
    }

    fn count_glance(&mut self, found: &JudgedState) {
        match found.glance {
            Glance::Nothing => self.count(Count::Nothing),
            Glance::Unknown => self.count(Count::Unknown),
            Glance::Snapshot {
                whole: false,
                other_broken,
                ..
            } => {
                self.count(Count::Broken);
                if !other_broken {
                    self.count(Count::WayBack);
                }
            }
            Glance::Snapshot { snapshot, .. } if snapshot >= self.newest => {
                self.count(Count::Newest);
            }
            Glance::Snapshot { .. } => self.count(Count::Older),
        }
    }

    /// Returns true if a state keeps the promise; `None` if the quick judge cannot decide.
    fn keeps_promise(&self, found: &JudgedState, cut: &Cut) -> Option<bool> {
        let promise = self.mode.promise();
        let Some(promised) = self.promised else {
            // Neither the environment nor the copy is there yet: the file is whole, or it is none.
            return match found.glance {
                Glance::Nothing => Some(true),
                Glance::Snapshot { whole, .. } => Some(whole),
                Glance::Unknown => {
                    let known = found
                        .metas
                        .is_some_and(|metas| self.refused.contains(&metas));
                    known.then_some(true)
                }
            };
        };
        if promise == Promise::Counted && !cut.is_settled() {
            return Some(true);
        }
        match found.glance {
            Glance::Nothing => Some(false),
            Glance::Unknown => None,
            Glance::Snapshot {
                snapshot,
                whole,
                other_broken,
            } => Some(whole && snapshot >= promised && !(promise == Promise::Both && other_broken)),
        }
    }

    /// Returns true if a state without findings is opened anyway: one of each kind is, and some at
    /// random.
    fn is_chosen(&mut self, found: &JudgedState, random: &mut Random) -> bool {
        let by_chance = random.below(1000) < self.effort.opened_permille;
        let kind = match found.glance {
            Glance::Nothing => 0,
            // Only opening tells anything of these.
            Glance::Unknown => return found.tear.is_some() || by_chance,
            Glance::Snapshot { whole: false, .. } => return by_chance,
            Glance::Snapshot { snapshot, .. } => mix(snapshot as u64 + 2),
        };
        by_chance | self.seen.insert(kind)
    }

    fn open(
        &mut self,
        cut: &Cut,
        (state, description): (&DiskState, Option<&DescriptionState>),
        found: &JudgedState,
        keeps: Option<bool>,
        history: &History,
        random: &mut Random,
    ) -> anyhow::Result<()> {
        let writes = random.below(100) < self.effort.written_percent;
        let place = (cut, &self.disk, &self.sectors);
        if let Some((_, Some(keep))) = &self.only {
            self.inspector
                .lay_out(cut, &self.disk, &self.sectors, state)?;
            self.inspector.keep(keep)?;
        }
        let boot = match self.ignores_boot {
            true => boot_id(self.boot),
            false => b"after the power loss".to_vec(),
        };
        let start = description.map(|description| Start {
            boot: &boot,
            description: description.bytes.as_deref(),
        });
        let snapshots = (&history.snapshots[..], start.as_ref());
        let outcome = self.inspector.inspect(place, state, snapshots, writes)?;
        self.count(Count::Opened);
        if writes {
            self.count(Count::Written);
        }
        self.count_end(found, &outcome);
        let promised = self.promised;
        if self.only.is_some() {
            let events = history.events[..cut.index].iter().enumerate();
            let told: Vec<String> = events
                .skip(cut.index.saturating_sub(EVENTS_TOLD))
                .map(|(index, event)| format!("  {:>5}  {event}\n", index + 1))
                .collect();
            self.report = Some(format!(
                "{}{}: {:?} promised, {:?} at a glance, {outcome:?} when opened",
                told.concat(),
                found.id,
                promised,
                found.glance
            ));
            return Ok(());
        }
        let fits = match (&outcome, found.glance) {
            (Outcome::Fresh, Glance::Nothing) => true,
            (
                Outcome::Snapshot(opened),
                Glance::Snapshot {
                    snapshot, whole, ..
                },
            ) => {
                !whole || history.snapshots[*opened].content == history.snapshots[snapshot].content
            }
            (_, Glance::Snapshot { whole, .. }) => !whole,
            (_, Glance::Unknown) => true,
            _ => false,
        };
        let forwards = found.tear == Some(Tear::Forwards);
        let good = match (&outcome, keeps) {
            (_, Some(keeps)) if !forwards => keeps,
            (Outcome::Snapshot(opened), _) => Some(*opened) >= promised,
            (Outcome::Refused(_) | Outcome::Fresh, _) => promised.is_none(),
            _ => false,
        };
        let survived = outcome != Outcome::Panicked;
        let counted = self.mode.promise() == Promise::Counted && !cut.is_settled();
        if fits && survived && (good || counted && !forwards) {
            if let (Outcome::Refused(_), Glance::Unknown) = (&outcome, found.glance) {
                self.refused.extend(found.metas);
            }
            return Ok(());
        }
        bail!(
            "a promise is broken. Snapshot {promised:?} was promised, {outcome:?} found ({:?} at a glance).\n\
             Replay: torture power-loss --replay {}",
            found.glance,
            found.id
        );
    }

    /// How opening ended, where that was not clear.
    fn count_end(&mut self, found: &JudgedState, outcome: &Outcome) {
        let is_whole = matches!(found.glance, Glance::Snapshot { whole: true, .. });
        if is_whole || found.glance == Glance::Nothing {
            return;
        }
        let word = word(outcome, self.promised);
        self.tally.ends.note(match found.tear {
            None => word.to_owned(),
            Some(tear) => format!("{}:{word}", tear.name()),
        });
    }
}

/// A state with the answer of the quick judge.
struct JudgedState {
    glance: Glance,
    tear: Option<Tear>,
    /// See [`Bench::meta_sectors`].
    metas: Option<[u64; 3]>,
    id: StateId,
}
