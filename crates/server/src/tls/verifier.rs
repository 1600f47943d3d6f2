//! Verification of clients' certificates.

use std::sync::Arc;

use fulgurite_net::pem;
use fulgurite_policy::{CrlCheck, TlsOptions, VerifyClient};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};

use super::authorities::authorities;
use super::error::TlsError;

/// Returns the verifier of clients' certificates; `None` if the server requests none.
pub(super) fn verifier(
    options: &TlsOptions,
    provider: &Arc<rustls::crypto::CryptoProvider>,
) -> Result<Option<Arc<dyn ClientCertVerifier>>, TlsError> {
    if options.verify_client == VerifyClient::Never {
        return Ok(None);
    }
    let roots = authorities(options.ca_file.as_deref(), options.ca_path.as_deref())?;
    if roots.is_empty() {
        return Err(TlsError::NoAuthorities);
    }
    let roots = Arc::new(roots);
    let mut builder = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(provider));
    if let Some(file) = &options.crl_file {
        builder = builder.with_crls(pem::revocation_lists(file)?);
        builder = match options.crl_check {
            CrlCheck::None => builder.allow_unknown_revocation_status(),
            CrlCheck::Peer => builder.only_check_end_entity_revocation(),
            CrlCheck::All => builder,
        };
    }
    if options.verify_client != VerifyClient::Demand {
        builder = builder.allow_unauthenticated();
    }
    let strict = builder
        .build()
        .map_err(|error| TlsError::Refused(error.to_string()))?;
    Ok(Some(if options.verify_client == VerifyClient::Allow {
        Arc::new(LenientVerifier(strict))
    } else {
        strict
    }))
}

/// Accepts every certificate. [`is_trusted`] checks it again, and an invalid one gives no
/// identity.
#[derive(Debug)]
struct LenientVerifier(Arc<dyn ClientCertVerifier>);

/// Returns true for a certificate that no strict verifier reads, such as one of X.509 version 1.
/// It gives no identity, so there is nothing that its signature could prove.
fn is_unreadable(certificate: &CertificateDer<'_>) -> bool {
    ParsedCertificate::try_from(certificate).is_err()
}

/// Returns true if the strict verifier accepts a chain.
pub(super) fn is_trusted(strict: &dyn ClientCertVerifier, chain: &[CertificateDer<'_>]) -> bool {
    let Some((own, between)) = chain.split_first() else {
        return false;
    };
    strict
        .verify_client_cert(own, between, UnixTime::now())
        .is_ok()
}

impl ClientCertVerifier for LenientVerifier {
    fn offer_client_auth(&self) -> bool {
        self.0.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if is_unreadable(certificate) {
            return Ok(HandshakeSignatureValid::assertion());
        }
        self.0
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if is_unreadable(certificate) {
            return Ok(HandshakeSignatureValid::assertion());
        }
        self.0
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
