//! Extended operations (RFC 4511, section 4.12).

use fulgurite_ldap::{Controls, ExtendedRequest, LdapResult, MessageId, ResultCode, encode, oid};

use crate::answer::{Answer, refuse};
use crate::controls::RequestControls;
use crate::directory::Directory;
use crate::session::Session;

/// The extended operations answered here. What concerns the connection itself (StartTLS, Cancel) is not.
pub(crate) const SUPPORTED: [&str; 1] = [oid::WHO_AM_I];

/// The answer to an extended operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedReply {
    /// Its result.
    pub result: LdapResult,
    /// Its value, where the operation has one.
    pub value: Option<Vec<u8>>,
}

impl ExtendedReply {
    /// Appends the response.
    pub fn encode(&self, id: MessageId, out: &mut Vec<u8>) {
        encode::extended_result(out, id, &self.result, None, self.value.as_deref(), &[]);
    }
}

impl Directory {
    /// Answers an extended operation; one that is unknown with protocolError.
    #[must_use]
    pub fn extended(
        &self,
        session: &Session,
        request: &ExtendedRequest<'_>,
        controls: &Controls<'_>,
    ) -> ExtendedReply {
        match extended(session, request, controls) {
            Ok(value) => ExtendedReply {
                result: LdapResult::success(),
                value: Some(value),
            },
            Err(result) => ExtendedReply {
                result,
                value: None,
            },
        }
    }
}

fn extended(
    session: &Session,
    request: &ExtendedRequest<'_>,
    controls: &Controls<'_>,
) -> Answer<Vec<u8>> {
    RequestControls::decode_extended(request.oid, controls)?;
    if request.oid != oid::WHO_AM_I.as_bytes() {
        return Err(refuse(
            ResultCode::ProtocolError,
            "unsupported extended operation",
        ));
    }
    if request.value.is_some() {
        return Err(refuse(
            ResultCode::ProtocolError,
            "no request data expected",
        ));
    }
    Ok(who_am_i(session).into_bytes())
}

/// The authorisation identity (RFC 4532): `dn:` and a name, or nothing for anonymous.
fn who_am_i(session: &Session) -> String {
    if session.is_authenticated() {
        format!("dn:{}", session.name())
    } else {
        String::new()
    }
}
