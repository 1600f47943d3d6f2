//! The facts of a cluster, and its state.

use fulgurite_cluster::{AppendOutcome, ChangeLog as _, Head, NodeId, NodeState, Position};
use fulgurite_etcd::{ClusterMeta, Creation, EtcdError, EtcdLog, Overview};
use fulgurite_testkit::{Etcd, Wire, has_etcd};

use crate::{append, head, lead, log_of, settings_of};

#[test]
fn a_cluster_is_made_once_and_tells_its_state() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &[]);
    let log = log_of(&etcd);
    let nothing = Overview {
        meta: None,
        leader: None,
        epoch: None,
        head: Head::default(),
        first: None,
        nodes: vec![],
    };
    assert_eq!(log.overview(), Ok(nothing.clone()));
    let meta = ClusterMeta::new("dc=example,dc=com");
    assert_eq!(log.create(&meta), Ok(Creation::Created));
    let other = ClusterMeta::new("dc=other");
    let present = Creation::Present(meta.clone());
    assert_eq!(log.create(&other), Ok(present.clone()));
    assert_eq!(log.create(&meta), Ok(present));
    let (lease, epoch) = lead(&log, 4);
    for position in 1..=3 {
        assert_eq!(append(&log, epoch, position), AppendOutcome::Appended);
    }
    assert_eq!(log.trim(epoch, Position(1)), Ok(()));
    let state = NodeState {
        node: NodeId(4),
        version: 1,
        applied: Position(3),
        durable: Position(2),
        clock_us: 5,
    };
    assert_eq!(log.publish(lease, &state), Ok(()));
    let expected = Overview {
        meta: Some(meta),
        leader: Some(NodeId(4)),
        epoch: Some(epoch),
        head: head(3),
        first: Some(Position(2)),
        nodes: vec![state],
    };
    assert_eq!(log.overview(), Ok(expected));
    // Another cluster of the same etcd.
    let mut settings = settings_of(&etcd);
    settings.cluster = "test2".to_owned();
    let log = EtcdLog::new(&settings).expect("settings");
    assert_eq!(log.overview(), Ok(nothing));
}

#[test]
fn a_lost_answer_makes_no_second_cluster() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &[]);
    let wire = Wire::new(&etcd.urls[0]);
    let mut settings = settings_of(&etcd);
    settings.members = vec![wire.url.clone(), etcd.urls[0].clone()];
    let log = EtcdLog::new(&settings).expect("settings");
    assert!(log.overview().is_ok());
    wire.cut_answers(true);
    let meta = ClusterMeta::new("dc=example,dc=com");
    assert_eq!(log.create(&meta), Ok(Creation::Created));
    settings.members.truncate(1);
    settings.call_ms = 100;
    let log = EtcdLog::new(&settings).expect("settings");
    assert!(matches!(log.overview(), Err(EtcdError::Silence(_))));
}
