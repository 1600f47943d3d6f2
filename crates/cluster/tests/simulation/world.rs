//! The world: time, the wires, the faults and the clients, all from one seed.

use std::collections::{BTreeMap, BTreeSet};

use fulgurite_cluster::{AppendOutcome, ChangeLog as _, NodeId, Position, Unavailable};
use fulgurite_testkit::Random;

use crate::checker::Checker;
use crate::etcd::Etcd;
use crate::mutant::Mutant;
use crate::node::{Ask, Effect, Forwarded, LOG_MAX, Node, Outcome, TTL_MS, Tell};
use crate::store::{Store, Update};

const TICK_MS: u64 = 100;
/// The calm at the end, in which everything must meet.
const CALM_MS: u64 = 60_000;

enum Event {
    Tick(usize),
    ToLog(usize, u64, u64, Ask),
    FromLog(usize, u64, u64, Tell),
    Forward(usize, Forwarded),
    Reply(usize, u64, Outcome),
    Client,
    Fault,
    Start(usize),
    Snapshot(usize, u64),
    Defragment,
}

/// The kinds of faults, each counted.
pub(crate) type Faults = BTreeMap<&'static str, usize>;

pub(crate) struct World {
    random: Random,
    now: u64,
    end: u64,
    sequence: u64,
    events: BTreeMap<(u64, u64), Event>,
    etcd: Etcd,
    nodes: Vec<Node>,
    /// The life of each node; 0 while it is down.
    lives: Vec<u64>,
    paused: Vec<u64>,
    full: Vec<u64>,
    /// One-way cuts, by the places; the log is at place `nodes.len()`.
    cuts: BTreeMap<(usize, usize), u64>,
    stalled: u64,
    lossy: u64,
    next_life: u64,
    /// The greatest time between two faults.
    fault_ms: usize,
    number: u64,
    reads: BTreeMap<u64, bool>,
    /// The questions with a second try.
    repeated: BTreeSet<(usize, u64, u64)>,
    listed: Vec<Vec<NodeId>>,
    mutant: Option<Mutant>,
    pub(crate) checker: Checker,
    pub(crate) faults: Faults,
}

impl World {
    pub(crate) fn new(seed: u64, seconds: u64, mutant: Option<Mutant>) -> World {
        let mut random = Random::new(seed);
        let count = *random.pick(&[2, 3, 3, 5]);
        let quota = *random.pick(&[5000, usize::MAX, usize::MAX]);
        let fault_ms = *random.pick(&[1500, 4000, 12_000]);
        let mut world = World {
            now: 0,
            fault_ms,
            end: seconds * 1000,
            sequence: 0,
            events: BTreeMap::new(),
            etcd: Etcd::new(quota, mutant),
            nodes: Vec::new(),
            lives: vec![1; count],
            paused: vec![0; count],
            full: vec![0; count],
            cuts: BTreeMap::new(),
            stalled: 0,
            lossy: 0,
            next_life: 1,
            number: 0,
            reads: BTreeMap::new(),
            repeated: BTreeSet::new(),
            listed: vec![Vec::new(); count],
            mutant,
            checker: Checker::default(),
            faults: Faults::new(),
            random,
        };
        for node in 0..count {
            let mut store = Store::default();
            store.checkpoint(1);
            let id = NodeId(node as u64 + 1);
            world.nodes.push(Node::new(id, store, 1, mutant));
            world.at(node as u64 * 7, Event::Tick(node));
        }
        world.at(1000, Event::Client);
        world.at(3000, Event::Fault);
        world
    }

    fn at(&mut self, delay: u64, event: Event) {
        self.sequence += 1;
        self.events.insert((self.now + delay, self.sequence), event);
    }

    fn is_calm(&self) -> bool {
        self.now >= self.end
    }

