//! The state of a cluster, as text and as JSON.

use std::fmt::Write as _;

use fulgurite_cluster::{NodeId, NodeState};
use fulgurite_etcd::{ClusterMeta, Member, Overview, SettingsParts, Space, differences};
use serde_json::{Value, json};

/// Batches behind the end of the log at which a node counts as slow. States are a second old.
const BEHIND_MAX: u64 = 1000;
/// The difference of clocks that counts as trouble, in microseconds. A node 60 s ahead never leads.
const CLOCK_US_MAX: u64 = 10_000_000;

/// The part of etcd's quota in use that counts as trouble.
const QUOTA_PERCENT_MAX: u64 = 80;

/// Days before the end of a certificate from which on it counts as trouble.
const WARNING_DAYS: u64 = 30;

/// The state of a cluster.
pub(super) struct Report<'r> {
    pub(super) cluster: &'r str,
    pub(super) meta: ClusterMeta,
    pub(super) overview: Overview,
    /// The nodes that belong to the cluster, alive or not.
    pub(super) registered: Vec<Member>,
    /// The URLs of etcd's members.
    pub(super) members: &'r [String],
    /// The space of members that answer, with their places in `members`.
    pub(super) spaces: Vec<(usize, Space)>,
    /// The quota of each of these, if it tells one.
    pub(super) quotas: Vec<Option<u64>>,
    /// True if etcd takes deletions only.
    pub(super) is_full: bool,
    /// The digests of the nodes' settings.
    pub(super) settings: Vec<(NodeId, SettingsParts)>,
    pub(super) now_us: u64,
    /// The end of this node's certificates in seconds since 1970, if its settings are given.
    pub(super) certificate_end_s: Option<u64>,
}

