//! The settings of a client, and the trust in its members.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use crate::error::EtcdError;

/// The settings of a client.
#[derive(Clone, PartialEq, Eq)]
pub struct EtcdSettings {
    /// The URLs of all members, such as `https://etcd-1:2379`.
    pub members: Vec<String>,
    /// The files of TLS; needed for `https`.
    pub tls: Option<TlsFiles>,
    /// The name and password of etcd's roles.
    pub user: Option<(String, String)>,
    /// True if the password may go over `http`, where others can read it.
    pub sends_password_in_clear: bool,
    /// The name of the cluster in keys, its UUID.
    pub cluster: String,
    /// The number of the database in keys.
    pub database: u32,
    /// The wait for a member in milliseconds, before the next one is asked.
    pub try_ms: u64,
    /// The wait for any member in milliseconds.
    pub call_ms: u64,
}

impl fmt::Debug for EtcdSettings {
    /// Leaves the password out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.user.as_ref().map(|(name, _)| name);
        f.debug_struct("EtcdSettings")
            .field("members", &self.members)
            .field("tls", &self.tls)
            .field("user", &user)
            .field("cluster", &self.cluster)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

impl EtcdSettings {
    /// Returns settings with the usual waits, without TLS and without a user.
    #[must_use]
    pub fn new(members: Vec<String>, cluster: &str) -> EtcdSettings {
        EtcdSettings {
            members,
            tls: None,
            user: None,
            sends_password_in_clear: false,
            cluster: cluster.to_owned(),
            database: 1,
            try_ms: 500,
            call_ms: 1500,
        }
    }
}

impl EtcdSettings {
    /// Returns the addresses of the members.
    ///
    /// # Errors
    /// [`EtcdError::Setting`], also for a password that others could read.
    pub(crate) fn addresses(&self) -> Result<Vec<Member>, EtcdError> {
        let members = self.members.iter().map(|url| Member::parse(url));
        let members: Vec<Member> = members.collect::<Result<_, _>>()?;
        if members.is_empty() {
            return Err(EtcdError::Setting("name a member of etcd".to_owned()));
        }
        let in_clear = members.iter().position(|member| !member.is_tls);
        match in_clear.filter(|_| self.user.is_some() && !self.sends_password_in_clear) {
            Some(member) => Err(EtcdError::Setting(format!(
                "the password of etcd would go in clear text to {}: use https, or allow it",
                self.members[member]
            ))),
            None => Ok(members),
        }
    }
}

/// The files of TLS, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The authorities that members' certificates come from.
    pub authorities: PathBuf,
    /// The certificate of this client and its key, if etcd asks for one.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

impl TlsFiles {
    /// Reads the files.
    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, EtcdError> {
        let error = |path: &PathBuf, error: &dyn std::fmt::Display| {
            EtcdError::Setting(format!("{}: {error}", path.display()))
        };
        let certificates = |path: &PathBuf| {
            let all = CertificateDer::pem_file_iter(path).map_err(|e| error(path, &e))?;
            let all: Result<Vec<_>, _> = all.collect();
            all.map_err(|e| error(path, &e))
        };
        let mut roots = RootCertStore::empty();
        for authority in certificates(&self.authorities)? {
            let added = roots.add(authority);
            added.map_err(|e| error(&self.authorities, &e))?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| EtcdError::Setting(error.to_string()))?;
        let builder = builder.with_root_certificates(roots);
        let Some((chain, key)) = &self.certificate else {
            return Ok(Arc::new(builder.with_no_client_auth()));
        };
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|e| error(key, &e))?;
        let config = builder.with_client_auth_cert(certificates(chain)?, secret);
        config.map(Arc::new).map_err(|e| error(chain, &e))
    }
}

/// The address of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) is_tls: bool,
}

impl Member {
    /// Reads a URL: scheme, host and port.
    pub(crate) fn parse(url: &str) -> Result<Member, EtcdError> {
        let wrong = || {
            EtcdError::Setting(format!(
                "\"{url}\" is no URL of a member of etcd, such as https://etcd-1:2379"
            ))
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
        let is_tls = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(wrong()),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| wrong())?)
            }
            _ => (rest, 2379),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || host.contains(['/', '@']) {
            return Err(wrong());
        }
        Ok(Member {
            host: host.to_owned(),
            port,
            is_tls,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_goes_over_tls_unless_told() {
        let members = ["https://one:2379", "http://two:2379"].map(str::to_owned);
        let mut settings = EtcdSettings::new(members.to_vec(), "c");
        assert!(settings.addresses().is_ok());
        settings.user = Some(("node".to_owned(), "secret".to_owned()));
        let Err(EtcdError::Setting(text)) = settings.addresses() else {
            panic!("the password goes in clear text");
        };
        assert!(
            text.contains("http://two:2379") && !text.contains("secret"),
            "{text}"
        );
        settings.sends_password_in_clear = true;
        assert!(settings.addresses().is_ok());
        settings.sends_password_in_clear = false;
        settings.members.truncate(1);
        assert!(settings.addresses().is_ok());
    }

    #[test]
    fn urls_of_members() {
        let parsed = |url| {
            let member = Member::parse(url).ok()?;
            Some((member.host, member.port, member.is_tls))
        };
        let some = |host: &str, port, is_tls| Some((host.to_owned(), port, is_tls));
        assert_eq!(parsed("http://etcd-1:2380"), some("etcd-1", 2380, false));
        assert_eq!(parsed("https://[::1]:9/"), some("::1", 9, true));
        assert_eq!(parsed("https://[::1]"), some("::1", 2379, true));
        assert_eq!(parsed("https://etcd"), some("etcd", 2379, true));
        for wrong in [
            "etcd:2379",
            "ftp://etcd",
            "http://",
            "http://a:b",
            "http://a/b",
        ] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
