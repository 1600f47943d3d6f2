//! What can be set about authentication.

use fulgurite_auth::{AuthzPolicy, AuthzRegexp, Scheme, ScramHash, SecurityProperties};

/// Settings of authentication. The defaults are slapd's, but for the scheme of new passwords.
#[derive(Clone, Debug, Default)]
pub struct AuthOptions {
    /// Schemes of new passwords, one value each (`password-hash`); none means [`Scheme::default`].
    pub password_hash: Vec<Scheme>,
    /// Form of new `{CRYPT}` passwords (`password-crypt-salt-format`); `None` means SHA-512-crypt.
    pub crypt_salt_format: Option<String>,
    /// Mechanisms whose keys are derived and kept in `authPassword` when a password is set, so that they work although
    /// the password itself is only kept as a hash.
    pub scram_keys: Vec<ScramHash>,
    /// The realm of SASL names (`sasl-realm`).
    pub sasl_realm: Option<String>,
    /// Demands on SASL mechanisms (`sasl-secprops`).
    pub sasl_properties: SecurityProperties,
    /// From SASL names to names of entries (`authz-regexp`), the first that fits.
    pub authz_regexp: Vec<AuthzRegexp>,
    /// Who may act for others (`authz-policy`).
    pub authz_policy: AuthzPolicy,
}

impl AuthOptions {
    /// The schemes of new passwords, at least one.
    #[must_use]
    pub fn schemes(&self) -> Vec<Scheme> {
        if self.password_hash.is_empty() {
            vec![Scheme::default()]
        } else {
            self.password_hash.clone()
        }
    }
}
