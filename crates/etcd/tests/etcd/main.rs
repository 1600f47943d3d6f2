//! The log in a real etcd: fencing, doubt, leases, space, stalls, TLS and roles.
//!
//! Each test starts Debian's etcd on free ports. Without it, a test says SKIPPED and passes.

#![forbid(unsafe_code)]

mod faults;
mod members;
mod meta;
mod trust;

use fulgurite_cluster::{
    AppendOutcome, ChangeLog, Csn, Digest, Epoch, Head, Leadership, LeaseId, NodeId, NodeState,
    Position, ReadOutcome,
};
use fulgurite_etcd::{EtcdLog, EtcdSettings};
use fulgurite_testkit::{Etcd, has_etcd};

/// Returns an end with a number and a digest of its position.
pub(crate) fn head(position: u64) -> Head {
    let mut csn = [0; Csn::LEN];
    csn[9] = (position % 10) as u8;
    let csn = Csn::from_bytes(csn).expect("decimal digits");
    match position {
        0 => Head::default(),
        _ => Head {
            position: Position(position),
            csn,
            digest: Digest([position as u8; 32]),
        },
    }
}

/// Returns settings for all members. The waits are long: the machine may be busy.
pub(crate) fn settings_of(etcd: &Etcd) -> EtcdSettings {
    let mut settings = EtcdSettings::new(etcd.urls.clone(), "test");
    settings.try_ms = 5000;
    settings.call_ms = 30_000;
    settings
}

/// Returns a log with [`settings_of`].
pub(crate) fn log_of(etcd: &Etcd) -> EtcdLog {
    EtcdLog::new(&settings_of(etcd)).expect("settings")
}

/// Makes a node the leader.
pub(crate) fn lead(log: &EtcdLog, node: u64) -> (LeaseId, Epoch) {
    let lease = log.grant(600_000).expect("a lease");
    match log.lead(lease, NodeId(node)) {
        Ok(Leadership::Leading(epoch)) => (lease, epoch),
        other => panic!("node {node} does not lead: {other:?}"),
    }
}

/// Appends a batch that says its position.
pub(crate) fn append(log: &EtcdLog, epoch: Epoch, position: u64) -> AppendOutcome {
    let batch = format!("batch {position}");
    let (before, after) = (head(position - 1), head(position));
    log.append(epoch, &before, &after, batch.as_bytes())
}

fn batches(log: &EtcdLog, from: u64, limit: usize) -> Vec<u64> {
    match log.read(Position(from), limit) {
        ReadOutcome::Batches(batches) => batches
            .into_iter()
            .map(|(position, bytes)| {
                let text = format!("batch {}", position.0);
                assert_eq!(bytes, text.as_bytes());
                position.0
            })
            .collect(),
        other => panic!("no batches: {other:?}"),
    }
}

#[test]
fn the_log_takes_the_next_batch_of_the_leader_once() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &[]);
    let log = log_of(&etcd);
    assert_eq!(log.end(), Ok(Head::default()));
    let (lease, epoch) = lead(&log, 1);
    assert_eq!(log.lead(lease, NodeId(1)), Ok(Leadership::Leading(epoch)));
    for position in 1..=3 {
        assert_eq!(append(&log, epoch, position), AppendOutcome::Appended);
    }
    assert_eq!(log.end(), Ok(head(3)));
    assert_eq!(batches(&log, 1, 2), [1, 2]);
    assert_eq!(batches(&log, 3, 8), [3]);
    assert_eq!(batches(&log, 4, 8), [0; 0]);
    // Once more, too far ahead, and as a leader that never was.
    let AppendOutcome::Refused(refusal) = append(&log, epoch, 3) else {
        panic!("taken twice");
    };
    assert_eq!(refusal.present.as_deref(), Some(&b"batch 3"[..]));
    assert_eq!((refusal.leader, refusal.end), (Some(epoch), Position(3)));
    assert!(matches!(append(&log, epoch, 9), AppendOutcome::Refused(_)));
    let other = Epoch(epoch.0 + 1);
    assert!(matches!(append(&log, other, 4), AppendOutcome::Refused(_)));
    // An end of the same position, but of another history.
    let mut fork = head(3);
    fork.digest = Digest([9; 32]);
    let outcome = log.append(epoch, &fork, &head(4), b"batch 4");
    assert!(matches!(outcome, AppendOutcome::Refused(_)));
    // Another leader.
    assert_eq!(log.resign(other), Ok(()));
    let second = log.grant(60_000).expect("a lease");
    let following = Leadership::Following(NodeId(1), epoch);
    assert_eq!(log.lead(second, NodeId(2)), Ok(following));
    // An earlier life of a node is another one.
    assert_eq!(log.lead(second, NodeId(1)), Ok(following));
    assert_eq!(log.resign(epoch), Ok(()));
    let (_, later) = lead(&log, 2);
    assert!(later > epoch);
    assert!(matches!(append(&log, epoch, 4), AppendOutcome::Refused(_)));
    assert_eq!(append(&log, later, 4), AppendOutcome::Appended);
}

