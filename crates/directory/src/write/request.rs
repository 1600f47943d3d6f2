//! Requests to the writer, and its replies.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use fulgurite_ldap::{LdapResult, Message, MessageId, UpdateBuf, oid};
use fulgurite_schema::{Dn, Entry, Schema};

use crate::core::forwarded_bind::ForwardedChange;
use crate::core::session::Session;
use crate::features::auditlog::AuditText;
use crate::features::password_policy::bind_verdict::BindVerdict;
use crate::features::password_policy::change_rules::Comparisons;
use crate::request::change::Change;
use crate::write::forwarded::ForwardedUpdate;

/// The bytes of a request, or of an entry it changes, up to which an update is short.
pub(crate) const SHORT_BYTES_MAX: usize = 16 * 1024;

/// A request to the writer, with the session it is done for.
#[derive(Clone, Debug)]
pub struct WriteRequest {
    pub(crate) session: Session,
    pub(crate) work: WriteWork,
    /// The entry of an add, if it could be resolved before the writer's turn.
    resolved: Option<Arc<ResolvedEntry>>,
    /// True if an extended operation asks for the position in the log of a cluster.
    wants_position: bool,
}

/// An entry to add, resolved by a schema on the thread of its connection. So the writer, which is
/// one for all connections, has less to do.
pub(crate) struct ResolvedEntry {
    schema: Arc<Schema>,
    entry: Mutex<Option<Entry>>,
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
    /// The judgement of a bind, whose state the writer changes.
    Attempt(Arc<BindAttempt>),
    /// An update that another server has to make.
    Forward(Arc<ForwardedUpdate>),
}

/// A bind that the writer judges.
#[derive(Debug)]
pub(crate) struct BindAttempt {
    pub(crate) dn: Dn,
    /// True if the password was right.
    pub(crate) is_right: bool,
    /// True if policies are about the bind.
    pub(crate) is_judged: bool,
    verdict: Mutex<Option<BindVerdict>>,
    /// The changes that another server has to learn.
    forwarded: Mutex<Vec<ForwardedChange>>,
}

/// A password modify whose passwords are verified and hashed.
#[derive(Clone)]
pub(crate) struct PasswordUpdate {
    pub(crate) id: MessageId,
    pub(crate) dn: Dn,
    pub(crate) changes: Vec<Change>,
    /// The changes of derived keys.
    pub(crate) derived: Vec<Change>,
    /// The value of the response.
    pub(crate) value: Option<Vec<u8>>,
    /// The passwords, for a policy.
    pub(crate) exchange: PasswordExchange,
    /// True if the client has sent the control of password policies.
    pub(crate) wants_policy: bool,
}

/// The passwords of a password modify.
#[derive(Clone)]
pub(crate) struct PasswordExchange {
    /// The new password in clear.
    pub(crate) new: Vec<u8>,
    /// True if the client has proved the old password.
    pub(crate) has_old: bool,
    /// The comparisons of the new password with those of the history.
    pub(crate) compared: Comparisons,
}

/// The reply to a [`WriteRequest`].
#[derive(Clone, PartialEq, Eq)]
pub struct WriteReply {
    /// The result, for the log.
    pub result: LdapResult,
    /// The encoded response; empty if no client waits for one.
    pub bytes: Vec<u8>,
    /// The records for the log of changes. The caller writes them before it answers.
    pub audit: Option<AuditText>,
}

// No form for display shows a password, so that no log does by accident.

impl fmt::Debug for PasswordUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasswordUpdate")
            .field("id", &self.id)
            .field("dn", &self.dn.pretty())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PasswordExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasswordExchange")
            .field("has_old", &self.has_old)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ResolvedEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResolvedEntry").finish_non_exhaustive()
    }
}

impl fmt::Debug for WriteReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteReply")
            .field("result", &self.result)
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

impl BindAttempt {
    pub(crate) fn new(dn: Dn, is_right: bool, is_judged: bool) -> BindAttempt {
        BindAttempt {
            dn,
            is_right,
            is_judged,
            verdict: Mutex::new(None),
            forwarded: Mutex::default(),
        }
    }

