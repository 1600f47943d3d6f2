//! Certificates, and the demands that TLS makes on clients.

use std::path::PathBuf;

use crate::choice::choice;

/// The settings of TLS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// The server's certificate and the chain above it, PEM (`TLSCertificateFile`).
    pub certificate_file: Option<PathBuf>,
    /// Its key, PEM, not encrypted (`TLSCertificateKeyFile`). Unless set, the certificate's file.
    pub key_file: Option<PathBuf>,
    /// Authorities that verify clients' certificates, PEM (`TLSCACertificateFile`).
    pub ca_file: Option<PathBuf>,
    /// A folder of such files (`TLSCACertificatePath`).
    pub ca_path: Option<PathBuf>,
    /// The demand on clients' certificates (`TLSVerifyClient`).
    pub verify_client: VerifyClient,
    /// The oldest version that the server speaks (`TLSProtocolMin`).
    pub version_min: TlsVersion,
    /// Cipher suites in the notation of OpenSSL or GnuTLS (`TLSCipherSuite`). Unless set, all that
    /// are known.
    pub cipher_suite: Option<String>,
    /// Revocation lists, PEM (`TLSCRLFile`).
    pub crl_file: Option<PathBuf>,
    /// The certificates of a client's chain that the lists are searched for (`TLSCRLCheck`).
    pub crl_check: CrlCheck,
    /// Parameters for Diffie-Hellman (`TLSDHParamFile`). Unused, because only elliptic curves are
    /// spoken.
    pub dh_param_file: Option<PathBuf>,
}

impl TlsOptions {
    /// Returns true if the server can speak TLS.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.certificate_file.is_some()
    }
}

choice! {
    /// The oldest version of TLS that the server speaks. Versions before 1.2 are not safe; their
    /// words mean 1.2.
    TlsVersion {
        /// RFC 5246.
        #[default]
        Tls12 = "1.2" | "3.3" | "3.2" | "3.1" | "3.0" | "2.0" | "3" | "1.0" | "1.1" | "0.0",
        /// RFC 8446.
        Tls13 = "1.3" | "3.4",
    }
}

choice! {
    /// The demand on a client's certificate.
    VerifyClient {
        /// The server does not ask for one.
        #[default]
        Never = "never" | "0" | "false" | "no" | "off",
        /// The server asks for one; it ignores one that cannot be verified.
        Allow = "allow" | "1",
        /// The server asks for one; one that cannot be verified ends the connection.
        Try = "try" | "2",
        /// The client must present one that can be verified.
        Demand = "demand" | "hard" | "true" | "3" | "yes" | "on",
    }
}

choice! {
    /// The certificates that revocation lists are searched for.
    CrlCheck {
        /// Those whose authority has a list: an authority without a list revokes nothing.
        #[default]
        None = "none",
        /// The client's certificate; its authority must have a list.
        Peer = "peer",
        /// Every certificate of the chain; every authority must have a list.
        All = "all",
    }
}
