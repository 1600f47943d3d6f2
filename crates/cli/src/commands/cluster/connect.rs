//! The way to etcd, from flags.

use anyhow::{Context as _, ensure};
use fulgurite_etcd::{EtcdSettings, TlsFiles};

use crate::arguments::cluster::EtcdFlags;
use crate::remote::login::read_password;

/// The number of the database in a cluster. It has one.
const DATABASE: u32 = 1;
/// The wait for any member in milliseconds. A person waits, not a lease.
const CALL_MS: u64 = 5000;

/// Returns the settings of a client.
pub(super) fn settings(flags: &EtcdFlags, cluster: &str) -> anyhow::Result<EtcdSettings> {
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