    /// Runs to the end.
    pub(crate) fn run(&mut self) -> Result<(), String> {
        while let Some(((time, _), event)) = self.events.pop_first() {
            if time > self.end + CALM_MS {
                break;
            }
            self.now = time;
            self.etcd.advance(time);
            self.happen(event)?;
            for node in &self.nodes {
                if let Some(reason) = &node.stopped {
                    return Err(format!("node {} stops: {reason}", node.id));
                }
            }
        }
        let end = self.etcd.last_position();
        if let Some(node) = self.nodes.iter().find(|node| node.position() != end) {
            return Err(format!(
                "node {} ends at {}, not at {end}",
                node.id,
                node.position()
            ));
        }
        self.checker.finish(&self.etcd.archive())
    }

    fn happen(&mut self, event: Event) -> Result<(), String> {
        let now = self.now;
        let target = match &event {
            Event::Tick(node)
            | Event::FromLog(node, ..)
            | Event::Forward(node, _)
            | Event::Reply(node, ..) => Some(*node),
            _ => None,
        };
        if let Some(node) = target
            && self.paused[node] > now
        {
            let delay = self.paused[node] - now;
            self.at(delay, event);
            return Ok(());
        }
        match event {
            Event::Tick(node) => {
                self.nodes[node].disk_is_full = self.full[node] > now && !self.is_calm();
                if self.lives[node] != 0 {
                    self.nodes[node].tick(now);
                }
                self.at(TICK_MS, Event::Tick(node));
            }
            Event::ToLog(node, life, call, ask) => self.log(node, life, call, &ask),
            Event::FromLog(node, life, call, tell) if self.lives[node] == life => {
                if let Tell::Nodes(states) = &tell {
                    self.listed[node] = states.iter().map(|state| state.node).collect();
                }
                self.nodes[node].told(call, tell, now);
            }
            Event::Forward(node, update) if self.lives[node] != 0 => {
                self.nodes[node].receive(update, now)
            }
            Event::Reply(node, number, outcome) if self.lives[node] != 0 => {
                self.nodes[node].replied(number, outcome)
            }
            Event::Client => self.client(),
            Event::Fault => self.fault(),
            Event::Start(node) => self.start(node),
            Event::Snapshot(node, life) if self.lives[node] == life => self.snapshot(node),
            Event::Defragment => self.etcd.defragment(),
            _ => {}
        }
        self.drain()
    }

    /// Carries what the nodes have put out.
    fn drain(&mut self) -> Result<(), String> {
        for node in 0..self.nodes.len() {
            for effect in std::mem::take(&mut self.nodes[node].effects) {
                self.carry(node, effect)?;
            }
        }
        Ok(())
    }

    fn carry(&mut self, node: usize, effect: Effect) -> Result<(), String> {
        let (log, life) = (self.nodes.len(), self.lives[node]);
        let (here, end) = (self.nodes[node].position(), self.etcd.last_position());
        match effect {
            Effect::Ask(call, ask) => {
                // A repetition of the trim comes later, when other nodes may be alive.
                if let Ask::Trim(_, upto) = &ask {
                    self.check_trim(node, *upto)?;
                }
                self.question(node, call, ask);
            }
            Effect::Forward(to, update) => {
                let to = to.0 as usize - 1;
                if let Some(delay) = self.wire(node, to) {
                    self.at(delay, Event::Forward(to, update));
                }
            }
            Effect::Reply(to, number, outcome) => {
                let to = to.0 as usize - 1;
                if let Some(delay) = self.wire(node, to) {
                    self.at(delay, Event::Reply(to, number, outcome));
                }
            }
            Effect::Answer(number, outcome) => self.checker.answered(number, outcome, here, end)?,
            Effect::Serve(number) | Effect::ServeNot(number) => {
                let is_linear = self.reads.remove(&number).unwrap_or(true);
                let served = matches!(effect, Effect::Serve(_)).then_some(here);
                self.checker.served(number, served, is_linear)?;
            }
            Effect::Snapshot => {
                let delay = self.random.between(50, 3000) as u64;
                self.at(delay, Event::Snapshot(node, life));
            }
            Effect::Applied => self
                .checker
                .applied(here, &self.nodes[node].store.entries)?,
        }
        debug_assert!(node < log);
        Ok(())
    }