impl Report<'_> {
    /// Returns sentences about all that a person should look at.
    pub(super) fn troubles(&self) -> Vec<String> {
        let mut troubles = Vec::new();
        if self.overview.leader.is_none() {
            troubles.push("no node leads, so no update is possible".to_owned());
        }
        for node in &self.overview.nodes {
            let behind = self.behind(node);
            if behind > BEHIND_MAX {
                troubles.push(format!("node {} is {behind} batches behind", node.node));
            }
            if self.now_us.abs_diff(node.clock_us) > CLOCK_US_MAX {
                let seconds = self.now_us.abs_diff(node.clock_us) / 1_000_000;
                troubles.push(format!(
                    "the clocks of node {} and of this machine differ by {seconds} s",
                    node.node
                ));
            }
        }
        if let Some(((first, own), others)) = self.settings.split_first() {
            let others = others.iter();
            let found = others.flat_map(|(node, parts)| differences((*node, parts), (*first, own)));
            troubles.extend(found);
        }
        for member in self.lost() {
            troubles.push(format!(
                "node {} at {} is not alive",
                member.node, member.address
            ));
        }
        if let Some(days) = self.certificate_days().filter(|days| *days < WARNING_DAYS) {
            troubles.push(format!(
                "the certificate of this node expires in {days} days: `fulgurite cluster renew`"
            ));
        }
        if self.is_full {
            let text = "etcd is full: no update is possible until the sequencer has made room";
            troubles.push(text.to_owned());
        }
        for ((at, space), quota) in self.spaces.iter().zip(&self.quotas) {
            let percent = quota.map(|quota| space.bytes.saturating_mul(100) / quota.max(1));
            if let Some(percent) = percent.filter(|percent| *percent > QUOTA_PERCENT_MAX) {
                let url = self.members.get(*at).map_or("", String::as_str);
                troubles.push(format!(
                    "the member {url} of etcd uses {percent} % of its quota"
                ));
            }
        }
        for (at, url) in self.members.iter().enumerate() {
            if !self.spaces.iter().any(|(member, _)| *member == at) {
                troubles.push(format!("the member {url} of etcd does not answer"));
            }
        }
        troubles
    }

    /// Returns the days until the first of this node's certificates expires.
    fn certificate_days(&self) -> Option<u64> {
        let end_s = self.certificate_end_s?;
        Some(end_s.saturating_sub(self.now_us / 1_000_000) / 86_400)
    }

    /// Returns the nodes that belong to the cluster, and are not alive.
    fn lost(&self) -> impl Iterator<Item = &Member> {
        let is_alive = |member: &&Member| {
            let mut nodes = self.overview.nodes.iter();
            nodes.any(|node| node.node == member.node)
        };
        self.registered
            .iter()
            .filter(move |member| !is_alive(member))
    }

    fn behind(&self, node: &NodeState) -> u64 {
        let end = self.overview.head.position.0;
        end.saturating_sub(node.applied.0)
    }

    /// Returns hints that are no trouble today.
    fn hints(&self) -> Vec<String> {
        let mut plain = self.members.iter().filter(|url| url.starts_with("http:"));
        let hint = plain.next().map(|url| {
            format!("the connection to {url} has no TLS: others can read and change the log")
        });
        hint.into_iter().collect()
    }

    pub(super) fn table(&self) -> String {
        let mut out = String::new();
        let mut row = |label: &str, value: &str| {
            let _ = writeln!(out, "{label:<10} {value}");
        };
        row("cluster", self.cluster);
        row("suffix", &self.meta.suffix);
        let (format, least) = (self.meta.format, self.meta.least_version);
        row(
            "format",
            &format!("{format}, batches from format {least} on"),
        );
        let leader = self.overview.leader;
        let epoch = self.overview.epoch.map_or(0, |epoch| epoch.0);
        let sequencer = |node| format!("node {node}, leadership {epoch}");
        row("sequencer", &leader.map_or("none".to_owned(), sequencer));
        let end = self.overview.head.position;
        let kept = match self.overview.first {
            Some(first) => format!("batches {first} to {end}"),
            None => format!("no batches, ends at {end}"),
        };
        row("log", &kept);
        for node in &self.overview.nodes {
            let facts = format!(
                "applied {}, {} behind, durable {}, format {}",
                node.applied,
                self.behind(node),
                node.durable,
                node.version
            );
            row(&format!("node {}", node.node), &facts);
        }
        if let Some(days) = self.certificate_days() {
            row(
                "certificate",
                &format!("of this node: expires in {days} days"),
            );
        }
        for ((at, space), quota) in self.spaces.iter().zip(&self.quotas) {
            let url = self.members.get(*at).map_or("", String::as_str);
            let leads = if space.is_leader { ", leads etcd" } else { "" };
            let quota = quota.map(|quota| format!(" of {} KiB", quota >> 10));
            let facts = format!(
                "{url}, {} KiB{}, {} KiB in use{leads}",
                space.bytes >> 10,
                quota.unwrap_or_default(),
                space.bytes_in_use >> 10
            );
            row("etcd", &facts);
        }
        self.hints().iter().for_each(|hint| row("hint", hint));
        self.troubles()
            .iter()
            .for_each(|trouble| row("trouble", trouble));
        out
    }

    pub(super) fn json(&self) -> Value {
        let nodes = self.overview.nodes.iter().map(|node| {
            json!({
                "node": node.node.0,
                "applied": node.applied.0,
                "behind": self.behind(node),
                "durable": node.durable.0,
                "version": node.version,
                "clock_us": node.clock_us,
            })
        });
        let members = self.members.iter().enumerate().map(|(at, url)| {
            let spaces = self.spaces.iter().zip(&self.quotas);
            let mut spaces = spaces.filter(|((member, _), _)| *member == at);
            let (space, quota) = spaces
                .next()
                .map(|((_, space), quota)| (space, quota))
                .unzip();
            json!({
                "url": url,
                "answers": space.is_some(),
                "bytes": space.map(|space| space.bytes),
                "bytes_in_use": space.map(|space| space.bytes_in_use),
                "quota": quota,
                "is_leader": space.map(|space| space.is_leader),
            })
        });
        json!({
            "cluster": self.cluster,
            "suffix": self.meta.suffix,
            "format": self.meta.format,
            "least_version": self.meta.least_version,
            "leader": self.overview.leader.map(|node| node.0),
            "epoch": self.overview.epoch.map(|epoch| epoch.0),
            "certificate_end_s": self.certificate_end_s,
            "is_full": self.is_full,
            "first": self.overview.first.map(|first| first.0),
            "end": self.overview.head.position.0,
            "nodes": nodes.collect::<Vec<_>>(),
            "etcd": members.collect::<Vec<_>>(),
            "hints": self.hints(),
            "troubles": self.troubles(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_cluster::{Epoch, Head, NodeId, Position};

    fn node(number: u64, applied: u64, clock_us: u64) -> NodeState {
        NodeState {
            node: NodeId(number),
            version: 1,
            applied: Position(applied),
            durable: Position(applied),
            clock_us,
        }
    }

    fn report(members: &[String], nodes: Vec<NodeState>, leader: Option<u64>) -> Report<'_> {
        let head = Head {
            position: Position(5000),
            ..Head::default()
        };
        Report {
            cluster: "prod",
            meta: ClusterMeta::new("dc=example,dc=com"),
            overview: Overview {
                meta: None,
                leader: leader.map(NodeId),
                epoch: leader.map(|_| Epoch(77)),
                head,
                first: Some(Position(41)),
                nodes,
            },
            registered: Vec::new(),
            members,
            spaces: vec![],
            quotas: vec![],
            is_full: false,
            settings: vec![],
            now_us: 50_000_000,
            certificate_end_s: None,
        }
    }

    #[test]
    fn a_report_tells_all_troubles() {
        let sound = report(&[], vec![node(1, 4999, 50_000_000)], Some(1));
        assert_eq!(sound.troubles(), [""; 0]);
        let table = sound.table();
        assert!(
            table.contains("sequencer  node 1, leadership 77"),
            "{table}"
        );
        assert!(table.contains("batches 41 to 5000"), "{table}");
        let members = ["http://a:2379".to_owned()];
        let nodes = vec![node(1, 3000, 50_000_000), node(2, 5000, 10_000_000)];
        let mut ill = report(&members, nodes, None);
        ill.is_full = true;
        let troubles = ill.troubles().join("\n");
        for part in [
            "no node leads",
            "etcd is full",
            "node 1 is 2000 batches",
            "node 2",
            "http://a:2379",
        ] {
            assert!(troubles.contains(part), "{part}: {troubles}");
        }
        ill.certificate_end_s = Some(50 + 29 * 86_400);
        let near = ill.troubles();
        assert!(
            near.iter().any(|text| text.contains("in 29 days")),
            "{near:?}"
        );
        let json = ill.json();
        assert_eq!(json["certificate_end_s"], 50 + 29 * 86_400);
        assert_eq!(json["leader"], Value::Null);
        assert_eq!(json["nodes"][0]["behind"], 2000);
        assert_eq!(json["etcd"][0]["answers"], false);
        assert_eq!(json["troubles"].as_array().map(Vec::len), Some(6));
    }
}
