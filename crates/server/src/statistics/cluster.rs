//! The figures of the node of a cluster that the server is.

use std::fmt;

/// The figures of a node, as its thread has told them last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClusterFigures {
    /// The name of the cluster.
    pub(crate) cluster: String,
    /// The number of the node.
    pub(crate) node: u64,
    /// The sequencer, as far as the node knows.
    pub(crate) leader: Option<u64>,
    /// The number of the own leadership, while the node leads.
    pub(crate) epoch: Option<u64>,
    /// The batch that is applied.
    pub(crate) position: u64,
    /// The batch that would survive a power cut.
    pub(crate) durable: u64,
    /// Updates and reads that wait.
    pub(crate) waiting: usize,
    /// The time since etcd has answered, in milliseconds.
    pub(crate) silence_ms: Option<u64>,
    /// The reason why etcd has not answered lately.
    pub(crate) trouble: Option<String>,
    /// The reason why no requests should come.
    pub(crate) unready: Option<String>,
}

type Source = dyn Fn() -> ClusterFigures + Send + Sync;

/// The source of the figures.
pub(crate) struct ClusterSource(Box<Source>);

impl ClusterSource {
    pub(crate) fn new(source: impl Fn() -> ClusterFigures + Send + Sync + 'static) -> Self {
        ClusterSource(Box::new(source))
    }

    pub(crate) fn get(&self) -> ClusterFigures {
        (self.0)()
    }
}

impl fmt::Debug for ClusterSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClusterSource").field(&self.get()).finish()
    }
}
