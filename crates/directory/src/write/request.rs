//! Requests to the writer, and its replies.

use fulgurite_ldap::{LdapResult, Message, MessageId, UpdateBuf};
use fulgurite_schema::Dn;

use crate::core::session::Session;
use crate::features::auditlog::AuditText;
use crate::request::change::Change;

/// The bytes of a request, or of an entry it changes, up to which an update is short.
pub(crate) const SHORT_BYTES_MAX: usize = 16 * 1024;

/// A request to the writer, with the session it is done for.
#[derive(Clone, Debug)]
pub struct WriteRequest {
    pub(crate) session: Session,
    pub(crate) work: WriteWork,
}

#[derive(Clone, Debug)]
pub(crate) enum WriteWork {
    /// An add, delete, modify or modify DN.
    Update(UpdateBuf),
    /// The end of a client's transaction: its updates, and the id of the request that ends it.
    Transaction(MessageId, Vec<UpdateBuf>),
    /// The end of a password modify.
    Password(Box<PasswordUpdate>),
    /// The record of a successful bind of this name.
    Bind(Dn),
}

/// A password modify whose passwords are verified and hashed.
#[derive(Clone, Debug)]
pub(crate) struct PasswordUpdate {
    pub(crate) id: MessageId,
    pub(crate) dn: Dn,
    pub(crate) changes: Vec<Change>,
    /// The changes of derived keys.
    pub(crate) derived: Vec<Change>,
    /// The value of the response.
    pub(crate) value: Option<Vec<u8>>,
}

/// The reply to a [`WriteRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteReply {
    /// The result, for the log.
    pub result: LdapResult,
    /// The encoded response; empty if no client waits for one.
    pub bytes: Vec<u8>,
    /// The records for the log of changes. The caller writes them before it answers.
    pub audit: Option<AuditText>,
}

impl WriteRequest {
    /// Copies a decoded add, delete, modify or modify DN; `None` for any other request.
    #[must_use]
    pub fn new(session: &Session, message: &Message<'_>) -> Option<WriteRequest> {
        let update = UpdateBuf::new(message)?;
        Some(WriteRequest::update(session, update))
    }

    pub(crate) fn update(session: &Session, update: UpdateBuf) -> WriteRequest {
        WriteRequest {
            session: session.clone(),
            work: WriteWork::Update(update),
        }
    }

    /// Makes a request to apply all updates of a transaction, or none; `id` ends it.
    pub(crate) fn transaction(
        session: &Session,
        id: MessageId,
        updates: Vec<UpdateBuf>,
    ) -> WriteRequest {
        debug_assert!(
            !updates.is_empty(),
            "the end of an empty transaction is refused"
        );
        WriteRequest {
            session: session.clone(),
            work: WriteWork::Transaction(id, updates),
        }
    }

    pub(crate) fn password(session: &Session, update: PasswordUpdate) -> WriteRequest {
        debug_assert!(!update.changes.is_empty(), "a new password is a change");
        WriteRequest {
            session: session.clone(),
            work: WriteWork::Password(Box::new(update)),
        }
    }

    /// Makes the record of a successful bind.
    pub(crate) fn bind(session: &Session, name: Dn) -> WriteRequest {
        WriteRequest {
            session: session.clone(),
            work: WriteWork::Bind(name),
        }
    }

    /// Returns true if the request itself is small.
    pub(crate) fn is_short(&self) -> bool {
        match &self.work {
            WriteWork::Update(update) => update.bytes() <= SHORT_BYTES_MAX,
            WriteWork::Transaction(..) => false,
            WriteWork::Password(_) | WriteWork::Bind(_) => true,
        }
    }
}
