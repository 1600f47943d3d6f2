//! The difference of two samples, as a screen or JSON.

use std::cmp::Reverse;
use std::fmt::Write as _;

use serde_json::json;

use super::sample::{ClientCounters, LastingOperation, Sample, SlowSearch};
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
    lasting: Vec<LastingOperation>,
    slow: Vec<SlowSearch>,
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
            lasting: now.lasting.clone(),
            slow: now.slow.clone(),
        }
    }

    /// Returns a number per second, to one decimal.
    fn rate(&self, count: u64) -> f64 {
        (count as f64 / self.seconds * 10.0).round() / 10.0
    }

    /// Returns the report as a screen, with a bound for the lines of each kind.
    pub(super) fn screen(&self, lines_max: usize) -> String {
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
        for client in self.clients.iter().take(lines_max) {
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
        more(&mut out, self.clients.len(), lines_max);
        self.lasting(&mut out, lines_max);
        self.slow(&mut out, lines_max);
        out
    }

    fn lasting(&self, out: &mut String, lines_max: usize) {
        if self.lasting.is_empty() {
            return;
        }
        out.push_str(
            "\noperation  looked at  state, kind and filter; cancel with --cancel OPERATION\n",
        );
        for one in self.lasting.iter().take(lines_max) {
            let [state, kind, filter] = [&one.state, &one.kind, &one.filter];
            let text = shown(format!("{state}: {kind} {filter}").trim_end().as_bytes());
            let _ = writeln!(out, "{:>9}  {:>9}  {text}", one.id, one.examined);
        }
        more(out, self.lasting.len(), lines_max);
    }

    fn slow(&self, out: &mut String, lines_max: usize) {
        if self.slow.is_empty() {
            return;
        }
        out.push_str("\nsearches  looked at  returned  longest ms  slow filter, below, and plan\n");
        for one in self.slow.iter().take(lines_max) {
            let (filter, base) = (shown(one.filter.as_bytes()), shown(one.database.as_bytes()));
            let _ = writeln!(
                out,
                "{:>8}  {:>9}  {:>8}  {:>10}  {filter} below {base}",
                one.count, one.examined, one.returned, one.longest_ms
            );
            let _ = writeln!(out, "{:43}{}", "", shown(one.plan.as_bytes()));
            if !one.missing.is_empty() {
                let missing = one.missing.join(" ");
                let _ = writeln!(out, "{:43}missing index: {}", "", shown(missing.as_bytes()));
            }
        }
        more(out, self.slow.len(), lines_max);
    }

    /// Returns the report as one object of JSON on a line.
    pub(super) fn json(&self, lines_max: usize) -> String {
        let operations = self.operations.iter().map(|one| {
            json!({
                "operation": one.kind,
                "completed": one.completed,
                "per_second": self.rate(one.completed),
                "running": one.running,
            })
        });
        let clients = self.clients.iter().take(lines_max).map(|client| {
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
        let lasting = self.lasting.iter().take(lines_max).map(|one| {
            json!({
                "operation": one.id,
                "kind": one.kind,
                "state": one.state,
                "since": one.since,
                "filter": one.filter,
                "looked_at": one.examined,
            })
        });
        let slow = self.slow.iter().take(lines_max).map(|one| {
            json!({
                "database": one.database,
                "filter": one.filter,
                "plan": one.plan,
                "count": one.count,
                "looked_at": one.examined,
                "returned": one.returned,
                "longest_ms": one.longest_ms,
                "missing": one.missing,
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
            "lasting_operations": lasting.collect::<Vec<_>>(),
            "slow_searches": slow.collect::<Vec<_>>(),
        });
        format!("{object}\n")
    }
}

/// Tells how many lines are not shown.
fn more(out: &mut String, len: usize, shown: usize) {
    if len > shown {
        let _ = writeln!(out, "        and {} more", len - shown);
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
            lasting: vec![LastingOperation {
                id: "4/2".to_owned(),
                kind: "Search".to_owned(),
                state: "runs".to_owned(),
                filter: "(cn=\u{7})".to_owned(),
                examined: 9000,
                ..LastingOperation::default()
            }],
            slow: vec![SlowSearch::default(); 3],
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
            "      4/2       9000  runs: Search (cn=\\u{7})\n",
        ] {
            assert!(screen.contains(part), "{part:?} is missing:\n{screen}");
        }
        assert!(!screen.contains("Add"), "{screen}");
        assert_eq!(screen.matches("and 1 more").count(), 2, "{screen}");
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
        assert_eq!(read["lasting_operations"][0]["operation"], "4/2");
        assert_eq!(read["slow_searches"].as_array().unwrap().len(), 3);
    }
}
