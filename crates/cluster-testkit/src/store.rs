//! A model of a node's store: entries, a checkpoint, and a transaction.

use std::collections::BTreeMap;

use fulgurite_cluster::{
    Batch, Content, Csn, Divergence, Effects, Follower, Head, Operation, Operator, Position,
    Record, RecordKind, Start, Time, Value, start_from,
};

/// An entry: the number of the update that wrote it, and its change number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// The number of that update.
    pub update: u64,
    /// The number of the change.
    pub csn: Csn,
}

/// The entries of a store, by their keys.
pub type Entries = BTreeMap<u8, StoredEntry>;

/// An update of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Fails if the entry is there.
    Add(u8),
    /// Fails if it is not.
    Modify(u8),
    /// Fails if it is not.
    Delete(u8),
}

impl Update {
    /// Returns the key of the entry.
    #[must_use]
    pub fn key(self) -> u8 {
        match self {
            Update::Add(key) | Update::Modify(key) | Update::Delete(key) => key,
        }
    }

    /// Returns true if the update succeeds where the entry is there, or is not.
    #[must_use]
    pub fn succeeds(self, is_here: bool) -> bool {
        is_here != matches!(self, Update::Add(_))
    }
}

/// Commits between two checkpoints, and the longest time between them.
const CHECKPOINT_COMMITS: u64 = 5;
const CHECKPOINT_MS: u64 = 5000;

/// A model of a store, with a checkpoint and at most one open transaction.
#[derive(Clone, Debug, Default)]
pub struct Store {
    /// The entries after the last commit.
    pub entries: Entries,
    head: Head,
    checkpoint: (Entries, Head),
    /// The boot of the machine at the last checkpoint.
    stored_boot: u64,
    boot: u64,
    /// True while the disk takes no more.
    pub disk_is_full: bool,
    /// The open transaction.
    open: Option<Entries>,
    commits: u64,
    checkpoint_ms: u64,
    /// The updates that the last transaction refuses.
    pub refused: Vec<u64>,
}

impl Store {
    fn make_checkpoint(&mut self) {
        self.checkpoint = (self.entries.clone(), self.head);
        self.stored_boot = self.boot;
    }

    fn committed(&mut self, entries: Entries, head: Head) {
        self.entries = entries;
        self.head = head;
        self.commits += 1;
        if self.commits.is_multiple_of(CHECKPOINT_COMMITS) {
            self.make_checkpoint();
        }
    }

    /// Loses each changed page with even chance, while the last meta page is there.
    pub fn lose_power(&mut self, mut is_lost: impl FnMut() -> bool) {
        self.boot += 1;
        let (old, head) = self.checkpoint.clone();
        for key in 0..u8::MAX {
            if self.head != head && self.entries.get(&key) != old.get(&key) && is_lost() {
                match old.get(&key) {
                    Some(entry) => self.entries.insert(key, *entry),
                    None => self.entries.remove(&key),
                };
            }
        }
    }

    /// Opens the store after a stop. The mutant takes the last commit after each.
    pub fn open(&mut self, heeds_boot: bool) {
        let (stored, boot) = (self.stored_boot.to_le_bytes(), self.boot.to_le_bytes());
        if heeds_boot && start_from(&stored, &boot) == Start::Checkpoint {
            (self.entries, self.head) = self.checkpoint.clone();
        }
        self.open = None;
        self.make_checkpoint();
    }

    /// Takes the content of another store.
    pub fn copy(&mut self, from: &Store) {
        self.entries.clone_from(&from.entries);
        self.head = from.head;
        self.make_checkpoint();
    }
}

impl Content for Store {
    /// The number of the update, and the update.
    type Update = (u64, Update);
    /// True if it is done.
    type Answer = bool;

    fn head(&self) -> Head {
        self.head
    }

    fn durable(&self) -> Position {
        self.checkpoint.1.position
    }

    fn is_writable(&self) -> bool {
        !self.disk_is_full
    }

