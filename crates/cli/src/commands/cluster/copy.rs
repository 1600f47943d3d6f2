//! The copy of the database from another node, before a server starts.

use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use fulgurite_cluster::NodeId;
use fulgurite_config::{ClusterSettings, Settings};
use fulgurite_server::{fetch_copy, peer_trust};
use fulgurite_store::Store;

use super::connect;
use crate::lock::DataLock;

/// The pause before the other nodes are asked again.
const PAUSE: Duration = Duration::from_secs(2);

/// Fetches the database of a node that has none. Waits for another node that gives it.
pub(crate) fn fetch_missing(settings: &Settings) -> anyhow::Result<()> {
    let Some(cluster) = settings.cluster()? else {
        return Ok(());
    };
    let folder = settings.cluster_folder()?;
    if Store::exists(folder) {
        return Ok(());
    }
    fetch_with_patience(&cluster, folder, false)
}

/// Fetches a database in place of one that is too old for the log.
pub(crate) fn fetch_again(settings: &Settings) -> anyhow::Result<()> {
    match settings.cluster()? {
        Some(cluster) => fetch_with_patience(&cluster, settings.cluster_folder()?, true),
        None => Ok(()),
    }
}

fn fetch_with_patience(
    cluster: &ClusterSettings,
    folder: &Path,
    replaces: bool,
) -> anyhow::Result<()> {
    let mut told = String::new();
    while let Err(error) = fetch(cluster, folder, replaces) {
        let text = format!("{error:#}");
        if told != text {
            tracing::warn!("cluster: no copy of the database yet: {text}");
            told = text;
        }
        std::thread::sleep(PAUSE);
    }
    tracing::info!("cluster: the copy of the database is here");
    Ok(())
}

/// Tries of a person's command, which does not wait for ever.
const TRIES: usize = 10;

/// Fetches the database for a person who waits. The other nodes hear of a new one within seconds.
pub(super) fn fetch_patiently(cluster: &ClusterSettings, folder: &Path) -> anyhow::Result<()> {
    let mut result = fetch(cluster, folder, false);
    for _ in 1..TRIES {
        if result.is_ok() || Store::exists(folder) {
            break;
        }
        std::thread::sleep(PAUSE);
        result = fetch(cluster, folder, false);
    }
    result
}

/// Fetches the database once.
fn fetch(cluster: &ClusterSettings, folder: &Path, replaces: bool) -> anyhow::Result<()> {
    let trust = peer_trust(cluster)?;
    let members = connect::log_of(cluster)?.members()?;
    let own = NodeId(cluster.node);
    ensure!(
        members.iter().any(|member| member.node == own),
        "node {own} does not belong to the cluster {}",
        cluster.name
    );
    let others = members.into_iter().filter(|member| member.node != own);
    let others: Vec<_> = others.map(|member| (member.node, member.address)).collect();
    let _lock = DataLock::take_or_make(folder)?;
    Ok(fetch_copy(&trust, &others, folder, replaces)?)
}