    /// Keeps the verdict. A batch that the store refuses is judged again.
    pub(crate) fn set_verdict(&self, verdict: BindVerdict) {
        let mut kept = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(verdict);
    }

    /// Keeps the changes that another server has to learn.
    pub(crate) fn set_forwarded(&self, changes: Vec<ForwardedChange>) {
        let mut kept = self
            .forwarded
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *kept = changes;
    }

    /// Returns the changes that another server has to learn, once.
    pub(crate) fn take_forwarded(&self) -> Vec<ForwardedChange> {
        let mut kept = self
            .forwarded
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *kept)
    }

    /// Returns the verdict, if the writer has judged the bind.
    pub(crate) fn verdict(&self) -> Option<BindVerdict> {
        let kept = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clone()
    }
}

impl WriteRequest {
    /// Copies a decoded add, delete, modify or modify DN; `None` for any other request.
    #[must_use]
    pub fn new(session: &Session, message: &Message<'_>) -> Option<WriteRequest> {
        let update = UpdateBuf::new(message)?;
        Some(WriteRequest::update(session, update))
    }

    pub(crate) fn update(session: &Session, update: UpdateBuf) -> WriteRequest {
        WriteRequest::of(session, WriteWork::Update(update))
    }

    pub(crate) fn of(session: &Session, work: WriteWork) -> WriteRequest {
        WriteRequest {
            session: session.clone(),
            work,
            resolved: None,
            wants_position: false,
        }
    }

    /// Notes whether an extended operation asks for the position in the log of a cluster.
    pub(crate) fn with_position(mut self, wants_position: bool) -> WriteRequest {
        self.wants_position = wants_position;
        self
    }

    /// Keeps the entry of an add, which the schema has resolved.
    pub(crate) fn with_entry(mut self, schema: &Arc<Schema>, entry: Entry) -> WriteRequest {
        debug_assert!(
            matches!(self.work, WriteWork::Update(_)),
            "an add is an update"
        );
        self.resolved = Some(Arc::new(ResolvedEntry {
            schema: Arc::clone(schema),
            entry: Mutex::new(Some(entry)),
        }));
        self
    }

    /// Returns the resolved entry of an add, once. `None` if the schema is another one by now.
    pub(crate) fn take_entry(&self, schema: &Arc<Schema>) -> Option<Entry> {
        let resolved = self.resolved.as_ref()?;
        let is_current = Arc::ptr_eq(&resolved.schema, schema);
        let mut entry = resolved
            .entry
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        entry.take().filter(|_| is_current)
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
        WriteRequest::of(session, WriteWork::Transaction(id, updates))
    }

    pub(crate) fn password(session: &Session, update: PasswordUpdate) -> WriteRequest {
        debug_assert!(!update.changes.is_empty(), "a new password is a change");
        WriteRequest::of(session, WriteWork::Password(Box::new(update)))
    }

    /// Makes the record of a successful bind.
    pub(crate) fn bind(session: &Session, name: Dn) -> WriteRequest {
        WriteRequest::of(session, WriteWork::Bind(name))
    }

    /// Makes a request to judge a bind.
    pub(crate) fn attempt(session: &Session, attempt: Arc<BindAttempt>) -> WriteRequest {
        WriteRequest::of(session, WriteWork::Attempt(attempt))
    }

    /// Makes a request to let another server make an update.
    pub(crate) fn forward(session: &Session, update: Arc<ForwardedUpdate>) -> WriteRequest {
        WriteRequest::of(session, WriteWork::Forward(update))
    }

    /// Returns the update if another server has to make it. Then [`Directory::apply`] answers a
    /// referral.
    ///
    /// [`Directory::apply`]: crate::Directory::apply
    #[must_use]
    pub fn forwarded(&self) -> Option<&ForwardedUpdate> {
        match &self.work {
            WriteWork::Forward(update) => Some(update),
            _ => None,
        }
    }

