//! Histories: random transactions on a real environment, recorded. The seed says all.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use fulgurite::{
    CompactStep, Compaction, Database, DiskObserver, Durability, Environment, ReadTxn, Snapshot,
    WriteTxn,
};
use fulgurite_testkit::Random;

use super::content::{Content, DatabaseKind};
use super::mode::Mode;
use super::recording::{Event, Recorder};

/// The requests to the disk, and the snapshots.
#[derive(Debug)]
pub(super) struct History {
    pub(super) events: Vec<Event>,
    pub(super) snapshots: Vec<Committed>,
}

/// A snapshot that was committed.
#[derive(Debug, Clone)]
pub(super) struct Committed {
    pub(super) txnid: u64,
    /// The last page in use.
    pub(super) last: u64,
    /// The pages that its free list names.
    pub(super) free: BTreeSet<u64>,
    /// See [`Content::hash`].
    pub(super) content: u64,
    /// The snapshot that it was made from, by number.
    pub(super) before: usize,
}

/// A compaction that is unfinished after this many steps is abandoned, as some are before.
const COMPACT_STEPS_MAX: usize = 30;

/// How much is done in a history.
struct Size {
    transactions: usize,
    changes_max: usize,
    keys: usize,
    /// The largest size of a value, in bytes.
    value_max: usize,
    dirty_bytes_max: usize,
    /// The map has this size in octets, instead of growing.
    map_size: Option<u64>,
}

impl Size {
    /// A third of all histories are so short that each cut has few states.
    fn of(random: &mut Random) -> Size {
        if random.chance(33) {
            return Size {
                transactions: random.between(2, 6),
                changes_max: random.between(1, 3),
                keys: random.between(2, 30),
                value_max: *random.pick(&[8, 100, 5_000]),
                dirty_bytes_max: 256 << 20,
                map_size: None,
            };
        }
        Size {
            transactions: random.between(8, 40),
            changes_max: *random.pick(&[4, 12, 40]),
            keys: *random.pick(&[20, 100, 400]),
            value_max: *random.pick(&[100, 1_500, 14_000]),
            dirty_bytes_max: *random.pick(&[256 << 20, 64 << 10, 16 << 10]),
            map_size: random.chance(25).then_some(256 << 20),
        }
    }
}

/// Runs the history of a seed in an empty directory, which is removed afterwards by the caller.
pub(super) fn record(mode: Mode, seed: u64, directory: &Path) -> anyhow::Result<History> {
    let mut random = Random::new(seed);
    let size = Size::of(&mut random);
    let mapped = mode.has_writable_map().then(|| directory.join("data.mdb"));
    let mut run = Run {
        mode,
        size,
        random,
        recorder: Recorder::new(mapped),
        content: Content::default(),
        snapshots: Vec::new(),
        contents: Vec::new(),
        base: 0,
        boot: 0,
    };
    let has_checkpoints = mode == Mode::Checkpoints;
    let is_copy = matches!(mode, Mode::Copy | Mode::Compact);
    let mut left = run.size.transactions;
    while left > 0 {
        let goes_back = !has_checkpoints && run.snapshots.len() > 3 && run.random.chance(20);
        if has_checkpoints && run.random.chance(40) {
            run.boot += 1;
        }
        run.recorder.tell(Event::Boot(run.boot));
        let environment = run.open(directory, goes_back)?;
        if run.snapshots.is_empty() {
            run.note_commit(&environment)?;
            run.recorder.tell(Event::Promised(0));
        } else {
            run.note_base(&environment)?;
        }
        if has_checkpoints {
            run.recorder.tell(Event::Promised(run.base));
        }
        left = run.session(&environment, left)?;
        if has_checkpoints && run.random.chance(70) {
            environment.close_as_if_killed();
            continue;
        }
        if left == 0 && is_copy {
            return run.copy(&environment, directory);
        }
        drop(environment);
        if has_checkpoints {
            // Closed in order, everything is durable.
            run.recorder.tell(Event::Promised(run.base));
        }
    }
    Ok(History {
        events: run.recorder.take(),
        snapshots: run.snapshots,
    })
}

/// The boot id of a start of the system.
pub(super) fn boot_id(number: u64) -> Vec<u8> {
    format!("boot {number}").into_bytes()
}

