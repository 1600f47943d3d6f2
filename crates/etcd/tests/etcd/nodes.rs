//! Three nodes on three members: updates at all nodes, while members stall and nodes crash.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use fulgurite_cluster::{
    Batch, Content, Csn, Divergence, Effects, Follower, Forwarded, Head, LogAnswer, LogKeep, Node,
    NodeId, NodeSettings, Operation, Operator, Outcome, Output, Position, Record, RecordKind, Time,
    Value,
};
use fulgurite_etcd::{Askers, EtcdSettings};
use fulgurite_testkit::{Random, quick_or_long, seed};

use crate::member::{Etcd, is_installed};

/// A content of entries, each with the number of the update that added it. An update whose number
/// ends in 7 is refused.
#[derive(Clone, Debug, Default)]
struct Numbers {
    head: Head,
    entries: BTreeMap<u64, Csn>,
    open: Option<BTreeMap<u64, Csn>>,
}

fn csn_behind(last: Csn) -> Csn {
    let mut bytes = *last.as_bytes();
    for byte in bytes[..10].iter_mut().rev() {
        let next = (*byte >> 4) * 10 + (*byte & 15) + 1;
        *byte = ((next % 100 / 10) << 4) | (next % 10);
        if next < 100 {
            break;
        }
    }
    Csn::from_bytes(bytes).expect("decimal digits")
}

fn record(number: u64, csn: Csn) -> Record {
    let value = Value::Inline(vec![b'x'; 100]);
    Record {
        kind: RecordKind::Add,
        csn,
        previous: None,
        uuid: u128::from(number).to_be_bytes(),
        parent: None,
        is_unordered: false,
        begun_us: 0,
        took_us: 0,
        session: number,
        author: String::new(),
        dn: format!("cn={number}"),
        renaming: None,
        operations: vec![Operation {
            operator: Operator::Add,
            attribute: "cn".to_owned(),
            values: vec![value],
        }],
    }
}

impl Content for Numbers {
    type Update = u64;
    type Answer = bool;

    fn head(&self) -> Head {
        self.head
    }

    fn durable(&self) -> Position {
        self.head.position
    }

    fn is_writable(&self) -> bool {
        true
    }

    fn begin(&mut self, updates: &[&u64], last: Csn, _: Time) -> Effects<bool> {
        let mut entries = self.entries.clone();
        let mut effects = Effects {
            records: Vec::new(),
            answers: Vec::new(),
        };
        let mut last = last;
        for number in updates.iter().copied().copied() {
            effects.answers.push(number % 10 != 7);
            if number % 10 != 7 {
                last = csn_behind(last);
                effects.records.push(record(number, last));
                assert_eq!(entries.insert(number, last), None, "done twice");
            }
        }
        self.open = Some(entries);
        effects
    }

    fn commit(&mut self, head: Head) {
        self.entries = self.open.take().expect("an open transaction");
        self.head = head;
    }

    fn abort(&mut self) {
        self.open.take().expect("an open transaction");
    }

    fn apply(&mut self, batch: &Batch, head: Head) -> Result<(), Divergence> {
        for record in &batch.records {
            let here = self.entries.get(&record.session).copied();
            Follower::check(batch.position, record, here)?;
            self.entries.insert(record.session, record.csn);
        }
        self.head = head;
        Ok(())
    }

    fn maintain(&mut self, _: u64) {}
}

/// A message to one life of one node.
enum Message {
    Told(u64, u64, LogAnswer),
    Forward(Forwarded<u64>),
    Reply(u64, Outcome<bool>),
}

/// A node with its threads.
struct Machine {
    node: Node<Numbers>,
    askers: Askers,
    life: u64,
    inbox: Receiver<Message>,
    outbox: Sender<Message>,
}

fn settings() -> NodeSettings {
    NodeSettings {
        lease_ms: 4000,
        trim_each_ms: 500,
        keep: LogKeep {
            age_ms: 0,
            bytes: 2000,
            bytes_max: 1 << 20,
        },
        ..NodeSettings::default()
    }
}

impl Machine {
    fn new(etcd: &EtcdSettings, number: u64, life: u64, content: Numbers) -> Machine {
        let (outbox, inbox) = channel();
        let answers = outbox.clone();
        let told = move |call, answer| drop(answers.send(Message::Told(life, call, answer)));
        let name = (life << 8 | number).to_le_bytes();
        Machine {
            node: Node::new(NodeId(number), settings(), content, name),
            askers: Askers::start(etcd, told).expect("settings"),
            life,
            inbox,
            outbox,
        }
    }

    fn take(&mut self, message: Message, time: Time) {
        match message {
            Message::Told(life, call, answer) if life == self.life => {
                self.node.told(call, answer, time);
            }
            Message::Told(..) => {}
            Message::Forward(update) => self.node.forwarded(update, time),
            Message::Reply(number, outcome) => self.node.replied(number, outcome),
        }
    }
}

/// The nodes, and what the clients know.
struct World {
    etcd: Etcd,
    machines: Vec<Machine>,
    begun: Instant,
    sent: u64,
    outcomes: BTreeMap<u64, Outcome<bool>>,
    lives: u64,
    copies: u64,
}

