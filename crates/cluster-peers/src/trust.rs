//! The trust between nodes: certificates that name a node of a cluster.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fulgurite_cluster::NodeId;
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use thiserror::Error;

/// The reason why files give no trust.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TrustError {
    /// A file cannot be used.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The name of the cluster fits no certificate.
    #[error("\"{0}\" is no name of a cluster: use letters, digits and -")]
    Name(String),
}

/// The files of a node, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustFiles {
    /// The authorities of all nodes' certificates.
    pub authorities: PathBuf,
    /// The certificate of this node.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// The trust of one node.
#[derive(Clone, Debug)]
pub struct PeerTrust {
    cluster: String,
    node: NodeId,
    pub(crate) client: Arc<ClientConfig>,
    pub(crate) server: Arc<ServerConfig>,
}

impl PeerTrust {
    /// Reads the files of a node.
    ///
    /// # Errors
    /// [`TrustError`].
    pub fn read(cluster: &str, node: NodeId, files: &TrustFiles) -> Result<PeerTrust, TrustError> {
        let mut roots = RootCertStore::empty();
        for authority in certificates(&files.authorities)? {
            let added = roots.add(authority);
            added.map_err(|error| unusable(&files.authorities, &error))?;
        }
        let roots = Arc::new(roots);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider));
        let verifier = verifier.build();
        let verifier = verifier.map_err(|error| unusable(&files.authorities, &error))?;
        let chain = certificates(&files.certificate)?;
        let key = || {
            let key = PrivateKeyDer::from_pem_file(&files.key);
            key.map_err(|error| unusable(&files.key, &error))
        };
        // Nodes are of one age, so no older version is needed.
        let versions = &[&rustls::version::TLS13];
        let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .map_err(|error| unusable(&files.certificate, &error))?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain.clone(), key()?)
            .map_err(|error| unusable(&files.certificate, &error))?;
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .map_err(|error| unusable(&files.certificate, &error))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key()?)
            .map_err(|error| unusable(&files.certificate, &error))?;
        // A node that only sends reads no tickets.
        server.send_tls13_tickets = 0;
        let trust = PeerTrust {
            cluster: cluster.to_owned(),
            node,
            client: Arc::new(client),
            server: Arc::new(server),
        };
        trust.name(node)?;
        Ok(trust)
    }

    /// Returns the name of the cluster.
    pub(crate) fn cluster(&self) -> &str {
        &self.cluster
    }

    /// Returns the number of the node.
    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    /// Returns the name in a node's certificate.
    pub(crate) fn name(&self, node: NodeId) -> Result<ServerName<'static>, TrustError> {
        let name = format!("node-{node}.{}.fulgurite", self.cluster);
        ServerName::try_from(name).map_err(|_| TrustError::Name(self.cluster.clone()))
    }

    /// Returns true if a verified chain is that of a node.
    pub(crate) fn is_of(&self, chain: Option<&[CertificateDer<'_>]>, node: NodeId) -> bool {
        let own = chain.and_then(<[_]>::first);
        let (Some(own), Ok(name)) = (own, self.name(node)) else {
            return false;
        };
        let parsed = ParsedCertificate::try_from(own);
        parsed.is_ok_and(|own| verify_server_name(&own, &name).is_ok())
    }
}

fn unusable(path: &Path, reason: &dyn Display) -> TrustError {
    TrustError::File {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TrustError> {
    let all = CertificateDer::pem_file_iter(path).map_err(|error| unusable(path, &error))?;
    let all: Result<Vec<_>, _> = all.collect();
    all.map_err(|error| unusable(path, &error))
}
