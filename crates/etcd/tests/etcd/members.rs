//! The nodes of a cluster, and the tokens of those that may join.

use fulgurite_cluster::NodeId;
use fulgurite_etcd::{Member, SettingsParts};
use fulgurite_testkit::{Etcd, Wire, has_etcd};

use crate::{log_of, settings_of};

fn member(node: u64) -> Member {
    Member {
        node: NodeId(node),
        address: format!("node-{node}:7390"),
    }
}

#[test]
fn a_token_lets_one_node_join_and_no_number_comes_back() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &[]);
    let log = log_of(&etcd);
    assert_eq!(log.put_member(&member(1)), Ok(()));
    assert_eq!(log.reserve_number("two", 3600), Ok(NodeId(2)));
    assert_eq!(log.reserve_number("three", 3600), Ok(NodeId(3)));
    // A secret of another token, a token that is not there, and a number that is taken.
    assert_eq!(log.join(&member(2), "three"), Ok(false));
    assert_eq!(log.join(&member(4), "two"), Ok(false));
    assert_eq!(log.join(&member(1), "two"), Ok(false));
    assert_eq!(log.join(&member(3), "three"), Ok(true));
    assert_eq!(log.join(&member(3), "three"), Ok(false));
    assert_eq!(log.members(), Ok(vec![member(1), member(3)]));
    let parts = |digest: &str| SettingsParts::from([("schema".to_owned(), digest.to_owned())]);
    assert_eq!(log.put_settings(NodeId(3), &parts("a")), Ok(()));
    assert_eq!(log.put_settings(NodeId(1), &parts("a")), Ok(()));
    assert_eq!(log.put_settings(NodeId(1), &parts("b")), Ok(()));
    let settings = vec![(NodeId(1), parts("b")), (NodeId(3), parts("a"))];
    assert_eq!(log.settings(), Ok(settings));
    // The certificate of node 3 may be anywhere.
    assert_eq!(log.remove_member(NodeId(3)), Ok(true));
    assert_eq!(log.remove_member(NodeId(3)), Ok(false));
    assert_eq!(log.reserve_number("four", 3600), Ok(NodeId(4)));
    assert_eq!(log.members(), Ok(vec![member(1)]));
    assert_eq!(log.settings(), Ok(vec![(NodeId(1), parts("b"))]));
}

#[test]
fn a_lost_answer_uses_a_token_once() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &[]);
    let plain = log_of(&etcd);
    assert_eq!(plain.reserve_number("one", 3600), Ok(NodeId(1)));
    let wire = Wire::new(&etcd.urls[0]);
    let mut settings = settings_of(&etcd);
    settings.members = vec![wire.url.clone(), etcd.urls[0].clone()];
    let log = fulgurite_etcd::EtcdLog::new(&settings).expect("settings");
    assert_eq!(log.members(), Ok(vec![]));
    wire.cut_answers(true);
    assert_eq!(log.join(&member(1), "one"), Ok(true));
    assert_eq!(plain.members(), Ok(vec![member(1)]));
}
