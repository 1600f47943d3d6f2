//! The first step of an update: on its way to the writer, or into the queue of its transaction.

use fulgurite_ldap::{LdapResult, Message, Request, ResultCode, UpdateBuf, oid};

use crate::core::result::{self, OpResult, refuse};
use crate::core::session::Session;
use crate::core::transaction_queue::unknown_transaction;
use crate::directory::Directory;
use crate::op::add;
use crate::op::transaction::IDENTIFIER;
use crate::request::controls::RequestControls;
use crate::write::request::{SHORT_BYTES_MAX, WriteRequest};

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

impl Directory {
    /// Begins an add, delete, modify or modify DN, for the writer or for the transaction it names.
    #[must_use]
    pub fn begin_update(&self, session: &mut Session, message: &Message<'_>) -> UpdateStep {
        let Some(update) = UpdateBuf::new(message) else {
            return UpdateStep::Answered(refuse(ResultCode::ProtocolError, "not an update"));
        };
        if message.controls.find(oid::TRANSACTION).is_none() {
            match self.forward(session, message, &update) {
                Some(Ok(request)) => return UpdateStep::Write(request),
                Some(Err(result)) => return UpdateStep::Answered(result),
                None => {}
            }
            return UpdateStep::Write(self.write_request(session, message, update));
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
            let result = self.refused_in_transaction(session, message, result);
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

impl Directory {
    /// Makes the request of an update. The entry of a short add is resolved now, because the writer
    /// is busier than this thread. If that fails, the writer refuses it in its turn.
    fn write_request(
        &self,
        session: &Session,
        message: &Message<'_>,
        update: UpdateBuf,
    ) -> WriteRequest {
        let is_short = update.bytes() <= SHORT_BYTES_MAX;
        let request = WriteRequest::update(session, update);
        // A cluster sends the request as it is to the node that leads.
        let Request::Add(add) = &message.request else {
            return request;
        };
        if !is_short || self.has_orders() {
            return request;
        }
        let schema = self.schema();
        let dn = result::dn(schema, add.dn);
        match dn.and_then(|dn| add::requested_entry(schema, dn, add)) {
            Ok(entry) => request.with_entry(schema, entry),
            Err(_) => request,
        }
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
