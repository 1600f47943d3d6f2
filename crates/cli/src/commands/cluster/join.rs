//! `fulgurite cluster join`.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use fulgurite_etcd::Member;

use super::files::{self, JoinToken, NodeFiles};
use super::{connect, copy};
use crate::arguments::cluster::Join;
use crate::commands::setup::authority::Signed;

/// Joins a cluster. Returns the exit status.
pub(super) fn run(command: &Join) -> anyhow::Result<u8> {
    let config = command.node.config.as_deref();
    let config = config.context("name the settings of the server with --config")?;
    let token = JoinToken::read(&read(&command.token)?)?;
    let base = files::base_settings(config, &command.node, Some(&token.suffix))?;
    let members = match command.etcd.members.as_slice() {
        [] => token.etcd.as_slice(),
        members => members,
    };
    let node_files = NodeFiles::of(config)?;
    let name = (token.cluster.as_str(), token.node);
    let flags = (&command.node, &command.etcd);
    let text = base + &files::node_table(name, members, &node_files, flags)?;
    files::write(&node_files.authority, &token.authority, 0o644)?;
    node_files.write_node(&Signed {
        pem: token.certificate.clone(),
        key_pem: token.key.clone(),
    })?;
    files::write(config, &text, 0o640)?;
    let (settings, cluster) = connect::node_settings(config)?;
    let member = Member {
        node: token.node,
        address: cluster.address.to_string(),
    };
    let log = connect::log_of(&cluster)?;
    let is_member = log.members()?.contains(&member);
    // A call that broke off goes on.
    ensure!(
        is_member || log.join(&member, &token.secret)?,
        "the token is used, or too old: make another one with `fulgurite cluster token`"
    );
    copy::fetch_patiently(&cluster, settings.cluster_folder()?)?;
    println!(
        "node {} of the cluster {}: fulgurite serve --config {}",
        token.node,
        token.cluster,
        config.display()
    );
    Ok(0)
}

fn read(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
