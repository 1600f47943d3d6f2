//! Several servers, the network between them, and what happens to them by chance.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fulgurite_directory::{Directory, Quantum};
use fulgurite_schema::Schema;
use fulgurite_store::Retention;
use fulgurite_testkit::Random;

use crate::broken_rule::BrokenRule;
use crate::clients::Clients;
use crate::history::History;
use crate::link::{Link, settings};
use crate::node::Node;

/// Steps of a run after which a server may have started once more.
const STEPS_PER_LIFE: usize = 125;
/// Starts of one server at most, in a short run.
const LIVES: usize = 8;
/// The greatest time between two steps, in a short run.
pub(crate) const STEP_MS: usize = 40;
/// Servers at most.
pub(crate) const NODES_MAX: usize = 5;
/// Rounds after which servers that still change each other never come to rest.
const ROUNDS_MAX: usize = 300;
/// Rounds without a change that prove the rest.
const QUIET_ROUNDS: usize = 4;

/// The directories of all lives.
pub(crate) type Lives = Vec<Vec<OnceCell<Directory>>>;

/// Returns room for all lives of a run.
pub(crate) fn lives(plan: &Plan) -> Lives {
    let count = LIVES.max(plan.steps / STEPS_PER_LIFE);
    let of_one = || (0..count).map(|_| OnceCell::new()).collect();
    (0..NODES_MAX).map(|_| of_one()).collect()
}

/// The size of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) steps: usize,
    /// The greatest time between two steps, in milliseconds.
    pub(crate) step_ms: usize,
    pub(crate) rule: Option<BrokenRule>,
}

pub(crate) struct Mesh<'d> {
    random: Random,
    world_us: Arc<AtomicU64>,
    nodes: Vec<Node<'d>>,
    links: Vec<Link<'d>>,
    /// Pairs of servers without a way between them, the lower number first.
    partitions: BTreeSet<(usize, usize)>,
    clients: Clients,
    history: History,
    rule: Option<BrokenRule>,
    trace: bool,
}

impl<'d> Mesh<'d> {
    pub(crate) fn new(seed: u64, schema: &Arc<Schema>, lives: &'d Lives) -> Mesh<'d> {
        let mut random = Random::new(seed);
        let world_us = Arc::new(AtomicU64::new(0));
        let count = random.between(2, NODES_MAX);
        let ways = ways(&mut random, count);
        let (mut nodes, mut links) = (Vec::new(), Vec::new());
        for (number, lives) in lives.iter().enumerate().take(count) {
            let from = ways.iter().filter(|(to, _)| *to == number);
            let settings = from.map(|(_, from)| settings(*from as u16 + 1, !random.chance(20)));
            let settings: Vec<_> = settings.collect();
            let server = number as u16 + 1;
            let node = Node::new(server, (schema, &world_us), settings, lives);
            if random.chance(30) {
                let records_min = random.between(1, 10) as u64;
                node.keep_log(Retention {
                    bytes_max: 1,
                    records_min,
                    ..Retention::default()
                });
            }
            nodes.push(node);
        }
        for (to, from) in ways {
            let settings = settings(from as u16 + 1, !random.chance(20));
            links.push(Link::new(&nodes, (to, from), settings));
        }
        Mesh {
            random,
            world_us,
            nodes,
            links,
            partitions: BTreeSet::new(),
            clients: Clients::default(),
            history: History::default(),
            rule: None,
            trace: std::env::var_os("FULGURITE_TEST_TRACE").is_some(),
        }
    }

    /// Returns the simulated clock, in microseconds since the beginning.
    pub(crate) fn world(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.world_us)
    }

    /// Runs and checks.
    ///
    /// # Errors
    /// A text about what differs in the end.
    pub(crate) fn run(mut self, plan: Plan) -> Result<(), String> {
        self.rule = plan.rule;
        if plan.rule == Some(BrokenRule::NoTombstones) {
            for node in &self.nodes {
                node.keep_log(Retention {
                    tombstone_us_max: 0,
                    ..node.store.retention()
                });
            }
        }
        self.clients.begin(&self.nodes[0], &mut self.history);
        for _ in 0..plan.steps {
            self.step(plan.step_ms);
        }
        self.heal()?;
        self.compare()
    }

    fn now_ms(&self) -> u64 {
        self.world_us.load(Ordering::Relaxed) / 1000
    }

    fn pass_ms(&self, ms: u64) {
        self.world_us.fetch_add(ms * 1000, Ordering::Relaxed);
    }

    fn is_open(&self, link: &Link<'_>) -> bool {
        let pair = (link.to.min(link.from), link.to.max(link.from));
        !self.partitions.contains(&pair)
    }

    fn step(&mut self, step_ms: usize) {
        let ms = self.random.between(0, step_ms) as u64;
        self.pass_ms(ms);
        match self.random.below(100) {
            0..24 => self.client(),
            24..90 => self.link_step(),
            90..92 => self.cut(),
            92..95 => self.partition(),
            95..97 => self.crash(),
            97..99 => self.skew(),
            _ => {
                let ms = self.random.between(100, 4000) as u64;
                self.pass_ms(ms);
            }
        }
    }

    fn client(&mut self) {
        let at = self.random.below(self.nodes.len());
        let (node, history) = (&self.nodes[at], &mut self.history);
        let done = self.clients.update(node, &mut self.random, history);
        if self.trace {
            println!("{} {}: {done}", self.now_ms(), node.server);
        }
    }

