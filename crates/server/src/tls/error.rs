//! Failures to set up TLS.

use std::path::PathBuf;

use fulgurite_net::pem::FileError;

/// A failure to set up TLS; its message is one line that names the file.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file is unreadable or lacks the expected content.
    #[error(transparent)]
    File(#[from] FileError),
    /// Key and certificate do not match.
    #[error("the key {} does not match the certificate {}", key.display(), certificate.display())]
    Mismatch {
        /// The key's file.
        key: PathBuf,
        /// The certificate's file.
        certificate: PathBuf,
    },
    /// There are no authorities to verify clients' certificates.
    #[error(
        "verification of clients' certificates needs a file or folder of authorities (TLSCACertificateFile, TLSCACertificatePath)"
    )]
    NoAuthorities,
    /// None of the requested cipher suites is supported.
    #[error("the cipher suites \"{0}\" select no supported suite; known are {1}")]
    NoSuites(String, String),
    /// No certificate is configured, and a listener needs one.
    #[error("{0} needs a certificate: tls.certificate, or TLSCertificateFile of slapd.conf")]
    NoCertificate(String),
    /// The library refuses the settings.
    #[error("TLS cannot be set up: {0}")]
    Refused(String),
}