struct Run {
    mode: Mode,
    size: Size,
    random: Random,
    recorder: Arc<Recorder>,
    content: Content,
    snapshots: Vec<Committed>,
    /// The content of each.
    contents: Vec<Content>,
    /// The newest of them that was not gone back from.
    base: usize,
    /// The start of the system, see [`boot_id`].
    boot: u64,
}

impl Run {
    fn open(&self, directory: &Path, goes_back: bool) -> anyhow::Result<Environment> {
        let options = Environment::options()
            .previous_snapshot(goes_back)
            .dirty_bytes_max(self.size.dirty_bytes_max)
            .observer(Arc::clone(&self.recorder) as Arc<dyn DiskObserver>);
        let options = match self.size.map_size {
            // A file written through its map gets this length at once, and the simulation rereads
            // it often.
            Some(octets) if !self.mode.has_writable_map() => options.map_size(octets),
            _ => options,
        };
        let options = self.mode.apply(options).boot_id(&boot_id(self.boot));
        options.open(directory).context("opening a history's files")
    }

    /// Transactions until the environment is closed, or none is left; returns how many are.
    fn session(&mut self, environment: &Environment, mut left: usize) -> anyhow::Result<usize> {
        let mut held: Vec<ReadTxn<'_>> = Vec::new();
        while left > 0 {
            left -= 1;
            if self.random.chance(15) {
                held.push(environment.read()?);
            }
            if self.random.chance(20) && !held.is_empty() {
                held.swap_remove(self.random.below(held.len()));
            }
            self.transaction(environment)?;
            if self.random.chance(8) {
                environment.sync(true)?;
                self.recorder.tell(Event::Promised(self.base));
            }
            if self.mode == Mode::Checkpoints && self.random.chance(12) {
                environment.checkpoint()?;
                self.recorder.tell(Event::Promised(self.base));
            }
            if self.mode.has_writable_map() && self.random.chance(3) {
                drop(held);
                environment.set_map_size(environment.info()?.map_size + (64 << 10))?;
                held = Vec::new();
            }
            if self.random.chance(5) {
                self.compact(environment)?;
            }
            if self.random.chance(6) {
                break;
            }
        }
        Ok(left)
    }

    /// Compacts the file while it is open, as far as that goes.
    fn compact(&mut self, environment: &Environment) -> anyhow::Result<()> {
        let mut compaction = Compaction::new().punch_free_pages(self.random.chance(50));
        for _ in 0..self.random.between(1, COMPACT_STEPS_MAX) {
            let step = environment.compact_step(&mut compaction)?;
            self.recorder.look();
            if self.note_commit(environment)? {
                self.note_promise(environment.durability());
            }
            if step != CompactStep::Working {
                break;
            }
        }
        Ok(())
    }

    fn transaction(&mut self, environment: &Environment) -> anyhow::Result<()> {
        if self.mode == Mode::Mixed {
            let weaker = self.random.chance(50);
            environment.set_durability(if weaker {
                Durability::NoMetaSync
            } else {
                Durability::Full
            });
        }
        let before = self.content.clone();
        let mut txn = environment.write()?;
        self.changes(&mut txn, 2)?;
        if self.random.chance(8) {
            drop(txn);
            self.content = before;
            self.recorder.look();
            return Ok(());
        }
        self.recorder.look();
        txn.commit()?;
        if self.note_commit(environment)? {
            self.note_promise(environment.durability());
        }
        Ok(())
    }

    /// Notes the newest snapshot, if it is a new one.
    fn note_commit(&mut self, environment: &Environment) -> anyhow::Result<bool> {
        let snapshot = describe(environment, self.content.hash(), self.base)?;
        let base = self.snapshots.get(self.base);
        if base.is_some_and(|base| base.txnid == snapshot.txnid) {
            return Ok(false);
        }
        self.base = self.snapshots.len();
        self.recorder.tell(Event::Committed(self.base));
        self.snapshots.push(snapshot);
        self.contents.push(self.content.clone());
        Ok(true)
    }

    /// A reopen, on the newest snapshot or on the one before. In the second case the next change
    /// drops the newest. If nothing did, the next opening finds it again.
    fn note_base(&mut self, environment: &Environment) -> anyhow::Result<()> {
        let txnid = environment.read()?.id().0;
        let is_it = |snapshot: &Committed| snapshot.txnid == txnid;
        let found = self.snapshots.iter().rposition(is_it);
        self.base = found.context("nobody knows the snapshot that was opened")?;
        self.content = self.contents[self.base].clone();
        self.recorder.tell(Event::OpenedOn(self.base));
        Ok(())
    }

