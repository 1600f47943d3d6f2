//! `fulgurite cluster leave` and `fulgurite cluster forget`.

use anyhow::ensure;
use fulgurite_cluster::NodeId;

use super::{connect, files};
use crate::arguments::cluster::{Forget, Leave};
use crate::lock::DataLock;

/// The exit status if there is no such node.
const ABSENT: u8 = 1;

/// Takes the own node out of its cluster, and its table out of the settings. Returns the exit
/// status.
pub(super) fn leave(command: &Leave) -> anyhow::Result<u8> {
    let (settings, cluster) = connect::node_settings(&command.config)?;
    // A server that runs would go on as a node.
    let _lock = DataLock::take(settings.cluster_folder()?)?;
    let status = remove(&cluster, NodeId(cluster.node))?;
    files::take_table_out(&command.config)?;
    Ok(status)
}

/// Takes another node out of the cluster. Returns the exit status.
pub(super) fn forget(command: &Forget) -> anyhow::Result<u8> {
    let (_, cluster) = connect::node_settings(&command.config)?;
    let node = NodeId(command.node);
    let nodes = connect::log_of(&cluster)?.overview()?.nodes;
    ensure!(
        !nodes.iter().any(|alive| alive.node == node),
        "node {node} is alive: stop it, and call `fulgurite cluster leave` there"
    );
    remove(&cluster, node)
}

fn remove(cluster: &fulgurite_config::ClusterSettings, node: NodeId) -> anyhow::Result<u8> {
    if connect::log_of(cluster)?.remove_member(node)? {
        return Ok(0);
    }
    eprintln!("fulgurite: the cluster {} has no node {node}", cluster.name);
    Ok(ABSENT)
}
