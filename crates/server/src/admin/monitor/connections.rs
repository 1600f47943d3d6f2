//! Connections and waiters.

use std::sync::atomic::Ordering;

use fulgurite_directory::{EndPoint, TreeEntry};
use fulgurite_ldap::Operation;

use super::figures::{Monitor, generalized};
use crate::statistics::{ConnectionCounters, RunningOperation, lock, operation_name};

const ABOVE: &str = "cn=Connections,cn=Monitor";

impl Monitor {
    pub(super) fn connections(&self, out: &mut Vec<TreeEntry>) {
        let connections = self.statistics.connections();
        let facts = self.statistics.facts();
        let (total, current) = (
            self.statistics.connections_total(),
            connections.len() as u64,
        );
        out.push(self.counter("Max File Descriptors", ABOVE, facts.connections_max));
        out.push(self.counter("Total", ABOVE, total));
        out.push(self.counter("Current", ABOVE, current));
        for (id, figures) in connections {
            let entry = self.connection(id, &figures);
            let above = entry.dn.clone();
            out.push(entry);
            let operations = figures.operations.list().into_iter();
            out.extend(operations.map(|operation| self.operation(&operation, &above)));
        }
    }

    /// Returns the entry of an operation, below that of its connection.
    fn operation(&self, running: &RunningOperation, above: &str) -> TreeEntry {
        let name = format!("Operation {}", running.id);
        let since = generalized(self.statistics.seconds_at(running.since));
        let facts = [
            format!("kind: {}", operation_name(running.operation)),
            format!("state: {}", running.stage.text()),
            format!("since: {since}"),
        ];
        let of_search = || {
            [
                format!("filter: {}", running.about),
                format!("looked at: {}", running.candidates),
                format!("returned: {}", running.entries),
            ]
        };
        let search = (running.operation == Operation::Search).then(of_search);
        let facts = facts.into_iter().chain(search.into_iter().flatten());
        self.entry("monitoredObject", &name, above)
            .with("monitoredInfo", facts)
    }

    fn connection(&self, id: u64, figures: &ConnectionCounters) -> TreeEntry {
        let (about, identity) = lock(&figures.about).clone();
        let number = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
        let (executing, pending) = (number(&figures.executing), number(&figures.pending));
        let waits = figures.waits_to_write.load(Ordering::Relaxed) != 0;
        let mut mask = "r".to_owned();
        for (letter, set) in [('w', waits), ('x', executing > 0), ('p', pending > 0)] {
            mask.extend(set.then_some(letter));
        }
        let domain = match (&about.domain, &about.peer) {
            (Some(domain), _) => domain.as_str(),
            (None, EndPoint::Path(_)) => "local",
            (None, _) => "unknown",
        };
        let started = generalized(figures.started_s);
        let active = generalized(self.statistics.seconds_at(number(&figures.active)));
        let counts = [
            ("monitorConnectionNumber", id),
            (
                "monitorConnectionProtocol",
                figures.version.load(Ordering::Relaxed).into(),
            ),
            ("monitorConnectionOpsReceived", figures.received.get()),
            ("monitorConnectionOpsExecuting", executing),
            ("monitorConnectionOpsPending", pending),
            ("monitorConnectionOpsCompleted", figures.completed.get()),
            ("monitorConnectionOpsAsync", 0),
            ("monitorConnectionGet", figures.received.get()),
            ("monitorConnectionRead", figures.reads.get()),
            ("monitorConnectionWrite", figures.write_waits.get()),
        ];
        let name = format!("Connection {id}");
        let mut entry = self.entry("monitorConnection", &name, ABOVE);
        for (name, values) in &mut entry.attributes {
            match name.as_str() {
                "createTimestamp" => *values = vec![started.clone().into()],
                "modifyTimestamp" => *values = vec![active.clone().into()],
                _ => {}
            }
        }
        let mut entry = counts.into_iter().fold(entry, |entry, (name, count)| {
            entry.with(name, [count.to_string()])
        });
        entry = entry.with("monitorConnectionMask", [mask]);
        if !identity.is_empty() {
            entry = entry.with("monitorConnectionAuthzDN", [identity]);
        }
        entry
            .with("monitorConnectionListener", [about.listener_url.as_str()])
            .with("monitorConnectionPeerDomain", [domain])
            .with("monitorConnectionPeerAddress", [about.peer.to_string()])
            .with("monitorConnectionLocalAddress", [about.socket.to_string()])
            .with("monitorConnectionStartTime", [started])
            .with("monitorConnectionActivityTime", [active])
    }

    /// Ends the connection or the operation that an entry shows, or tells if there is one.
    pub(super) fn end_activity(&self, entry: &str, is_trial: bool) -> bool {
        let Some(names) = entry.strip_suffix(&format!(",{}", ABOVE.to_ascii_lowercase())) else {
            return false;
        };
        let (operation, connection) = match names.split_once(',') {
            Some((operation, connection)) => (Some(operation), connection),
            None => (None, names),
        };
        let number = |rdn: &str, kind: &str| -> Option<u64> {
            rdn.strip_prefix(&format!("cn={kind} "))?.parse().ok()
        };
        let connections = self.statistics.connections();
        let figures = number(connection, "connection").and_then(|id| connections.get(&id));
        let Some(figures) = figures else {
            return false;
        };
        if let Some(operation) = operation {
            let id = number(operation, "operation").and_then(|id| id.try_into().ok());
            return id.is_some_and(|id| figures.operations.cancel(id, is_trial));
        }
        if !is_trial {
            figures.close();
        }
        true
    }

    pub(super) fn waiters(&self, out: &mut Vec<TreeEntry>) {
        let connections = self.statistics.connections();
        let write = connections
            .values()
            .filter(|figures| figures.waits_to_write.load(Ordering::Relaxed) != 0);
        let write = write.count() as u64;
        out.push(self.counter("Read", "cn=Waiters,cn=Monitor", connections.len() as u64));
        out.push(self.counter("Write", "cn=Waiters,cn=Monitor", write));
    }
}