    fn begin(&mut self, updates: &[&(u64, Update)], last: Csn, time: Time) -> Effects<bool> {
        assert!(self.open.is_none(), "one transaction at a time");
        let mut entries = self.entries.clone();
        let mut effects = Effects {
            records: Vec::new(),
            answers: Vec::new(),
        };
        let mut last = last;
        self.refused.clear();
        for (number, update) in updates.iter().copied().copied() {
            let csn = csn_behind(last, time.wall_us);
            let made = record(&entries, number, update, csn);
            effects.answers.push(made.is_some());
            if made.is_none() {
                self.refused.push(number);
            }
            if let Some(record) = made {
                effect(&mut entries, &record);
                last = record.csn;
                effects.records.push(record);
            }
        }
        self.open = Some(entries);
        effects
    }

    fn code(answer: &bool) -> u32 {
        u32::from(!answer)
    }

    fn commit(&mut self, head: Head) {
        let entries = self.open.take().expect("an open transaction");
        if !self.disk_is_full {
            self.committed(entries, head);
        }
    }

    fn abort(&mut self) {
        self.open.take().expect("an open transaction");
    }

    fn apply(&mut self, batch: &Batch, head: Head) -> Result<(), Divergence> {
        assert!(self.open.is_none(), "a follower has no transaction");
        if self.disk_is_full {
            return Ok(());
        }
        let mut entries = self.entries.clone();
        for record in &batch.records {
            let here = entries.get(&record.uuid[0]).map(|entry| entry.csn);
            Follower::check(batch.position, record, here)?;
            effect(&mut entries, record);
        }
        self.committed(entries, head);
        Ok(())
    }

    fn maintain(&mut self, now_ms: u64) {
        let is_due = now_ms >= self.checkpoint_ms + CHECKPOINT_MS;
        if is_due && !self.disk_is_full {
            self.checkpoint_ms = now_ms;
            self.make_checkpoint();
        }
    }
}

/// Returns the key of the entry that a record is about.
pub(crate) fn key_of(record: &Record) -> u8 {
    record.uuid[0]
}

/// Does what a record says.
pub fn effect(entries: &mut Entries, record: &Record) {
    let entry = StoredEntry {
        update: record.session,
        csn: record.csn,
    };
    match record.kind {
        RecordKind::Delete => entries.remove(&record.uuid[0]),
        _ => entries.insert(record.uuid[0], entry),
    };
}

/// Returns the record of an update; `None` if it is refused.
#[must_use]
pub fn record(entries: &Entries, number: u64, update: Update, csn: Csn) -> Option<Record> {
    let here = entries.get(&update.key());
    if !update.succeeds(here.is_some()) {
        return None;
    }
    let kind = match update {
        Update::Add(_) => RecordKind::Add,
        Update::Modify(_) => RecordKind::Modify,
        Update::Delete(_) => RecordKind::Delete,
    };
    let operation = Operation {
        operator: Operator::Replace,
        attribute: "description".to_owned(),
        values: vec![Value::Inline(number.to_le_bytes().to_vec())],
    };
    Some(Record {
        kind,
        csn,
        previous: here.map(|entry| entry.csn),
        uuid: [update.key(); 16],
        parent: None,
        is_unordered: false,
        begun_us: 0,
        took_us: 0,
        session: number,
        author: "cn=admin".to_owned(),
        dn: format!("cn={}", update.key()),
        renaming: None,
        operations: vec![operation],
    })
}

/// Returns the change number of a time, greater than `last`.
fn csn_behind(last: Csn, now_us: u64) -> Csn {
    let digits = |csn: &Csn| {
        csn.as_bytes().iter().take(10).fold(0_u64, |all, pair| {
            all * 100 + u64::from(pair >> 4) * 10 + u64::from(pair & 15)
        })
    };
    let mut number = now_us.max(digits(&last) + 1);
    let mut bytes = [0; Csn::LEN];
    for byte in bytes.iter_mut().take(10).rev() {
        let pair = (number % 100) as u8;
        *byte = ((pair / 10) << 4) | (pair % 10);
        number /= 100;
    }
    Csn::from_bytes(bytes).expect("decimal digits")
}
