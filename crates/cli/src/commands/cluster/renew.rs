//! `fulgurite cluster renew`.

use anyhow::ensure;
use fulgurite_cluster::NodeId;

use super::connect;
use super::files::{self, JoinToken, NodeFiles};
use super::join;
use crate::arguments::cluster::Renew;
use crate::commands::setup::authority::Signed;

/// Renews the certificate of a node. Returns the exit status.
pub(super) fn run(command: &Renew) -> anyhow::Result<u8> {
    let (_, cluster) = connect::node_settings(&command.config)?;
    let node_files = NodeFiles::of(&command.config)?;
    let node = NodeId(cluster.node);
    ensure!(
        cluster.pair.0 == node_files.certificate,
        "the certificate is {}, which no command of a cluster has made",
        cluster.pair.0.display()
    );
    let signed = match &command.token {
        None => files::sign(&node_files.read_authority()?, &cluster.name, node)?,
        Some(token) => {
            let token = JoinToken::read(&join::read(token)?)?;
            ensure!(
                token.cluster == cluster.name && token.node == node,
                "the token is for node {} of the cluster {}, and this is node {node} of {}",
                token.node,
                token.cluster,
                cluster.name
            );
            files::write(&node_files.authority, &token.authority, 0o644)?;
            Signed {
                pem: token.certificate,
                key_pem: token.key,
            }
        }
    };
    node_files.write_node(&signed)?;
    println!("node {node} has a new certificate: restart its server");
    Ok(0)
}
