//! Why TLS cannot be set up.

use std::path::PathBuf;

/// Why TLS cannot be set up; one line that names the file.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file or folder cannot be read.
    #[error("cannot read the {what} {}: {source}", file.display())]
    Unreadable {
        /// What it should hold.
        what: &'static str,
        /// Where.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file does not hold what it should.
    #[error("the {what} {} cannot be used: {reason}", file.display())]
    Unusable {
        /// What it should hold.
        what: &'static str,
        /// Where.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Key and certificate do not belong together.
    #[error("the key {} does not match the certificate {}", key.display(), certificate.display())]
    Mismatch {
        /// The key's file.
        key: PathBuf,
        /// The certificate's file.
        certificate: PathBuf,
    },
    /// Clients' certificates cannot be checked against anything.
    #[error(
        "clients' certificates are asked for, and there is no file or folder of authorities to check them against (TLSCACertificateFile, TLSCACertificatePath)"
    )]
    NoAuthorities,
    /// Nothing of the cipher suites asked for is spoken here.
    #[error("the cipher suites \"{0}\" leave nothing that is spoken here; understood are {1}")]
    NoSuites(String, String),
    /// No certificate is configured, and a listener needs one.
    #[error("{0} needs a certificate (TLSCertificateFile)")]
    NoCertificate(String),
    /// The library refuses the settings.
    #[error("TLS cannot be set up: {0}")]
    Refused(String),
}
