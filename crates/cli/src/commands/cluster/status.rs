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
    let settings = connect::settings(&command.etcd, &command.cluster)?;
    let log = EtcdLog::new(&settings)?;
    let overview = log.overview()?;
    let Some(meta) = overview.meta.clone() else {
        bail!(
            "there is no cluster {} in this etcd: `fulgurite cluster init` makes one",
            command.cluster
        );
    };
    let wall = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let report = Report {
        cluster: &command.cluster,
        meta,
        overview,
        members: &command.etcd.members,
        spaces: log.spaces().unwrap_or_default(),
        now_us: u64::try_from(wall.as_micros())?,
    };
    let text = match command.json {
        true => report.json().to_string() + "\n",
        false => report.table(),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(u8::from(!report.troubles().is_empty()))
}
