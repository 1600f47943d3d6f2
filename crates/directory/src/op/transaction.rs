//! Transactions of clients (RFC 5805): updates that wait on their connection until all are done, or none.
//!
//! ```text
//!   start --> modify, add, ... (each checked as far as that goes without entries, answered success, kept)
//!         --> end, commit: one transaction of the store, in which nothing else takes part
//!         --> end, abort; a bind; more than a transaction may hold: forgotten
//! ```
//!
//! A connection has one transaction at a time; as in slapd, its identifier is the empty string. Others see nothing of
//! it before it is committed, and neither does the client itself: its searches show what is stored. Nothing is locked
//! while it is open: an update that can no longer be done fails at the end, and everything with it.

use fulgurite_ldap::{EndTransaction, LdapResult, Message, MessageId, ResultCode, UpdateBuf, oid};

use crate::core::result::{OpResult, refuse};
use crate::core::session::Session;
use crate::core::transaction_queue::{Transaction, unknown_transaction};
use crate::directory::Directory;
use crate::op::extended_step::{ExtendedReply, ExtendedStep};
use crate::request::controls::RequestControls;
use crate::write::request::WriteRequest;

/// The name of the one transaction of a connection.
const IDENTIFIER: &[u8] = b"";

/// How an update goes on.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "lives for a moment")]
pub enum UpdateStep {
    /// The writer does it.
    Write(WriteRequest),
    /// It waits for the end of its transaction, or it is refused.
    Answered(LdapResult),
    /// It is refused and its transaction forgotten: the client gets a notice as well.
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

/// Ends a transaction: hands its updates to the writer, or forgets them.
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
    /// Takes an add, delete, modify or modify DN: for the writer, or for the transaction it names.
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

/// What an entry looks like in the midst of a transaction is nobody's business.
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
