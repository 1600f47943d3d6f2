//! Transactions of clients (RFC 5805): updates that wait on their connection until all are applied,
//! or none.
//!
//! ```text
//!   start --> modify, add, ... (each checked without a look at entries, answered success, queued)
//!         --> end, commit: one transaction of the store, which it does not share
//!         --> end, abort; a bind; too many updates: dropped
//! ```
//!
//! A connection has one transaction at a time; as in slapd, its identifier is the empty string.
//! Nobody sees the updates before the commit, not even the client itself. Nothing is locked
//! meanwhile. An update that can no longer be applied fails at the end, and the whole transaction
//! with it.

use fulgurite_ldap::{EndTransaction, LdapResult, MessageId, ResultCode};

use crate::core::result::{OpResult, refuse};
use crate::core::session::Session;
use crate::core::transaction_queue::{Transaction, unknown_transaction};
use crate::op::extended_step::{ExtendedReply, ExtendedStep};
use crate::request::restrictions::password_change_required;
use crate::write::request::WriteRequest;

/// The identifier of the one transaction of a connection.
pub(super) const IDENTIFIER: &[u8] = b"";

/// Starts a transaction.
pub(crate) fn start(session: &mut Session, value: Option<&[u8]>) -> OpResult<ExtendedStep> {
    if value.is_some() {
        let text = "no request data expected";
        return Err(refuse(ResultCode::ProtocolError, text));
    }
    if !session.is_authenticated() {
        let text = "modifications require authentication";
        return Err(refuse(ResultCode::StrongerAuthRequired, text));
    }
    if session.must_change_password() {
        return Err(password_change_required());
    }
    if session.transaction().is_some() {
        return Err(refuse(ResultCode::Busy, "Too many transactions"));
    }
    session.set_transaction(Some(Transaction::default()));
    Ok(ExtendedStep::Done(ExtendedReply {
        result: LdapResult::success(),
        value: Some(IDENTIFIER.to_vec()),
    }))
}

/// Ends a transaction: passes its updates to the writer, or drops them.
pub(crate) fn end(
    session: &mut Session,
    id: MessageId,
    value: Option<&[u8]>,
    wants_position: bool,
) -> OpResult<ExtendedStep> {
    let wrong = |text| refuse(ResultCode::ProtocolError, text);
    let value = value.ok_or_else(|| wrong("request data expected"))?;
    let request =
        EndTransaction::decode(value).map_err(|_| wrong("request data decoding error"))?;
    if request.identifier != IDENTIFIER {
        return Err(unknown_transaction());
    }
    let transaction = session
        .set_transaction(None)
        .ok_or_else(unknown_transaction)?;
    let updates = transaction.take();
    if !request.commit {
        return Ok(ExtendedStep::Done(ExtendedReply {
            result: refuse(ResultCode::Success, "transaction aborted"),
            value: None,
        }));
    }
    if updates.is_empty() {
        let text = "no updates to commit";
        return Err(refuse(ResultCode::OperationsError, text));
    }
    let request = WriteRequest::transaction(session, id, updates);
    Ok(ExtendedStep::Update(request.with_position(wants_position)))
}
