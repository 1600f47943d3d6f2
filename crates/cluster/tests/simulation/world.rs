//! The world: time, the wires, the faults and the clients, all from one seed.

use std::collections::{BTreeMap, BTreeSet};

use fulgurite_cluster::{
    AppendOutcome, Batch, Content as _, EndUse, Epoch, Forwarded, Head, LogAnswer, LogKeep, Node,
    NodeId, NodeSettings, Outcome, Position, Question, Time, VERSION_NEWEST,
};
use fulgurite_testkit::Random;

use crate::etcd::Etcd;
use crate::model::{Checker, Store, Update, check_requests};
use crate::mutant::Mutant;

const TICK_MS: u64 = 100;
const SETTINGS: NodeSettings = NodeSettings {
    version: VERSION_NEWEST,
    lease_ms: 6000,
    call_wait_ms: 500,
    append_wait_ms: 10_000,
    forward_wait_ms: 12_000,
    read_wait_ms: 3000,
    full_wait_ms: 8000,
    lead_each_ms: 700,
    publish_each_ms: 1000,
    trim_each_ms: 3000,
    batch_updates_max: 8,
    queue_max: 64,
    keep: LogKeep {
        age_ms: 0,
        bytes: 1200,
        bytes_max: 80_000,
    },
};
/// The calm at the end, in which everything must meet.
const CALM_MS: u64 = 60_000;

enum Event {
    Tick(usize),
    ToLog(usize, u64, u64, Question),
    FromLog(usize, u64, u64, LogAnswer),
    Forward(usize, Forwarded<(u64, Update)>),
    Reply(usize, u64, Outcome<bool>),
    Inquire(usize, NodeId, u64, Epoch),
    Absent(usize, u64, Position),
    Client,
    Fault,
    Start(usize),
    Snapshot(usize, u64),
    Defragment,
}

type Output = fulgurite_cluster::Output<(u64, Update), bool>;

/// The kinds of faults, each counted.
pub(crate) type Faults = BTreeMap<&'static str, usize>;

