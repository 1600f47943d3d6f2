//! The look at the other nodes of a cluster, and at the end of the log.

use std::sync::Arc;
use std::time::Duration;

use fulgurite_cluster_driver::{Freshness, Handle};
use fulgurite_cluster_peers::NodeList;
use fulgurite_etcd::{EtcdLog, Member};

use super::state::ClusterState;
use super::update::{ClusterAnswer, ClusterUpdate};

/// The wait of one look at the end of the log.
const READ_WAIT: Duration = Duration::from_secs(2);

/// The look at the nodes of the cluster, again and again.
pub(super) struct Lookout {
    pub(super) log: EtcdLog,
    pub(super) handle: Handle<ClusterUpdate, ClusterAnswer>,
    pub(super) state: Arc<ClusterState>,
    pub(super) own: Member,
    pub(super) nodes: NodeList,
    pub(super) trouble: Option<String>,
}

impl Lookout {
    /// Looks once, and logs what has changed.
    pub(super) fn look(&mut self) {
        match self.log.members() {
            Ok(members) => {
                let trouble = self.take(&members);
                self.tell(trouble);
            }
            Err(error) => self.tell(Some(error.to_string())),
        }
        let catches_up = !self.state.has_caught_up()
            && self
                .handle
                .read(Freshness::Linearizable, READ_WAIT)
                .is_some();
        if catches_up {
            tracing::info!("cluster: node {} has applied the log", self.own.node);
            self.state.catches_up();
        }
    }

    /// Takes the nodes of the cluster, and returns a trouble with the own one.
    fn take(&self, members: &[Member]) -> Option<String> {
        let list = members.iter();
        let list = list.map(|member| (member.node, member.address.clone()));
        self.nodes.set(&list.collect::<Vec<_>>());
        let mut members = members.iter();
        match members.find(|member| member.node == self.own.node) {
            None => Some(format!(
                "node {} does not belong to the cluster any more: the others do not hear it",
                self.own.node
            )),
            Some(present) if present.address != self.own.address => {
                let written = self.log.put_member(&self.own);
                written.err().map(|error| error.to_string())
            }
            Some(_) => None,
        }
    }

    /// Logs a trouble when it begins and when it ends.
    fn tell(&mut self, trouble: Option<String>) {
        if trouble == self.trouble {
            return;
        }
        match &trouble {
            Some(trouble) => tracing::warn!("cluster: {trouble}"),
            None => tracing::info!("cluster: node {} is well again", self.own.node),
        }
        self.trouble = trouble;
    }
}
