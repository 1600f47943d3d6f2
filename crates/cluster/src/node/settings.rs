//! The waits and bounds of a node.

use crate::batch::VERSION_NEWEST;

/// The waits and bounds of a node. All waits are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeSettings {
    /// The newest format of batches that the node reads.
    pub version: u16,
    /// The length of a lease.
    pub lease_ms: u64,
    /// The wait for an answer of the log, before the question is asked again.
    pub call_wait_ms: u64,
    /// The wait for the outcome of an update at the sequencer.
    pub append_wait_ms: u64,
    /// The wait for the outcome of a forwarded update. It is longer than that of the sequencer, so
    /// that its certain answer comes first.
    pub forward_wait_ms: u64,
    /// The wait of a read for the state that it needs.
    pub read_wait_ms: u64,
    /// The time without appends after a full log. A full log takes no states of nodes, which the
    /// trim needs.
    pub full_wait_ms: u64,
    /// The time between two attempts to lead.
    pub lead_each_ms: u64,
    /// The time between two states that the node publishes.
    pub publish_each_ms: u64,
    /// The time between two trims.
    pub trim_each_ms: u64,
    /// The number of updates of a batch, at most.
    pub batch_updates_max: usize,
    /// The number of updates that wait for a batch, at most.
    pub queue_max: usize,
    /// The amount of batches that the log keeps.
    pub keep: LogKeep,
}

/// The amount of batches that the log keeps, though no node needs them, and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogKeep {
    /// The age of batches that it keeps, in milliseconds.
    pub age_ms: u64,
    /// The size of the last batches that it keeps, in bytes.
    pub bytes: u64,
    /// The size that it never exceeds for slow nodes, in bytes.
    pub bytes_max: u64,
}

impl Default for NodeSettings {
    fn default() -> NodeSettings {
        NodeSettings {
            version: VERSION_NEWEST,
            lease_ms: 6000,
            call_wait_ms: 2500,
            append_wait_ms: 10_000,
            forward_wait_ms: 12_000,
            read_wait_ms: 10_000,
            full_wait_ms: 8000,
            lead_each_ms: 700,
            publish_each_ms: 1000,
            trim_each_ms: 30_000,
            batch_updates_max: 200,
            queue_max: 1024,
            keep: LogKeep {
                age_ms: 600_000,
                bytes: 64 << 20,
                bytes_max: 512 << 20,
            },
        }
    }
}
