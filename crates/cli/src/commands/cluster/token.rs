//! `fulgurite cluster token`.

use anyhow::Context as _;

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
    let node = log.reserve_number(&secret, command.valid)?;
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
