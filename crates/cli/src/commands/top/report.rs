//! The difference of two samples, as a screen or JSON.

use std::cmp::Reverse;
use std::fmt::Write as _;

use serde_json::json;

use super::sample::{ClientCounters, Sample};
use crate::remote::printer::shown;

/// The changes of the counters between two samples.
#[derive(Debug)]
pub(super) struct Report {
    seconds: f64,
    connections: usize,
    /// Connections that came.
    accepted: u64,
    sent: (u64, u64),
    operations: Vec<OperationRate>,
    /// The busiest first.
    clients: Vec<ClientRate>,
}

/// Operations of one kind.
#[derive(Debug)]
struct OperationRate {
    kind: String,
    completed: u64,
    running: u64,
}

/// A connection.
#[derive(Debug)]
struct ClientRate {
    id: u64,
    completed: u64,
    counters: ClientCounters,
}

impl Report {
    pub(super) fn between(before: &Sample, now: &Sample) -> Report {
        let known = |kind: &str| {
            let found = before.operations.iter().find(|(known, ..)| known == kind);
            found.map_or(0, |(_, _, ended)| *ended)
        };
        let operations = now.operations.iter();
        let operations = operations.map(|(kind, begun, ended)| OperationRate {
            kind: kind.clone(),
            completed: ended.saturating_sub(known(kind)),
            running: begun.saturating_sub(*ended),
        });
        let clients = now.clients.iter().map(|(id, counters)| {
            let earlier = before.clients.get(id).map_or(0, |known| known.completed);
            ClientRate {
                id: *id,
                completed: counters.completed.saturating_sub(earlier),
                counters: counters.clone(),
            }
        });
        let mut clients: Vec<ClientRate> = clients.collect();
        clients.sort_by_key(|client| {
            let waits = client.counters.executing + client.counters.pending;
            (Reverse(client.completed), Reverse(waits), client.id)
        });
        Report {
            seconds: now.at.duration_since(before.at).as_secs_f64().max(0.001),
            connections: now.clients.len(),
            accepted: now.total.saturating_sub(before.total),
            sent: (
                now.sent.0.saturating_sub(before.sent.0),
                now.sent.1.saturating_sub(before.sent.1),
            ),
            operations: operations.collect(),
            clients,
        }
    }

    /// Returns a number per second, to one decimal.
    fn rate(&self, count: u64) -> f64 {
        (count as f64 / self.seconds * 10.0).round() / 10.0
    }

    /// Returns the report as a screen.
    pub(super) fn screen(&self, clients_max: usize) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "{} connections, {:.1} new/s; {:.1} entries/s, {:.1} KiB/s sent\n",
            self.connections,
            self.rate(self.accepted),
            self.rate(self.sent.1),
            self.rate(self.sent.0 / 1024)
        );
        out.push_str("operation        per second   running\n");
        let is_busy = |one: &&OperationRate| one.completed + one.running > 0;
        for one in self.operations.iter().filter(is_busy) {
            let rate = self.rate(one.completed);
            let _ = writeln!(out, "{:<16} {rate:>10.1} {:>9}", one.kind, one.running);
        }
        out.push_str("\nclient  per second  running  waiting  address and identity\n");
        for client in self.clients.iter().take(clients_max) {
            let ClientCounters {
                address,
                identity,
                executing,
                pending,
                is_stalled,
                ..
            } = &client.counters;
            let (address, identity) = (shown(address.as_bytes()), shown(identity.as_bytes()));
            let stalled = if *is_stalled { "  (does not read)" } else { "" };
            let rate = self.rate(client.completed);
            let _ = writeln!(
                out,
                "{:>6}  {rate:>10.1}  {executing:>7}  {pending:>7}  {address}  {identity}{stalled}",
                client.id
            );
        }
        if let Some(more) = self.clients.len().checked_sub(clients_max)
            && more > 0
        {
            let _ = writeln!(out, "        and {more} more");
        }
        out
    }

    /// Returns the report as one object of JSON on a line.
    pub(super) fn json(&self, clients_max: usize) -> String {
        let operations = self.operations.iter().map(|one| {
            json!({
                "operation": one.kind,
                "completed": one.completed,
                "per_second": self.rate(one.completed),
                "running": one.running,
            })
        });
        let clients = self.clients.iter().take(clients_max).map(|client| {
            json!({
                "connection": client.id,
                "completed": client.completed,
                "per_second": self.rate(client.completed),
                "running": client.counters.executing,
                "waiting": client.counters.pending,
                "address": client.counters.address,
                "identity": client.counters.identity,
                "since": client.counters.since,
                "stalled": client.counters.is_stalled,
            })
        });
        let object = json!({
            "seconds": self.seconds,
            "connections": self.connections,
            "accepted": self.accepted,
            "sent_bytes": self.sent.0,
            "sent_entries": self.sent.1,
            "operations": operations.collect::<Vec<_>>(),
            "clients": clients.collect::<Vec<_>>(),
        });
        format!("{object}\n")
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn client(address: &str, completed: u64, executing: u64) -> ClientCounters {
        ClientCounters {
            address: address.to_owned(),
            completed,
            executing,
            ..ClientCounters::default()
        }
    }

    fn report() -> Report {
        let begun = Instant::now();
        let sample = |seconds, searches: (u64, u64), clients| Sample {
            at: begun + Duration::from_secs(seconds),
            operations: vec![
                ("Search".to_owned(), searches.0, searches.1),
                ("Add".to_owned(), 3, 3),
            ],
            sent: (2048 * seconds, 10 * seconds),
            total: 5 + seconds,
            clients,
        };
        let before = [(1, client("a", 100, 0)), (2, client("b", 7, 0))];
        let now = [
            (1, client("a", 110, 0)),
            (3, client("c", 4, 0)),
            (4, client("d", 4, 2)),
        ];
        let before = sample(0, (100, 100), before.into());
        Report::between(&before, &sample(2, (121, 119), now.into()))
    }

    #[test]
    fn control_characters_of_names_do_not_reach_the_terminal() {
        let mut report = report();
        report.clients[0].counters.identity = "cn=\x1b[2Jx\n".to_owned();
        let screen = report.screen(1);
        assert!(screen.contains("cn=\\u{1b}[2Jx\\n"), "{screen}");
        assert!(!screen.contains('\x1b'));
    }

    #[test]
    fn rates_are_those_of_the_interval_and_the_busiest_come_first() {
        let report = report();
        let screen = report.screen(2);
        for part in [
            "3 connections, 1.0 new/s; 10.0 entries/s, 2.0 KiB/s sent\n",
            "Search                  9.5         2\n",
            "     1         5.0        0        0  a  \n     4         2.0        2        0  d  \n",
            "        and 1 more\n",
        ] {
            assert!(screen.contains(part), "{part:?} is missing:\n{screen}");
        }
        assert!(!screen.contains("Add"), "{screen}");
    }

    #[test]
    fn json_has_the_same() {
        let line = report().json(10);
        assert_eq!(line.matches('\n').count(), 1);
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["operations"][0]["completed"], 19);
        assert_eq!(read["operations"][0]["running"], 2);
        assert_eq!(read["clients"][1]["connection"], 4);
        assert_eq!(read["clients"][2]["completed"], 4);
    }
}
