//! The facts that drivers and clients of a test share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fulgurite_cluster_driver::Handle;
use fulgurite_cluster_testkit::{Checker, Store, Update};

/// The way to a driver of the test.
pub(crate) type Node = Handle<(u64, Update), bool>;

/// Drivers of a test.
pub(crate) const NODES: usize = 3;

#[derive(Debug, Default)]
pub(crate) struct Shared {
    checker: Mutex<Checker>,
    /// The ways to the drivers that run.
    nodes: Mutex<[Option<Node>; NODES]>,
    /// The content of each node after its last batch.
    copies: Mutex<[Option<Store>; NODES]>,
    /// The threads that stand still.
    paused: [AtomicBool; NODES],
    /// The nodes whose answers to others are lost.
    deaf: [AtomicBool; NODES],
    errors: Mutex<Vec<String>>,
    numbers: AtomicU64,
    pub(crate) copied: AtomicU64,
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn checker(&self) -> MutexGuard<'_, Checker> {
        lock(&self.checker)
    }

    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(crate) fn node(&self, node: usize) -> Option<Node> {
        lock(&self.nodes)[node].clone()
    }

    pub(crate) fn set_node(&self, node: usize, handle: Option<Node>) {
        lock(&self.nodes)[node] = handle;
    }

    /// Notes the content of a node after a batch.
    pub(crate) fn applied(&self, node: usize, store: &Store) {
        use fulgurite_cluster::Content as _;
        lock(&self.copies)[node] = Some(store.clone());
        let position = store.head().position;
        self.note(self.checker().applied(position, &store.entries));
    }

    /// Returns the newest content of another node.
    pub(crate) fn newest(&self, node: usize) -> Option<Store> {
        use fulgurite_cluster::Content as _;
        let copies = lock(&self.copies);
        let others = copies
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != node);
        let others = others.filter_map(|(_, store)| store.as_ref());
        others.max_by_key(|store| store.head().position).cloned()
    }

    pub(crate) fn pause(&self, node: usize, is_paused: bool) {
        self.paused[node].store(is_paused, Ordering::SeqCst);
    }

    pub(crate) fn is_paused(&self, node: usize) -> bool {
        self.paused[node].load(Ordering::SeqCst)
    }

    pub(crate) fn lose_replies(&self, node: usize, is_lost: bool) {
        self.deaf[node].store(is_lost, Ordering::SeqCst);
    }

    pub(crate) fn loses_replies(&self, node: usize) -> bool {
        self.deaf[node].load(Ordering::SeqCst)
    }

    /// Keeps a broken promise for the end of the test.
    pub(crate) fn note(&self, result: Result<(), String>) {
        lock(&self.errors).extend(result.err());
    }

    pub(crate) fn check(&self) {
        let errors = lock(&self.errors);
        assert!(errors.is_empty(), "{errors:#?}");
    }
}
