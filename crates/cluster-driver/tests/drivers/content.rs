//! The model of a store, watched: each batch goes to the checker, and its thread can be paused.

use std::sync::Arc;
use std::time::Duration;

use fulgurite_cluster::{
    Batch, Content, Csn, Divergence, Effects, Epoch, Forwarded, Head, NodeId, Outcome, Position,
    Time,
};
use fulgurite_cluster_driver::{CopyProgress, Peers};
use fulgurite_cluster_testkit::{Store, Update};

use crate::shared::Shared;

/// The content of a node.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) store: Store,
    pub(crate) node: usize,
    pub(crate) shared: Arc<Shared>,
}

impl Watched {
    fn wait(&self) {
        while self.shared.is_paused(self.node) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Content for Watched {
    type Update = (u64, Update);
    type Answer = bool;

    fn head(&self) -> Head {
        self.store.head()
    }

    fn durable(&self) -> Position {
        self.store.durable()
    }

    fn is_writable(&self) -> bool {
        self.store.is_writable()
    }

    fn begin(&mut self, updates: &[&(u64, Update)], last: Csn, time: Time) -> Effects<bool> {
        self.wait();
        self.store.begin(updates, last, time)
    }

    fn code(answer: &bool) -> u32 {
        u32::from(!answer)
    }

    fn commit(&mut self, head: Head) {
        self.wait();
        self.store.commit(head);
        self.shared.applied(self.node, &self.store);
    }

    fn abort(&mut self) {
        self.store.abort();
    }

    fn apply(&mut self, batch: &Batch, head: Head) -> Result<(), Divergence> {
        self.store.apply(batch, head)?;
        self.shared.applied(self.node, &self.store);
        Ok(())
    }

    fn maintain(&mut self, now_ms: u64) {
        self.wait();
        self.store.maintain(now_ms);
    }
}

/// The way to the other drivers, which are threads of this process.
#[derive(Debug)]
pub(crate) struct Neighbours {
    pub(crate) node: usize,
    pub(crate) shared: Arc<Shared>,
}

fn index(node: NodeId) -> usize {
    usize::try_from(node.0).expect("a small number") - 1
}

impl Peers<Watched> for Neighbours {
    fn forward(&mut self, to: NodeId, update: Forwarded<(u64, Update)>) -> bool {
        let node = self.shared.node(index(to));
        node.is_some_and(|node| node.forwarded(update))
    }

    fn inquire(&mut self, to: NodeId, number: u64, epoch: Epoch) {
        let from = NodeId(self.node as u64 + 1);
        if let Some(node) = self.shared.node(index(to)) {
            node.inquired(from, number, epoch);
        }
    }

    fn absent(&mut self, to: NodeId, number: u64, upto: Position) {
        if let Some(node) = self.shared.node(index(to)) {
            node.absent(number, upto);
        }
    }

    fn reply(&mut self, to: NodeId, number: u64, outcome: Outcome<bool>) {
        // The connection ends, and the answer with it.
        if self.shared.loses_replies(self.node) {
            return;
        }
        if let Some(node) = self.shared.node(index(to)) {
            node.replied(number, outcome);
        }
    }

    fn begin_copy(&mut self) {}

    fn copy(&mut self) -> CopyProgress<Watched> {
        let Some(store) = self.shared.newest(self.node) else {
            return CopyProgress::Failed;
        };
        self.shared
            .copied
            .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        CopyProgress::Done(Watched {
            store,
            node: self.node,
            shared: Arc::clone(&self.shared),
        })
    }
}
