//! Rules of the nodes, as functions of values.

use crate::batch::{VERSION_NEWEST, VERSION_OLDEST};
use crate::log::NodeState;
use crate::values::Position;

/// A sequencer that is further ahead of the median clock resigns, in microseconds.
const AHEAD_US_MAX: u64 = 60_000_000;

/// The state from which a node opens its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The last commit: only the process has ended, and the system has all pages.
    LastCommit,
    /// The last checkpoint: the machine has stopped, so later pages may be missing.
    Checkpoint,
}

/// Returns the state from which to open a store, by its boot id and that of the system.
#[must_use]
pub fn start_from(stored: &[u8], system: &[u8]) -> Start {
    match !system.is_empty() && stored == system {
        true => Start::LastCommit,
        false => Start::Checkpoint,
    }
}

/// The facts that decide how much of the log goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrimFacts {
    /// The last batch that is neither among the youngest (10 minutes) nor the last ones (64 MiB).
    pub old: Position,
    /// The last batch behind which the log still has its greatest size (512 MiB).
    pub excess: Position,
    /// The end of the log.
    pub end: Position,
}

/// Returns the last position that may go. The log keeps everything that a live node would need
/// after a power cut. Only its greatest size comes first.
#[must_use]
pub fn trim_upto(nodes: &[NodeState], facts: &TrimFacts) -> Position {
    let durable = nodes.iter().map(|node| node.durable).min();
    let unneeded = durable.unwrap_or_default().min(facts.old);
    unneeded.max(facts.excess).min(facts.end)
}

/// Returns the newest format that all nodes can read.
#[must_use]
pub fn version_to_write(nodes: &[NodeState]) -> u16 {
    let versions = nodes.iter().map(|node| node.version);
    let least = versions.min().unwrap_or(VERSION_NEWEST);
    least.clamp(VERSION_OLDEST, VERSION_NEWEST)
}

/// Returns true if a clock is so far ahead of the others' median that its node must not lead.
#[must_use]
pub fn is_too_far_ahead(own_us: u64, others: &[NodeState]) -> bool {
    let mut clocks: Vec<u64> = others.iter().map(|node| node.clock_us).collect();
    clocks.sort_unstable();
    let median = clocks.get(clocks.len() / 2);
    median.is_some_and(|median| own_us > median.saturating_add(AHEAD_US_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::NodeId;

    fn node(durable: u64, version: u16, clock_us: u64) -> NodeState {
        NodeState {
            node: NodeId(1),
            version,
            applied: Position(durable + 5),
            durable: Position(durable),
            clock_us,
        }
    }

    #[test]
    fn the_log_keeps_what_a_live_node_lacks() {
        let facts = |old, excess, end| TrimFacts {
            old: Position(old),
            excess: Position(excess),
            end: Position(end),
        };
        let nodes = [node(30, 1, 0), node(20, 1, 0)];
        assert_eq!(trim_upto(&nodes, &facts(50, 0, 60)), Position(20));
        assert_eq!(trim_upto(&nodes, &facts(10, 0, 60)), Position(10));
        assert_eq!(trim_upto(&nodes, &facts(50, 40, 60)), Position(40));
        assert_eq!(trim_upto(&nodes, &facts(50, 70, 60)), Position(60));
        assert_eq!(trim_upto(&[], &facts(50, 0, 60)), Position(0));
    }

    #[test]
    fn the_oldest_node_decides_about_the_format() {
        assert_eq!(version_to_write(&[node(1, 9, 0), node(1, 1, 0)]), 1);
        assert_eq!(version_to_write(&[node(1, 9, 0)]), VERSION_NEWEST);
    }

    #[test]
    fn a_clock_far_ahead_must_not_lead() {
        let others = [node(1, 1, 5), node(1, 1, 1000), node(1, 1, u64::MAX)];
        assert!(!is_too_far_ahead(60_001_000, &others));
        assert!(is_too_far_ahead(60_001_001, &others));
        assert!(!is_too_far_ahead(u64::MAX, &[]));
    }

    #[test]
    fn another_boot_begins_at_the_checkpoint() {
        assert_eq!(start_from(b"a", b"a"), Start::LastCommit);
        assert_eq!(start_from(b"a", b"b"), Start::Checkpoint);
        assert_eq!(start_from(b"", b""), Start::Checkpoint);
    }
}