pub(crate) struct World {
    random: Random,
    now: u64,
    end: u64,
    sequence: u64,
    events: BTreeMap<(u64, u64), Event>,
    etcd: Etcd,
    nodes: Vec<Node<Store>>,
    /// The error of each wall clock in microseconds.
    skews: Vec<i64>,
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
    /// The updates that mutants have answered.
    early: BTreeSet<u64>,
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
            skews: vec![0; count],
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
            early: BTreeSet::new(),
            mutant,
            checker: Checker::default(),
            faults: Faults::new(),
            random,
        };
        for node in 0..count {
            world.nodes.push(born(node, 1, Store::default()));
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
                if let Some(reason) = node.stopped() {
                    return Err(format!("node {} stops: {reason}", node.id()));
                }
            }
        }
        let end = self.etcd.last_position();
        if let Some(node) = self.nodes.iter().find(|node| node.position() != end) {
            return Err(format!(
                "node {} ends at {}, not at {end}",
                node.id(),
                node.position()
            ));
        }
        let log = self.etcd.archive();
        log.iter()
            .try_for_each(|(_, batch)| check_requests(batch))?;
        self.checker.finish(&log)
    }

    fn time(&self, node: usize) -> Time {
        Time {
            now_ms: self.now,
            wall_us: (1_000_000_000 + self.now * 1000).saturating_add_signed(self.skews[node]),
        }
    }

    fn happen(&mut self, event: Event) -> Result<(), String> {
        let now = self.now;
        let target = match &event {
            Event::Tick(node)
            | Event::FromLog(node, ..)
            | Event::Forward(node, _)
            | Event::Reply(node, ..)
            | Event::Inquire(node, ..)
            | Event::Absent(node, ..) => Some(*node),
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
                let is_full = self.full[node] > now && !self.is_calm();
                self.nodes[node].content_mut().disk_is_full = is_full;
                if self.lives[node] != 0 {
                    let time = self.time(node);
                    self.nodes[node].tick(time);
                }
                self.at(TICK_MS, Event::Tick(node));
            }
            Event::ToLog(node, life, call, question) => self.log(node, life, call, &question),
            Event::FromLog(node, life, call, answer) if self.lives[node] == life => {
                if let LogAnswer::Nodes(states) = &answer {
                    self.listed[node] = states.iter().map(|state| state.node).collect();
                }
                let time = self.time(node);
                self.nodes[node].told(call, answer, time);
            }
            Event::Forward(node, mut update) if self.lives[node] != 0 => {
                let time = self.time(node);
                if self.mutant == Some(Mutant::LateUpdates) && update.epoch.is_some() {
                    update.epoch = self.nodes[node].epoch();
                }
                self.nodes[node].forwarded(update, time);
            }
            Event::Reply(node, number, outcome) if self.lives[node] != 0 => {
                self.nodes[node].replied(number, outcome);
            }
            Event::Inquire(node, from, number, epoch) if self.lives[node] != 0 => {
                if self.mutant == Some(Mutant::HastyAbsence) {
                    let upto = self.nodes[node].position();
                    self.at(1, Event::Absent(from.0 as usize - 1, number, upto));
                }
                self.nodes[node].inquired(from, number, epoch);
            }
            Event::Absent(node, number, upto) if self.lives[node] != 0 => {
                self.nodes[node].absent(number, upto);
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
            for output in self.nodes[node].take_outputs() {
                self.carry(node, output)?;
            }
            self.refuse_early(node)?;
        }
        Ok(())
    }

    fn carry(&mut self, node: usize, output: Output) -> Result<(), String> {
        let (here, end) = (self.nodes[node].position(), self.etcd.last_position());
        match output {
            Output::Ask(call, question) => {
                let question = self.broken(node, question)?;
                // A repetition of the trim comes later, when other nodes may be alive.
                if let Question::Trim(_, upto) = &question {
                    self.check_trim(node, *upto)?;
                }
                self.question(node, call, question);
            }
            Output::Forward(to, update) => {
                let to = to.0 as usize - 1;
                if let Some(mut delay) = self.wire(node, to) {
                    // It waits in a buffer, while later connections are faster.
                    if !self.is_calm() && self.random.chance(2) {
                        *self.faults.entry("late update").or_default() += 1;
                        delay = self.random.between(1000, 30_000) as u64;
                    }
                    self.at(delay, Event::Forward(to, update));
                }
            }
            Output::Inquire(to, number, epoch) => {
                let to = to.0 as usize - 1;
                if let Some(delay) = self.wire(node, to) {
                    let from = self.nodes[node].id();
                    self.at(delay, Event::Inquire(to, from, number, epoch));
                }
            }
            Output::Absent(to, number, upto) => {
                let to = to.0 as usize - 1;
                if let Some(delay) = self.wire(node, to) {
                    self.at(delay, Event::Absent(to, number, upto));
                }
            }
            Output::Reply(to, number, outcome) => {
                let to = to.0 as usize - 1;
                if let Some(delay) = self.wire(node, to) {
                    self.at(delay, Event::Reply(to, number, outcome));
                }
            }
            Output::Answer(number, _) if self.early.contains(&number) => {}
            Output::Answer(number, outcome) => {
                self.checker.answered(number, outcome, here, end)?;
            }
            Output::Serve(number) | Output::Refuse(number) => {
                let is_linear = self.reads.remove(&number).unwrap_or(true);
                let served = matches!(output, Output::Serve(_)).then_some(here);
                self.checker.served(number, served, is_linear)?;
            }
            Output::Copy => {
                let (delay, life) = (self.random.between(50, 3000), self.lives[node]);
                self.at(delay as u64, Event::Snapshot(node, life));
            }
            Output::Applied => {
                let content = self.nodes[node].content();
                self.checker.applied(here, &content.entries)?;
            }
        }
        Ok(())
    }

    /// Breaks the rule of a mutant at a question.
    fn broken(&mut self, node: usize, question: Question) -> Result<Question, String> {
        let (here, end) = (self.nodes[node].position(), self.etcd.last_position());
        match (self.mutant, &question) {
            (Some(Mutant::TrimTooFar), Question::Trim(epoch, _)) => {
                return Ok(Question::Trim(*epoch, end));
            }
            (Some(Mutant::AnswerBeforeAppend), Question::Append(_, [_, after], bytes)) => {
                let batch = Batch::decode(bytes).map_err(|error| error.to_string())?;
                for record in batch.records {
                    let is_answered = self.checker.is_answered(record.session);
                    if !is_answered && self.early.insert(record.session) {
                        let outcome = Outcome::Settled(after.position, true);
                        let answered = self.checker.answered(record.session, outcome, here, end);
                        answered?;
                    }
                }
            }
            _ => {}
        }
        Ok(question)
    }

    /// Answers refusals of an open transaction, if that rule is broken.
    fn refuse_early(&mut self, node: usize) -> Result<(), String> {
        if self.mutant != Some(Mutant::EarlyRefusals) {
            return Ok(());
        }
        let (here, end) = (self.nodes[node].position(), self.etcd.last_position());
        let refused = std::mem::take(&mut self.nodes[node].content_mut().refused);
        let mut refused = refused.into_iter();
        refused.try_for_each(|number| {
            if self.checker.is_answered(number) || !self.early.insert(number) {
                return Ok(());
            }
            let outcome = Outcome::Settled(here, false);
            self.checker.answered(number, outcome, here, end)
        })
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
    fn question(&mut self, node: usize, call: u64, question: Question) {
        let (log, life) = (self.nodes.len(), self.lives[node]);
        let stall = self.stalled.saturating_sub(self.now);
        let is_append = matches!(question, Question::Append(..));
        if is_append && self.mutant == Some(Mutant::CommitOnUnknown) {
            let answer = LogAnswer::Appended(AppendOutcome::Appended);
            let delay = SETTINGS.call_wait_ms - 1;
            self.at(delay, Event::FromLog(node, life, call, answer));
        }
        if let Some(delay) = self.wire(node, log) {
            let question = question.clone();
            self.at(delay + stall, Event::ToLog(node, life, call, question));
        }
        if !self.is_calm() && self.random.chance(5) {
            *self.faults.entry("repeated question").or_default() += 1;
            self.repeated.insert((node, life, call));
            let delay = self.random.between(1, 4000) as u64;
            self.at(delay + stall, Event::ToLog(node, life, call, question));
        }
    }

    /// Lets the log answer.
    fn log(&mut self, node: usize, life: u64, call: u64, question: &Question) {
        let was_full = self.etcd.is_full();
        let tears = !self.is_calm() && self.random.chance(5);
        self.etcd.tears.set(tears);
        let mut answer = question.ask(&self.etcd);
        if tears && !self.etcd.tears.take() {
            *self.faults.entry("batch without its list").or_default() += 1;
        }
        if self.etcd.is_full() && !was_full {
            *self.faults.entry("full log").or_default() += 1;
            self.at(3000, Event::Defragment);
        }
        if self.mutant == Some(Mutant::OldEnd) && *question == Question::End(EndUse::Lost) {
            answer = LogAnswer::End(Head::default());
        }
        // The other try may be taken when the log has room again.
        let is_repeated = self.repeated.contains(&(node, life, call));
        if is_repeated && answer == LogAnswer::Appended(AppendOutcome::Full) {
            answer = LogAnswer::Appended(AppendOutcome::Unknown);
        }
        let log = self.nodes.len();
        if let Some(delay) = self.wire(log, node) {
            self.at(delay, Event::FromLog(node, life, call, answer));
        }
    }

    /// Checks that no live node would need a snapshot after a power cut.
    fn check_trim(&self, node: usize, upto: Position) -> Result<(), String> {
        let log = self.etcd.archive();
        let behind = log.iter().filter(|(position, _)| *position > upto);
        let behind: usize = behind.map(|(_, bytes)| bytes.len()).sum();
        for id in &self.listed[node] {
            let durable = self.nodes[id.0 as usize - 1].content().durable();
            if durable < upto && (behind as u64) < SETTINGS.keep.bytes_max {
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
            let time = self.time(node);
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
                    let not_before = match (self.mutant, not_before) {
                        (Some(Mutant::LocalReads), None)
                        | (Some(Mutant::SessionsForgotten), Some(_)) => Some(Position(0)),
                        (_, not_before) => not_before,
                    };
                    self.nodes[node].read(number, not_before, time);
                }
                kind => {
                    let update = match kind {
                        2 | 3 => Update::Add(key),
                        4 => Update::Modify(key),
                        _ => Update::Delete(key),
                    };
                    self.checker.sent(number, update);
                    self.nodes[node].update(number, (number, update), time);
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
                self.skews[node] = jump;
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
        if loses_power {
            let random = &mut self.random;
            let content = self.nodes[node].content_mut();
            content.lose_power(|| random.chance(50));
        }
        let store = self.nodes[node].content().clone();
        self.nodes[node] = born(node, 0, store);
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
        let mut store = self.nodes[node].content().clone();
        store.open(self.mutant != Some(Mutant::BootIgnored));
        self.nodes[node] = born(node, self.next_life, store);
    }

    fn snapshot(&mut self, node: usize) {
        let others =
            (0..self.nodes.len()).filter(|other| *other != node && self.lives[*other] != 0);
        let newest = others.max_by_key(|other| self.nodes[*other].position());
        let copy = newest.map(|other| {
            let mut store = self.nodes[node].content().clone();
            store.copy(self.nodes[other].content());
            store
        });
        *self.faults.entry("snapshot").or_default() += 1;
        self.nodes[node].copied(copy);
    }
}

/// Returns a node at the beginning of a life.
fn born(node: usize, life: u64, store: Store) -> Node<Store> {
    let number = node as u64 + 1;
    let life = (life << 8 | number).to_le_bytes();
    Node::new(NodeId(number), SETTINGS, store, life)
}
