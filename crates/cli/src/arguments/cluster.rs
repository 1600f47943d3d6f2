//! Flags of `fulgurite cluster`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Make a cluster on etcd, change its nodes, and look at it
///
/// Several servers hold one content. etcd keeps the order of the changes.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Cluster {
    #[command(subcommand)]
    pub(crate) action: ClusterAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterAction {
    Init(Init),
    Token(Token),
    Join(Join),
    Renew(Renew),
    Leave(Leave),
    Forget(Forget),
    Status(ClusterStatus),
}

/// Begin a cluster, with this server as node 1
///
/// The database of the settings is the first content. If there is none, it is made with its first
/// entry. The command makes an authority and the certificate of the node, in the folder `cluster`
/// next to the settings. It adds the table `[cluster]` to the settings, and prints the name of the
/// cluster. The server must not run.
///
/// Without --config, the command writes the facts of the cluster into etcd, and nothing else.
///
/// Exit status: 0 the cluster is there now, 1 there is one of this name, 2 failure.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite cluster init --config fulgurite.toml --data /var/lib/fulgurite --suffix dc=example,dc=com \\\n      --peers node-1:7390 --etcd https://etcd-1:2379,https://etcd-2:2379 --etcd-ca ca.pem"
)]
pub(crate) struct Init {
    /// The suffix of the database [default: that of the settings]
    #[arg(long, value_name = "DN")]
    pub(crate) suffix: Option<String>,
    /// The name of the cluster in etcd's keys, of letters, digits and - [default: a random UUID]
    #[arg(long, value_name = "NAME", value_parser = cluster_name)]
    pub(crate) cluster: Option<String>,
    /// Begin anew with the content of this node, whose cluster has lost its etcd
    ///
    /// Choose the node with the greatest position. All others join again.
    #[arg(long, requires = "config")]
    pub(crate) from_this_node: bool,
    #[command(flatten)]
    pub(crate) node: NodeFlags,
    #[command(flatten)]
    pub(crate) etcd: EtcdFlags,
}

/// Make a token with which one server joins the cluster
///
/// Call it at a node that has the key of the authority: the first one. The token has the key of the
/// new node, so treat it like a password. One server can use it, once.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite cluster token --config fulgurite.toml > node-2.token"
)]
pub(crate) struct Token {
    /// Settings of this node
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Renew the certificate of this node, which keeps its number; the token works at any time
    #[arg(long, value_name = "NODE", conflicts_with = "valid")]
    pub(crate) renew: Option<u64>,
    /// Seconds for which the token can be used
    #[arg(long, value_name = "SECONDS", default_value_t = 86_400)]
    pub(crate) valid: u32,
}

/// Join a cluster: take the certificate of a token, and a copy of the database from another node
///
/// A copy that breaks off goes on with the next call, or with the start of the server.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fulgurite cluster join node-2.token --config fulgurite.toml --data /var/lib/fulgurite --peers node-2:7390"
)]
pub(crate) struct Join {
    /// File with the token, or - for standard input
    #[arg(value_name = "TOKEN-FILE")]
    pub(crate) token: PathBuf,
    #[command(flatten)]
    pub(crate) node: NodeFlags,
    #[command(flatten)]
    pub(crate) etcd: EtcdFlags,
}

/// Renew the certificate of this node, before it ends
///
/// At the node with the key of the authority, call it without a token. For another node, make one
/// there with `fulgurite cluster token --renew NODE`. Restart the server afterwards.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite cluster renew node-2.token --config fulgurite.toml")]
pub(crate) struct Renew {
    /// File with the token, or - for standard input
    #[arg(value_name = "TOKEN-FILE")]
    pub(crate) token: Option<PathBuf>,
    /// Settings of this node
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: PathBuf,
}

/// Take this node out of its cluster
///
/// The server must not run. The table `[cluster]` goes out of its settings, and its database stays.
/// So it serves alone from then on. To join again, move the database away.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite cluster leave --config fulgurite.toml")]
pub(crate) struct Leave {
    /// Settings of this node
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: PathBuf,
}

/// Take a lost node out of the cluster
///
/// The other nodes do not hear it any more. A lost node that stays needs nothing.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fulgurite cluster forget 3 --config fulgurite.toml")]
pub(crate) struct Forget {
    /// The number of the lost node
    #[arg(value_name = "NODE")]
    pub(crate) node: u64,
    /// Settings of a node of the cluster
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: PathBuf,
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
    pub(crate) cluster: Option<String>,
    /// Settings of a node, in place of --cluster and the flags of etcd
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) etcd: EtcdFlags,
}

/// A node to make.
#[derive(Debug, Args)]
#[command(next_help_heading = "The node")]
pub(crate) struct NodeFlags {
    /// Settings of the server. The command adds a table, or makes the file
    #[arg(short, long, id = "config", value_name = "FILE", requires = "peers")]
    pub(crate) config: Option<PathBuf>,
    /// Address for the other nodes
    #[arg(long, id = "peers", value_name = "HOST:PORT")]
    pub(crate) peers: Option<String>,
    /// Address by which the other nodes reach this one, if it is another
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) address: Option<String>,
    /// Do nothing if this server is a node already, for a command that runs before each start
    #[arg(long, requires = "config")]
    pub(crate) once: bool,
    /// Directory of the database, for a file of settings that the command makes
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Address for LDAP clients, for a file of settings that the command makes
    #[arg(long, value_name = "URL")]
    pub(crate) listen: Vec<String>,
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
        value_delimiter = ','
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
