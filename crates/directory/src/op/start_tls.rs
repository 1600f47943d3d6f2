//! StartTLS (RFC 4511, section 4.14): the part that the directory decides. The connection checks
//! that no other operation is outstanding.

use fulgurite_ldap::{Controls, ExtendedRequest, LdapResult, ResultCode};

use crate::core::result::{OpResult, refuse};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::request::controls::RequestControls;

impl Directory {
    /// Permits TLS to begin. With `disallow tls_2_anon` the session becomes anonymous.
    ///
    /// # Errors
    /// protocolError if TLS is not offered or the request has a value. operationsError if TLS has
    /// begun already, or if `disallow tls_authc` is set and the session is authenticated.
    pub fn start_tls(
        &self,
        session: &mut Session,
        request: &ExtendedRequest<'_>,
        controls: &Controls<'_>,
    ) -> Result<(), LdapResult> {
        self.check_start_tls(session, request, controls)?;
        if self.policy().disallow.tls_2_anon {
            session.reset();
        }
        Ok(())
    }

    fn check_start_tls(
        &self,
        session: &Session,
        request: &ExtendedRequest<'_>,
        controls: &Controls<'_>,
    ) -> OpResult {
        RequestControls::decode_extended(request.oid, controls)?;
        let connection = session.connection();
        if !connection.offers_tls {
            let text = "unsupported extended operation";
            return Err(refuse(ResultCode::ProtocolError, text));
        }
        self.policy()
            .permit_extended(&self.core().databases, session, request.oid)?;
        if request.value.is_some() {
            let text = "no request data expected";
            return Err(refuse(ResultCode::ProtocolError, text));
        }
        if connection.tls.is_some() {
            return Err(refuse(ResultCode::OperationsError, "TLS already started"));
        }
        if self.policy().disallow.tls_authc && session.is_authenticated() {
            let text = "cannot start TLS after authentication";
            return Err(refuse(ResultCode::OperationsError, text));
        }
        Ok(())
    }
}
