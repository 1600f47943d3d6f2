//! `fulgurite cluster init`.

use std::path::Path;

use anyhow::{Context as _, ensure};
use fulgurite_cluster::NodeId;
use fulgurite_config::{Layer, Settings};
use fulgurite_etcd::{ClusterMeta, Creation, EtcdLog, Member};
use fulgurite_schema::{Dn, Schema};
use fulgurite_server::found_cluster;

use super::connect;
use super::files::{self, NodeFiles};
use crate::arguments::cluster::Init;
use crate::lock::DataLock;

/// The number of the first node.
const FIRST: NodeId = NodeId(1);

/// The exit status if there is a cluster of this name.
const PRESENT: u8 = 1;

/// Makes a cluster. Returns the exit status.
pub(super) fn run(command: &Init) -> anyhow::Result<u8> {
    let cluster = match &command.cluster {
        Some(cluster) => cluster.clone(),
        None => random_name()?,
    };
    match &command.node.config {
        Some(config) => make_node(command, &cluster, config),
        None => {
            let suffix = command.suffix.as_deref();
            let suffix = suffix.context("name the suffix of the database with --suffix")?;
            let settings = connect::settings(&command.etcd, &cluster)?;
            write_facts(&EtcdLog::new(&settings)?, &cluster, suffix)
        }
    }
}

/// Makes the first node with its cluster.
fn make_node(command: &Init, cluster: &str, config: &Path) -> anyhow::Result<u8> {
    // The settings have the table of a node since the end of the first call.
    let is_node = || anyhow::Ok(connect::read_settings(config)?.cluster()?.is_some());
    if command.node.once && config.exists() && is_node()? {
        return Ok(0);
    }
    let members = &command.etcd.members;
    let log = EtcdLog::new(&connect::settings(&command.etcd, cluster)?)?;
    // Without etcd, the command fails before it writes anything.
    let present = log.overview()?.meta;
    if let Some(present) = present {
        return Ok(tell_present(cluster, &present));
    }
    if config.exists() && !command.from_this_node {
        let settings = connect::read_settings(config)?;
        ensure!(
            settings.cluster()?.is_none(),
            "{} is of a node already: --from-this-node begins anew with its content",
            config.display()
        );
    }
    let base = files::base_settings(config, &command.node, command.suffix.as_deref())?;
    let files = NodeFiles::of(config)?;
    let flags = (&command.node, &command.etcd);
    let text = base + &files::node_table((cluster, FIRST), members, &files, flags)?;
    let settings = Settings::new(Layer::from_toml(&text, config)?)?;
    let node = settings
        .cluster()?
        .context("the settings describe a node")?;
    let authority = files.authority(cluster, command.from_this_node)?;
    files.write_node(&files::sign(&authority, cluster, FIRST)?)?;
    {
        let _lock = DataLock::take_or_make(settings.cluster_folder()?)?;
        found_cluster(&settings)?;
    }
    let suffix = settings.cluster_database()?.suffix()?;
    let status = write_facts(&log, cluster, suffix)?;
    if status == 0 {
        log.put_member(&Member {
            node: FIRST,
            address: node.address.to_string(),
        })?;
        files::write(config, &text, 0o640)?;
    }
    Ok(status)
}

/// Writes the facts of a cluster into etcd.
fn write_facts(log: &EtcdLog, cluster: &str, suffix: &str) -> anyhow::Result<u8> {
    let schema = Schema::standard();
    let parsed = Dn::parse(&schema, suffix);
    let parsed = parsed.with_context(|| format!("--suffix {suffix}"))?;
    match log.create(&ClusterMeta::new(parsed.pretty()))? {
        Creation::Created => {
            println!("{cluster}");
            Ok(0)
        }
        Creation::Present(present) => Ok(tell_present(cluster, &present)),
    }
}

fn tell_present(cluster: &str, present: &ClusterMeta) -> u8 {
    eprintln!(
        "fulgurite: there is a cluster {cluster} for {}: choose another name",
        present.suffix
    );
    PRESENT
}

/// Returns a random UUID.
pub(super) fn random_name() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    let mut number = u128::from_be_bytes(bytes);
    // Version 4, variant 1 (RFC 9562).
    number = number & !(0xf << 76) | (4 << 76);
    number = number & !(3 << 62) | (2 << 62);
    let digits = format!("{number:032x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    Ok(parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_random_uuids() {
        let (one, other) = (random_name().unwrap(), random_name().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 36);
        assert_eq!(&one[14..15], "4");
        assert!(["8", "9", "a", "b"].contains(&&one[19..20]), "{one}");
    }
}
