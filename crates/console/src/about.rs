//! Facts about the server that no LDAP request tells, and that are no secret.

use std::fmt;
use std::sync::Arc;

/// Returns the end of the certificate in force, in seconds since 1970.
pub type CertificateEnd = Arc<dyn Fn() -> Option<u64> + Send + Sync>;

/// The documentation of a setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingText {
    /// Its attribute in `cn=config`.
    pub attribute: String,
    /// Its key in TOML files; empty without one.
    pub key: String,
    /// Its documentation.
    pub text: String,
}

/// Facts about the server.
#[derive(Clone, Default)]
pub struct AboutServer {
    /// The documentation of the settings.
    pub settings: Vec<SettingText>,
    /// Absent without TLS.
    pub certificate_end: Option<CertificateEnd>,
}

impl AboutServer {
    /// Returns the documentation of an attribute of `cn=config`.
    pub(crate) fn setting(&self, attribute: &str) -> Option<&SettingText> {
        let mut settings = self.settings.iter();
        settings.find(|setting| setting.attribute.eq_ignore_ascii_case(attribute))
    }
}

impl fmt::Debug for AboutServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AboutServer")
            .field("settings", &self.settings.len())
            .finish_non_exhaustive()
    }
}
