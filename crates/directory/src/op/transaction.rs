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

use fulgurite_ldap::{EndTransaction, LdapResult, Message, MessageId, ResultCode, UpdateBuf, oid};

use crate::core::result::{OpResult, refuse};
use crate::core::session::Session;
use crate::core::transaction_queue::{Transaction, unknown_transaction};
use crate::directory::Directory;
use crate::op::extended_step::{ExtendedReply, ExtendedStep};
use crate::request::controls::RequestControls;
use crate::write::request::WriteRequest;

/// The identifier of the one transaction of a connection.
const IDENTIFIER: &[u8] = b"";

/// The next step of an update.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "lives for a moment")]
pub enum UpdateStep {
    /// The writer must apply it.
    Write(WriteRequest),
    /// It is queued in its transaction, or refused.
    Answered(LdapResult),
    /// It is refused and its transaction dropped. The client also gets a notice.
    Aborted(LdapResult),
}

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
    Ok(ExtendedStep::Update(request))
}

impl Directory {
    /// Begins an add, delete, modify or modify DN, for the writer or for the transaction it names.
    #[must_use]
    pub fn begin_update(&self, session: &mut Session, message: &Message<'_>) -> UpdateStep {
        let Some(update) = UpdateBuf::new(message) else {
            return UpdateStep::Answered(refuse(ResultCode::ProtocolError, "not an update"));
        };
        if message.controls.find(oid::TRANSACTION).is_none() {
            return UpdateStep::Write(WriteRequest::update(session, update));
        }
        let operation = message.request.operation();
        let controls = match RequestControls::decode(operation, &message.controls) {
            Ok(controls) => controls,
            Err(result) => return UpdateStep::Answered(result),
        };
        let Some(identifier) = controls.transaction else {
            return UpdateStep::Write(WriteRequest::update(session, update));
        };
        let transaction = session.transaction().filter(|_| identifier == IDENTIFIER);
        let Some(transaction) = transaction.cloned() else {
            return UpdateStep::Answered(unknown_transaction());
        };
        let refused = require_no_reading(&controls)
            .and_then(|()| self.check_update(session, message))
            .err();
        if let Some(result) = refused {
            return UpdateStep::Answered(result);
        }
        if transaction.push(update) {
            return UpdateStep::Answered(LdapResult::success());
        }
        session.set_transaction(None);
        let text = "the transaction has grown too large and is aborted";
        UpdateStep::Aborted(refuse(ResultCode::AdminLimitExceeded, text))
    }
}

/// Fails for pre-read and post-read: no client sees an entry in the middle of a transaction.
fn require_no_reading(controls: &RequestControls<'_>) -> OpResult {
    let unwilling = |what| {
        let text = format!("{what} control: cannot perform in transaction");
        Err(refuse(ResultCode::UnwillingToPerform, text))
    };
    if controls.pre_read.is_some() {
        return unwilling("preread");
    }
    if controls.post_read.is_some() {
        return unwilling("postread");
    }
    Ok(())
}
