//! The identities of clients, for programs.

use fulgurite_auth::AuthzId;
use fulgurite_ldap::LdapResult;
use fulgurite_schema::Dn;

use crate::auth::UnknownIdentity;
use crate::core::session::Session;
use crate::directory::Directory;

impl Directory {
    /// Returns the name that SASL's `user` is mapped to.
    ///
    /// # Errors
    /// [`UnknownIdentity`] if a rule matches and finds no entry.
    pub fn sasl_identity(
        &self,
        session: &Session,
        user: &str,
        realm: Option<&str>,
        mechanism: Option<&str>,
    ) -> Result<Dn, UnknownIdentity> {
        self.authenticator()
            .sasl_identity(session, user, realm, mechanism)
    }

    /// Returns the name that `authz-regexp` makes of a name.
    ///
    /// # Errors
    /// [`UnknownIdentity`].
    pub fn mapped(&self, session: &Session, name: &str) -> Result<Dn, UnknownIdentity> {
        self.authenticator().mapped(session, name)
    }

    /// Returns the name that an authorization identity means.
    ///
    /// # Errors
    /// [`UnknownIdentity`].
    pub fn authorization_identity(
        &self,
        session: &Session,
        id: &AuthzId,
        mechanism: Option<&str>,
    ) -> Result<Dn, UnknownIdentity> {
        self.authenticator()
            .authorization_identity(session, id, mechanism)
    }

    /// Returns true if `authentication` may act for `authorization` (`authz-policy`, `authzTo`,
    /// `authzFrom`).
    #[must_use]
    pub fn may_act_for(&self, session: &Session, authentication: &Dn, authorization: &Dn) -> bool {
        self.authenticator()
            .may_act_for(session, authentication, authorization)
    }

    /// Returns the session acting for the identity that the proxied authorization control names
    /// (RFC 4370).
    ///
    /// # Errors
    /// authorizationDenied (123), with slapd's texts.
    pub fn authorize(&self, session: &Session, authzid: &[u8]) -> Result<Session, LdapResult> {
        self.authenticator().authorize(session, authzid)
    }
}
