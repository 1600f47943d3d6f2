//! Power loss: everything the engine asks of the disk is recorded, and for many moments of the recording we build what a
//! disk could hold if the power had gone just then. Each such image must open as a snapshot that was promised.
//!
//! What a completed sync covers stays. Of later writes each sector keeps any prefix: none, some, or all of them, and
//! every sector decides for itself.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};

use fulgurite::{DiskObserver, Durability, Environment, KeyOrder, Snapshot};
use fulgurite_testkit::{Model, Order, Random, Scratch, quick_or_long, seed};

use crate::committer::{self, DATABASE};
use crate::common::{assert_model, assert_sound};

/// What a disk keeps or loses as a whole.
const SECTOR: usize = 512;
const TRANSACTIONS: u64 = 60;

/// One thing the engine asked of the disk, or told its caller.
#[derive(Debug, Clone)]
enum Event {
    Write {
        at: usize,
        bytes: Vec<u8>,
        durable: bool,
    },
    Length(usize),
    Sync,
    /// The caller was told that this transaction is committed.
    Acknowledged(u64),
}

#[derive(Debug, Default)]
struct Recorder(Mutex<Vec<Event>>);

impl Recorder {
    fn push(&self, event: Event) {
        self.0.lock().expect("the recording").push(event);
    }

    fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().expect("the recording"))
    }
}

impl DiskObserver for Recorder {
    fn write(&self, offset: u64, bytes: &[u8], synchronous: bool) {
        self.push(Event::Write {
            at: offset as usize,
            bytes: bytes.to_vec(),
            durable: synchronous,
        });
    }

    fn sync(&self) {
        self.push(Event::Sync);
    }

    fn resize(&self, len: u64) {
        self.push(Event::Length(len as usize));
    }
}

/// Commits numbered transactions and records what the disk saw.
fn record(durability: Durability) -> Vec<Event> {
    let scratch = Scratch::new("recorded");
    let recorder = Arc::new(Recorder::default());
    let environment = Environment::options()
        .durability(durability)
        .observer(Arc::clone(&recorder) as Arc<dyn DiskObserver>)
        .open(scratch.path())
        .expect("open");
    for number in 1..=TRANSACTIONS {
        let mut txn = environment.write().expect("the writer");
        let db = txn
            .create_database(DATABASE, KeyOrder::Lexical)
            .expect("the database");
        for (key, value) in committer::changes(number) {
            match value {
                Some(value) => txn.put(db, &key, &value).expect("put"),
                None => drop(txn.delete(db, &key).expect("delete")),
            }
        }
        txn.commit().expect("commit");
        recorder.push(Event::Acknowledged(number));
    }
    recorder.take()
}

/// What the disk may hold when the power goes after `cut` events were begun. The last of them may not have been finished.
fn image(events: &[Event], cut: usize, random: &mut Random) -> Vec<u8> {
    let finished = cut.saturating_sub(1);
    let synced = events[..finished]
        .iter()
        .rposition(|e| matches!(e, Event::Sync))
        .unwrap_or(0);
    let mut disk = Disk(Vec::new());
    let mut pending: BTreeMap<usize, Vec<Piece<'_>>> = BTreeMap::new();
    let mut floor: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, event) in events[..cut].iter().enumerate() {
        match event {
            Event::Write { at, bytes, .. } if index < synced => disk.write(*at, bytes),
            Event::Write { at, bytes, durable } => {
                for (at, piece) in sectors(*at, bytes) {
                    pending.entry(at / SECTOR).or_default().push(Piece {
                        event: index,
                        at,
                        bytes: piece,
                    });
                    if *durable && index < finished {
                        floor.insert(at / SECTOR, index + 1);
                    }
                }
            }
            Event::Length(length) if index < synced || random.chance(50) => {
                disk.0.resize(*length, 0)
            }
            _ => {}
        }
    }
    let keep = *random.pick(&[0, 20, 50, 80, 100]);
    for (sector, pieces) in pending {
        let floor = floor.get(&sector).copied().unwrap_or_default();
        let until = if random.chance(keep) {
            cut
        } else {
            random.between(floor, cut)
        };
        let until = if random.chance(100 - keep) {
            floor
        } else {
            until
        };
        for piece in pieces.iter().filter(|piece| piece.event < until) {
            disk.write(piece.at, piece.bytes);
        }
    }
    disk.0
}

