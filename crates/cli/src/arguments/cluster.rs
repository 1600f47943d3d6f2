//! Flags of `fulgurite cluster`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Prepare a cluster on etcd, and look at it
///
/// No server uses a cluster yet.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Cluster {
    #[command(subcommand)]
    pub(crate) action: ClusterAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterAction {
    Init(Init),
    Status(ClusterStatus),
}

/// Write the facts of a new cluster into etcd, and print its name
///
/// They are the suffix and the formats, and never change. Exit status: 0 the cluster is there now,
/// 1 there is one of this name, 2 etcd refuses or does not answer.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite cluster init --suffix dc=example,dc=com --etcd https://etcd-1:2379,https://etcd-2:2379 \\\n      --etcd-ca ca.pem --etcd-cert node.pem --etcd-key node.key"
)]
pub(crate) struct Init {
    /// The suffix of the database
    #[arg(long, value_name = "DN")]
    pub(crate) suffix: String,
    /// The name of the cluster in etcd's keys, of letters, digits and - [default: a random UUID]
    #[arg(long, value_name = "NAME", value_parser = cluster_name)]
    pub(crate) cluster: Option<String>,
    #[command(flatten)]
    pub(crate) etcd: EtcdFlags,
}

/// Show sequencer, log and nodes of a cluster, and the members of etcd
///
/// Exit status: 0 a node leads, none is behind, and all members of etcd answer. It is 1 if
/// something of this is missing. It is 2 if there is no such cluster, or etcd does not answer.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite cluster status --cluster NAME --etcd http://127.0.0.1:2379 --json"
)]
pub(crate) struct ClusterStatus {
    /// The name of the cluster, as `init` has printed it
    #[arg(long, value_name = "NAME", env = "FULGURITE_CLUSTER", value_parser = cluster_name)]
    pub(crate) cluster: String,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) etcd: EtcdFlags,
}

/// The way to etcd.
#[derive(Debug, Args)]
#[command(next_help_heading = "etcd")]
pub(crate) struct EtcdFlags {
    /// URLs of all members, with commas between
    #[arg(
        long = "etcd",
        value_name = "URL",
        env = "FULGURITE_ETCD",
        value_delimiter = ',',
        required = true
    )]
    pub(crate) members: Vec<String>,
    /// File of the authorities that members' certificates come from; needed for https
    #[arg(long = "etcd-ca", value_name = "FILE")]
    pub(crate) authorities: Option<PathBuf>,
    /// File of the certificate to show
    #[arg(long = "etcd-cert", value_name = "FILE", requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// File of its key
    #[arg(
        long = "etcd-key",
        id = "key",
        value_name = "FILE",
        requires = "certificate"
    )]
    pub(crate) key: Option<PathBuf>,
    /// Name of a user of etcd
    #[arg(
        long = "etcd-user",
        id = "user",
        value_name = "NAME",
        requires = "password_file"
    )]
    pub(crate) user: Option<String>,
    /// File with the password of --etcd-user
    #[arg(
        long = "etcd-password-file",
        id = "password_file",
        value_name = "FILE",
        requires = "user"
    )]
    pub(crate) password_file: Option<PathBuf>,
    /// Send the password over http, where others can read it
    #[arg(long = "etcd-password-in-clear", requires = "user")]
    pub(crate) password_in_clear: bool,
}

/// Reads the name of a cluster, which is also part of a host name in certificates.
fn cluster_name(text: &str) -> Result<String, String> {
    let is_sound = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let mut middle = text.chars();
    let is_name = (1..=63).contains(&text.len())
        && text.starts_with(is_sound)
        && text.ends_with(is_sound)
        && middle.all(|letter| is_sound(letter) || letter == '-');
    match is_name {
        true => Ok(text.to_owned()),
        false => Err("1 to 63 small letters, digits and - between them".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_clusters_fit_into_host_names() {
        for name in ["a", "prod", "6f2c1a52-1b7e-4c39-9a0e-2f1f3f0d9a11", "9-x"] {
            assert_eq!(cluster_name(name), Ok(name.to_owned()));
        }
        for name in ["", "-a", "a-", "A", "a.b", "a/b", &"a".repeat(64)] {
            assert!(cluster_name(name).is_err(), "{name}");
        }
    }
}
