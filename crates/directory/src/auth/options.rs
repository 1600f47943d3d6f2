//! The settings of authentication.

use fulgurite_auth::{AuthzPolicy, AuthzRegexp, Scheme, ScramHash, SecurityProperties};
use fulgurite_policy::ReplicatedState;

/// The settings of authentication. All defaults but the scheme of new passwords are slapd's.
#[derive(Clone, Debug, Default)]
pub struct AuthOptions {
    /// The schemes of new passwords (`password-hash`), one value for each; empty for
    /// [`Scheme::default`].
    pub password_hash: Vec<Scheme>,
    /// The format of new `{CRYPT}` passwords (`password-crypt-salt-format`); `None` for
    /// SHA-512-crypt.
    pub crypt_salt_format: Option<String>,
    /// The mechanisms whose keys go to `authPassword` with a new password. They then work with a
    /// hashed password.
    pub scram_keys: Vec<ScramHash>,
    /// The realm of SASL names (`sasl-realm`).
    pub sasl_realm: Option<String>,
    /// Demands on SASL mechanisms (`sasl-secprops`).
    pub sasl_properties: SecurityProperties,
    /// The rules that map SASL names to names of entries (`authz-regexp`). The first match counts.
    pub authz_regexp: Vec<AuthzRegexp>,
    /// The policy for acting for others (`authz-policy`).
    pub authz_policy: AuthzPolicy,
    /// True if password policies are about simple binds only, as in slapd.
    pub policies_pass_sasl: bool,
    /// True if a lock for good also holds for entries that no policy is about.
    pub locks_need_no_policy: bool,
    /// The state of password policies that other servers learn of when binds change it.
    pub replicated_state: ReplicatedState,
    /// Sessions keep the name that their last bind claimed. Only delays of binds ask for it.
    pub keep_claimed_names: bool,
}

impl AuthOptions {
    /// Returns the schemes of new passwords, at least one.
    #[must_use]
    pub fn schemes(&self) -> Vec<Scheme> {
        if self.password_hash.is_empty() {
            vec![Scheme::default()]
        } else {
            self.password_hash.clone()
        }
    }
}
