//! Servers that are killed while clients write to all of them. Some lose their disk, too.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::ensure;
use fulgurite_client::{PartialAttribute, ResultCode, Scope};

use super::node::{self, SUFFIX};
use crate::replication::node as peers;

/// Three servers, each of which takes updates.
pub(super) trait Trio {
    fn ports(&self) -> [u16; 3];
    fn kill(&mut self, at: usize) -> anyhow::Result<()>;
    /// Removes the databases of a server that does not run.
    fn lose_disk(&mut self, at: usize) -> anyhow::Result<()>;
    fn start(&mut self, at: usize) -> anyhow::Result<()>;
}

/// The fate of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It comes back with its databases.
    Killed,
    /// It comes back without any, and copies those of the others.
    DiskLost,
}

impl Trio for [node::Node; 3] {
    fn ports(&self) -> [u16; 3] {
        self.each_ref().map(|node| node.port)
    }

    fn kill(&mut self, at: usize) -> anyhow::Result<()> {
        self[at].kill()
    }

    fn lose_disk(&mut self, at: usize) -> anyhow::Result<()> {
        self[at].lose_disk()
    }

    fn start(&mut self, at: usize) -> anyhow::Result<()> {
        self[at].start()
    }
}

impl Trio for [peers::Node; 3] {
    fn ports(&self) -> [u16; 3] {
        self.each_ref().map(|node| node.port)
    }

    fn kill(&mut self, at: usize) -> anyhow::Result<()> {
        self[at].kill()
    }

    fn lose_disk(&mut self, at: usize) -> anyhow::Result<()> {
        self[at].lose_disk()
    }

    fn start(&mut self, at: usize) -> anyhow::Result<()> {
        self[at].start()
    }
}

/// The updates of a trial.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    pub(super) acknowledged: usize,
    /// Acknowledged, and missing at a server that goes on, while the killed one is away.
    pub(super) without: usize,
    /// Acknowledged, and missing at a server after the killed one has come back.
    pub(super) after: usize,
    /// Acknowledged, and missing at all servers then.
    pub(super) gone: usize,
}

/// The time of clients before and after a kill.
const HALF: Duration = Duration::from_millis(1_500);
/// The wait for servers to be equal.
const PATIENCE: Duration = Duration::from_secs(40);

/// Kills one server after another, and counts.
pub(super) fn losses(trio: &mut dyn Trio, kills: usize, fate: Fate) -> anyhow::Result<Losses> {
    let mut losses = Losses::default();
    wait_equal(&trio.ports())?;
    for round in 0..kills {
        let victim = round % 3;
        let ports = trio.ports();
        let is_over = AtomicBool::new(false);
        let (killed, acknowledged) = thread::scope(|scope| {
            let is_over = &is_over;
            let writers = (0..3).map(|writer| {
                let prefix = format!("{fate:?}-{round}-{writer}");
                scope.spawn(move || write(ports[writer], &prefix, is_over))
            });
            let writers: Vec<_> = writers.collect();
            thread::sleep(HALF);
            let killed = trio.kill(victim);
            thread::sleep(HALF);
            is_over.store(true, Ordering::Relaxed);
            let lists = writers.into_iter().map(|writer| match writer.join() {
                Ok(list) => list,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            (killed, lists.flatten().collect::<BTreeSet<String>>())
        });
        killed?;
        let left: Vec<u16> = (0..3)
            .filter(|at| *at != victim)
            .map(|at| ports[at])
            .collect();
        losses.acknowledged += acknowledged.len();
        losses.without += missing(&left, &acknowledged)?.0;
        if fate == Fate::DiskLost {
            trio.lose_disk(victim)?;
        }
        trio.start(victim)?;
        let (after, gone) = missing(&ports, &acknowledged)?;
        losses.after += after;
        losses.gone += gone;
        println!("{fate:?} {}: {losses:?}", round + 1);
    }
    Ok(losses)
}

/// Adds one entry after another. Returns the names of those that were acknowledged.
fn write(port: u16, prefix: &str, is_over: &AtomicBool) -> Vec<String> {
    let (mut done, mut client) = (Vec::new(), None);
    for number in 0_u64.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        if client.is_none() {
            client = node::connect(port).ok();
        }
        let Some(open) = &mut client else {
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        let name = format!("ou={prefix}-{number},{SUFFIX}");
        let ou = format!("{prefix}-{number}");
        let ou = [ou.as_bytes()];
        let attributes = [
            PartialAttribute::new("objectClass", &[b"organizationalUnit"]),
            PartialAttribute::new("ou", &ou),
        ];
        match open.add(&name, &attributes) {
            Ok(result) if result.code == ResultCode::Success => done.push(name),
            Ok(_) => thread::sleep(Duration::from_millis(5)),
            Err(_) => client = None,
        }
    }
    done
}

fn names(port: u16) -> anyhow::Result<BTreeSet<String>> {
    let mut client = node::connect(port)?;
    let found = client.search(SUFFIX, Scope::One, "(ou=*)", &["1.1"])?;
    let code = found.result.code;
    // A server without databases has no entry before it has copied one.
    let is_answered = [ResultCode::Success, ResultCode::NoSuchObject].contains(&code);
    ensure!(is_answered, "the entries cannot be listed: {}", code.name());
    Ok(found.entries.into_iter().map(|entry| entry.dn).collect())
}

/// Waits until servers are equal, and stay so for a second. Returns the names that each has last.
fn wait_equal(ports: &[u16]) -> anyhow::Result<Vec<BTreeSet<String>>> {
    let begun = Instant::now();
    let mut before: Option<Vec<BTreeSet<String>>> = None;
    loop {
        let lists: Vec<_> = ports
            .iter()
            .map(|port| names(*port))
            .collect::<Result<_, _>>()?;
        let is_equal = lists.windows(2).all(|pair| pair[0] == pair[1]);
        // Servers that differ for so long are counted as they are.
        if (is_equal && before.as_ref() == Some(&lists)) || begun.elapsed() > PATIENCE {
            return Ok(lists);
        }
        before = Some(lists);
        thread::sleep(Duration::from_secs(1));
    }
}

/// Returns how many of these names a server lacks, and how many all of them lack.
fn missing(ports: &[u16], acknowledged: &BTreeSet<String>) -> anyhow::Result<(usize, usize)> {
    let lists = wait_equal(ports)?;
    let is_at_all = |name: &&String| lists.iter().all(|list| list.contains(*name));
    let is_at_one = |name: &&String| lists.iter().any(|list| list.contains(*name));
    let known = acknowledged.len();
    Ok((
        known - acknowledged.iter().filter(is_at_all).count(),
        known - acknowledged.iter().filter(is_at_one).count(),
    ))
}
