//! The settings of TLS, from the files of the options.

use std::sync::Arc;

use fulgurite_net::pem::{self, FileError};
use rustls::ServerConfig;

use crate::error::ServeError;
use crate::options::Tls;

/// Reads the files, and makes the settings of new connections.
pub(super) fn server_config(tls: &Tls) -> Result<Arc<ServerConfig>, ServeError> {
    let unusable = |error: FileError| ServeError::Tls(error.to_string());
    let chain = pem::certificates("certificate", &tls.certificate).map_err(unusable)?;
    let key = pem::private_key(&tls.key).map_err(unusable)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| ServeError::Tls(error.to_string()))?;
    Ok(Arc::new(config))
}
