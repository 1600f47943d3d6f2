//! Single events: a hand-over, a lost majority, a copy after a trim.

use std::sync::atomic::Ordering;
use std::time::Duration;

use fulgurite_cluster::{
    Batch, ChangeLog as _, LogKeep, NodeId, NodeSettings, Outcome, ReadOutcome, VERSION_NEWEST,
};
use fulgurite_cluster_driver::Freshness;
use fulgurite_cluster_testkit::Store;
use fulgurite_testkit::{Random, has_etcd, seed};

use crate::shared::{NODES, Node};
use crate::world::{World, read, update};

fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Updates until one is done.
fn update_well(world: &World, node: &Node, random: &mut Random) {
    while !matches!(
        update(&world.shared, node, random),
        Outcome::Settled(_, true)
    ) {}
}

#[test]
fn a_stopped_sequencer_hands_over_at_once() {
    if !has_etcd() {
        return;
    }
    let mut random = Random::new(seed("hand-over", 1));
    // The lease is so long that a test never sees its end.
    let mut world = World::new(NodeSettings {
        lease_ms: 600_000,
        ..NodeSettings::default()
    });
    for node in 0..NODES {
        world.start(node, Store::default());
    }
    world.settle();
    let first = world.leading().expect("a node leads");
    let log = world.log();
    let is_listed = |node: usize| {
        let nodes = log.nodes().expect("etcd answers");
        nodes.iter().any(|state| state.node.0 == node as u64 + 1)
    };
    wait_until(|| is_listed(first));
    let store = world.end(first, false);
    let other = world.node((first + 1) % NODES);
    update_well(&world, &other, &mut random);
    assert_ne!(other.status().leader, Some(NodeId(first as u64 + 1)));
    // The lease of the first is still there: it has resigned.
    assert!(is_listed(first));
    world.start(first, store);
    world.settle();
    world.finish();
}

/// The answers of a sequencer are lost, or its leadership ends with an update of another node. The
/// log tells that node.
#[test]
fn the_log_settles_what_the_sequencer_does_not_answer() {
    if !has_etcd() {
        return;
    }
    let mut random = Random::new(seed("lost answers", 1));
    let mut world = World::new(NodeSettings::default());
    for node in 0..NODES {
        world.start(node, Store::default());
    }
    world.settle();
    let first = world.leading().expect("a node leads");
    let other = world.node((first + 1) % NODES);
    // From then on, batches name the requests that they settle.
    let log = world.log();
    let is_newest = || {
        let end = log.end().expect("etcd answers").position;
        let ReadOutcome::Batches(batches) = log.read(end, 1) else {
            return false;
        };
        let batch = batches.first().map(|(_, bytes)| Batch::decode(bytes));
        batch.is_some_and(|batch| batch.is_ok_and(|batch| batch.version == VERSION_NEWEST))
    };
    while !is_newest() {
        update_well(&world, &other, &mut random);
    }
    world.shared.lose_replies(first, true);
    let outcomes: Vec<Outcome<bool>> = (0..8)
        .map(|_| update(&world.shared, &other, &mut random))
        .collect();
    let recorded = |code_of: fn(u32) -> bool| {
        let of = |outcome: &&Outcome<bool>| matches!(outcome, Outcome::Recorded(_, code) if code_of(*code));
        outcomes.iter().filter(of).count()
    };
    assert!(recorded(|code| code == 0) > 0, "{outcomes:?}");
    // A batch of refusals only is not in the log.
    let settled = recorded(|_| true) + outcomes.iter().filter(|one| **one == Outcome::Busy).count();
    assert_eq!(settled, outcomes.len(), "{outcomes:?}");
    // It is paused with an update, and its leadership ends.
    world.shared.pause(first, true);
    let outcome = update(&world.shared, &other, &mut random);
    assert_eq!(outcome, Outcome::Busy);
    world.shared.pause(first, false);
    world.shared.lose_replies(first, false);
    world.settle();
    world.finish();
}

#[test]
fn without_a_majority_nothing_is_promised() {
    if !has_etcd() {
        return;
    }
    let mut random = Random::new(seed("majority", 1));
    let mut world = World::new(NodeSettings {
        append_wait_ms: 2000,
        forward_wait_ms: 3000,
        read_wait_ms: 2000,
        ..NodeSettings::default()
    });
    for node in 0..NODES {
        world.start(node, Store::default());
    }
    world.settle();
    let node = world.node(0);
    let before = node.position();
    for member in [1, 2] {
        world.etcd.signal(member, "KILL");
    }
    let outcome = update(&world.shared, &node, &mut random);
    assert!(
        matches!(outcome, Outcome::Unknown | Outcome::Busy),
        "{outcome:?}"
    );
    assert_eq!(read(&world.shared, &node, true), None);
    // Nothing is newer than what the client has seen here.
    assert_eq!(
        node.read(Freshness::NotBefore(before), Duration::ZERO),
        Some(before)
    );
    wait_until(|| node.status().trouble.is_some());
    for member in [1, 2] {
        world.etcd.restart(member);
    }
    world.settle();
    assert!(read(&world.shared, &node, true) > Some(before));
    world.finish();
}

#[test]
fn a_node_behind_a_trimmed_log_takes_a_copy() {
    if !has_etcd() {
        return;
    }
    let mut random = Random::new(seed("copy", 1));
    let mut world = World::new(NodeSettings {
        lease_ms: 3000,
        trim_each_ms: 300,
        keep: LogKeep {
            age_ms: 0,
            bytes: 1000,
            bytes_max: 1 << 20,
        },
        ..NodeSettings::default()
    });
    for node in 0..NODES {
        world.start(node, Store::default());
    }
    world.settle();
    let behind = (world.leading().expect("a node leads") + 1) % NODES;
    let store = world.end(behind, true);
    let node = world.node((behind + 1) % NODES);
    // The log forgets the node with its lease, and then what only that node lacks.
    let log = world.log();
    loop {
        update_well(&world, &node, &mut random);
        if let fulgurite_cluster::ReadOutcome::Trimmed { first } =
            log.read(fulgurite_cluster::Position(1), 1)
            && first > fulgurite_cluster::Content::head(&store).position.next()
        {
            break;
        }
    }
    assert_eq!(world.shared.copied.load(Ordering::SeqCst), 0);
    world.start(behind, store);
    world.settle();
    assert!(world.shared.copied.load(Ordering::SeqCst) > 0);
    let stores: Vec<Store> = (0..NODES).map(|node| world.end(node, false)).collect();
    assert!(
        stores
            .iter()
            .all(|store| store.entries == stores[0].entries)
    );
    world.shared.check();
}
