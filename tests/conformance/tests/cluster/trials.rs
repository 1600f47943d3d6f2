//! The work of administrators on a cluster: restarts, backups, and the loss of all but one part.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fulgurite_client::{Client, Control, ResultCode, Scope, SearchRequest};
use fulgurite_conformance::{fulgurite, path};
use fulgurite_ldap::{FilterBuf, oid};
use fulgurite_testkit::{Etcd, has_etcd};
use tempfile::TempDir;

use crate::life::{add_patiently, names};
use crate::nodes::{Node, root_client, three, wait, well};
use crate::seen::value;
use crate::writers::{Told, check, counter, write};

/// The reads of a client.
#[derive(Debug, Default)]
struct Reads {
    answered: usize,
    /// The times that its server went away, so that it asked another one.
    moved: usize,
    failed: Vec<String>,
}

#[test]
fn a_cluster_outlives_restarts_and_the_loss_of_etcd_and_of_all_machines() {
    if !has_etcd() {
        return;
    }
    let etcd = Etcd::plain(3, &[]);
    let mut nodes = three(&etcd);
    for number in 0..9 {
        add_patiently(&nodes[0], &format!("counter-{number}"));
    }
    no_read_fails_while_nodes_restart(&mut nodes);
    let backups = TempDir::new().expect("a folder");
    let saved = back_up_while_clients_write(&nodes, &backups);
    let etcd = begin_anew_without_etcd(etcd, &mut nodes);
    // All machines are lost, and etcd too.
    drop((nodes, etcd));
    restore(&backups, &saved);
}

/// Restarts one node after another, while clients write and read.
fn no_read_fails_while_nodes_restart(nodes: &mut [Node; 3]) {
    let addresses = nodes.each_ref().map(Node::url);
    let (told, reads) = while_clients_write(addresses, 0, || {
        for node in &mut *nodes {
            drop(node.server.take().expect("it runs").stop());
            node.start();
            node.wait_ready();
            std::thread::sleep(Duration::from_secs(1));
        }
    });
    for (number, reads) in reads.iter().enumerate() {
        assert!(reads.failed.is_empty(), "reader {number}: {reads:?}");
        assert!(reads.answered > 100, "reader {number}: {reads:?}");
    }
    let moved: usize = reads.iter().map(|reads| reads.moved).sum();
    assert!(moved >= 3, "each node had a reader: {reads:?}");
    let answered: usize = reads.iter().map(|reads| reads.answered).sum();
    println!("rolling restart: {answered} reads answered, {moved} times by another node, 0 failed");
    hold(&told, 0, nodes);
}

/// Copies a node while clients write. Returns all that was acknowledged before.
fn back_up_while_clients_write(nodes: &[Node; 3], backups: &TempDir) -> Vec<String> {
    let addresses = nodes.each_ref().map(Node::url);
    let mut saved = Vec::new();
    let (told, _) = while_clients_write(addresses, 3, || {
        add_patiently(&nodes[1], "before-the-backup");
        saved = names(&nodes[1]).into_keys().collect();
        let mut command = fulgurite();
        command.args(["backup", "now", "--config", path(&nodes[1].config())]);
        well(command.args(["--to", path(backups.path())]));
        add_patiently(&nodes[1], "after-the-backup");
    });
    hold(&told, 3, nodes);
    saved
}

/// Loses the data of etcd for good while clients write. The cluster goes on with a new one.
fn begin_anew_without_etcd(lost: Etcd, nodes: &mut [Node; 3]) -> Etcd {
    let addresses = nodes.each_ref().map(Node::url);
    let (told, _) = while_clients_write(addresses, 6, || {
        std::thread::sleep(Duration::from_secs(1));
        drop(lost);
        std::thread::sleep(Duration::from_secs(2));
    });
    let position = |node: &Node| value(&node.page("/metrics"), "position") as u64;
    let positions = nodes.each_ref().map(position);
    let newest = (0..3).max_by_key(|number| positions[*number]);
    let newest = newest.expect("there are nodes");
    // Only the first node has the key of the authority. Here it is lost in any case.
    let key = nodes[0].config().with_file_name("cluster/ca-key.pem");
    std::fs::remove_file(key).expect("the key was there");
    for node in &mut *nodes {
        drop(node.server.take().expect("it runs").stop());
    }
    let etcd = Etcd::plain(3, &[]);
    nodes[newest].init(&etcd, &["--from-this-node"]);
    nodes[newest].start();
    nodes[newest].wait_ready();
    for number in (0..3).filter(|number| *number != newest) {
        std::fs::remove_dir_all(nodes[number].data()).expect("moved away");
        let token = nodes[newest].token();
        well(&mut nodes[number].join(&token));
        nodes[number].start();
        nodes[number].wait_ready();
    }
    println!("positions without etcd: {positions:?}");
    hold(&told, 6, nodes);
    etcd
}