/// Part of a write that no sync covers yet.
struct Piece<'a> {
    event: usize,
    at: usize,
    bytes: &'a [u8],
}

struct Disk(Vec<u8>);

impl Disk {
    fn write(&mut self, at: usize, bytes: &[u8]) {
        if self.0.len() < at + bytes.len() {
            self.0.resize(at + bytes.len(), 0);
        }
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

/// The pieces of a write that are kept or lost as a whole.
fn sectors(at: usize, bytes: &[u8]) -> Vec<(usize, &[u8])> {
    let mut pieces = Vec::new();
    let mut from = 0;
    while from < bytes.len() {
        let to = bytes.len().min(from + SECTOR - (at + from) % SECTOR);
        pieces.push((at + from, &bytes[from..to]));
        from = to;
    }
    pieces
}

/// The content after each number of transactions.
fn models() -> Vec<Model> {
    let mut models = vec![Model::new(Order::Lexical)];
    for number in 1..=TRANSACTIONS {
        let mut model = models[number as usize - 1].clone();
        committer::change_model(&mut model, number);
        models.push(model);
    }
    models
}

/// Every image opens as a snapshot that may be there: of the acknowledged transactions at most `forgotten` are missing.
fn lose_power(durability: Durability, forgotten: u64, default_seed: u64) {
    let mut random = Random::new(seed("power", default_seed));
    let events = record(durability);
    let models = models();
    let first = events
        .iter()
        .position(|e| matches!(e, Event::Acknowledged(1)))
        .expect("a commit");
    let scratch = Scratch::new("power");
    let (mut older, mut newer) = (0, 0);
    for round in 0..quick_or_long(400, 20_000) {
        let cut = random.between(first + 1, events.len());
        let acknowledged = events[..cut].iter().rev().find_map(|event| match event {
            Event::Acknowledged(number) => Some(*number),
            _ => None,
        });
        let acknowledged = acknowledged.expect("at least one is acknowledged");
        let dir = scratch.join(&format!("{round}"));
        fs::create_dir(&dir).expect("a directory");
        fs::write(dir.join("data.mdb"), image(&events, cut, &mut random)).expect("write the image");
        let context =
            format!("{durability:?}, cut after {cut} events, {acknowledged} acknowledged");
        assert_sound(&dir, &context);
        let found = check_image(&dir, &models, &context);
        assert!(
            found + forgotten >= acknowledged && found <= acknowledged + 1,
            "{context}: {found} found"
        );
        older += u32::from(found <= acknowledged);
        newer += u32::from(found > acknowledged);
        fs::remove_dir_all(&dir).expect("remove the image");
    }
    println!("{older} old and {newer} new snapshots");
    assert!(
        older > 20 && newer > 5,
        "{older} old and {newer} new snapshots: the cuts miss the commits"
    );
}

/// Opens an image, compares it with the model, commits on top of it; the number of the transaction found.
fn check_image(dir: &std::path::Path, models: &[Model], context: &str) -> u64 {
    let environment = crate::common::open(dir);
    let snapshot = environment.read().expect("a reader");
    let found = committer::number(&snapshot);
    if found > 0 {
        let db = snapshot
            .open_database(Some(DATABASE))
            .expect("the database");
        assert_model(&snapshot, db, &models[found as usize], context);
    }
    drop(snapshot);
    let mut txn = environment.write().expect("the writer");
    let db = txn
        .create_database(DATABASE, KeyOrder::Lexical)
        .expect("the database");
    for i in 0..50 {
        txn.put(db, format!("after{i}").as_bytes(), &[1; 300])
            .expect("put");
    }
    txn.commit().expect("commit");
    drop(environment);
    assert_sound(dir, &format!("{context}, written to afterwards"));
    found
}

#[test]
fn a_full_commit_survives_power_loss() {
    lose_power(Durability::Full, 0, 11);
}

/// Without waiting for the meta page the last commit may be forgotten, but nothing is broken.
#[test]
fn a_commit_without_meta_sync_is_kept_or_forgotten_whole() {
    lose_power(Durability::NoMetaSync, 1, 12);
}
