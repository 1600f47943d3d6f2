//! A model of a node's store: entries, a checkpoint, and a transaction.

use std::collections::BTreeMap;

use fulgurite_cluster::{
    Batch, Csn, Divergence, Follower, Head, Operation, Operator, Record, RecordKind, Start, Value,
    start_from,
};

/// An entry: the number of the update that wrote it, and its change number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredEntry {
    pub(crate) update: u64,
    pub(crate) csn: Csn,
}

pub(crate) type Entries = BTreeMap<u8, StoredEntry>;

/// An update of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    /// Fails if the entry is there.
    Add(u8),
    /// Fails if it is not.
    Modify(u8),
    /// Fails if it is not.
    Delete(u8),
}

impl Update {
    pub(crate) fn key(self) -> u8 {
        match self {
            Update::Add(key) | Update::Modify(key) | Update::Delete(key) => key,
        }
    }

    /// Returns true if the update succeeds where the entry is there, or is not.
    pub(crate) fn succeeds(self, is_here: bool) -> bool {
        is_here != matches!(self, Update::Add(_))
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    pub(crate) entries: Entries,
    pub(crate) head: Head,
    checkpoint: (Entries, Head),
    boot: u64,
}

impl Store {
    pub(crate) fn durable(&self) -> Head {
        self.checkpoint.1
    }

    pub(crate) fn checkpoint(&mut self, boot: u64) {
        self.checkpoint = (self.entries.clone(), self.head);
        self.boot = boot;
    }

    /// Loses each changed page with even chance, while the last meta page is there.
    pub(crate) fn lose_power(&mut self, mut is_lost: impl FnMut() -> bool) {
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
    pub(crate) fn open(&mut self, boot: u64, heeds_boot: bool) {
        let start = start_from(&self.boot.to_le_bytes(), &boot.to_le_bytes());
        if heeds_boot && start == Start::Checkpoint {
            (self.entries, self.head) = self.checkpoint.clone();
        }
        self.checkpoint(boot);
    }

    /// Applies a batch that ends at `head`.
    pub(crate) fn apply(&mut self, batch: &Batch, head: Head) -> Result<(), Divergence> {
        let mut entries = self.entries.clone();
        for record in &batch.records {
            let here = entries.get(&record.uuid[0]).map(|entry| entry.csn);
            Follower::check(batch.position, record, here)?;
            effect(&mut entries, record);
        }
        self.entries = entries;
        self.head = head;
        Ok(())
    }
}

/// Does what a record says.
pub(crate) fn effect(entries: &mut Entries, record: &Record) {
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
pub(crate) fn record(entries: &Entries, number: u64, update: Update, csn: Csn) -> Option<Record> {
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
pub(crate) fn csn_behind(last: Csn, now_us: u64) -> Csn {
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
