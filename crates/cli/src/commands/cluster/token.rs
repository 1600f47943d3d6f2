//! `fulgurite cluster token`.

use anyhow::{Context as _, ensure};
use fulgurite_cluster::NodeId;

use super::connect;
use super::files::{self, JoinToken, NodeFiles};
use super::init::random_name;
use crate::arguments::cluster::Token;

/// Prints a token. Returns the exit status.
pub(super) fn run(command: &Token) -> anyhow::Result<u8> {
    let (_, cluster) = connect::node_settings(&command.config)?;
    let authority = NodeFiles::of(&command.config)?.read_authority()?;
    let log = connect::log_of(&cluster)?;
    let meta = log.overview()?.meta;
    let meta = meta.with_context(|| format!("etcd has no cluster {}", cluster.name))?;
    let secret = random_name()?;
    let node = match command.renew.map(NodeId) {
        None => log.reserve_number(&secret, command.valid)?,
        // Its secret lets no node join.
        Some(node) => {
            let mut members = log.members()?.into_iter();
            let is_member = members.any(|member| member.node == node);
            ensure!(is_member, "node {node} does not belong to the cluster");
            node
        }
    };
    let signed = files::sign(&authority, &cluster.name, node)?;
    let token = JoinToken {
        cluster: cluster.name,
        suffix: meta.suffix,
        node,
        secret,
        etcd: cluster.etcd,
        authority: authority.pem,
        certificate: signed.pem,
        key: signed.key_pem,
    };
    println!("{}", token.write());
    Ok(0)
}
