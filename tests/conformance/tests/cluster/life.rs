//! The life of a cluster.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fulgurite_client::{Change, Control, ResultCode, Scope};
use fulgurite_conformance::{SUFFIX, failure};
use fulgurite_ldap::oid;
use fulgurite_testkit::{Etcd, Random, has_etcd};
use rustix::process::Signal;

use crate::nodes::{Node, root_client, three, wait, well};
use crate::reads::{read, reads_see_what_they_ask_for};
use crate::seen::{a_certificate_near_its_end_is_told, every_node_has_all_figures};
use crate::writers::{Told, add_person, check, write};

/// Returns the names of a node's people, with their numbers.
pub(crate) fn names(node: &Node) -> BTreeMap<String, u64> {
    let mut client = node.server().root_client();
    let found = client.search(SUFFIX, Scope::One, "(uid=*)", &["uid", "uidNumber"]);
    let entries = found.expect("a search").entries.into_iter();
    let value = |entry: &fulgurite_client::Entry, name| entry.first(name).expect("a value");
    entries
        .map(|entry| {
            let number = value(&entry, "uidNumber").parse().expect("a number");
            (value(&entry, "uid"), number)
        })
        .collect()
}

/// Waits until an update through a node is done.
pub(crate) fn add_patiently(node: &Node, uid: &str) {
    wait("an update", || {
        let client = root_client(node.url());
        let code = client.and_then(|mut client| add_person(&mut client, uid));
        matches!(
            code,
            Some(ResultCode::Success | ResultCode::EntryAlreadyExists)
        )
    });
}

#[test]
fn three_commands_make_a_cluster_and_every_node_takes_updates() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &[]);
    let mut nodes = three(&etcd);
    for (number, node) in nodes.iter().enumerate() {
        let uid = format!("u{number}");
        add_patiently(node, &uid);
        // A client reads at its node what it has written there.
        assert!(names(node).contains_key(&uid));
    }
    reads_see_what_they_ask_for(&nodes);
    long_values_go_to_all_nodes(&nodes);
    // Refusals are those of the sequencer, in its words.
    let mut client = nodes[2].server().root_client();
    assert_eq!(
        add_person(&mut client, "u0"),
        Some(ResultCode::EntryAlreadyExists)
    );
    // A password modify and a bind at another node.
    let dn = format!("uid=u1,{SUFFIX}");
    let password = [Change::replace("userPassword", &[b"hello"])];
    let result = client.modify(&dn, &password).expect("an answer");
    assert_eq!(result.code, ResultCode::Success, "{result:?}");
    wait("the password is at node 1", || {
        let mut client = nodes[0].server().client();
        client.bind(&dn, b"hello").expect("an answer").is_success()
    });
    wait("all nodes are equal", || {
        nodes[0].content() == nodes[1].content() && nodes[1].content() == nodes[2].content()
    });
    // States are a second old.
    wait("the status is sound", || {
        let output = nodes[0].status().arg("--json").output().expect("it runs");
        output.status.success()
    });
    every_node_has_all_figures(&nodes);
    // A token works once, and a node that is alive is not forgotten.
    renew_certificates(&mut nodes);
    let mut spare = Node::new();
    spare.configure();
    spare.add_setting("server_id = [\"3\"]");
    let token = nodes[0].token();
    let output = spare.join(&token).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    // The nodes have the same settings, but for this one.
    let differing = said.matches("differ in the server's number").count();
    assert_eq!(
        (differing, said.matches("differ in").count()),
        (3, 3),
        "{said}"
    );
    // An init container runs the command before each start.
    well(spare.join(&token).arg("--once"));
    let again = Node::new();
    again.configure();
    let output = again.join(&token).output().expect("it runs");
    let (code, text) = failure(&output);
    assert_eq!(code, 2);
    assert!(text.contains("the token is used"), "{text}");
    let output = nodes[0].forget(2).output().expect("it runs");
    assert!(failure(&output).1.contains("is alive"));
    // The status names a node that does not run, until it has left.
    let output = nodes[0].status().output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    well(&mut spare.leave());
    well(&mut nodes[0].status());
    // It serves alone with what it has got: a copy that may be a minute old.
    spare.start();
    let mut client = spare.server().root_client();
    assert_eq!(add_person(&mut client, "alone"), Some(ResultCode::Success));
}

