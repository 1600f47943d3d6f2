//! Extended operations (RFC 4511, section 4.12).

use fulgurite_ldap::{
    CancelRequest, Controls, ExtendedRequest, Fault, LdapResult, MessageId, ResultCode, encode, oid,
};

use crate::core::result::{Answer, refuse};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::op::batch::WriteRequest;
use crate::op::password_modify::{self, PasswordChange};
use crate::op::transaction;

/// The extended operations that the root DSE lists.
pub(crate) const SUPPORTED: [&str; 5] = [
    oid::PASSWORD_MODIFY,
    oid::WHO_AM_I,
    oid::CANCEL,
    oid::START_TRANSACTION,
    oid::END_TRANSACTION,
];

/// How an extended operation goes on.
#[derive(Debug)]
pub enum ExtendedStep {
    /// It is answered.
    Done(ExtendedReply),
    /// Passwords have to be verified and hashed: [`PasswordChange::run`] it on a thread that may take its time.
    Passwords(Box<PasswordChange>),
    /// It changes something: the writer answers.
    Update(WriteRequest),
    /// The connection is to stop its operation with this id, and answer both (RFC 3909).
    Cancel(MessageId),
}

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
        session: &mut Session,
        id: MessageId,
        request: &ExtendedRequest<'_>,
        controls: &Controls<'_>,
    ) -> ExtendedStep {
        extended(self, session, id, request, controls).unwrap_or_else(|result| {
            ExtendedStep::Done(ExtendedReply {
                result,
                value: None,
            })
        })
    }
}

fn extended(
    directory: &Directory,
    session: &mut Session,
    id: MessageId,
    request: &ExtendedRequest<'_>,
    controls: &Controls<'_>,
) -> Answer<ExtendedStep> {
    let (_, mut acting) = directory.controls_of_extended(session, request.oid, controls)?;
    let session = acting.as_mut().unwrap_or(session);
    let oid = std::str::from_utf8(request.oid).unwrap_or_default();
    // A change of a password is permitted as the update it is, where its entry is known.
    if SUPPORTED.contains(&oid) && oid != oid::PASSWORD_MODIFY {
        directory.permit_extended(session, request.oid)?;
    }
    match oid {
        oid::WHO_AM_I => who_am_i(session, request.value),
        oid::CANCEL => cancel(request.value),
        oid::PASSWORD_MODIFY => password_modify::begin(directory, session, id, request.value)
            .map(ExtendedStep::Passwords),
        oid::START_TRANSACTION => transaction::start(session, request.value),
        oid::END_TRANSACTION => transaction::end(session, id, request.value),
        _ => Err(protocol_error("unsupported extended operation")),
    }
}

/// The authorisation identity (RFC 4532): `dn:` and a name, or nothing for anonymous.
fn who_am_i(session: &Session, value: Option<&[u8]>) -> Answer<ExtendedStep> {
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

/// What is to be cancelled (RFC 3909).
fn cancel(value: Option<&[u8]>) -> Answer<ExtendedStep> {
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