impl World {
    fn new() -> World {
        let etcd = Etcd::plain(3, &[]);
        let settings = World::etcd_settings(&etcd);
        let machine = |number| Machine::new(&settings, number, number, Numbers::default());
        World {
            machines: (1..=3).map(machine).collect(),
            etcd,
            begun: Instant::now(),
            sent: 0,
            outcomes: BTreeMap::new(),
            lives: 3,
            copies: 0,
        }
    }

    fn etcd_settings(etcd: &Etcd) -> EtcdSettings {
        EtcdSettings::new(etcd.urls.clone(), "test")
    }

    fn time(&self) -> Time {
        let now_ms = self.begun.elapsed().as_millis() as u64;
        Time {
            now_ms,
            wall_us: now_ms * 1000,
        }
    }

    /// Lets every node do what there is to do.
    fn turn(&mut self) {
        let time = self.time();
        for index in 0..self.machines.len() {
            let machine = &mut self.machines[index];
            while let Ok(message) = machine.inbox.try_recv() {
                machine.take(message, time);
            }
            machine.node.tick(time);
            for output in machine.node.take_outputs() {
                self.carry(index, output);
            }
            let stopped = self.machines[index].node.stopped();
            assert_eq!(stopped, None, "node {} stops", index + 1);
        }
        std::thread::sleep(Duration::from_millis(5));
    }

    fn carry(&mut self, from: usize, output: Output<u64, bool>) {
        let send = |to: NodeId, message| {
            let outbox = &self.machines[to.0 as usize - 1].outbox;
            drop(outbox.send(message));
        };
        match output {
            Output::Ask(call, question) => self.machines[from].askers.ask(call, question),
            Output::Forward(to, update) => send(to, Message::Forward(update)),
            Output::Reply(to, number, outcome) => send(to, Message::Reply(number, outcome)),
            Output::Answer(number, outcome) => {
                let before = self.outcomes.insert(number, outcome);
                assert_eq!(before, None, "update {number} is answered twice");
            }
            Output::Copy => {
                let newest = self.machines.iter().max_by_key(|one| one.node.position());
                let mut copy = newest.expect("a node").node.content().clone();
                copy.open = None;
                self.copies += 1;
                self.machines[from].node.copied(Some(copy));
            }
            Output::Serve(_) | Output::Refuse(_) => panic!("nobody reads"),
            Output::Applied => {}
        }
    }

    fn update(&mut self, index: usize) {
        self.sent += 1;
        let (number, time) = (self.sent, self.time());
        self.machines[index].node.update(number, number, time);
    }

    /// Ends a node without a word, and starts it again from its store.
    fn crash(&mut self, index: usize) {
        let node = &self.machines[index].node;
        for number in node.unanswered() {
            self.outcomes.entry(number).or_insert(Outcome::Unknown);
        }
        let mut content = node.content().clone();
        content.open = None;
        self.lives += 1;
        let settings = World::etcd_settings(&self.etcd);
        let number = index as u64 + 1;
        self.machines[index] = Machine::new(&settings, number, self.lives, content);
    }

    fn is_settled(&self) -> bool {
        let first = self.machines[0].node.content();
        let equal = |machine: &Machine| machine.node.content().head() == first.head;
        self.outcomes.len() as u64 == self.sent && self.machines.iter().all(equal)
    }

    /// Checks every outcome against the content, which all nodes share.
    fn check(&self) {
        let first = self.machines[0].node.content();
        for machine in &self.machines {
            assert_eq!(machine.node.content().entries, first.entries);
        }
        let here: BTreeSet<u64> = first.entries.keys().copied().collect();
        for (number, outcome) in &self.outcomes {
            let is_here = here.contains(number);
            match outcome {
                Outcome::Settled(_, is_done) => assert_eq!(*is_done, is_here, "update {number}"),
                Outcome::Busy | Outcome::TooLong => assert!(!is_here, "update {number}"),
                Outcome::Unknown => {}
            }
        }
    }
}

#[test]
fn nodes_agree_while_members_stall_and_nodes_crash() {
    if !is_installed() {
        return;
    }
    let mut random = Random::new(seed("nodes", 1));
    let mut world = World::new();
    for _ in 0..quick_or_long(8, 200) {
        let (member, node) = (random.below(3), random.below(3));
        let fault = random.below(4);
        match fault {
            0 | 1 => world.etcd.signal(member, "STOP"),
            2 => world.crash(node),
            _ => {
                let leading = world.machines.iter();
                let leading = leading.map(|one| one.node.is_leading());
                let leading = leading.collect::<Vec<_>>().iter().position(|it| *it);
                world.crash(leading.unwrap_or(node));
            }
        }
        let end = Instant::now() + Duration::from_millis(random.between(500, 4000) as u64);
        while Instant::now() < end {
            world.update(random.below(3));
            world.turn();
        }
        if fault < 2 {
            world.etcd.signal(member, "CONT");
        }
    }
    // All faults are over. An update that succeeds shows that the cluster goes on.
    let done = |world: &World| {
        let settled = world.outcomes.values();
        settled
            .filter(|outcome| matches!(outcome, Outcome::Settled(_, true)))
            .count()
    };
    let before = done(&world);
    while done(&world) == before || !world.is_settled() {
        if world.is_settled() {
            world.update(0);
        }
        world.turn();
    }
    world.check();
    println!(
        "{} updates, {} done, {} lives, {} copies, end {}",
        world.sent,
        done(&world),
        world.lives,
        world.copies,
        world.machines[0].node.position()
    );
}