    fn link_step(&mut self) {
        let at = self.random.below(self.links.len());
        let now = self.now_ms();
        let is_open = self.is_open(&self.links[at]);
        let rule = self.rule;
        let link = &mut self.links[at];
        link.turn(&self.nodes, now, is_open);
        match self.random.below(4) {
            0 | 1 => {
                let quantum = Quantum {
                    candidates_max: self.random.between(1, 20),
                    bytes_max: self.random.between(1, 4000),
                };
                link.provide(quantum, self.random.chance(30));
            }
            2 => {
                let count = self.random.between(1, 12);
                link.deliver(&self.nodes, (count, now), rule);
                if self.random.chance(50) {
                    link.store(&self.nodes, rule, now);
                }
            }
            _ => link.store(&self.nodes, rule, now),
        }
        if self.random.chance(2) {
            link.retry(&self.nodes);
        }
    }

    fn cut(&mut self) {
        let at = self.random.below(self.links.len());
        let now = self.now_ms();
        self.links[at].cut(&self.nodes, now, self.rule);
    }

    fn partition(&mut self) {
        let one = self.random.below(self.nodes.len());
        let other = self.random.below(self.nodes.len());
        let pair = (one.min(other), one.max(other));
        if one == other || self.partitions.remove(&pair) {
            return;
        }
        self.partitions.insert(pair);
        let now = self.now_ms();
        for link in &mut self.links {
            if (link.to.min(link.from), link.to.max(link.from)) == pair {
                link.cut(&self.nodes, now, self.rule);
            }
        }
    }

    fn crash(&mut self) {
        let at = self.random.below(self.nodes.len());
        if !self.nodes[at].can_restart() {
            return;
        }
        if self.trace {
            println!("{} {}: crash", self.now_ms(), at + 1);
        }
        self.nodes[at].restart();
        let now = self.now_ms();
        for link in &mut self.links {
            if link.to == at {
                link.crash(&self.nodes);
            } else if link.from == at {
                link.cut(&self.nodes, now, self.rule);
            }
        }
    }

    /// Sets a clock, which may go back.
    fn skew(&mut self) {
        let at = self.random.below(self.nodes.len());
        let ms = self.random.between(0, 20_000) as i64 - 10_000;
        let clock = &self.nodes[at].clock;
        clock.skew_us.store(ms * 1000, Ordering::Relaxed);
    }

    /// Opens all ways, and waits until nothing changes.
    fn heal(&mut self) -> Result<(), String> {
        self.partitions.clear();
        let mut quiet = 0;
        let mut before = Vec::new();
        for _ in 0..ROUNDS_MAX {
            self.pass_ms(6_000);
            for at in 0..self.links.len() {
                let now = self.now_ms();
                let rule = self.rule;
                let link = &mut self.links[at];
                link.turn(&self.nodes, now, true);
                while link.provide(Quantum::default(), false) {}
                link.deliver(&self.nodes, (usize::MAX, now), rule);
                link.provide(Quantum::default(), false);
                link.deliver(&self.nodes, (usize::MAX, now), rule);
                link.store(&self.nodes, rule, now);
                link.retry(&self.nodes);
            }
            let state = self.nodes.iter();
            let state: Vec<_> = state
                .map(|node| (node.newest_position(), node.vector()))
                .collect();
            let is_busy = self.links.iter().any(Link::is_busy);
            quiet = match state == before && !is_busy {
                true => quiet + 1,
                false => 0,
            };
            before = state;
            if quiet >= QUIET_ROUNDS {
                return Ok(());
            }
        }
        Err(format!("the servers do not come to rest: {before:?}"))
    }

    fn compare(&self) -> Result<(), String> {
        let first = &self.nodes[0];
        let (entries, vector) = (first.entries(), first.vector());
        for node in &self.nodes {
            let report = fulgurite_store::verify(&node.store.snapshot().expect("a snapshot"));
            let report = report.expect("a sound store");
            if !report.is_clean() {
                return Err(format!("server {}: {:?}", node.server, report.problems));
            }
        }
        for node in &self.nodes[1..] {
            let server = node.server;
            let others = node.entries();
            for (uuid, entry) in &entries {
                let other = others.get(uuid);
                if other != Some(entry) {
                    return Err(format!("1 has {entry:?}, {server} has {other:?}"));
                }
            }
            if let Some((_, other)) = others.iter().find(|(uuid, _)| !entries.contains_key(*uuid)) {
                return Err(format!("{server} has {other:?}, 1 does not"));
            }
            if vector != node.vector() {
                let other = node.vector();
                return Err(format!("1 is at {vector:?}, {server} at {other:?}"));
            }
        }
        self.history.check(&entries)
    }
}

/// Returns the consumers as pairs: all with all, a line, a ring or a star.
fn ways(random: &mut Random, count: usize) -> Vec<(usize, usize)> {
    let shape = random.below(4);
    let is_way = |low: usize, high: usize| match shape {
        0 => true,
        1 => high == low + 1,
        2 => high == low + 1 || (low == 0 && high == count - 1),
        _ => low == 0,
    };
    let pairs = (0..count).flat_map(|low| (low + 1..count).map(move |high| (low, high)));
    let pairs = pairs.filter(|(low, high)| is_way(*low, *high));
    pairs
        .flat_map(|(low, high)| [(low, high), (high, low)])
        .collect()
}