    fn note_promise(&self, durability: Durability) {
        let promised = match durability {
            Durability::Full if self.mode == Mode::MapAsync => return,
            Durability::Full => self.base,
            Durability::NoMetaSync => self.snapshots[self.base].before,
            Durability::NoSync => return,
        };
        self.recorder.tell(Event::Promised(promised));
    }

    /// Changes, some of them in nested transactions that are committed or undone.
    fn changes(&mut self, txn: &mut WriteTxn<'_>, levels: usize) -> anyhow::Result<()> {
        for _ in 0..self.random.between(1, self.size.changes_max) {
            if levels > 0 && self.random.chance(10) {
                let before = self.content.clone();
                txn.begin_nested()?;
                self.changes(txn, levels - 1)?;
                if self.random.chance(40) {
                    txn.abort_nested();
                    self.content = before;
                } else {
                    txn.commit_nested()?;
                }
            } else {
                self.change(txn)?;
            }
            if self.random.chance(10) {
                self.recorder.look();
            }
        }
        Ok(())
    }

    fn change(&mut self, txn: &mut WriteTxn<'_>) -> anyhow::Result<()> {
        let place = *self.random.pick(&DatabaseKind::ALL);
        let database = place.create(txn)?;
        let key = self.key(place);
        match self.random.below(100) {
            0 if place != DatabaseKind::Main => {
                txn.drop_database(database)?;
                self.content.clear(place);
            }
            1..30 => {
                txn.delete(database, &key)?;
                self.content.delete(place, &key);
            }
            _ => {
                let value = self.value(place);
                txn.put(database, &key, &value)?;
                self.content.put(place, &key, &value);
            }
        }
        Ok(())
    }

    fn key(&mut self, place: DatabaseKind) -> Vec<u8> {
        let number = self.random.below(self.size.keys);
        match place {
            DatabaseKind::Main => format!("zz{:02}", number % 10).into_bytes(),
            DatabaseKind::Numbers => (number as u64).to_ne_bytes().to_vec(),
            // Few keys, so that they get many values.
            DatabaseKind::Pairs | DatabaseKind::Packed => format!("key{}", number % 7).into_bytes(),
            DatabaseKind::Plain => format!("key{number:06}").into_bytes(),
        }
    }

    fn value(&mut self, place: DatabaseKind) -> Vec<u8> {
        let len = match place {
            DatabaseKind::Packed => 8,
            DatabaseKind::Pairs => self.random.between(1, 60),
            DatabaseKind::Main | DatabaseKind::Numbers => self.random.below(40),
            DatabaseKind::Plain if self.random.chance(70) => self.random.below(200),
            DatabaseKind::Plain => self.random.below(self.size.value_max),
        };
        self.random.bytes(len)
    }

    /// Copies the environment; the history is the copy's.
    fn copy(&mut self, environment: &Environment, directory: &Path) -> anyhow::Result<History> {
        let target = directory.join("copy");
        std::fs::create_dir(&target)?;
        let recorder = self.recorder.record_copies();
        environment.copy_to_path(&target, self.mode == Mode::Compact)?;
        let copy = Environment::options().read_only(true).open(&target)?;
        let snapshot = describe(&copy, self.content.hash(), 0)?;
        recorder.tell(Event::Committed(0));
        recorder.tell(Event::Promised(0));
        Ok(History {
            events: recorder.take(),
            snapshots: vec![snapshot],
        })
    }
}

/// The newest snapshot, which should hold what has this hash.
fn describe(environment: &Environment, content: u64, before: usize) -> anyhow::Result<Committed> {
    let txn = environment.read()?;
    let mut free = BTreeSet::new();
    for record in txn.range(Database::FREE_LIST, ..)? {
        let (_, value) = record?;
        let (words, _) = value.as_chunks::<8>();
        let mut words = words.iter().map(|word| u64::from_ne_bytes(*word));
        let count = words.next().unwrap_or_default();
        free.extend(words.take(count as usize));
    }
    Ok(Committed {
        txnid: txn.id().0,
        last: environment.info()?.last_page,
        free,
        content,
        before,
    })
}
