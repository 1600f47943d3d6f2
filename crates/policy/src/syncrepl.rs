//! The providers that a database is copied from.

use std::fmt;
use std::path::PathBuf;

use crate::choice::choice;

/// One provider of a database (`syncrepl`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Syncrepl {
    /// The number of this consumer, 0 to 999, which cookies name.
    pub rid: u16,
    /// The URL of the provider: `ldap`, `ldaps` or `ldapi`.
    pub provider: String,
    /// The name at the top of what is copied, at the provider.
    pub search_base: String,
    /// The name that takes the place of the search base here.
    pub suffix_massage: Option<String>,
    /// The filter of the entries to copy.
    pub filter: String,
    /// How far below the search base the copy reaches.
    pub scope: SyncScope,
    /// The attributes to copy; empty for all of them.
    pub attributes: Vec<String>,
    /// The attributes that are left as they are.
    pub excluded: Vec<String>,
    /// Copy names of attributes without values.
    pub attributes_only: bool,
    /// The entries of a search at most; 0 for no limit.
    pub size_limit: u32,
    /// The seconds of a search at most; 0 for no limit.
    pub time_limit_s: u32,
    /// Stay connected after the refresh.
    pub persist: bool,
    /// Seconds from the end of a refresh to the next, without `persist`.
    pub interval_s: u64,
    /// Pauses after failures; `None` for one hour for ever.
    pub retry: Option<RetryList>,
    /// Check entries against the schema.
    pub schema_checking: bool,
    /// Copy referral objects as entries.
    pub manage_dsa_it: bool,
    /// Accepted and written back; this server never drops its clients for a refresh.
    pub strict_refresh: bool,
    /// Write what a refresh brings without waiting for the disk.
    pub lazy_commit: bool,
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
    /// The form in which changes come.
    pub data: SyncData,
    /// The database of the access log.
    pub log_base: Option<String>,
    /// The filter of log entries.
    pub log_filter: Option<String>,
}

/// The pauses between attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryList {
    /// Seconds of a pause, and how often it is made; `None` for ever, which only the last may be.
    pub steps: Vec<(u64, Option<u32>)>,
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
    /// How far below the search base a copy reaches.
    SyncScope {
        /// The base and everything below it.
        #[default]
        Subtree = "sub" | "subtree",
        /// The base alone.
        Base = "base",
        /// The children of the base.
        One = "one" | "onelevel",
        /// Everything below the base, without it.
        Subordinate = "subordinate" | "subord" | "children",
    }
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

choice! {
    /// The form in which changes come.
    SyncData {
        /// As entries.
        #[default]
        Entries = "default",
        /// As operations, from the provider's access log.
        AccessLog = "accesslog",
    }
}

impl Syncrepl {
    /// Returns the attributes to ask for: those of the settings, and as in slapd those that each
    /// copy needs.
    #[must_use]
    pub fn copied_attributes(&self) -> Vec<String> {
        const CLASS: &str = "structuralObjectClass";
        if self.attributes.is_empty() {
            return ["*", "+"].map(str::to_owned).to_vec();
        }
        let is = |name: &String, other: &str| name.eq_ignore_ascii_case(other);
        let mut names = self.attributes.clone();
        let has_operational = names.iter().any(|name| name == "+");
        if !has_operational {
            names.retain(|name| !is(name, CLASS));
        }
        let mut add = |name: &str| {
            if !names.iter().any(|held| held == "*" || is(held, name)) {
                names.push(name.to_owned());
            }
        };
        add("objectClass");
        if !has_operational {
            names.push(CLASS.to_owned());
            if !names.iter().any(|name| is(name, "entryCSN")) {
                names.push("entryCSN".to_owned());
            }
        }
        names
    }

    /// Returns a consumer with every value at its default.
    #[must_use]
    pub fn new(rid: u16, provider: &str, search_base: &str) -> Syncrepl {
        Syncrepl {
            rid,
            provider: provider.to_owned(),
            search_base: search_base.to_owned(),
            suffix_massage: None,
            filter: "(objectclass=*)".to_owned(),
            scope: SyncScope::default(),
            attributes: Vec::new(),
            excluded: Vec::new(),
            attributes_only: false,
            size_limit: 0,
            time_limit_s: 0,
            persist: false,
            interval_s: 24 * 60 * 60,
            retry: None,
            schema_checking: false,
            manage_dsa_it: true,
            strict_refresh: false,
            lazy_commit: false,
            bind: SyncBind::default(),
            start_tls: StartTls::default(),
            tls: SyncTls::default(),
            network_timeout_s: 0,
            timeout_s: 0,
            tcp_user_timeout_ms: 0,
            keepalive: Keepalive::default(),
            data: SyncData::default(),
            log_base: None,
            log_filter: None,
        }
    }

    /// Returns the name at the top of the copy, in this server.
    #[must_use]
    pub fn local_base(&self) -> &str {
        self.suffix_massage.as_ref().unwrap_or(&self.search_base)
    }
}
