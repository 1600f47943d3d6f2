//! The steps of a history.

use fulgurite::{Durability, Environment, OpenOptions, SlotPolicy};

/// A history: steps from an empty directory on, and what can be judged of it.
#[derive(Debug, Clone)]
pub(super) struct History {
    pub(super) name: String,
    pub(super) steps: Vec<Step>,
    /// Every commit is flushed through the file, so that the worst disk can be judged.
    pub(super) shadowed: bool,
}

/// One step of a history. A step that fails is repeated.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Open(Opening),
    /// Opens a second handle on the same files.
    Join(Opening),
    /// Closes the second handle.
    Leave,
    Close,
    Write(Work),
    /// Reads everything.
    Read,
    /// Takes the steps while a snapshot is held, which must not change.
    While(Vec<Step>),
    Sync {
        force: bool,
    },
    MapSize(u64),
    Durability(Durability),
    Copy {
        compact: bool,
    },
    CopyToPipe {
        compact: bool,
    },
    /// Online compaction.
    Compact,
    ClearStale,
    Facts,
    Check,
    /// A process dies with a read transaction.
    DeadReader,
    /// A process dies with the write transaction.
    DeadWriter,
    /// Another process has the environment open, until a message asks it to close.
    NeighbourHolds(bool),
    /// Another process makes the file grow.
    Neighbour {
        records: u32,
    },
}

/// How to open.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Opening {
    pub(super) durability: Durability,
    pub(super) write_map: bool,
    pub(super) map_async: bool,
    pub(super) read_only: bool,
    pub(super) no_lock: bool,
    pub(super) previous: bool,
    pub(super) fixed: bool,
    pub(super) no_read_ahead: bool,
    /// An exact map size; 0 for one that grows.
    pub(super) map_size: u64,
    /// Address space at first, of a map that grows.
    pub(super) bound: u64,
    /// Private octets before pages are spilled; 0 for the usual.
    pub(super) dirty_bytes: usize,
    pub(super) slots: SlotPolicy,
}

impl Opening {
    pub(super) fn options(&self) -> OpenOptions {
        let mut options = Environment::options()
            .durability(self.durability)
            .write_map(self.write_map)
            .map_async(self.map_async)
            .read_only(self.read_only)
            .no_lock(self.no_lock)
            .previous_snapshot(self.previous)
            .fixed_map(self.fixed)
            .no_read_ahead(self.no_read_ahead)
            .readers_max(12)
            .databases_max(8)
            .slots(self.slots);
        if self.map_size > 0 {
            options = options.map_size(self.map_size);
        } else {
            options = options.map_bytes_max(if self.bound == 0 {
                64 << 20
            } else {
                self.bound
            });
        }
        if self.dirty_bytes > 0 {
            options = options.dirty_bytes_max(self.dirty_bytes);
        }
        options
    }
}

/// A write transaction.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) changes: Vec<Change>,
    pub(super) commit: bool,
}

/// Part of a write transaction. Databases are numbers; what is stored follows from keys.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Put {
        db: usize,
        keys: std::ops::Range<u32>,
        len: usize,
    },
    Delete {
        db: usize,
        keys: std::ops::Range<u32>,
    },
    /// Several values to a key, in a database that has them.
    Values {
        key: u32,
        values: std::ops::Range<u32>,
    },
    RemoveValues {
        key: u32,
        values: std::ops::Range<u32>,
    },
    Clear(usize),
    Drop(usize),
    Nested {
        changes: Vec<Change>,
        commit: bool,
    },
    /// Another thread makes everything durable meanwhile.
    SyncMeanwhile,
    /// Reads everything back.
    Look,
}

/// The databases; the last one has duplicates.
pub(super) const DATABASES: [&str; 3] = ["first", "second", "many"];
pub(super) const MANY: usize = 2;

/// A key of a database.
pub(super) fn key(number: u32) -> Vec<u8> {
    format!("key{number:07}").into_bytes()
}

/// The value under a key.
pub(super) fn value(number: u32, len: usize) -> Vec<u8> {
    let mut value = vec![(number % 251) as u8; len];
    for (place, octet) in value.iter_mut().zip(number.to_be_bytes()) {
        *place = octet;
    }
    value
}

/// One of the values of a key with several.
pub(super) fn one_of_many(number: u32) -> Vec<u8> {
    format!("value{number:07}-and-some-more-of-it").into_bytes()
}