/// Makes a cluster of a backup on new machines.
fn restore(backups: &TempDir, saved: &[String]) {
    let etcd = Etcd::plain(3, &[]);
    let mut nodes = [(); 3].map(|()| Node::new());
    nodes.iter().for_each(Node::configure);
    let mut command = fulgurite();
    command.args(["restore", path(backups.path()), "--to"]);
    well(command.arg(nodes[0].data()));
    nodes[0].init(&etcd, &[]);
    nodes[0].start();
    for number in 1..3 {
        let token = nodes[0].token();
        well(&mut nodes[number].join(&token));
        nodes[number].start();
    }
    nodes.iter().for_each(Node::wait_ready);
    for (number, node) in nodes.iter().enumerate() {
        add_patiently(node, &format!("restored-{number}"));
    }
    wait_equal(&nodes);
    let held = names(&nodes[2]);
    let missing: Vec<_> = saved
        .iter()
        .filter(|uid| !held.contains_key(*uid))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    // The changes after the backup are lost with the machines.
    assert!(!held.contains_key("after-the-backup"), "{held:?}");
    println!(
        "restored: {} entries of the backup at three nodes",
        saved.len()
    );
}

/// Waits until all nodes are equal, and holds the answers of clients to them.
fn hold(told: &[Told], first: usize, nodes: &[Node; 3]) {
    for (number, node) in nodes.iter().enumerate() {
        add_patiently(node, &format!("last-{first}-{number}"));
    }
    wait_equal(nodes);
    for (told, number) in told.iter().zip(first..) {
        assert!(
            !told.done.is_empty(),
            "client {number} was not served: {told:?}"
        );
        check(number, told, &names(&nodes[2]));
    }
    let sum = |of: fn(&Told) -> usize| told.iter().map(of).sum::<usize>();
    println!(
        "{} added, {} counted, {} refused, {} unknown: nothing lost, all equal",
        sum(|told| told.done.len()),
        sum(|told| told.counted as usize),
        sum(|told| told.refused.len()),
        sum(|told| told.unknown.len() + told.perhaps_counted as usize),
    );
}

fn wait_equal(nodes: &[Node; 3]) {
    wait("all nodes are equal", || {
        nodes[0].content() == nodes[1].content() && nodes[1].content() == nodes[2].content()
    });
}

/// Lets a client write and one read at each node, while something happens. The counters of the
/// clients begin with number `first`.
fn while_clients_write(
    addresses: [SocketAddr; 3],
    first: usize,
    happens: impl FnOnce(),
) -> (Vec<Told>, Vec<Reads>) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let is_over = &is_over;
        let writers = addresses.iter().zip(first..);
        let writers =
            writers.map(|(address, number)| scope.spawn(move || write(number, *address, is_over)));
        let writers: Vec<_> = writers.collect();
        let readers = (0..3).map(|number| {
            let dn = counter(first + number);
            scope.spawn(move || read_on(&dn, &addresses, number, is_over))
        });
        let readers: Vec<_> = readers.collect();
        // A panic must not leave the clients at work.
        let happened = std::panic::catch_unwind(std::panic::AssertUnwindSafe(happens));
        is_over.store(true, Ordering::Relaxed);
        let told = writers.into_iter().map(|writer| writer.join());
        let told: Result<Vec<_>, _> = told.collect();
        let reads = readers.into_iter().map(|reader| reader.join());
        let reads: Result<Vec<_>, _> = reads.collect();
        if let Err(panic) = happened {
            std::panic::resume_unwind(panic);
        }
        (
            told.expect("no writer fails"),
            reads.expect("no reader fails"),
        )
    })
}

/// Reads a counter until the end. A client whose server goes away asks the next one, as clients
/// with several addresses do.
fn read_on(dn: &str, addresses: &[SocketAddr; 3], first: usize, is_over: &AtomicBool) -> Reads {
    let mut reads = Reads::default();
    let (mut at, mut client, mut newest) = (first, None, 0_u64);
    for number in 0_u64.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        // Each second read is linearizable.
        let control = [Control::new(oid::LINEARIZABLE_READ, true)];
        let is_linearizable = number % 2 == 0;
        let controls = if is_linearizable { &control[..] } else { &[] };
        let mut tries = 0;
        let found = loop {
            if let Some(found) = try_read(&mut client, addresses[at], dn, controls) {
                break found;
            }
            (client, at) = (None, (at + 1) % 3);
            (reads.moved, tries) = (reads.moved + 1, tries + 1);
            if tries == 3 {
                break Err("no node answers".to_owned());
            }
        };
        match found {
            Ok(value) if !is_linearizable || value >= newest => {
                reads.answered += 1;
                newest = newest.max(value);
            }
            Ok(value) => reads.failed.push(format!("{value} after {newest}")),
            Err(text) => reads.failed.push(text),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    reads
}

/// Reads a counter once; `None` if the server goes away.
fn try_read(
    client: &mut Option<Client>,
    address: SocketAddr,
    dn: &str,
    controls: &[Control<'_>],
) -> Option<Result<u64, String>> {
    if client.is_none() {
        *client = root_client(address);
    }
    let filter = FilterBuf::parse("(objectClass=*)").expect("a filter");
    let request = SearchRequest::new(dn, Scope::Base, filter.filter());
    let found = client.as_mut()?.search_with(&request, controls).ok()?;
    if found.result.code != ResultCode::Success {
        return Some(Err(format!("{:?}", found.result)));
    }
    let number = found
        .entries
        .first()
        .and_then(|entry| entry.first("uidNumber"));
    let number = number.and_then(|text| text.parse().ok());
    Some(number.ok_or_else(|| format!("no entry {dn}")))
}
