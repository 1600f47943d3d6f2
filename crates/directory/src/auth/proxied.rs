//! Operations that a client asks for on behalf of another identity (RFC 4370).

use fulgurite_ldap::{Controls, ResultCode};

use super::state::Authenticator;
use crate::core::result::{OpResult, refuse};
use crate::core::session::Session;
use crate::request::controls::{OptionalControls, RequestControls, RequestKind};

impl Authenticator<'_> {
    /// Decodes the controls of a request. Returns the session it is done for if that is not the
    /// client's own.
    ///
    /// The right to act for the other identity is checked before any error of a later control is
    /// reported.
    pub(crate) fn controls_of<'c>(
        &self,
        session: &Session,
        kind: RequestKind<'_>,
        controls: &Controls<'c>,
    ) -> OpResult<(OptionalControls<'c>, Option<Session>)> {
        let (decoded, outcome) = OptionalControls::decode(kind, controls);
        let acting = self.acting(session, &decoded)?;
        outcome.map(|()| (decoded, acting))
    }

    /// Returns the session that the controls ask for, if not the client's own.
    fn acting(
        &self,
        session: &Session,
        controls: &RequestControls<'_>,
    ) -> OpResult<Option<Session>> {
        let Some(authzid) = controls.proxied else {
            return Ok(None);
        };
        if !controls.proxied_critical && self.policy.disallow.proxy_authz_non_critical {
            return Err(refuse(
                ResultCode::ProtocolError,
                "proxied authorization control must be marked critical",
            ));
        }
        self.authorize(session, authzid).map(Some)
    }
}