/// A value of two megabytes, which is a batch in three parts.
fn long_values_go_to_all_nodes(nodes: &[Node; 3]) {
    let dn = format!("uid=u0,{SUFFIX}");
    let photo: Vec<u8> = (0..2_u32 << 20).map(|at| (at % 251) as u8).collect();
    let mut client = nodes[1].server().root_client();
    wait(
        "the nodes know that all of them read the newest format",
        || {
            let values = [photo.as_slice()];
            let change = [Change::replace("jpegPhoto", &values)];
            let result = client.modify(&dn, &change).expect("an answer");
            result.code == ResultCode::Success
        },
    );
    for node in nodes {
        let mut client = node.server().root_client();
        wait("the value is at each node", || {
            let found = client.search(&dn, Scope::Base, "(uid=*)", &["jpegPhoto"]);
            let found = found.expect("a search");
            found.entries[0].values("jpegPhoto").iter().eq([&photo])
        });
    }
}

/// Two nodes take new certificates, and go on with them.
fn renew_certificates(nodes: &mut [Node; 3]) {
    let output = nodes[0].renew(Some(&nodes[0].renewal(2))).output();
    let (code, text) = failure(&output.expect("it runs"));
    assert!(code == 2 && text.contains("for node 2"), "{code} {text}");
    let before = nodes.each_ref().map(Node::certificate);
    well(&mut nodes[0].renew(None));
    well(&mut nodes[1].renew(Some(&nodes[0].renewal(2))));
    let after = nodes.each_ref().map(Node::certificate);
    assert!(before[0] != after[0] && before[1] != after[1] && before[2] == after[2]);
    for node in &mut nodes[..2] {
        drop(node.server.take().expect("it runs").stop());
        node.start();
        node.wait_ready();
    }
    let [first, .., third] = &mut *nodes;
    a_certificate_near_its_end_is_told(first, third);
    well(&mut third.renew(Some(&first.renewal(3))));
    drop(third.server.take().expect("it runs").stop());
    third.start();
    third.wait_ready();
    for (number, node) in nodes.iter().enumerate() {
        add_patiently(node, &format!("renewed-{number}"));
    }
}

#[test]
fn nothing_acknowledged_is_lost_while_nodes_are_killed_and_stopped() {
    if !has_etcd() {
        return;
    }
    let mut etcd = Etcd::plain(3, &[]);
    let mut nodes = three(&etcd);
    for number in 0..nodes.len() {
        add_patiently(&nodes[0], &format!("counter-{number}"));
    }
    let long = std::env::var_os("FULGURITE_TEST_LONG").is_some();
    let rounds = if long { 10 } else { 1 };
    let pause = Duration::from_secs(if long { 10 } else { 2 });
    let is_over = AtomicBool::new(false);
    let addresses = nodes.each_ref().map(Node::url);
    let told: Vec<Told> = std::thread::scope(|scope| {
        let is_over = &is_over;
        let writers = addresses.iter().enumerate();
        let writers =
            writers.map(|(number, address)| scope.spawn(move || write(number, *address, is_over)));
        let writers: Vec<_> = writers.collect();
        for _ in 0..rounds {
            for node in &mut nodes {
                std::thread::sleep(pause);
                node.kill();
            }
            for node in &nodes {
                node.server().signal(Signal::STOP);
                // Longer than a lease, so another node leads meanwhile.
                std::thread::sleep(Duration::from_secs(8));
                node.server().signal(Signal::CONT);
                std::thread::sleep(pause);
            }
            etcd.restart(0);
            std::thread::sleep(pause);
        }
        is_over.store(true, Ordering::Relaxed);
        let told = writers.into_iter().map(|writer| writer.join());
        told.collect::<Result<_, _>>().expect("no writer fails")
    });
    for (number, node) in nodes.iter().enumerate() {
        add_patiently(node, &format!("last-{number}"));
    }
    wait("all nodes are equal", || {
        nodes[0].content() == nodes[1].content() && nodes[1].content() == nodes[2].content()
    });
    for (number, told) in told.iter().enumerate() {
        assert!(
            !told.done.is_empty() && told.counted > 0,
            "node {number}: {told:?}"
        );
        check(number, told, &names(&nodes[2]));
    }
    let [done, refused, unknown] = [
        told.iter().map(|told| told.done.len()).sum::<usize>(),
        told.iter().map(|told| told.refused.len()).sum(),
        told.iter().map(|told| told.unknown.len()).sum(),
    ];
    println!("{done} done, {refused} refused, {unknown} unknown");
    for node in &mut nodes {
        drop(node.server.take().expect("it runs").stop());
    }
}

