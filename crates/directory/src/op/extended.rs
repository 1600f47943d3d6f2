//! Extended operations (RFC 4511, section 4.12).

use fulgurite_ldap::{
    CancelRequest, Controls, ExtendedRequest, Fault, LdapResult, MessageId, ResultCode, oid,
};

use crate::core::result::{OpResult, refuse};
use crate::core::session::Session;
use crate::directory::{Directory, EXTENDED_OPERATIONS};
use crate::op::access_query;
use crate::op::extended_step::{ExtendedReply, ExtendedStep};
use crate::op::password_modify;
use crate::op::transaction;
use crate::request::controls::RequestKind;

impl Directory {
    /// Answers an extended operation; protocolError for an unknown one.
    #[must_use]
    pub fn extended(
        &self,
        session: &mut Session,
        id: MessageId,
        request: &ExtendedRequest<'_>,
        controls: &Controls<'_>,
    ) -> ExtendedStep {
        extended(self, session, id, request, controls).unwrap_or_else(|result| {
            let forwarded = self.forward_password(session, id, request, (controls, &result));
            let reply = ExtendedReply {
                result,
                value: None,
            };
            forwarded.map_or(ExtendedStep::Done(reply), ExtendedStep::Update)
        })
    }
}

fn extended(
    directory: &Directory,
    session: &mut Session,
    id: MessageId,
    request: &ExtendedRequest<'_>,
    controls: &Controls<'_>,
) -> OpResult<ExtendedStep> {
    let (decoded, mut acting) =
        directory.controls_of(session, RequestKind::Extended(request.oid), controls)?;
    directory.require_password_policy(&decoded)?;
    let session = acting.as_mut().unwrap_or(session);
    let oid = std::str::from_utf8(request.oid).unwrap_or_default();
    // A password modify is restricted as an update, once its entry is known.
    let is_known = EXTENDED_OPERATIONS.contains(&oid) || oid == oid::EXPLAIN_ACCESS;
    if is_known && oid != oid::PASSWORD_MODIFY {
        directory
            .policy()
            .permit_extended(&directory.core().databases, session, request.oid)?;
    }
    match oid {
        oid::WHO_AM_I => who_am_i(session, request.value),
        oid::CANCEL => cancel(request.value),
        oid::PASSWORD_MODIFY => password_modify::begin(directory, session, id, request.value)
            .map(|change| change.with_policy(decoded.password_policy))
            .map(|change| ExtendedStep::Passwords(change.with_position(decoded.position))),
        oid::EXPLAIN_ACCESS => access_query::explain(directory, session, request.value),
        oid::START_TRANSACTION => transaction::start(session, request.value),
        oid::END_TRANSACTION => transaction::end(session, id, request.value, decoded.position),
        _ => Err(protocol_error("unsupported extended operation")),
    }
}

/// Returns the authorization identity (RFC 4532): `dn:` and a name, or nothing for anonymous.
fn who_am_i(session: &Session, value: Option<&[u8]>) -> OpResult<ExtendedStep> {
    if value.is_some() {
        return Err(protocol_error("no request data expected"));
    }
    let identity = if session.is_authenticated() {
        format!("dn:{}", session.name())
    } else {
        String::new()
    };
    Ok(ExtendedStep::Done(ExtendedReply {
        result: LdapResult::success(),
        value: Some(identity.into_bytes()),
    }))
}

/// Returns the operation to cancel (RFC 3909).
fn cancel(value: Option<&[u8]>) -> OpResult<ExtendedStep> {
    let value = match value {
        None => return Err(protocol_error("no message ID supplied")),
        Some([]) => return Err(protocol_error("empty request data field")),
        Some(value) => value,
    };
    CancelRequest::decode(value)
        .map(|request| ExtendedStep::Cancel(request.id))
        .map_err(|fault| match fault {
            Fault::MessageId(_) => protocol_error("message ID invalid"),
            _ => protocol_error("message ID parse failed"),
        })
}

fn protocol_error(text: &str) -> LdapResult {
    refuse(ResultCode::ProtocolError, text)
}