#[test]
fn a_trim_drops_batches_and_no_doubt() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &[]);
    let log = log_of(&etcd);
    let (_, epoch) = lead(&log, 1);
    for position in 1..=20 {
        assert_eq!(append(&log, epoch, position), AppendOutcome::Appended);
    }
    assert_eq!(log.trim(Epoch(epoch.0 + 1), Position(5)), Ok(()));
    assert_eq!(batches(&log, 1, 1), [1]);
    assert_eq!(log.trim(epoch, Position(17)), Ok(()));
    // A late repetition does nothing.
    assert_eq!(log.trim(epoch, Position(3)), Ok(()));
    let first = Position(18);
    assert_eq!(log.read(Position(1), 8), ReadOutcome::Trimmed { first });
    assert_eq!(log.read(Position(17), 8), ReadOutcome::Trimmed { first });
    assert_eq!(batches(&log, 18, 8), [18, 19, 20]);
    // A late append of a trimmed position is not taken.
    let AppendOutcome::Refused(refusal) = append(&log, epoch, 16) else {
        panic!("a trimmed position is taken again");
    };
    assert_eq!((refusal.present, refusal.end), (None, Position(20)));
    assert_eq!(log.trim(epoch, Position(20)), Ok(()));
    let first = Position(21);
    assert_eq!(log.read(Position(20), 8), ReadOutcome::Trimmed { first });
    assert_eq!(batches(&log, 21, 8), [0; 0]);
    assert_eq!(log.end(), Ok(head(20)));
}

#[test]
fn a_leadership_ends_with_its_lease() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &[]);
    let log = log_of(&etcd);
    let lease = log.grant(1000).expect("a lease");
    let state = |node, applied| NodeState {
        node: NodeId(node),
        version: 1,
        applied: Position(applied),
        durable: Position(1),
        clock_us: 1 << 60,
    };
    let Ok(Leadership::Leading(epoch)) = log.lead(lease, NodeId(1)) else {
        panic!("a first node leads");
    };
    assert_eq!(log.publish(lease, &state(1, 7)), Ok(()));
    let second = log.grant(60_000).expect("a lease");
    assert_eq!(log.publish(second, &state(12, 8)), Ok(()));
    assert_eq!(log.publish(second, &state(12, 9)), Ok(()));
    assert!(log.nodes().expect("states").contains(&state(12, 9)));
    assert_eq!(log.renew(second), Ok(true));
    // Nobody renews the first lease.
    while let Ok(Leadership::Following(..)) = log.lead(second, NodeId(12)) {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(log.renew(lease), Ok(false));
    assert_eq!(log.nodes(), Ok(vec![state(12, 9)]));
    assert!(matches!(append(&log, epoch, 1), AppendOutcome::Refused(_)));
    assert!(log.publish(lease, &state(1, 7)).is_err());
    assert!(
        log.lead(lease, NodeId(1))
            .is_ok_and(|now| matches!(now, Leadership::Following(NodeId(12), _)))
    );
}

#[test]
fn a_follower_reads_large_batches() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &[]);
    let log = log_of(&etcd);
    let (_, epoch) = lead(&log, 1);
    let batch = vec![b'x'; fulgurite_cluster::BATCH_BYTES_MAX];
    for position in 1..=8 {
        let outcome = log.append(epoch, &head(position - 1), &head(position), &batch);
        assert_eq!(outcome, AppendOutcome::Appended);
    }
    let ReadOutcome::Batches(batches) = log.read(Position(1), 8) else {
        panic!("eight megabytes at once");
    };
    assert!(batches.len() == 8 && batches.iter().all(|(_, bytes)| *bytes == batch));
}

/// Returns the batches of a read.
fn read(log: &EtcdLog, from: u64) -> Vec<(Position, Vec<u8>)> {
    match log.read(Position(from), 8) {
        ReadOutcome::Batches(batches) => batches,
        other => panic!("no batches: {other:?}"),
    }
}

#[test]
fn a_long_batch_is_appended_in_parts_and_read_as_one() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &[]);
    let log = log_of(&etcd);
    let (_, epoch) = lead(&log, 1);
    let long: Vec<u8> = (0..5_000_000_u32).map(|at| (at % 251) as u8).collect();
    let append = |epoch, position, batch: &[u8]| {
        log.append(epoch, &head(position - 1), &head(position), batch)
    };
    assert_eq!(append(epoch, 1, b"short"), AppendOutcome::Appended);
    assert_eq!(append(epoch, 2, &long), AppendOutcome::Appended);
    assert_eq!(append(epoch, 3, b"after"), AppendOutcome::Appended);
    assert_eq!(log.end(), Ok(head(3)));
    let expected = vec![
        (Position(1), b"short".to_vec()),
        (Position(2), long.clone()),
    ];
    assert!(read(&log, 1) == expected);
    assert_eq!(read(&log, 3), [(Position(3), b"after".to_vec())]);
    // The second try of an append finds its own batch, and another batch is another one.
    let AppendOutcome::Refused(refusal) = append(epoch, 2, &long) else {
        panic!("taken twice");
    };
    assert!(refusal.present.as_deref() == Some(&long));
    let mut other = long.clone();
    other[4_000_000] ^= 1;
    let AppendOutcome::Refused(refusal) = append(epoch, 2, &other) else {
        panic!("taken twice");
    };
    assert!(refusal.present.is_some_and(|present| present != other));
    // Nobody writes parts for an ended leadership, so these stay without a list.
    let late = Epoch(epoch.0 + 1);
    assert!(matches!(append(late, 4, &long), AppendOutcome::Refused(_)));
    // A trim takes the parts, also those without a list.
    let bytes = || log.spaces().expect("etcd answers")[0].1.bytes_in_use;
    assert_eq!(log.trim(epoch, Position(2)), Ok(()));
    log.reclaim().expect("room");
    assert!(bytes() < 1_000_000, "{} bytes are left", bytes());
    let trimmed = ReadOutcome::Trimmed { first: Position(3) };
    assert_eq!(log.read(Position(2), 8), trimmed);
}
