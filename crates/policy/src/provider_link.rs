//! The connection to a provider: its URL, our identity there, TLS and timeouts.

use std::fmt;
use std::path::PathBuf;

use crate::choice::choice;

/// The connection to a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderLink {
    /// The URL of the provider: `ldap`, `ldaps` or `ldapi`.
    pub url: String,
    /// The way to say who we are.
    pub bind: SyncBind,
    /// The use of StartTLS.
    pub start_tls: StartTls,
    /// The demands on the provider's certificate.
    pub tls: SyncTls,
    /// Seconds to wait for a connection and for answers while connecting; 0 for the default.
    pub network_timeout_s: u32,
    /// Seconds to wait for the answer of a bind; 0 for the default.
    pub timeout_s: u32,
    /// Milliseconds that sent data may stay unacknowledged; 0 for the system's.
    pub tcp_user_timeout_ms: u32,
    /// Probes of an idle connection.
    pub keepalive: Keepalive,
}

impl ProviderLink {
    /// Returns a connection with every value at its default.
    #[must_use]
    pub fn new(url: &str) -> ProviderLink {
        ProviderLink {
            url: url.to_owned(),
            bind: SyncBind::default(),
            start_tls: StartTls::default(),
            tls: SyncTls::default(),
            network_timeout_s: 0,
            timeout_s: 0,
            tcp_user_timeout_ms: 0,
            keepalive: Keepalive::default(),
        }
    }
}

/// The identity of a consumer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncBind {
    /// Simple or SASL.
    pub method: BindMethod,
    /// The name for a simple bind; none for an anonymous one.
    pub dn: Option<String>,
    /// The password.
    pub credentials: Option<Credentials>,
    /// The mechanism of SASL.
    pub mechanism: Option<String>,
    /// The name of the user for SASL.
    pub user: Option<String>,
    /// The identity to act for.
    pub authorization: Option<String>,
    /// The realm of SASL, which none of our mechanisms has.
    pub realm: Option<String>,
    /// Properties of security layers, which none of our mechanisms has.
    pub properties: Option<String>,
}

/// A password. No form for display shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials(pub String);

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

/// TLS towards a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncTls {
    /// Our certificate.
    pub certificate_file: Option<PathBuf>,
    /// Its key.
    pub key_file: Option<PathBuf>,
    /// Authorities that verify the provider's certificate.
    pub ca_file: Option<PathBuf>,
    /// A folder of such files.
    pub ca_path: Option<PathBuf>,
    /// The demand on the certificate.
    pub demand: Option<CertificateDemand>,
    /// The word of `tls_reqsan`, which is kept: the name must always be in the certificate.
    pub san: Option<String>,
    /// The suites, which are kept: all that are known are offered.
    pub cipher_suite: Option<String>,
    /// The oldest version, as written.
    pub version_min: Option<String>,
    /// The name of a curve, which is kept.
    pub curve: Option<String>,
    /// The word of `tls_crlcheck`, which is kept.
    pub crl_check: Option<String>,
}

/// Probes of an idle connection; a number of 0 leaves it to the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keepalive {
    /// Seconds without traffic before the first probe.
    pub idle_s: u32,
    /// Probes without an answer that end the connection.
    pub probes: u32,
    /// Seconds between probes.
    pub interval_s: u32,
}

choice! {
    /// The way of a bind.
    BindMethod {
        /// By name and password.
        #[default]
        Simple = "simple",
        /// By a mechanism of SASL.
        Sasl = "sasl",
    }
}

choice! {
    /// The use of StartTLS.
    StartTls {
        /// None.
        #[default]
        No = "no",
        /// If the provider has it.
        Yes = "yes",
        /// Always: without it there is no connection.
        Critical = "critical",
    }
}

choice! {
    /// The demand on a provider's certificate.
    CertificateDemand {
        /// It must be valid.
        #[default]
        Demand = "demand" | "hard" | "true",
        /// It may be anything.
        Never = "never",
        /// It may be anything, but is looked at.
        Allow = "allow",
        /// It must be valid if there is one, which there always is.
        Try = "try",
    }
}
