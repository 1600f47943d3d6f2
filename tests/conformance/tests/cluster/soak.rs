//! The soak: clients write to three nodes while one kind of fault follows another.
//!
//! `make soak-cluster` runs it. Each fault has `FULGURITE_SOAK_SECONDS`. Without them it does
//! nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fulgurite_client::Change;
use fulgurite_conformance::SUFFIX;
use fulgurite_testkit::{Etcd, Random, has_etcd};
use rustix::process::Signal;

use crate::cuts::Cuts;
use crate::life::{add_patiently, names};
use crate::nodes::{Node, root_client, three_at, wait};
use crate::writers::{Told, check, write};

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    KilledNodes,
    StoppedNodes,
    KilledMembers,
    StoppedMembers,
    CutConnections,
    FullQuota,
}

const FAULTS: [Fault; 6] = [
    Fault::KilledNodes,
    Fault::StoppedNodes,
    Fault::KilledMembers,
    Fault::StoppedMembers,
    Fault::CutConnections,
    Fault::FullQuota,
];

/// The bound of etcd's database. The writes of one fault reach it.
const QUOTA: &str = "33554432";
/// The length of one stop or cut, which is longer than a lease.
const LONG_STOP: Duration = Duration::from_secs(9);

struct World {
    etcd: Etcd,
    cuts: Cuts,
    nodes: [Node; 3],
}

#[test]
fn soak() {
    let seconds = std::env::var("FULGURITE_SOAK_SECONDS").ok();
    let seconds = seconds.map(|text| text.parse().expect("a number of seconds"));
    let Some(seconds) = seconds.filter(|_| has_etcd()) else {
        println!("SKIPPED: FULGURITE_SOAK_SECONDS is not set");
        return;
    };
    let etcd = Etcd::plain(3, &["--quota-backend-bytes", QUOTA]);
    let (cuts, urls) = Cuts::of(&etcd.urls);
    let nodes = three_at(&urls);
    let mut world = World { etcd, cuts, nodes };
    for (fault, phase) in FAULTS.into_iter().zip(1..) {
        let told = world.suffer(fault, phase, Duration::from_secs(seconds));
        world.check(phase, &told);
        let sum = |of: fn(&Told) -> usize| told.iter().map(of).sum::<usize>();
        println!(
            "{fault:?}: {seconds} s, {} added, {} counted, {} refused, {} unknown",
            sum(|told| told.done.len()),
            sum(|told| told.counted as usize),
            sum(|told| told.refused.len()),
            sum(|told| told.unknown.len() + told.perhaps_counted as usize),
        );
    }
    for node in &mut world.nodes {
        drop(node.server.take().expect("it runs").stop());
    }
}

impl World {
    /// Lets clients write, and a kind of fault happen again and again.
    fn suffer(&mut self, fault: Fault, phase: usize, time: Duration) -> Vec<Told> {
        for number in 0..3 {
            add_patiently(&self.nodes[0], &format!("counter-{}", phase * 10 + number));
        }
        let is_over = AtomicBool::new(false);
        let addresses = self.nodes.each_ref().map(Node::url);
        let end = Instant::now() + time;
        std::thread::scope(|scope| {
            let is_over = &is_over;
            let writers = addresses.iter().zip(phase * 10..);
            let writers = writers
                .map(|(address, number)| scope.spawn(move || write(number, *address, is_over)));
            let writers: Vec<_> = writers.collect();
            for victim in (0..3).cycle() {
                if Instant::now() >= end {
                    break;
                }
                self.strike(fault, victim);
            }
            is_over.store(true, Ordering::Relaxed);
            let told = writers.into_iter().map(|writer| writer.join());
            told.collect::<Result<_, _>>().expect("no writer fails")
        })
    }

    /// Lets a fault happen once, and heals it.
    fn strike(&mut self, fault: Fault, victim: usize) {
        let pause = || std::thread::sleep(Duration::from_secs(3));
        match fault {
            Fault::KilledNodes => self.nodes[victim].kill(),
            Fault::StoppedNodes => {
                self.nodes[victim].server().signal(Signal::STOP);
                std::thread::sleep(LONG_STOP);
                self.nodes[victim].server().signal(Signal::CONT);
            }
            Fault::KilledMembers => self.etcd.restart(victim),
            Fault::StoppedMembers => {
                self.etcd.signal(victim, "STOP");
                std::thread::sleep(LONG_STOP);
                self.etcd.signal(victim, "CONT");
            }
            Fault::CutConnections => {
                // Now one member, then all of them.
                let all = [victim, (victim + 1) % 3, (victim + 2) % 3];
                let cut = if victim == 2 { &all[..] } else { &all[..1] };
                cut.iter().for_each(|member| self.cuts.set(*member, true));
                std::thread::sleep(LONG_STOP);
                cut.iter().for_each(|member| self.cuts.set(*member, false));
            }
            Fault::FullQuota => return self.fill(victim),
        }
        pause();
    }

    /// Writes long values, which fill etcd.
    fn fill(&self, node: usize) {
        let Some(mut client) = root_client(self.nodes[node].url()) else {
            return;
        };
        let mut random = Random::new(node as u64);
        let text: Vec<u8> = (0..400_000)
            .map(|_| b'a' + random.below(26) as u8)
            .collect();
        let dn = format!("uid=counter-{},{SUFFIX}", 10 + node);
        let values = [text.as_slice()];
        let change = [Change::replace("description", &values)];
        // A refusal is as good as an acknowledgement here.
        drop(client.modify(&dn, &change));
    }

    /// Waits until all nodes are equal, and holds the answers of clients to them.
    fn check(&self, phase: usize, told: &[Told]) {
        for (number, node) in self.nodes.iter().enumerate() {
            add_patiently(node, &format!("last-{phase}-{number}"));
        }
        let nodes = &self.nodes;
        wait("all nodes are equal", || {
            nodes[0].content() == nodes[1].content() && nodes[1].content() == nodes[2].content()
        });
        for (told, number) in told.iter().zip(phase * 10..) {
            check(number, told, &names(&nodes[2]));
        }
        let done = told.iter().filter(|told| !told.done.is_empty()).count();
        assert!(done > 0, "no client was served: {told:?}");
    }
}
