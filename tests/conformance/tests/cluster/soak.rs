//! The soak: clients write to three nodes while one kind of fault follows another.
//!
//! `make soak-cluster` runs it. Each fault has `FULGURITE_SOAK_SECONDS`. Without them it does
//! nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fulgurite_client::Change;
use fulgurite_testkit::{Etcd, Random, has_etcd};
use rustix::process::Signal;

use crate::cuts::Cuts;
use crate::disks::SmallDisk;
use crate::life::{add_patiently, names};
use crate::nodes::{LONG, Node, root_client, three_of, wait};
use crate::seen::values;
use crate::writers::{Told, check, counter, write};

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    KilledNodes,
    StoppedNodes,
    KilledMembers,
    StoppedMembers,
    CutConnections,
    FullQuota,
    FullDisk,
    FullDiskOfMember,
}

const FAULTS: [Fault; 8] = [
    Fault::KilledNodes,
    Fault::StoppedNodes,
    Fault::KilledMembers,
    Fault::StoppedMembers,
    Fault::CutConnections,
    Fault::FullQuota,
    Fault::FullDisk,
    Fault::FullDiskOfMember,
];

/// The bound of etcd's database. The writes of one fault reach it.
const QUOTA: &str = "33554432";
/// The length of one stop or cut, which is longer than a lease.
const LONG_STOP: Duration = Duration::from_secs(9);

impl Fault {
    fn needs_disk(self) -> bool {
        matches!(self, Fault::FullDisk | Fault::FullDiskOfMember)
    }
}

struct World {
    /// The disks of the nodes; `None` without the right to mount.
    disks: [Option<SmallDisk>; 3],
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
    let nodes = [(); 3].map(|()| Node::new());
    let mut world = World {
        disks: nodes.each_ref().map(|node| SmallDisk::over(&node.data())),
        etcd,
        cuts,
        nodes: three_of(nodes, &urls),
    };
    // FULGURITE_SOAK_FAULTS names some of them.
    let only = std::env::var("FULGURITE_SOAK_FAULTS").ok();
    let is_wanted = |fault: &Fault| {
        let name = format!("{fault:?}");
        let mut names = only.iter().flat_map(|names| names.split(','));
        only.is_none() || names.any(|wanted| wanted == name)
    };
    for (fault, phase) in FAULTS.into_iter().filter(is_wanted).zip(1..) {
        if fault.needs_disk() && world.disks.iter().any(Option::is_none) {
            println!("{fault:?}: SKIPPED: there is no right to mount");
            continue;
        }
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
            let mut felt = 0;
            for victim in (0..3).cycle() {
                // The fault must have happened.
                let is_missed = felt == 0 && Instant::now() < end + LONG;
                if Instant::now() >= end && !is_missed {
                    break;
                }
                felt += usize::from(self.strike(fault, victim, phase));
            }
            println!("{fault:?}: felt {felt} times");
            assert!(felt > 0, "{fault:?} has not happened");
            is_over.store(true, Ordering::Relaxed);
            let told = writers.into_iter().map(|writer| writer.join());
            told.collect::<Result<_, _>>().expect("no writer fails")
        })
    }

    /// Lets a fault happen once, and heals it. Returns true if its victim has felt it.
    fn strike(&mut self, fault: Fault, victim: usize, phase: usize) -> bool {
        let mut is_felt = true;
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
            Fault::FullQuota => {
                self.write_long(victim, phase);
                return self.etcd.is_full(victim);
            }
            Fault::FullDisk => is_felt = self.fill_disk(victim, phase),
            Fault::FullDiskOfMember => is_felt = self.fill_disk_of_member(victim, phase),
        }
        std::thread::sleep(Duration::from_secs(3));
        is_felt
    }

    /// Fills the disk of a node. It has felt it if it is behind the others, or leads no more.
    fn fill_disk(&self, victim: usize, phase: usize) -> bool {
        let disk = self.disks[victim].as_ref().expect("a disk");
        let of = |node: usize, figure| {
            let page = self.nodes[node].page("/metrics");
            values(&page, figure).first().copied().unwrap_or(0.0)
        };
        let led = of(victim, "leading");
        disk.fill();
        let begun = Instant::now();
        let mut is_felt = false;
        while begun.elapsed() < LONG_STOP {
            self.write_long((victim + 1) % 3, phase);
            let newest = of((victim + 1) % 3, "position").max(of((victim + 2) % 3, "position"));
            is_felt |= newest > of(victim, "position") + 5.0 || of(victim, "leading") < led;
        }
        disk.clear();
        is_felt
    }

    /// Fills the disk of a member of etcd, which ends then. It starts again with room.
    fn fill_disk_of_member(&mut self, victim: usize, phase: usize) -> bool {
        self.etcd.kill(victim);
        let disk = SmallDisk::over(&self.etcd.data(victim)).expect("a disk");
        self.etcd.restart(victim);
        std::thread::sleep(Duration::from_secs(3));
        disk.fill();
        let begun = Instant::now();
        while begun.elapsed() < LONG_STOP {
            self.write_long(victim, phase);
        }
        let is_felt = self.etcd.has_member_ended(victim);
        disk.clear();
        // Its data moves back to the disk of the machine.
        self.etcd.kill(victim);
        disk.leave();
        self.etcd.restart(victim);
        is_felt
    }

    /// Writes a long value, which fills etcd and disks.
    fn write_long(&self, node: usize, phase: usize) {
        let Some(mut client) = root_client(self.nodes[node].url()) else {
            return;
        };
        let mut random = Random::new(node as u64);
        let text: Vec<u8> = (0..400_000)
            .map(|_| b'a' + random.below(26) as u8)
            .collect();
        let dn = counter(phase * 10 + node);
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
