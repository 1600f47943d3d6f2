//! Drivers on a real etcd, and their clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use fulgurite_cluster::{
    ChangeLog as _, Content as _, NodeId, NodeSettings, Outcome, Position, ReadOutcome,
};
use fulgurite_cluster_driver::{Driver, DriverSettings, Freshness};
use fulgurite_cluster_testkit::{Store, Update};
use fulgurite_etcd::{EtcdError, EtcdLog, EtcdSettings};
use fulgurite_testkit::{Etcd, Random};

use crate::content::{Neighbours, Watched};
use crate::shared::{NODES, Node, Shared};

/// The wait of a client, which is longer than that of any node.
const CLIENT_WAIT: Duration = Duration::from_secs(60);

/// A thread with a driver; it returns its content.
type Thread = JoinHandle<Result<Watched, EtcdError>>;

pub(crate) struct World {
    pub(crate) etcd: Etcd,
    pub(crate) shared: Arc<Shared>,
    waits: NodeSettings,
    threads: Vec<Option<Thread>>,
    lives: AtomicU64,
}

impl World {
    /// Starts etcd, and no driver.
    pub(crate) fn new(waits: NodeSettings) -> World {
        World {
            etcd: Etcd::plain(3, &[]),
            shared: Arc::new(Shared::default()),
            waits,
            threads: (0..NODES).map(|_| None).collect(),
            lives: AtomicU64::new(0),
        }
    }

    /// Returns settings whose first member is the node's.
    fn etcd_settings(&self, node: usize) -> EtcdSettings {
        let mut members = self.etcd.urls.clone();
        let count = members.len();
        members.rotate_left(node % count);
        EtcdSettings::new(members, "test")
    }

    /// Returns a log with long waits.
    pub(crate) fn log(&self) -> EtcdLog {
        let mut settings = self.etcd_settings(0);
        settings.try_ms = 5000;
        settings.call_ms = 30_000;
        EtcdLog::new(&settings).expect("settings")
    }

    /// Starts a driver from a store.
    pub(crate) fn start(&mut self, node: usize, mut store: Store) -> Node {
        store.open(true);
        let number = node as u64 + 1;
        let life = (self.lives.fetch_add(1, Ordering::SeqCst) << 8 | number).rotate_left(32);
        let settings = DriverSettings {
            waits: self.waits,
            ..DriverSettings::new(NodeId(number), life.to_le_bytes())
        };
        let (driver, handle) = Driver::new(settings);
        let (etcd, shared) = (self.etcd_settings(node), Arc::clone(&self.shared));
        self.threads[node] = Some(std::thread::spawn(move || {
            let content = Watched {
                store,
                node,
                shared: Arc::clone(&shared),
            };
            let mut neighbours = Neighbours { node, shared };
            driver.run(content, &mut neighbours, || EtcdLog::new(&etcd))
        }));
        self.shared.set_node(node, Some(handle.clone()));
        handle
    }

    /// Ends a driver, and returns its store.
    pub(crate) fn end(&mut self, node: usize, is_crash: bool) -> Store {
        if let Some(handle) = self.shared.node(node) {
            match is_crash {
                true => handle.abandon(),
                false => handle.stop(),
            }
        }
        self.shared.set_node(node, None);
        let thread = self.threads[node].take().expect("it runs");
        let content = thread.join().expect("the thread ends well");
        content.expect("settings").store
    }

    pub(crate) fn node(&self, node: usize) -> Node {
        self.shared.node(node).expect("it runs")
    }

    /// Returns the node that says that it leads.
    pub(crate) fn leading(&self) -> Option<usize> {
        (0..NODES).find(|node| {
            let node = self.shared.node(*node);
            node.is_some_and(|node| node.status().is_leading)
        })
    }

    /// Waits until updates succeed at all nodes, and all have the same position.
    pub(crate) fn settle(&self) {
        for node in 0..NODES {
            let mut random = Random::new(7);
            loop {
                let outcome = update(&self.shared, &self.node(node), &mut random);
                if matches!(outcome, Outcome::Settled(_, true)) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        let positions =
            || -> Vec<Position> { (0..NODES).map(|n| self.node(n).position()).collect() };
        while positions().windows(2).any(|pair| pair[0] != pair[1]) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends all drivers. Checks their contents, and all outcomes against the log.
    pub(crate) fn finish(&mut self) {
        let stores: Vec<Store> = (0..NODES).map(|node| self.end(node, false)).collect();
        for store in &stores {
            assert_eq!(store.entries, stores[0].entries);
        }
        self.check_log();
        let end = self.log().end().expect("etcd answers");
        assert_eq!(end, stores[0].head());
    }

    /// Checks all outcomes against the log, which is whole.
    pub(crate) fn check_log(&self) {
        let log = self.log();
        let mut all: Vec<(Position, Vec<u8>)> = Vec::new();
        loop {
            let from = all
                .last()
                .map_or(Position(1), |(position, _)| position.next());
            match log.read(from, 50) {
                ReadOutcome::Batches(batches) if batches.is_empty() => break,
                ReadOutcome::Batches(batches) => all.extend(batches),
                ReadOutcome::Trimmed { .. } => panic!("the log is kept"),
                ReadOutcome::Unavailable => {}
            }
        }
        self.shared.note(self.shared.checker().finish(&all));
        self.shared.check();
    }
}

/// Updates an entry at a node, and tells the checker.
pub(crate) fn update(shared: &Shared, node: &Node, random: &mut Random) -> Outcome<bool> {
    let key = random.below(6) as u8;
    let update = match random.below(4) {
        0 | 1 => Update::Add(key),
        2 => Update::Modify(key),
        _ => Update::Delete(key),
    };
    let number = shared.next_number();
    shared.checker().sent(number, update);
    let outcome = node.update((number, update), CLIENT_WAIT);
    let at = match outcome {
        Outcome::Settled(position, _) | Outcome::Recorded(position, _) => position,
        _ => Position(0),
    };
    let answered = shared
        .checker()
        .answered(number, outcome, node.position(), at);
    shared.note(answered);
    outcome
}

/// Reads at a node, and tells the checker.
pub(crate) fn read(shared: &Shared, node: &Node, is_linear: bool) -> Option<Position> {
    let number = shared.next_number();
    let freshness = match is_linear {
        true => {
            shared.checker().reads(number);
            Freshness::Linearizable
        }
        false => Freshness::NotBefore(shared.checker().reads_in_session(number)),
    };
    let position = node.read(freshness, CLIENT_WAIT);
    let served = shared.checker().served(number, position, is_linear);
    shared.note(served);
    position
}
