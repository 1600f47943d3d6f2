//! Many searches that wait for changes, one of which never reads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::ensure;
use fulgurite_client::{Client, Control, Request, Scope, SearchRequest};
use fulgurite_ldap::control::{SyncMode, SyncRequest};
use fulgurite_ldap::{FilterBuf, oid};
use rustix::process::{Resource, getrlimit, setrlimit};

use super::changes::modify;
use super::node::{Node, SUFFIX};

/// Different filters among the searches.
const FILTERS: [&str; 5] = [
    "(objectClass=*)",
    "(objectClass=inetOrgPerson)",
    "(uid=*)",
    "(!(ou=*))",
    "(sn=*)",
];

/// Memory of the provider in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub(super) before: u64,
    /// With all searches, before the changes.
    pub(super) waiting: u64,
    /// At most, while the changes were sent.
    pub(super) most: u64,
}

/// Lets searches wait at a provider, and changes entries.
pub(super) fn memory(
    provider: &Node,
    (searches, people, changes): (usize, u64, u64),
) -> anyhow::Result<Memory> {
    raise_limit();
    let before = provider.memory()?;
    let mut client = provider.connect()?;
    let state = Node::state(&mut client)?;
    let csns: Vec<String> = state
        .iter()
        .map(|csn| String::from_utf8_lossy(csn).into_owned())
        .collect();
    let cookie = format!("rid=001,csn={}", csns.join(";"));
    let mut waiting = Vec::new();
    for number in 0..searches {
        waiting.push(wait(provider, FILTERS[number % FILTERS.len()], &cookie)?);
    }
    thread::sleep(Duration::from_secs(1));
    let with_searches = provider.memory()?;
    // The first one never reads.
    let readers = waiting.split_off(1);
    let is_over = AtomicBool::new(false);
    let most = thread::scope(|scope| {
        let parts = 4;
        let mut readers = readers;
        for _ in 0..parts {
            let part = readers.split_off(readers.len() - readers.len() / parts);
            let is_over = &is_over;
            scope.spawn(move || drain(part, is_over));
        }
        let rest = readers;
        let over = &is_over;
        scope.spawn(move || drain(rest, over));
        let watching = scope.spawn(|| watch(provider, over));
        let changed = modify(provider, people, changes);
        thread::sleep(Duration::from_secs(2));
        is_over.store(true, Ordering::Relaxed);
        let most = match watching.join() {
            Ok(most) => most,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        changed.and(most)
    })?;
    Ok(Memory {
        before,
        waiting: with_searches,
        most,
    })
}

fn wait(provider: &Node, filter: &str, cookie: &str) -> anyhow::Result<Client> {
    let mut client = provider.connect()?;
    let request = SyncRequest {
        mode: SyncMode::RefreshAndPersist,
        cookie: Some(cookie.as_bytes()),
        reload_hint: true,
    };
    let value = request.encode();
    let filter = FilterBuf::parse(filter)?;
    let search = SearchRequest::new(SUFFIX, Scope::Subtree, filter.filter());
    let control = Control::with_value(oid::SYNC_REQUEST, true, &value);
    client.send(&Request::Search(search), &[control])?;
    // The end of the refresh: nothing has changed.
    client.receive()?;
    client.set_read_timeout(Some(Duration::from_millis(1)))?;
    Ok(client)
}

/// Reads what comes until it is over.
fn drain(mut clients: Vec<Client>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        for client in &mut clients {
            while client.receive().is_ok() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    }
}

/// Returns the most memory that the provider has had.
fn watch(provider: &Node, is_over: &AtomicBool) -> anyhow::Result<u64> {
    let mut most = 0;
    while !is_over.load(Ordering::Relaxed) {
        most = most.max(provider.memory()?);
        thread::sleep(Duration::from_millis(100));
    }
    Ok(most)
}

/// Allows as many open files as the system does.
fn raise_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // With fewer the searches fail, and the error says so.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Returns durable changes per second of a server.
pub(super) fn rate(server: &Node, people: u64, changes: u64) -> anyhow::Result<f64> {
    ensure!(changes > 0, "there is something to change");
    let begun = Instant::now();
    modify(server, people, changes)?;
    Ok(changes as f64 / begun.elapsed().as_secs_f64())
}
