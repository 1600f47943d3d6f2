//! TLS towards a provider.

use std::sync::Arc;

use fulgurite_client::AnyCertificate;
use fulgurite_net::pem;
use fulgurite_policy::{CertificateDemand, SyncTls};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Error};

use crate::tls::authorities::authorities;
use crate::tls::error::TlsError;

/// Begins TLS with a host.
pub(super) fn connection(tls: &SyncTls, host: &str) -> Result<ClientConnection, String> {
    let config = config(tls).map_err(|error| error.to_string())?;
    let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned());
    let name = name.map_err(|_| format!("\"{host}\" is no name of a host"))?;
    ClientConnection::new(Arc::new(config), name).map_err(|error| error.to_string())
}

fn config(tls: &SyncTls) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let refused = |error: Error| TlsError::Refused(error.to_string());
    let wants_13 = tls
        .version_min
        .as_deref()
        .is_some_and(|version| matches!(version, "3.4" | "1.3"));
    let versions: &[_] = match wants_13 {
        true => &[&rustls::version::TLS13],
        false => rustls::DEFAULT_VERSIONS,
    };
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .map_err(refused)?;
    let builder = builder
        .dangerous()
        .with_custom_certificate_verifier(verifier(tls, &provider)?);
    let Some(file) = &tls.certificate_file else {
        return Ok(builder.with_no_client_auth());
    };
    let chain = pem::certificates("certificate", file)?;
    let key = pem::private_key(tls.key_file.as_ref().unwrap_or(file))?;
    builder.with_client_auth_cert(chain, key).map_err(refused)
}

fn verifier(
    tls: &SyncTls,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
    let demand = tls.demand.unwrap_or_default();
    if matches!(demand, CertificateDemand::Never | CertificateDemand::Allow) {
        return Ok(Arc::new(AnyCertificate(Arc::clone(provider))));
    }
    let roots = authorities(tls.ca_file.as_deref(), tls.ca_path.as_deref())?;
    if roots.is_empty() {
        let text = "there are no authorities to verify the provider (tls_cacert)";
        return Err(TlsError::Refused(text.to_owned()));
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map(|verifier| verifier as Arc<dyn ServerCertVerifier>)
        .map_err(|error| TlsError::Refused(error.to_string()))
}
