//! Clients at three drivers, while members stop and die, threads stand still and nodes crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fulgurite_cluster::NodeSettings;
use fulgurite_cluster_testkit::Store;
use fulgurite_testkit::{Random, has_etcd, quick_or_long, seed};

use crate::shared::NODES;
use crate::world::{World, read, update};

const CLIENTS: u64 = 4;

fn waits() -> NodeSettings {
    NodeSettings {
        lease_ms: 3000,
        append_wait_ms: 5000,
        forward_wait_ms: 6000,
        read_wait_ms: 4000,
        ..NodeSettings::default()
    }
}

/// One fault, and its end.
fn fault(world: &mut World, random: &mut Random) -> &'static str {
    let (member, node) = (random.below(3), random.below(NODES));
    let leading = world.leading().unwrap_or(node);
    let time = Duration::from_millis(random.between(300, 5000) as u64);
    match random.below(7) {
        0 => {
            world.etcd.signal(member, "STOP");
            std::thread::sleep(time);
            world.etcd.signal(member, "CONT");
            "stopped member"
        }
        1 => {
            world.etcd.signal(member, "KILL");
            std::thread::sleep(time);
            world.etcd.restart(member);
            "killed member"
        }
        2 => {
            let other = (member + 1) % 3;
            world.etcd.signal(member, "KILL");
            world.etcd.signal(other, "STOP");
            std::thread::sleep(time);
            world.etcd.restart(member);
            world.etcd.signal(other, "CONT");
            "no majority"
        }
        3 => {
            // Its own lease may end meanwhile.
            world.shared.pause(leading, true);
            std::thread::sleep(time);
            world.shared.pause(leading, false);
            "paused sequencer"
        }
        4 => {
            world.shared.pause(node, true);
            std::thread::sleep(time);
            world.shared.pause(node, false);
            "paused thread"
        }
        5 => {
            let store = world.end(leading, true);
            std::thread::sleep(time / 4);
            world.start(leading, store);
            "crashed sequencer"
        }
        _ => {
            let store = world.end(node, true);
            std::thread::sleep(time / 4);
            world.start(node, store);
            "crash"
        }
    }
}

#[test]
fn drivers_keep_their_promises_while_members_and_threads_fail() {
    if !has_etcd() {
        return;
    }
    let mut random = Random::new(seed("drivers", 3));
    let mut world = World::new(waits());
    for node in 0..NODES {
        world.start(node, Store::default());
    }
    world.settle();
    let is_over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (shared, is_over) = (Arc::clone(&world.shared), Arc::clone(&is_over));
            let mut random = Random::new(random.bits());
            std::thread::spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    let node = shared.node(random.below(NODES));
                    match (node, random.below(5)) {
                        (Some(node), 0) => _ = read(&shared, &node, true),
                        (Some(node), 1) => _ = read(&shared, &node, false),
                        (Some(node), _) => _ = update(&shared, &node, &mut random),
                        (None, _) => {}
                    }
                    // A refusal costs no time.
                    std::thread::sleep(Duration::from_millis(random.below(20) as u64));
                }
            })
        })
        .collect();
    let mut faults = Vec::new();
    for _ in 0..quick_or_long(8, 200) {
        faults.push(fault(&mut world, &mut random));
        std::thread::sleep(Duration::from_millis(random.below(1500) as u64));
    }
    is_over.store(true, Ordering::SeqCst);
    for client in clients {
        client.join().expect("a client ends well");
    }
    world.settle();
    world.finish();
    let checker = world.shared.checker();
    println!(
        "{} updates, {} refusals, {} reads; {faults:?}",
        checker.done, checker.refused, checker.served
    );
    assert!(
        checker.done > 0 && checker.served > 0,
        "the cluster does nothing"
    );
}
