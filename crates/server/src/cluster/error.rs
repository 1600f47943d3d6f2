//! The reasons why a server does not become a node.

use std::io;
use std::path::PathBuf;

use fulgurite_cluster_peers::TrustError;
use fulgurite_config::{ConfigError, SocketAddress};
use fulgurite_directory::Unsuitable;
use fulgurite_etcd::EtcdError;

/// The reason why a server does not become a node of its cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The settings are not complete.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The settings of etcd are wrong.
    #[error("cluster: {0}")]
    Etcd(#[from] EtcdError),
    /// The certificates are unusable.
    #[error("cluster: {0}")]
    Trust(#[from] TrustError),
    /// The address is not free, or not of this machine.
    #[error("cluster: cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddress,
        /// The reason.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("cluster: cannot read {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The database is not that of a node.
    #[error("cluster: {0}")]
    Database(#[from] Unsuitable),
}
