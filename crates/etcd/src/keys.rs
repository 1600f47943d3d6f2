//! The keys in etcd, and the forms of their values.
//!
//! ```text
//!   /fulgurite/<cluster>/meta                      facts that never change, in JSON
//!   /fulgurite/<cluster>/leader                    number of the node, under its lease
//!   /fulgurite/<cluster>/node/<node>               state, under its lease
//!   /fulgurite/<cluster>/member/<node>             address of a node that belongs to the cluster
//!   /fulgurite/<cluster>/settings/<node>           digests of the settings of a node, in JSON
//!   /fulgurite/<cluster>/token/<node>              secret of a node that may join, under a lease
//!   /fulgurite/<cluster>/gone/<node>               empty: the number of a node that was taken out
//!   /fulgurite/<cluster>/db/<database>/head        end of the log
//!   /fulgurite/<cluster>/db/<database>/log/<position>   a batch, or the list of its parts
//!   /fulgurite/<cluster>/db/<database>/part/<position>/<digest>/<number>   a part
//! ```
//! A position has 16 hexadecimal digits. No key says where the log begins. A full etcd takes no
//! such key, but it takes deletions.

use fulgurite_cluster::{Csn, Digest, Head, NodeId, NodeState, Position};
use serde_json::{Value, json};

/// The keys of one database of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    cluster: String,
    database: String,
}

impl Keys {
    pub(crate) fn new(cluster: &str, database: u32) -> Keys {
        let cluster = format!("/fulgurite/{cluster}");
        Keys {
            database: format!("{cluster}/db/{database}"),
            cluster,
        }
    }

    pub(crate) fn meta(&self) -> String {
        format!("{}/meta", self.cluster)
    }

    pub(crate) fn leader(&self) -> String {
        format!("{}/leader", self.cluster)
    }

    pub(crate) fn head(&self) -> String {
        format!("{}/head", self.database)
    }

    pub(crate) fn batch(&self, position: Position) -> String {
        format!("{}/log/{:016x}", self.database, position.0)
    }

    /// Returns the end of the range of all batches.
    pub(crate) fn batches_end(&self) -> String {
        format!("{}/log0", self.database)
    }

    /// Returns the key of a part of the batch with a digest.
    pub(crate) fn part(&self, position: Position, digest: &Digest, number: u64) -> String {
        let digest = digest.0.iter().map(|byte| format!("{byte:02x}"));
        let digest: String = digest.collect();
        format!(
            "{}/part/{:016x}/{digest}/{number:04}",
            self.database, position.0
        )
    }

    /// Returns the range of the parts of all batches before a position.
    pub(crate) fn parts_before(&self, position: Position) -> [String; 2] {
        let all = format!("{}/part/", self.database);
        let end = format!("{all}{:016x}", position.0);
        [all, end]
    }

    pub(crate) fn node(&self, node: NodeId) -> String {
        format!("{}/node/{}", self.cluster, node.0)
    }

    /// Returns the range of all nodes.
    pub(crate) fn nodes(&self) -> [String; 2] {
        ["node/", "node0"].map(|end| format!("{}/{end}", self.cluster))
    }

    pub(crate) fn member(&self, node: NodeId) -> String {
        format!("{}/member/{}", self.cluster, node.0)
    }

    /// Returns the range of all members.
    pub(crate) fn members(&self) -> [String; 2] {
        ["member/", "member0"].map(|end| format!("{}/{end}", self.cluster))
    }

    pub(crate) fn settings(&self, node: NodeId) -> String {
        format!("{}/settings/{}", self.cluster, node.0)
    }

    /// Returns the range of the settings of all nodes.
    pub(crate) fn all_settings(&self) -> [String; 2] {
        ["settings/", "settings0"].map(|end| format!("{}/{end}", self.cluster))
    }

    pub(crate) fn token(&self, node: NodeId) -> String {
        format!("{}/token/{}", self.cluster, node.0)
    }

    pub(crate) fn gone(&self, node: NodeId) -> String {
        format!("{}/gone/{}", self.cluster, node.0)
    }

    /// Returns the position of a batch's key.
    pub(crate) fn position(&self, key: &[u8]) -> Option<Position> {
        let key = std::str::from_utf8(key).ok()?;
        let digits = key.strip_prefix(&self.database)?.strip_prefix("/log/")?;
        let is_form = digits.len() == 16;
        let number = u64::from_str_radix(digits, 16).ok();
        number.filter(|_| is_form).map(Position)
    }
}

/// Returns the number behind the beginning of a key.
pub(crate) fn number_of(key: &[u8], beginning: &str) -> Option<NodeId> {
    let key = str::from_utf8(key).ok()?;
    key.strip_prefix(beginning)?.parse().ok().map(NodeId)
}

/// Returns the bytes of an end: position, number of the last change, digest of the last batch.
pub(crate) fn write_head(head: &Head) -> Vec<u8> {
    let mut bytes = head.position.0.to_be_bytes().to_vec();
    bytes.extend(head.csn.as_bytes());
    bytes.extend(head.digest.0);
    bytes
}

/// Reads an end.
pub(crate) fn read_head(bytes: &[u8]) -> Option<Head> {
    let (position, rest) = bytes.split_first_chunk()?;
    let (csn, rest) = rest.split_first_chunk()?;
    let (digest, rest) = rest.split_first_chunk()?;
    let head = Head {
        position: Position(u64::from_be_bytes(*position)),
        csn: Csn::from_bytes(*csn)?,
        digest: Digest(*digest),
    };
    rest.is_empty().then_some(head)
}

/// Returns the text of a node's state.
pub(crate) fn write_state(state: &NodeState) -> String {
    let text = json!({
        "node": state.node.0,
        "version": state.version,
        "applied": state.applied.0,
        "durable": state.durable.0,
        "clock_us": state.clock_us,
    });
    text.to_string()
}

/// Reads a node's state. Later programs may say more.
pub(crate) fn read_state(bytes: &[u8]) -> Option<NodeState> {
    let text: Value = serde_json::from_slice(bytes).ok()?;
    let number = |name: &str| text.get(name)?.as_u64();
    Some(NodeState {
        node: NodeId(number("node")?),
        version: number("version")?.try_into().ok()?,
        applied: Position(number("applied")?),
        durable: Position(number("durable")?),
        clock_us: number("clock_us")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_back() {
        let mut csn = [0; Csn::LEN];
        csn[3] = 0x42;
        let head = Head {
            position: Position(0x0102),
            csn: Csn::from_bytes(csn).expect("decimal digits"),
            digest: Digest([7; 32]),
        };
        let bytes = write_head(&head);
        assert_eq!(read_head(&bytes), Some(head));
        assert_eq!(read_head(&bytes[1..]), None);
        assert_eq!(read_head(&[&bytes[..], b"0"].concat()), None);
        let state = NodeState {
            node: NodeId(3),
            version: 1,
            applied: Position(9),
            durable: Position(8),
            clock_us: u64::MAX,
        };
        assert_eq!(read_state(write_state(&state).as_bytes()), Some(state));
        assert_eq!(read_state(br#"{"node": 3, "version": 70000}"#), None);
    }

    #[test]
    fn keys_of_batches_sort_like_positions() {
        let keys = Keys::new("c", 1);
        let [one, other] = [Position(9), Position(16)].map(|at| keys.batch(at));
        assert!(one < other && other < keys.batches_end());
        assert_eq!(keys.position(other.as_bytes()), Some(Position(16)));
        for wrong in [
            keys.head(),
            Keys::new("c", 2).batch(Position(1)),
            format!("{one}0"),
        ] {
            assert_eq!(keys.position(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
