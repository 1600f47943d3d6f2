//! `fulgurite cluster status`.

use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::bail;
use fulgurite_etcd::EtcdLog;

use super::connect;
use super::report::Report;
use crate::arguments::cluster::ClusterStatus;

/// Prints the state of a cluster. Returns the exit status.
pub(super) fn run(command: &ClusterStatus) -> anyhow::Result<u8> {
    let mut certificate_end_s = None;
    let (log, cluster, urls) = match (&command.config, &command.cluster) {
        (Some(config), _) => {
            let (_, cluster) = connect::node_settings(config)?;
            let files = [&cluster.pair.0, &cluster.ca].into_iter();
            let facts = files.filter_map(|file| fulgurite_server::certificate_facts(file).ok());
            certificate_end_s = facts.map(|facts| facts.not_after_s).min();
            (connect::log_of(&cluster)?, cluster.name, cluster.etcd)
        }
        (None, Some(cluster)) => {
            let settings = connect::settings(&command.etcd, cluster)?;
            let urls = command.etcd.members.clone();
            (EtcdLog::new(&settings)?, cluster.clone(), urls)
        }
        (None, None) => bail!("name the cluster: --config FILE, or --cluster NAME and --etcd URL"),
    };
    let overview = log.overview()?;
    let Some(meta) = overview.meta.clone() else {
        bail!("there is no cluster {cluster} in this etcd: `fulgurite cluster init` makes one");
    };
    let spaces = log.spaces().unwrap_or_default();
    let quotas = spaces.iter().map(|(member, _)| log.quota(*member));
    let quotas = quotas.collect();
    let wall = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let report = Report {
        cluster: &cluster,
        meta,
        overview,
        registered: log.members()?,
        members: &urls,
        spaces,
        quotas,
        // The report names members that do not answer.
        settings: log.settings().unwrap_or_default(),
        is_full: log.is_full().unwrap_or(false),
        now_us: u64::try_from(wall.as_micros())?,
        certificate_end_s,
    };
    let text = match command.json {
        true => report.json().to_string() + "\n",
        false => report.table(),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(u8::from(!report.troubles().is_empty()))
}