#[test]
fn a_full_etcd_gets_room_and_updates_go_on() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(1, &["--quota-backend-bytes", "16777216"]);
    let mut node = Node::new();
    node.configure();
    node.init(&etcd, &[]);
    node.start();
    node.wait_ready();
    add_patiently(&node, "first");
    let mut client = node.server().root_client();
    let dn = format!("uid=first,{SUFFIX}");
    let mut describe = |number: u32| {
        // Random, so that nothing makes it shorter.
        let mut random = Random::new(number.into());
        let text: String = (0..150_000)
            .map(|_| char::from(b'a' + random.below(26) as u8))
            .collect();
        let text = [text.as_bytes()];
        let change = [Change::replace("description", &text)];
        client.modify(&dn, &change).expect("an answer").code
    };
    let is_refused = |code| matches!(code, ResultCode::Busy | ResultCode::Unavailable);
    let full = (0..400).find(|number| is_refused(describe(*number)));
    let full = full.expect("etcd is full");
    wait("etcd has room again", || {
        describe(full) == ResultCode::Success
    });
    for number in 0..20 {
        wait("an update", || describe(number) == ResultCode::Success);
    }
}

#[test]
fn a_cluster_begins_anew_after_its_etcd_is_lost() {
    if !has_etcd() {
        return;
    }
    let lost = Etcd::plain(1, &[]);
    let mut nodes = [(); 2].map(|()| Node::new());
    nodes.iter().for_each(Node::configure);
    // A single server becomes the first node, with what it holds.
    nodes[0].start();
    add_patiently(&nodes[0], "before");
    drop(nodes[0].server.take().expect("it runs").stop());
    nodes[0].init(&lost, &[]);
    nodes[0].start();
    nodes[0].wait_ready();
    add_patiently(&nodes[0], "first");
    drop(lost);
    // Without etcd, reads go on, and updates are not acknowledged.
    let mut client = nodes[0].server().root_client();
    assert!(names(&nodes[0]).contains_key("before"));
    let linearizable = [Control::new(oid::LINEARIZABLE_READ, true)];
    let found = read(&mut client, &linearizable);
    assert_eq!(found.result.code, ResultCode::Unavailable, "{found:?}");
    let code = add_person(&mut client, "lost");
    assert!(
        matches!(code, Some(ResultCode::Busy | ResultCode::Unavailable)),
        "{code:?}"
    );
    drop(nodes[0].server.take().expect("it runs").stop());
    let etcd = Etcd::plain(1, &[]);
    nodes[0].init(&etcd, &["--from-this-node"]);
    nodes[0].start();
    nodes[0].wait_ready();
    add_patiently(&nodes[0], "anew");
    let token = nodes[0].token();
    well(&mut nodes[1].join(&token));
    nodes[1].start();
    nodes[1].wait_ready();
    add_patiently(&nodes[1], "joined");
    wait("both are equal", || {
        nodes[0].content() == nodes[1].content()
    });
    let held = names(&nodes[1]);
    for uid in ["before", "first", "anew", "joined"] {
        assert!(held.contains_key(uid), "{uid}: {held:?}");
    }
}
