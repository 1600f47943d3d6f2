//! Builds the TLS context of new connections from files.

use std::path::Path;
use std::sync::Arc;

use fulgurite_net::pem::{self, FileError};
use fulgurite_policy::{TlsOptions, TlsVersion, VerifyClient};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::server::danger::ClientCertVerifier;
use rustls::{Error, InconsistentKeys, ServerConfig};

use super::error::TlsError;
use super::{certificate, suites, verifier};

/// The TLS context of new connections.
pub(crate) struct TlsContext {
    pub(super) config: Arc<ServerConfig>,
    /// `tls-server-end-point` of the certificate.
    pub(super) end_point: Option<Vec<u8>>,
    /// Checks clients' certificates a second time if the handshake accepts all of them.
    pub(super) strict: Option<Arc<dyn ClientCertVerifier>>,
    /// The end of the certificate's validity, in seconds since 1970.
    ends_s: Option<u64>,
    warnings: Vec<String>,
}

impl TlsContext {
    pub(super) fn new(options: &TlsOptions) -> Result<TlsContext, TlsError> {
        let Some(certificate_file) = &options.certificate_file else {
            return Err(TlsError::NoCertificate("TLS".to_owned()));
        };
        let key_file = options.key_file.as_ref().unwrap_or(certificate_file);
        let chain = pem::certificates("certificate", certificate_file)?;
        let key = pem::private_key(key_file)?;
        let chosen = suites::choose(options.cipher_suite.as_deref(), options.version_min)?;
        let warnings = warnings(certificate_file, &chain, &chosen.unknown);
        let provider = Arc::new(CryptoProvider {
            cipher_suites: chosen.suites,
            ..rustls::crypto::ring::default_provider()
        });
        let versions: &[_] = match options.version_min {
            TlsVersion::Tls12 => rustls::DEFAULT_VERSIONS,
            TlsVersion::Tls13 => &[&rustls::version::TLS13],
        };
        let asks = verifier::verifier(options, &provider)?;
        let strict = match options.verify_client {
            VerifyClient::Allow => {
                let options = TlsOptions {
                    verify_client: VerifyClient::Try,
                    ..options.clone()
                };
                verifier::verifier(&options, &provider)?
            }
            _ => None,
        };
        let validity = chain.first().and_then(|own| certificate::validity(own));
        let end_point = chain.first().and_then(|own| certificate::end_point(own));
        let builder = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .map_err(|error| TlsError::Refused(error.to_string()))?;
        let builder = match asks {
            Some(verifier) => builder.with_client_cert_verifier(verifier),
            None => builder.with_no_client_auth(),
        };
        let config = builder
            .with_single_cert(chain, key)
            .map_err(|error| unusable(&error, certificate_file, key_file))?;
        Ok(TlsContext {
            config: Arc::new(config),
            end_point,
            strict,
            ends_s: validity.map(|(_, ends_s)| ends_s),
            warnings,
        })
    }

    /// Returns the end of the certificate's validity, in seconds since 1970.
    pub(crate) fn ends_s(&self) -> Option<u64> {
        self.ends_s
    }

    /// Returns the parameters of new connections.
    pub(crate) fn server_config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }

    /// Logs problems that do not prevent the use of the files.
    pub(super) fn warn(&self) {
        for warning in &self.warnings {
            tracing::warn!("{warning}");
        }
    }
}

fn warnings(file: &Path, chain: &[CertificateDer<'_>], unknown: &[String]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (number, der) in (1..).zip(chain) {
        if let Some(reason) = certificate::validity_error(der) {
            let file = file.display();
            warnings.push(format!(
                "clients will reject the certificate {file} (number {number} in it): {reason}"
            ));
        }
    }
    if !unknown.is_empty() {
        let (words, known) = (unknown.join(", "), suites::known_words());
        warnings.push(format!(
            "cipher suites: unknown and ignored: {words}; known are {known}"
        ));
    }
    warnings
}

fn unusable(error: &Error, certificate: &Path, key: &Path) -> TlsError {
    match error {
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => TlsError::Mismatch {
            key: key.to_owned(),
            certificate: certificate.to_owned(),
        },
        Error::InvalidCertificate(_) => TlsError::File(FileError::Unusable {
            what: "certificate",
            file: certificate.to_owned(),
            reason: error.to_string(),
        }),
        _ => TlsError::File(FileError::Unusable {
            what: "key",
            file: key.to_owned(),
            reason: error.to_string(),
        }),
    }
}