    /// Returns the delay of a message; `None` if it is lost.
    fn wire(&mut self, from: usize, to: usize) -> Option<u64> {
        let is_cut = self
            .cuts
            .get(&(from, to))
            .is_some_and(|end| *end > self.now);
        let is_lost = self.lossy > self.now && self.random.chance(15);
        if !self.is_calm() && (is_cut || is_lost) {
            return None;
        }
        Some(match self.random.chance(3) && !self.is_calm() {
            true => self.random.between(20, 900) as u64,
            false => self.random.between(1, 6) as u64,
        })
    }

    /// Sends a question to the log. A second try at another member may come late.
    fn question(&mut self, node: usize, call: u64, ask: Ask) {
        let (log, life) = (self.nodes.len(), self.lives[node]);
        let stall = self.stalled.saturating_sub(self.now);
        if let Some(delay) = self.wire(node, log) {
            self.at(delay + stall, Event::ToLog(node, life, call, ask.clone()));
        }
        if !self.is_calm() && self.random.chance(5) {
            *self.faults.entry("repeated question").or_default() += 1;
            self.repeated.insert((node, life, call));
            let delay = self.random.between(1, 4000) as u64;
            self.at(delay + stall, Event::ToLog(node, life, call, ask));
        }
    }

    /// Lets the log answer.
    fn log(&mut self, node: usize, life: u64, call: u64, ask: &Ask) {
        let silent = |_: Unavailable| Tell::Silence;
        let etcd = &self.etcd;
        let id = NodeId(node as u64 + 1);
        let tell = match ask {
            Ask::Grant => etcd.grant(TTL_MS).map_or_else(silent, Tell::Granted),
            Ask::Renew(lease) => etcd.renew(*lease).map_or_else(silent, Tell::Renewed),
            Ask::Lead(lease) => etcd.lead(*lease, id).map_or_else(silent, Tell::Led),
            Ask::Append(epoch, [before, after], bytes) => {
                let was_full = etcd.is_full();
                let outcome = etcd.append(*epoch, before, after, bytes);
                if etcd.is_full() && !was_full {
                    *self.faults.entry("full log").or_default() += 1;
                    self.sequence += 1;
                    self.events
                        .insert((self.now + 3000, self.sequence), Event::Defragment);
                }
                // The other try may be taken when the log has room again.
                let is_repeated = self.repeated.contains(&(node, life, call));
                Tell::Appended(match outcome {
                    AppendOutcome::Full if is_repeated => AppendOutcome::Unknown,
                    outcome => outcome,
                })
            }
            Ask::Look(position) => Tell::Batches(etcd.read(*position, 1)),
            Ask::Follow(position) => Tell::Batches(etcd.read(*position, 8)),
            Ask::End(_) => etcd.end().map_or_else(silent, Tell::End),
            Ask::Resign(epoch) => etcd.resign(*epoch).map_or_else(silent, |()| Tell::Done),
            Ask::Publish(lease, state) => etcd
                .publish(*lease, state)
                .map_or_else(silent, |()| Tell::Done),
            Ask::Nodes => etcd.nodes().map_or_else(silent, Tell::Nodes),
            Ask::Trim(epoch, upto) => etcd
                .trim(*epoch, *upto)
                .map_or_else(silent, |()| Tell::Done),
        };
        let log = self.nodes.len();
        if let Some(delay) = self.wire(log, node) {
            self.at(delay, Event::FromLog(node, life, call, tell));
        }
    }

    /// Checks that no live node would need a snapshot after a power cut.
    fn check_trim(&self, node: usize, upto: Position) -> Result<(), String> {
        let excess = self.etcd.last_position().0.saturating_sub(LOG_MAX);
        for id in &self.listed[node] {
            let durable = self.nodes[id.0 as usize - 1].store.durable().position;
            if durable < upto && upto.0 > excess {
                return Err(format!("{upto} is trimmed, and node {id} has {durable}"));
            }
        }
        Ok(())
    }

