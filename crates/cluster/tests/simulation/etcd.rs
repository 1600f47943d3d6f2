//! A model of etcd: keys with revisions, transactions that compare, leases on its clock, a quota.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use fulgurite_cluster::{
    AppendOutcome, ChangeLog, Digest, Epoch, Head, Leadership, LeaseId, NodeId, NodeState,
    PartList, Position, ReadOutcome, Refusal, Unavailable,
};

use crate::mutant::Mutant;

/// A key with its value.
#[derive(Clone, Debug)]
struct Item {
    value: Stored,
    create_revision: u64,
    lease: Option<LeaseId>,
}

#[derive(Clone, Debug)]
enum Stored {
    Leader(NodeId),
    Head(Head),
    Batch(Vec<u8>),
    Node(NodeState),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Head,
    Leader,
    Log(Position),
    Node(NodeId),
    Part(Position, Digest, usize),
}

/// Bytes of a part of a long batch.
const PART_BYTES: u32 = 400;

#[derive(Debug, Default)]
struct Inner {
    items: BTreeMap<Key, Item>,
    revision: u64,
    /// The end of each lease, and its length.
    leases: BTreeMap<LeaseId, (u64, u64)>,
    now_ms: u64,
    /// Bytes since the last defragmentation: deleted ones count too.
    bytes: usize,
    is_full: bool,
}

/// The model, with all that was ever appended for the checker.
#[derive(Debug)]
pub(crate) struct Etcd {
    inner: RefCell<Inner>,
    archive: RefCell<Vec<(Position, Vec<u8>)>>,
    /// True if the next long batch ends between its parts and their list.
    pub(crate) tears: Cell<bool>,
    quota_bytes: usize,
    mutant: Option<Mutant>,
}

impl Etcd {
    pub(crate) fn new(quota_bytes: usize, mutant: Option<Mutant>) -> Etcd {
        Etcd {
            inner: RefCell::default(),
            archive: RefCell::default(),
            tears: Cell::new(false),
            quota_bytes,
            mutant,
        }
    }

    /// Moves the clock, and drops the keys of leases that have ended.
    pub(crate) fn advance(&self, now_ms: u64) {
        let mut inner = self.inner.borrow_mut();
        inner.now_ms = inner.now_ms.max(now_ms);
        let now = inner.now_ms;
        inner.leases.retain(|_, (end, _)| *end > now);
        let Inner { items, leases, .. } = &mut *inner;
        items.retain(|_, item| item.lease.is_none_or(|lease| leases.contains_key(&lease)));
    }

    /// Gives all leases their full length again, as a new leader of etcd does.
    pub(crate) fn change_leader(&self) {
        let mut inner = self.inner.borrow_mut();
        let now = inner.now_ms;
        inner
            .leases
            .values_mut()
            .for_each(|(end, ttl)| *end = now + *ttl);
    }

    /// Compacts, defragments, and disarms the alarm, as an administrator does.
    pub(crate) fn defragment(&self) {
        let mut inner = self.inner.borrow_mut();
        let bytes = inner.items.values().map(|item| match &item.value {
            Stored::Batch(bytes) => bytes.len(),
            _ => 100,
        });
        inner.bytes = bytes.sum();
        inner.is_full = false;
    }

    pub(crate) fn is_full(&self) -> bool {
        self.inner.borrow().is_full
    }

    /// Returns the batches in the order in which they were appended.
    pub(crate) fn archive(&self) -> Vec<(Position, Vec<u8>)> {
        self.archive.borrow().clone()
    }

    pub(crate) fn last_position(&self) -> Position {
        self.inner.borrow().head().position
    }
}

impl Inner {
    fn put(&mut self, key: Key, value: Stored, lease: Option<LeaseId>) {
        let revision = self.revision;
        let item = self.items.entry(key).or_insert(Item {
            value: value.clone(),
            create_revision: revision,
            lease,
        });
        item.value = value;
        item.lease = lease;
    }

    fn head(&self) -> Head {
        match self.items.get(&Key::Head).map(|item| &item.value) {
            Some(Stored::Head(head)) => *head,
            _ => Head::default(),
        }
    }

    fn bytes(&self, key: &Key) -> Option<Vec<u8>> {
        match self.items.get(key).map(|item| &item.value) {
            Some(Stored::Batch(bytes)) => Some(bytes.clone()),
            _ => None,
        }
    }

    /// Returns the value at the place of a batch.
    fn value(&self, position: Position) -> Option<Vec<u8>> {
        self.bytes(&Key::Log(position))
    }

    /// Returns a batch, put together from its parts.
    fn batch(&self, position: Position) -> Option<Vec<u8>> {
        let value = self.value(position)?;
        let Some(list) = PartList::decode(&value) else {
            return Some(value);
        };
        let part = |number| self.bytes(&Key::Part(position, list.digest(), number));
        let parts: Option<Vec<Vec<u8>>> = (0..list.count() as usize).map(part).collect();
        list.join(&parts?)
    }

    fn leader(&self) -> Option<(Epoch, NodeId, Option<LeaseId>)> {
        let item = self.items.get(&Key::Leader)?;
        match &item.value {
            Stored::Leader(node) => Some((Epoch(item.create_revision), *node, item.lease)),
            _ => None,
        }
    }

    fn is_led_by(&self, epoch: Epoch) -> bool {
        self.leader().map(|(epoch, ..)| epoch) == Some(epoch)
    }
}

