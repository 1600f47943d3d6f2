//! What can be set about TLS.

use std::path::PathBuf;
use std::str::FromStr;

/// Where certificates are and what is asked of clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// The server's certificate and the chain above it, PEM (`TLSCertificateFile`).
    pub certificate_file: Option<PathBuf>,
    /// Its key, PEM, not encrypted (`TLSCertificateKeyFile`); the certificate's file unless given.
    pub key_file: Option<PathBuf>,
    /// Authorities that clients' certificates are checked against, PEM (`TLSCACertificateFile`).
    pub ca_file: Option<PathBuf>,
    /// A folder of such files (`TLSCACertificatePath`).
    pub ca_path: Option<PathBuf>,
    /// Whether clients have to show a certificate (`TLSVerifyClient`).
    pub verify_client: VerifyClient,
    /// The oldest version spoken (`TLSProtocolMin`).
    pub version_min: TlsVersion,
    /// Cipher suites in the notation of OpenSSL or GnuTLS (`TLSCipherSuite`); all that are known unless given.
    pub cipher_suite: Option<String>,
    /// Revocation lists, PEM (`TLSCRLFile`).
    pub crl_file: Option<PathBuf>,
    /// What of a client's chain is looked for in them (`TLSCRLCheck`).
    pub crl_check: CrlCheck,
    /// Accepted for the sake of slapd's configurations and not needed: only elliptic curves are spoken.
    pub dh_param_file: Option<PathBuf>,
}

impl TlsOptions {
    /// Whether TLS is to be spoken at all.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.certificate_file.is_some()
    }
}

/// Whether clients have to show a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerifyClient {
    /// They are not asked.
    #[default]
    Never,
    /// They are asked; one that cannot be verified is treated as none.
    Allow,
    /// They are asked; one that cannot be verified ends the connection, none does not.
    Try,
    /// They must show one that can be verified.
    Demand,
}

impl FromStr for VerifyClient {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "never" => Ok(Self::Never),
            "allow" => Ok(Self::Allow),
            "try" => Ok(Self::Try),
            "demand" | "hard" | "true" => Ok(Self::Demand),
            _ => Err(format!(
                "\"{text}\" is none of never, allow, try and demand"
            )),
        }
    }
}

/// What of a client's chain is looked for in the revocation lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrlCheck {
    /// Only what the lists speak of: an authority without a list revokes nothing.
    #[default]
    None,
    /// The client's certificate; its authority must have a list.
    Peer,
    /// Every certificate of the chain; every authority must have a list.
    All,
}

impl FromStr for CrlCheck {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "none" => Ok(Self::None),
            "peer" => Ok(Self::Peer),
            "all" => Ok(Self::All),
            _ => Err(format!("\"{text}\" is none of none, peer and all")),
        }
    }
}

/// Versions of TLS that are spoken; older ones are no longer safe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// RFC 5246.
    #[default]
    Tls12,
    /// RFC 8446.
    Tls13,
}

impl FromStr for TlsVersion {
    type Err = String;

    /// Reads slapd's `3.3` and `3.4`, `1.2` and `1.3`, and the older ones, which mean the oldest that is spoken.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim_start_matches("TLSv") {
            "2.0" | "3.0" | "3.1" | "3.2" | "3.3" | "1.0" | "1.1" | "1.2" | "3" | "0" | "0.0" => {
                Ok(Self::Tls12)
            }
            "3.4" | "1.3" => Ok(Self::Tls13),
            _ => Err(format!(
                "\"{text}\" is no version of TLS; 3.3 is TLS 1.2, 3.4 is TLS 1.3"
            )),
        }
    }
}
