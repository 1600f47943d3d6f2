//! The way to etcd, from flags.

use std::path::Path;

use anyhow::{Context as _, ensure};
use fulgurite_config::{ClusterSettings, Layer, Settings};
use fulgurite_etcd::{EtcdLog, EtcdSettings, TlsFiles};

use crate::arguments::cluster::EtcdFlags;
use crate::remote::login::read_password;

/// The number of the database in a cluster. It has one.
const DATABASE: u32 = 1;
/// The wait for any member in milliseconds. A person waits, not a lease.
const CALL_MS: u64 = 5000;

/// Returns the settings of a client.
pub(super) fn settings(flags: &EtcdFlags, cluster: &str) -> anyhow::Result<EtcdSettings> {
    ensure!(
        !flags.members.is_empty(),
        "name the members of etcd: --etcd URL,URL"
    );
    let needs_tls = flags.members.iter().any(|url| url.starts_with("https:"));
    ensure!(
        !needs_tls || flags.authorities.is_some(),
        "https needs --etcd-ca"
    );
    let mut settings = EtcdSettings::new(flags.members.clone(), cluster);
    settings.database = DATABASE;
    settings.call_ms = CALL_MS;
    settings.try_ms = CALL_MS / 5;
    let pair = flags.certificate.clone().zip(flags.key.clone());
    settings.tls = flags.authorities.clone().map(|authorities| TlsFiles {
        authorities,
        certificate: pair,
    });
    if let (Some(user), Some(file)) = (&flags.user, &flags.password_file) {
        let password = String::from_utf8(read_password(file)?);
        let password = password.context("the password of etcd is no UTF-8")?;
        settings.user = Some((user.clone(), password));
        settings.sends_password_in_clear = flags.password_in_clear;
    }
    Ok(settings)
}

/// Returns the settings of a node of a cluster.
pub(super) fn node_settings(config: &Path) -> anyhow::Result<(Settings, ClusterSettings)> {
    let settings = read_settings(config)?;
    let cluster = settings.cluster()?;
    let cluster = cluster.with_context(|| {
        let shown = config.display();
        format!("{shown} has no table [cluster]: `fulgurite cluster init` or `join` writes it")
    })?;
    Ok((settings, cluster))
}

/// Reads a file of settings.
pub(super) fn read_settings(config: &Path) -> anyhow::Result<Settings> {
    let text = std::fs::read_to_string(config);
    let text = text.with_context(|| format!("cannot read {}", config.display()))?;
    Ok(Settings::new(Layer::from_toml(&text, config)?)?)
}

/// Returns the log in etcd that the settings of a node name.
pub(super) fn log_of(cluster: &ClusterSettings) -> anyhow::Result<EtcdLog> {
    let mut settings = fulgurite_server::etcd_settings(cluster)?;
    settings.call_ms = CALL_MS;
    settings.try_ms = CALL_MS / 5;
    Ok(EtcdLog::new(&settings)?)
}
