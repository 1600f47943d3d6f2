//! Three drivers on a real etcd, whose updates go over TLS.

use std::net::TcpListener;
use std::time::Duration;

use fulgurite_cluster::{
    Batch, Content, Csn, Divergence, Effects, Head, NodeId, Outcome, Position, Time,
};
use fulgurite_cluster_driver::{CopyProgress, Driver, DriverSettings, Handle};
use fulgurite_cluster_peers::{CopySource, FrameError, Listener, NodePeers, Positions, Wire};
use fulgurite_cluster_testkit::{Store, Update};
use fulgurite_etcd::{EtcdLog, EtcdSettings};
use fulgurite_testkit::{Etcd, has_etcd};

use crate::trust::{LONG, Trust, settings};

/// An addition of a key by its number.
#[derive(Clone, Copy, Debug)]
struct Addition(u64, u8);

/// True if it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IsDone(bool);

impl Wire for Addition {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.0.to_be_bytes().to_vec();
        bytes.push(self.1);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Addition, FrameError> {
        let (number, rest) = bytes.split_first_chunk().ok_or(FrameError::Truncated)?;
        match rest {
            [key] => Ok(Addition(u64::from_be_bytes(*number), *key)),
            _ => Err(FrameError::Rest),
        }
    }
}

impl Wire for IsDone {
    fn to_bytes(&self) -> Vec<u8> {
        vec![u8::from(self.0)]
    }

    fn from_bytes(bytes: &[u8]) -> Result<IsDone, FrameError> {
        match bytes {
            [byte] => Ok(IsDone(*byte == 1)),
            _ => Err(FrameError::Rest),
        }
    }
}

#[derive(Debug, Default)]
struct Model(Store);

impl Content for Model {
    type Update = Addition;
    type Answer = IsDone;

    fn head(&self) -> Head {
        self.0.head()
    }

    fn durable(&self) -> Position {
        self.0.durable()
    }

    fn is_writable(&self) -> bool {
        true
    }

    fn begin(&mut self, updates: &[&Addition], last: Csn, time: Time) -> Effects<IsDone> {
        let updates = updates
            .iter()
            .map(|update| (update.0, Update::Add(update.1)));
        let updates: Vec<_> = updates.collect();
        let updates: Vec<_> = updates.iter().collect();
        let effects = self.0.begin(&updates, last, time);
        Effects {
            records: effects.records,
            answers: effects.answers.into_iter().map(IsDone).collect(),
        }
    }

    fn code(answer: &IsDone) -> u32 {
        u32::from(!answer.0)
    }

    fn commit(&mut self, head: Head) {
        self.0.commit(head);
    }

    fn abort(&mut self) {
        self.0.abort();
    }

    fn apply(&mut self, batch: &Batch, head: Head) -> Result<(), Divergence> {
        self.0.apply(batch, head)
    }

    fn maintain(&mut self, now_ms: u64) {
        self.0.maintain(now_ms);
    }
}

struct NoCopies;

impl CopySource<Model> for NoCopies {
    fn begin(&mut self) {}

    fn progress(&mut self) -> CopyProgress<Model> {
        CopyProgress::Failed
    }
}

struct Site {
    handle: Handle<Addition, IsDone>,
    thread: std::thread::JoinHandle<Model>,
    positions: Positions,
    _listener: Listener,
}

/// Starts drivers that know each other's addresses.
fn start(etcd: &Etcd, trust: &Trust) -> Vec<Site> {
    let sockets: Vec<TcpListener> = (0..3)
        .map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"))
        .collect();
    let addresses = sockets
        .iter()
        .map(|socket| socket.local_addr().expect("an address"));
    let addresses: Vec<String> = addresses.map(|address| address.to_string()).collect();
    let site = |(socket, number): (TcpListener, u64)| {
        let files = ["one", "two", "three"];
        let own = trust.node(number, files[number as usize - 1]);
        let mut settings_of = EtcdSettings::new(etcd.urls.clone(), "test");
        settings_of.call_ms = 3000;
        let settings_of_driver = DriverSettings::new(NodeId(number), [number as u8; 8]);
        let (driver, handle) = Driver::new(settings_of_driver);
        let mut peers = NodePeers::new(&handle, own, settings(), NoCopies);
        for (other, address) in (1..).zip(&addresses) {
            if other != number {
                peers.links().open(NodeId(other), address);
            }
        }
        let listener = peers.listen(socket, &handle, None).expect("a socket");
        let positions = peers.positions();
        let thread = std::thread::spawn(move || {
            let log = || EtcdLog::new(&settings_of);
            let done = driver.run(Model::default(), &mut peers, log);
            done.expect("settings")
        });
        Site {
            handle,
            positions,
            thread,
            _listener: listener,
        }
    };
    sockets.into_iter().zip(1..).map(site).collect()
}

#[test]
fn updates_at_all_nodes_reach_the_sequencer() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &[]);
    let trust = Trust::new();
    let sites = start(&etcd, &trust);
    let mut forwarded = 0;
    for (number, site) in (1_u64..).zip(sites.iter().cycle().take(30)) {
        let update = Addition(number, number as u8 % 20);
        let outcome = loop {
            match site.handle.update(update, LONG) {
                Outcome::Busy => std::thread::sleep(Duration::from_millis(20)),
                outcome => break outcome,
            }
        };
        let Outcome::Settled(position, IsDone(is_done)) = outcome else {
            panic!("update {number}: {outcome:?}");
        };
        // Each key is there once, and each node reads what it has written.
        assert_eq!(is_done, number <= 20);
        assert!(site.handle.position() >= position);
        forwarded += u64::from(!site.handle.status().is_leading);
    }
    assert!(forwarded >= 10, "the other nodes forward");
    let end = sites.iter().map(|site| site.handle.position()).max();
    while sites.iter().any(|site| Some(site.handle.position()) != end) {
        std::thread::sleep(Duration::from_millis(10));
    }
    // Each node hears of the others.
    for (number, site) in (1..).zip(&sites) {
        let others = (1..=3).filter(|other| *other != number).map(NodeId);
        for other in others {
            while site.positions.of(other) != end {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
    sites.iter().for_each(|site| site.handle.stop());
    let models = sites.into_iter().map(|site| site.thread.join());
    let models: Vec<Model> = models.map(|model| model.expect("it ends well")).collect();
    assert_eq!(models[0].0.entries.len(), 20);
    assert!(
        models
            .iter()
            .all(|model| model.0.entries == models[0].0.entries)
    );
}
