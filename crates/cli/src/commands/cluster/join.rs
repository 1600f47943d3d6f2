//! `fulgurite cluster join`.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use fulgurite_cluster::NodeId;
use fulgurite_config::Settings;
use fulgurite_etcd::{EtcdLog, Member, differences};
use fulgurite_server::{schema, settings_parts};

use super::files::{self, JoinToken, NodeFiles};
use super::{connect, copy};
use crate::arguments::cluster::Join;
use crate::commands::setup::authority::Signed;

/// Joins a cluster. Returns the exit status.
pub(super) fn run(command: &Join) -> anyhow::Result<u8> {
    let config = command.node.config.as_deref();
    let config = config.context("name the settings of the server with --config")?;
    let token = JoinToken::read(&read(&command.token)?)?;
    if command.node.once && config.exists() && is_joined(config, &token)? {
        return Ok(0);
    }
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
    warn_of_differences(&log, &settings, token.node)?;
    copy::fetch_patiently(&cluster, settings.cluster_folder()?)?;
    println!(
        "node {} of the cluster {}: fulgurite serve --config {}",
        token.node,
        token.cluster,
        config.display()
    );
    Ok(0)
}

/// Returns true if this server is the node of a token.
fn is_joined(config: &Path, token: &JoinToken) -> anyhow::Result<bool> {
    let Some(cluster) = connect::read_settings(config)?.cluster()? else {
        return Ok(false);
    };
    if cluster.name != token.cluster || cluster.node != token.node.0 {
        return Ok(false);
    }
    // The start of the server fetches the copy, if that is missing.
    let members = connect::log_of(&cluster)?.members()?;
    Ok(members.iter().any(|member| member.node == token.node))
}

/// Says which settings differ from those of other nodes.
fn warn_of_differences(log: &EtcdLog, settings: &Settings, node: NodeId) -> anyhow::Result<()> {
    let own = settings_parts(settings, &schema(settings)?)?;
    for (other, parts) in log.settings()? {
        if other != node {
            for difference in differences((node, &own), (other, &parts)) {
                eprintln!("warning: {difference}");
            }
        }
    }
    Ok(())
}

/// Reads a file, or standard input for `-`.
pub(super) fn read(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
