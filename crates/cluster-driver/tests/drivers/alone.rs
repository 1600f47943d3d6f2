//! Drivers and their askers on logs without a cluster.

use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fulgurite_cluster::{
    Alone, AppendOutcome, ChangeLog, Content as _, Epoch, Forwarded, Head, Leadership, LeaseId,
    LogAnswer, NodeId, NodeState, Outcome, Position, Question, ReadOutcome, Unavailable,
};
use fulgurite_cluster_driver::{
    Askers, CopyProgress, Driver, DriverSettings, Freshness, Handle, Peers,
};
use fulgurite_cluster_testkit::{Store, Update};

const LONG: Duration = Duration::from_secs(60);

/// The log of a single node, shared by the threads that ask. A read waits for a word, if told.
#[derive(Clone)]
struct Shared {
    log: Arc<Mutex<Alone>>,
    gate: Option<Arc<Mutex<Receiver<()>>>>,
}

impl Shared {
    fn new() -> Shared {
        Shared {
            log: Arc::new(Mutex::new(Alone::new(Head::default()))),
            gate: None,
        }
    }
}

impl ChangeLog for Shared {
    fn append(&self, epoch: Epoch, before: &Head, after: &Head, batch: &[u8]) -> AppendOutcome {
        self.log
            .lock()
            .expect("sound")
            .append(epoch, before, after, batch)
    }

    fn read(&self, from: Position, limit: usize) -> ReadOutcome {
        if let Some(gate) = &self.gate {
            let _ = gate.lock().expect("sound").recv();
        }
        self.log.lock().expect("sound").read(from, limit)
    }

    fn end(&self) -> Result<Head, Unavailable> {
        self.log.lock().expect("sound").end()
    }

    fn grant(&self, ttl_ms: u64) -> Result<LeaseId, Unavailable> {
        self.log.lock().expect("sound").grant(ttl_ms)
    }

    fn renew(&self, lease: LeaseId) -> Result<bool, Unavailable> {
        self.log.lock().expect("sound").renew(lease)
    }

    fn lead(&self, lease: LeaseId, node: NodeId) -> Result<Leadership, Unavailable> {
        self.log.lock().expect("sound").lead(lease, node)
    }

    fn resign(&self, epoch: Epoch) -> Result<(), Unavailable> {
        self.log.lock().expect("sound").resign(epoch)
    }

    fn publish(&self, lease: LeaseId, state: &NodeState) -> Result<(), Unavailable> {
        self.log.lock().expect("sound").publish(lease, state)
    }

    fn nodes(&self) -> Result<Vec<NodeState>, Unavailable> {
        self.log.lock().expect("sound").nodes()
    }

    fn trim(&self, epoch: Epoch, upto: Position) -> Result<(), Unavailable> {
        self.log.lock().expect("sound").trim(epoch, upto)
    }
}

/// No other nodes.
struct Nobody;

impl Peers<Store> for Nobody {
    fn forward(&mut self, _: NodeId, _: Forwarded<(u64, Update)>) -> bool {
        false
    }

    fn reply(&mut self, _: NodeId, _: u64, _: Outcome<bool>) {}

    fn inquire(&mut self, _: NodeId, _: u64, _: Epoch) {}

    fn absent(&mut self, _: NodeId, _: u64, _: Position) {}

    fn begin_copy(&mut self) {}

    fn copy(&mut self) -> CopyProgress<Store> {
        CopyProgress::Failed
    }
}

#[test]
fn a_slow_read_delays_no_renewal_and_its_lane_has_an_end() {
    let (open, gate) = channel();
    let mut log = Shared::new();
    log.gate = Some(Arc::new(Mutex::new(gate)));
    let (told, answers) = channel();
    let askers = Askers::start(
        || Ok::<_, Unavailable>(log.clone()),
        move |call, answer| drop(told.send((call, answer))),
    )
    .expect("logs");
    // Nobody lets the reads go on. The lane takes some of them.
    for call in 0..100 {
        askers.ask(call, Question::Follow(Position(1)));
    }
    askers.ask(200, Question::Renew(LeaseId(1)));
    let (call, answer) = answers.recv_timeout(LONG).expect("an answer");
    assert_eq!((call, answer), (200, LogAnswer::Renewed(true)));
    drop(open);
    drop(askers);
    let reads = answers.iter().count();
    assert!((1..=10).contains(&reads), "{reads} questions have waited");
}

fn start(log: Shared) -> (Handle<(u64, Update), bool>, std::thread::JoinHandle<Store>) {
    let (driver, handle) = Driver::new(DriverSettings::new(NodeId(1), [7; 8]));
    let thread = std::thread::spawn(move || {
        let log = || Ok::<_, Unavailable>(log.clone());
        driver
            .run(Store::default(), &mut Nobody, log)
            .expect("logs")
    });
    (handle, thread)
}

/// Updates until the node leads.
fn update(handle: &Handle<(u64, Update), bool>, number: u64, update: Update) -> Outcome<bool> {
    loop {
        match handle.update((number, update), LONG) {
            Outcome::Busy => std::thread::sleep(Duration::from_millis(10)),
            outcome => return outcome,
        }
    }
}

#[test]
fn a_client_has_its_outcome_and_reads_what_it_has_written() {
    let (handle, thread) = start(Shared::new());
    let done = update(&handle, 1, Update::Add(1));
    assert_eq!(done, Outcome::Settled(Position(1), true));
    assert_eq!(handle.position(), Position(1));
    let refused = update(&handle, 2, Update::Add(1));
    assert_eq!(refused, Outcome::Settled(Position(1), false));
    let here = Some(Position(1));
    assert_eq!(handle.read(Freshness::Linearizable, LONG), here);
    let seen = Freshness::NotBefore(Position(1));
    assert_eq!(handle.read(seen, Duration::ZERO), here);
    let later = Freshness::NotBefore(Position(2));
    assert_eq!(handle.read(later, Duration::from_millis(50)), None);
    let status = handle.status();
    assert!(status.is_leading && status.stopped.is_none() && !status.has_ended);
    assert!(handle.silence_ms().is_some());
    handle.stop();
    let store = thread.join().expect("the thread ends well");
    assert_eq!(store.head().position, Position(1));
    assert!(handle.status().has_ended && !handle.status().is_leading);
    // Nothing is done any more, for certain.
    assert_eq!(handle.update((3, Update::Add(2)), LONG), Outcome::Busy);
    assert_eq!(handle.read(Freshness::Linearizable, LONG), None);
}

#[test]
fn an_abandoned_driver_leaves_no_client_waiting() {
    let (open, gate) = sync_channel::<()>(0);
    let mut log = Shared::new();
    log.gate = Some(Arc::new(Mutex::new(gate)));
    let (handle, thread) = start(log);
    let reader = handle.clone();
    let later = Freshness::NotBefore(Position(9));
    let waiting = std::thread::spawn(move || reader.read(later, LONG));
    while handle.status().waiting == 0 {
        std::thread::yield_now();
    }
    let (sender, outcomes) = channel();
    handle.submit((1, Update::Add(1)), move |outcome| {
        let _ = sender.send(outcome);
    });
    handle.abandon();
    drop(open);
    thread.join().expect("the thread ends well");
    assert_eq!(waiting.join().expect("a client"), None);
    assert!(outcomes.recv_timeout(LONG).is_ok());
}