    fn client(&mut self) {
        let node = self.random.below(self.nodes.len());
        if !self.is_calm() && self.lives[node] != 0 {
            self.number += 1;
            let number = self.number;
            let key = self.random.below(6) as u8;
            let now = self.now;
            match self.random.below(6) {
                0 | 1 => {
                    let is_linear = self.random.chance(50);
                    self.reads.insert(number, is_linear);
                    let not_before = match is_linear {
                        true => {
                            self.checker.reads(number);
                            None
                        }
                        false => Some(self.checker.reads_in_session(number)),
                    };
                    self.nodes[node].read(number, not_before, now);
                }
                kind => {
                    let update = match kind {
                        2 | 3 => Update::Add(key),
                        4 => Update::Modify(key),
                        _ => Update::Delete(key),
                    };
                    self.checker.sent(number, update);
                    self.nodes[node].update(number, update, now);
                }
            }
        }
        let delay = self.random.between(5, 120) as u64;
        self.at(delay, Event::Client);
    }

    fn fault(&mut self) {
        let delay = self.random.between(200, self.fault_ms) as u64;
        if self.is_calm() {
            return;
        }
        self.at(delay, Event::Fault);
        let count = self.nodes.len();
        let mut node = self.random.below(count);
        // The sequencer is the most interesting one.
        if self.random.chance(50)
            && let Some(leading) = self.nodes.iter().position(Node::is_leading)
        {
            node = leading;
        }
        let until = self.now + self.random.between(200, 12_000) as u64;
        let name = match self.random.below(11) {
            0 => {
                self.paused[node] = until;
                "pause"
            }
            1 => self.crash(node, false),
            2 | 3 => self.crash(node, true),
            4 => {
                let jump = self.random.between(0, 240_000_000) as i64 - 120_000_000;
                self.nodes[node].skew_us = jump;
                "clock jump"
            }
            5 => {
                self.full[node] = until;
                "full disk"
            }
            6 => {
                self.stalled = self.now + 7000;
                self.etcd.change_leader();
                "stalled log"
            }
            7 => {
                self.lossy = until;
                "lost messages"
            }
            8 => {
                self.cuts.insert((node, count), until);
                "cut to the log"
            }
            9 => {
                self.cuts.insert((count, node), until);
                "cut from the log"
            }
            _ => {
                let other = self.random.below(count);
                self.cuts.insert((node, other), until);
                "cut between nodes"
            }
        };
        *self.faults.entry(name).or_default() += 1;
    }

    /// Ends a node, with its machine or without.
    fn crash(&mut self, node: usize, loses_power: bool) -> &'static str {
        if self.lives[node] == 0 {
            return "crash of nothing";
        }
        self.lives[node] = 0;
        let unanswered = self.nodes[node].unanswered();
        unanswered
            .into_iter()
            .for_each(|number| self.checker.lost(number));
        let mut boot = self.nodes[node].boot;
        if loses_power {
            let random = &mut self.random;
            self.nodes[node].store.lose_power(|| random.chance(50));
            boot += 1;
        }
        let (store, id) = (self.nodes[node].store.clone(), self.nodes[node].id);
        let skew_us = self.nodes[node].skew_us;
        self.nodes[node] = Node::new(id, store, boot, self.mutant);
        self.nodes[node].skew_us = skew_us;
        let delay = self.random.between(100, 6000) as u64;
        self.at(delay, Event::Start(node));
        match loses_power {
            true => "power cut",
            false => "crash",
        }
    }

    fn start(&mut self, node: usize) {
        self.next_life += 1;
        self.lives[node] = self.next_life;
        let before = &self.nodes[node];
        let (mut store, id, boot, skew_us) =
            (before.store.clone(), before.id, before.boot, before.skew_us);
        store.open(boot, self.mutant != Some(Mutant::BootIgnored));
        self.nodes[node] = Node::new(id, store, boot, self.mutant);
        self.nodes[node].skew_us = skew_us;
    }

    fn snapshot(&mut self, node: usize) {
        let others =
            (0..self.nodes.len()).filter(|other| *other != node && self.lives[*other] != 0);
        let newest = others.max_by_key(|other| self.nodes[*other].position());
        let store = newest.map(|other| self.nodes[other].store.clone());
        *self.faults.entry("snapshot").or_default() += 1;
        self.nodes[node].copied(store.as_ref());
    }
}