impl ChangeLog for Etcd {
    fn append(&self, epoch: Epoch, before: &Head, after: &Head, batch: &[u8]) -> AppendOutcome {
        let mut inner = self.inner.borrow_mut();
        let key = Key::Log(after.position);
        let is_next = match self.mutant {
            Some(Mutant::NoHeadComparison) => !inner.items.contains_key(&key),
            _ => inner.head() == *before,
        };
        let compares = self.mutant != Some(Mutant::NoComparison);
        if compares && !(inner.is_led_by(epoch) && is_next) {
            return AppendOutcome::Refused(Refusal {
                leader: inner.leader().map(|(epoch, ..)| epoch),
                end: inner.head().position,
                present: inner
                    .batch(after.position)
                    .or_else(|| inner.value(after.position)),
            });
        }
        if inner.is_full || inner.bytes + batch.len() > self.quota_bytes {
            inner.is_full = true;
            return AppendOutcome::Full;
        }
        inner.revision += 1;
        inner.bytes += batch.len();
        let list = PartList::of(batch, PART_BYTES);
        let tears = list.is_some() && self.tears.take();
        let begins_with_list = self.mutant == Some(Mutant::ListBeforeParts);
        if let Some(list) = &list
            && !(tears && begins_with_list)
        {
            for (part, number) in list.parts(batch).zip(0..) {
                let key = Key::Part(after.position, list.digest(), number);
                inner.put(key, Stored::Batch(part.to_vec()), None);
            }
        }
        if tears && !begins_with_list {
            return AppendOutcome::Unknown;
        }
        let value = list.map_or_else(|| batch.to_vec(), |list| list.encode());
        inner.put(key, Stored::Batch(value), None);
        inner.put(Key::Head, Stored::Head(*after), None);
        let mut archive = self.archive.borrow_mut();
        archive.push((after.position, batch.to_vec()));
        AppendOutcome::Appended
    }

    fn read(&self, from: Position, limit: usize) -> ReadOutcome {
        let inner = self.inner.borrow();
        let range = Key::Log(from)..Key::Node(NodeId(0));
        let batches = inner
            .items
            .range(range)
            .filter_map(|(key, item)| match (key, &item.value) {
                (Key::Log(position), Stored::Batch(_)) => Some((*position, inner.batch(*position))),
                _ => None,
            });
        let batches = batches.take(limit);
        let batches: Option<Vec<_>> = batches.map(|(at, batch)| Some((at, batch?))).collect();
        let Some(batches) = batches else {
            return ReadOutcome::Unavailable;
        };
        let end = inner.head().position;
        match batches.first() {
            Some((first, _)) if *first > from => ReadOutcome::Trimmed { first: *first },
            None if end >= from => ReadOutcome::Trimmed { first: end.next() },
            _ => ReadOutcome::Batches(batches),
        }
    }

    fn end(&self) -> Result<Head, Unavailable> {
        Ok(self.inner.borrow().head())
    }

    fn grant(&self, ttl_ms: u64) -> Result<LeaseId, Unavailable> {
        let mut inner = self.inner.borrow_mut();
        if inner.is_full {
            return Err(Unavailable);
        }
        inner.revision += 1;
        let (lease, now) = (LeaseId(inner.revision), inner.now_ms);
        inner.leases.insert(lease, (now + ttl_ms, ttl_ms));
        Ok(lease)
    }

    fn renew(&self, lease: LeaseId) -> Result<bool, Unavailable> {
        let mut inner = self.inner.borrow_mut();
        let now = inner.now_ms;
        let renewed = inner.leases.get_mut(&lease);
        Ok(renewed.map(|(end, ttl)| *end = now + *ttl).is_some())
    }

    fn lead(&self, lease: LeaseId, node: NodeId) -> Result<Leadership, Unavailable> {
        let mut inner = self.inner.borrow_mut();
        match inner.leader() {
            Some((epoch, leader, of)) if leader == node && of == Some(lease) => {
                Ok(Leadership::Leading(epoch))
            }
            Some((epoch, leader, _)) => Ok(Leadership::Following(leader, epoch)),
            None if inner.is_full || !inner.leases.contains_key(&lease) => Err(Unavailable),
            None => {
                inner.revision += 1;
                inner.put(Key::Leader, Stored::Leader(node), Some(lease));
                Ok(Leadership::Leading(Epoch(inner.revision)))
            }
        }
    }

    fn resign(&self, epoch: Epoch) -> Result<(), Unavailable> {
        let mut inner = self.inner.borrow_mut();
        if inner.is_led_by(epoch) {
            inner.items.remove(&Key::Leader);
        }
        Ok(())
    }

    fn publish(&self, lease: LeaseId, state: &NodeState) -> Result<(), Unavailable> {
        let mut inner = self.inner.borrow_mut();
        if inner.leases.contains_key(&lease) && !inner.is_full {
            inner.revision += 1;
            inner.put(Key::Node(state.node), Stored::Node(*state), Some(lease));
        }
        Ok(())
    }

    fn nodes(&self) -> Result<Vec<NodeState>, Unavailable> {
        let inner = self.inner.borrow();
        let states = inner.items.values().filter_map(|item| match &item.value {
            Stored::Node(state) => Some(*state),
            _ => None,
        });
        Ok(states.collect())
    }

    fn trim(&self, epoch: Epoch, upto: Position) -> Result<(), Unavailable> {
        let mut inner = self.inner.borrow_mut();
        // A full etcd takes deletions. It takes no key that says where the log begins.
        if inner.is_led_by(epoch) {
            inner.revision += 1;
            let gone = |key: &Key| match key {
                Key::Log(position) | Key::Part(position, ..) => *position <= upto,
                _ => false,
            };
            inner.items.retain(|key, _| !gone(key));
        }
        Ok(())
    }
}