    /// Returns the updates that clients have sent.
    pub(crate) fn updates(&self) -> &[UpdateBuf] {
        match &self.work {
            WriteWork::Update(update) => std::slice::from_ref(update),
            WriteWork::Transaction(_, updates) => updates,
            WriteWork::Password(_)
            | WriteWork::Bind(_)
            | WriteWork::Attempt(_)
            | WriteWork::Forward(_) => &[],
        }
    }

    /// Returns true if the client wants to know the position of the update in the log of a cluster.
    #[must_use]
    pub fn wants_position(&self) -> bool {
        match &self.work {
            WriteWork::Update(update) => {
                let controls = &update.message().controls;
                controls.find(oid::CLUSTER_POSITION).is_some()
            }
            _ => self.wants_position,
        }
    }

    /// Returns true if it judges or records a bind.
    pub(crate) fn is_bind(&self) -> bool {
        matches!(self.work, WriteWork::Bind(_) | WriteWork::Attempt(_))
    }

    /// Returns true if the answer has an entry, as it was before or is afterwards.
    pub(crate) fn returns_entries(&self) -> bool {
        let returns = |update: &UpdateBuf| {
            let controls = &update.message().controls;
            [oid::PRE_READ, oid::POST_READ]
                .iter()
                .any(|oid| controls.find(oid).is_some())
        };
        match &self.work {
            WriteWork::Update(update) => returns(update),
            WriteWork::Transaction(_, updates) => updates.iter().any(returns),
            _ => false,
        }
    }

    /// Returns true if the request itself is small.
    pub(crate) fn is_short(&self) -> bool {
        match &self.work {
            WriteWork::Update(update) => update.bytes() <= SHORT_BYTES_MAX,
            WriteWork::Transaction(..) | WriteWork::Forward(_) => false,
            WriteWork::Password(_) | WriteWork::Bind(_) | WriteWork::Attempt(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulgurite_ldap::{AddRequest, ModifyOperation};
    use fulgurite_schema::{Attribute, SchemaBuilder};

    #[test]
    fn a_resolved_entry_is_taken_once_and_for_its_schema() {
        let other = SchemaBuilder::standard().build().expect("a schema");
        let (schema, other) = (Schema::standard(), Arc::new(other));
        let dn = Dn::parse(&schema, "cn=x").expect("a name");
        let request = || {
            let add = AddRequest {
                dn: b"cn=x",
                attributes: Vec::new(),
            };
            WriteRequest::update(&Session::new(), UpdateBuf::add(&add))
                .with_entry(&schema, Entry::new(dn.clone()))
        };
        let taken = request();
        let entry = taken.take_entry(&schema).expect("the entry");
        assert!(entry.dn == dn);
        assert!(taken.take_entry(&schema).is_none(), "it is gone");
        assert!(request().take_entry(&other).is_none(), "another schema");
    }

    #[test]
    fn no_form_for_display_has_a_password() {
        let schema = Schema::standard();
        let password = b"sesame".to_vec();
        let description = schema.describe(b"userPassword").expect("standard");
        let change = Change {
            operation: ModifyOperation::Replace,
            attribute: Attribute {
                description,
                values: vec![password.clone()],
            },
        };
        let update = PasswordUpdate {
            id: 7,
            dn: Dn::root(),
            changes: vec![change],
            derived: Vec::new(),
            value: Some(password.clone()),
            exchange: PasswordExchange {
                new: password.clone(),
                has_old: true,
                compared: Comparisons::of(vec![password.clone()], &password),
            },
            wants_policy: false,
        };
        let reply = WriteReply {
            result: LdapResult::success(),
            bytes: password.clone(),
            audit: None,
        };
        let bytes = format!("{password:?}");
        let bytes = bytes.trim_matches(['[', ']']);
        let exchange = update.exchange.clone();
        let request = WriteRequest::password(&Session::new(), update);
        for shown in [
            format!("{request:?}"),
            format!("{exchange:?}"),
            format!("{reply:?}"),
        ] {
            assert!(!shown.contains(bytes), "{shown}");
        }
    }
}
