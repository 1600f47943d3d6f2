//! The settings of reads at a node.

use std::time::Duration;

use fulgurite_policy::ClusterReads;

/// The settings of reads.
#[derive(Clone, Debug)]
pub(super) struct ReadSettings {
    /// The name of the cluster.
    pub(super) cluster: String,
    pub(super) reads: ClusterReads,
    /// The silence of the log after which the node refuses reads.
    pub(super) stale_after: Option<Duration>,
}
