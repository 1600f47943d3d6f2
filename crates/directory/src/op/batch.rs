//! Batches of updates: one transaction of the store and one commit for several updates.
//!
//! ```text
//!   requests of many connections            one store transaction                 replies
//!   add  modify  delete  ...   ---->   check, change | check, refuse | ...   ---->  once it is durable
//!                                                    |
//!                                        the store fails: once more, one by one
//! ```
//!
//! Every update checks everything before it changes anything, so a refused update does not affect
//! the others. If the store fails during a change or the commit, the whole batch is rolled back.
//! Then each update runs once more in a transaction that it does not share. The transaction of a
//! client (RFC 5805) is never shared.

use std::cell::Cell;
use std::sync::Arc;

use fulgurite_ldap::{
    Control, LdapResult, MessageId, Operation, ResultCode, UpdateBuf, encode, failed_update, oid,
};
use fulgurite_schema::{Dn, Entry};
use fulgurite_store::{RoomFor, Shortage, StoreError, Writer};

use crate::core::database::Database;
use crate::core::foundation::UnderWay;
use crate::core::result::{self, refuse};
use crate::core::session::{Identity, Session};
use crate::directory::Directory;
use crate::features::auditlog::AuditText;
use crate::op::update::{PreparedUpdate, name_of};
use crate::request::modifiers::Modifiers;
use crate::write::context::{Context, ResponseValues, WorkBudget};
use crate::write::request::{PasswordUpdate, WriteReply, WriteRequest, WriteWork};
use crate::write::update_order::UpdateOrder;

/// The id of an update that no client has sent. It is beyond the ids of messages.
const NO_MESSAGE: MessageId = MessageId::MAX;

/// A refusal of a client's transaction, with the update that caused it.
pub(crate) type BlamedResult = (LdapResult, Option<MessageId>);

/// An update of a batch.
pub(crate) struct BatchItem<'d> {
    id: MessageId,
    response: ResponseForm,
    modifiers: Modifiers,
    /// The update, until it runs.
    prepared: Option<(&'d Database, PreparedUpdate)>,
    /// The session it is done for, if not the client's own.
    acting: Option<Session>,
    result: LdapResult,
    returned: ResponseValues,
    audit: Option<AuditText>,
}

/// The form of the response.
enum ResponseForm {
    Result(Operation),
    /// An extended response, with its value for success.
    Extended(Option<Vec<u8>>),
    /// No client waits for one.
    None,
}

/// A batch of one update fits into a block that malloc returns fast: of at most 1,032 bytes.
const _: () = assert!(size_of::<BatchItem<'_>>() <= 1_032);

impl Directory {
    /// Returns the number of the writer thread that an update belongs to. Each database has its
    /// own. Updates that no database takes belong to the first.
    #[must_use]
    pub fn writer_of(&self, request: &WriteRequest) -> usize {
        if let WriteWork::Forward(update) = &request.work {
            return update.writer;
        }
        self.database_of(request)
            .map_or(0, |database| database.writer)
    }

    /// Returns the database that an update goes to. An only database takes all updates.
    fn database_of(&self, request: &WriteRequest) -> Option<&Database> {
        let databases = &self.core().databases;
        if let [only] = databases.as_slice() {
            return Some(only);
        }
        let of_update = |update: &UpdateBuf| {
            let dn = result::dn(self.schema(), name_of(&update.message().request)?).ok()?;
            databases.database_of(&dn)
        };
        match &request.work {
            WriteWork::Update(update) => of_update(update),
            WriteWork::Transaction(_, updates) => updates.first().and_then(of_update),
            WriteWork::Password(update) => databases.database_of(&update.dn),
            WriteWork::Bind(name) => databases.database_of(name),
            WriteWork::Attempt(attempt) => databases.database_of(&attempt.dn),
            WriteWork::Forward(_) => None,
        }
    }

    /// Returns the cluster that orders an update.
    fn order_for(&self, request: &WriteRequest) -> Option<&dyn UpdateOrder> {
        if !self.has_orders() {
            return None;
        }
        self.order_of(self.database_of(request)?)
    }

    /// Applies updates in their order and makes them durable. Returns one reply for each, in order.
    ///
    /// It waits for the store's writer lock and for the disk, so a dedicated thread calls it.
    #[must_use]
    pub fn apply(&self, batch: &[WriteRequest]) -> Vec<WriteReply> {
        let mut replies = Vec::with_capacity(batch.len());
        let mut rest = batch;
        while let Some((first, behind)) = rest.split_first() {
            if let Some(order) = self.order_for(first) {
                let is_there = |request: &&WriteRequest| {
                    let other = self.order_for(request);
                    other.is_some_and(|other| std::ptr::addr_eq(other, order))
                };
                let count = rest.iter().take_while(is_there).count();
                let (together, behind) = rest.split_at(count);
                replies.extend(order.order(self, together));
                rest = behind;
                continue;
            }
            if let WriteWork::Transaction(id, updates) = &first.work {
                replies.push(self.apply_transaction(&first.session, *id, updates));
                rest = behind;
                continue;
            }
            let is_single = |request: &&WriteRequest| {
                !matches!(request.work, WriteWork::Transaction(..))
                    && self.order_for(request).is_none()
            };
            let count = rest.iter().take_while(is_single).count();
            let (together, behind) = rest.split_at(count);
            replies.extend(self.apply_together(together));
            rest = behind;
        }
        replies
    }

    /// Applies updates that are not transactions of clients.
    fn apply_together(&self, batch: &[WriteRequest]) -> impl Iterator<Item = WriteReply> {
        let mut items: Vec<BatchItem<'_>> =
            batch.iter().map(|request| self.item(request)).collect();
        for database in self.core().databases.iter() {
            let mut here: Vec<_> = items
                .iter_mut()
                .zip(batch)
                .filter(|(item, _)| item.goes_to(database))
                .collect();
            if !here.is_empty() {
                self.apply_to(database, &mut here);
            }
        }
        items.into_iter().map(BatchItem::reply)
    }

    /// Runs the updates of one database in one transaction, or if that fails each in its own.
    fn apply_to<'d>(
        &'d self,
        database: &'d Database,
        updates: &mut [(&mut BatchItem<'d>, &WriteRequest)],
    ) {
        let Err(error) = self.run_committed(database, false, updates) else {
            return;
        };
        if let [update] = updates {
            let result = self.retry_with_room(database, update, error);
            if let Err(error) = result {
                if let Some(shortage) = error.shortage() {
                    database.store.count_refused(shortage);
                }
                update.0.fail(&error);
            }
            return;
        }
        for update in updates {
            *update.0 = self.item(update.1);
            self.apply_to(database, std::slice::from_mut(update));
        }
    }

    fn run_committed<'d>(
        &'d self,
        database: &'d Database,
        uses_reserve: bool,
        updates: &mut [(&mut BatchItem<'d>, &WriteRequest)],
    ) -> Result<(), StoreError> {
        let mut writer = database.store.write()?;
        if uses_reserve {
            writer.use_reserve();
        }
        self.run_all(database, writer, WorkBudget::Unlimited, updates)
    }

    /// Runs an update again, if it failed because the store is full. The log of changes gives its
    /// room, and a deletion finds the room that is kept for it. On a full disk only deletions may
    /// do so.
    fn retry_with_room<'d>(
        &'d self,
        database: &'d Database,
        update: &mut (&mut BatchItem<'d>, &WriteRequest),
        error: StoreError,
    ) -> Result<(), StoreError> {
        let mut result = Err(error);
        let purpose = room_for(database, update.1.updates());
        let is_deletion = purpose == RoomFor::Deletion;
        let mut uses_reserve = is_deletion;
        while result.as_ref().is_err_and(|error| {
            lacking(database, error).is_some_and(|(_, shortage)| may_retry(shortage, purpose))
        }) && (std::mem::take(&mut uses_reserve)
            || database.store.make_room(purpose).unwrap_or(false))
        {
            *update.0 = self.item(update.1);
            result = self.run_committed(database, is_deletion, std::slice::from_mut(update));
        }
        result
    }

    /// Applies updates of one database as [`apply`](Self::apply) does, on a worker thread.
    ///
    /// `None`, and no change, if it would wait for another writer or the disk, or if an update is
    /// large. The same holds if an update is of another database than the first.
    #[must_use]
    pub fn apply_at_once(&self, batch: &[WriteRequest]) -> Option<Vec<WriteReply>> {
        let database = self.database_of(batch.first()?)?;
        if self.order_of(database).is_some() {
            return None;
        }
        if database.store.waits_for_disk() || !batch.iter().all(WriteRequest::is_short) {
            return None;
        }
        let mut items: Vec<BatchItem<'_>> =
            batch.iter().map(|request| self.item(request)).collect();
        let mut targets = items.iter().filter_map(BatchItem::database).peekable();
        if targets.peek().is_some() {
            // The writer thread writes the log of changes, in the order of the commits.
            let has_log = self.features_of(database).audit_log.is_some();
            if has_log || !targets.all(|target| std::ptr::eq(target, database)) {
                return None;
            }
            let writer = database.store.try_write().ok()??;
            let mut here: Vec<_> = items.iter_mut().zip(batch).collect();
            self.run_all(database, writer, WorkBudget::Short, &mut here)
                .ok()?;
        }
        Some(items.into_iter().map(BatchItem::reply).collect())
    }

    /// Notes a transaction for those who wait for its numbers. They ask only among databases.
    fn note_transaction(&self) -> Option<UnderWay> {
        let core = self.core();
        (core.databases.as_slice().len() > 1).then(|| core.csn.begin_transaction())
    }

    /// Runs updates in their order, and commits if one of them changed something.
    fn run_all<'d>(
        &'d self,
        database: &'d Database,
        mut writer: Writer<'d>,
        budget: WorkBudget,
        updates: &mut [(&mut BatchItem<'d>, &WriteRequest)],
    ) -> Result<(), StoreError> {
        let under_way = self.note_transaction();
        let (mut changed, mut has_news) = (false, false);
        for (item, request) in &mut *updates {
            self.run(database, (&mut writer, budget), &request.session, item)?;
            changed |= item.result.is_success();
            // Most binds change nothing that other servers copy.
            let is_bind = matches!(item.response, ResponseForm::None);
            let is_news = !is_bind || item.returned.bind_changed_entry;
            has_news |= item.result.is_success() && is_news;
        }
        if changed {
            writer.commit()?;
        }
        drop(under_way);
        if has_news {
            self.core().changes.committed();
        }
        for (item, request) in updates {
            item.end_restriction(&request.session);
        }
        Ok(())
    }

    /// Runs one update.
    ///
    /// # Errors
    /// A failure of the store, after which the transaction must not be committed.
    pub(crate) fn run<'d>(
        &'d self,
        database: &'d Database,
        (writer, budget): (&mut Writer<'d>, WorkBudget),
        session: &Session,
        item: &mut BatchItem<'d>,
    ) -> Result<(), StoreError> {
        let Some((target, prepared)) = item.prepared.take() else {
            return Ok(());
        };
        debug_assert!(
            std::ptr::eq(target, database),
            "an update runs on its database"
        );
        let acting = item.acting.take();
        let session = acting.as_ref().unwrap_or(session);
        let mut context = Context {
            core: self.core(),
            auth: self.auth_options(),
            session,
            decisions: database.decisions(session),
            features: self.features_of(database),
            writer,
            database,
            modifiers: &item.modifiers,
            now: self.core().clock.now(),
            returned: ResponseValues::default(),
            budget,
            before: None,
            old: None,
            read_identity: Cell::new(None),
            audit: Vec::new(),
            broken: false,
        };
        item.result = match prepared.run(&mut context) {
            Ok(()) => LdapResult::success(),
            Err(result) => result,
        };
        if context.broken {
            return Err(context.writer.failure());
        }
        item.returned = context.returned;
        let (log, text) = (&context.features.audit_log, context.audit);
        let log = log.as_ref().filter(|_| !text.is_empty());
        item.audit = log.map(|log| AuditText {
            file: Arc::clone(&log.file),
            nonblocking: log.nonblocking,
            durable: log.style.durable,
            text,
        });
        Ok(())
    }

    /// Applies all updates of a client's transaction, or none.
    fn apply_transaction(
        &self,
        session: &Session,
        id: MessageId,
        updates: &[UpdateBuf],
    ) -> WriteReply {
        let mut full = None;
        let mut ran = self.run_transaction(session, updates, (&mut full, false));
        let mut may_use_reserve = true;
        while let Some((database, shortage)) = full.take() {
            let purpose = room_for(database, updates);
            let is_deletion = purpose == RoomFor::Deletion;
            let is_first = is_deletion && std::mem::take(&mut may_use_reserve);
            let has_room = may_retry(shortage, purpose)
                && (is_first || database.store.make_room(purpose).unwrap_or(false));
            if !has_room {
                database.store.count_refused(shortage);
                break;
            }
            ran = self.run_transaction(session, updates, (&mut full, is_deletion));
        }
        transaction_reply(id, ran)
    }

    /// Does the same, and returns the records for the log of changes. An error comes with the id of
    /// the update that caused it. `full` becomes the database that lacks room for them, and where.
    fn run_transaction<'d>(
        &'d self,
        session: &Session,
        updates: &[UpdateBuf],
        (full, uses_reserve): (&mut Option<(&'d Database, Shortage)>, bool),
    ) -> Result<Option<AuditText>, BlamedResult> {
        let mut audit: Option<AuditText> = None;
        let failed = |error: StoreError| (result::store(&error), None);
        let under_way = self.note_transaction();
        let mut open: Option<(&Database, Writer<'_>)> = None;
        for update in updates {
            let mut item = self.update_item(session, update, true);
            let blamed = Some(item.id);
            let Some(&(database, _)) = item.prepared.as_ref() else {
                return Err((item.result, blamed));
            };
            let (_, writer) = match &mut open {
                Some((begun, _)) if !std::ptr::eq(*begun, database) => {
                    let text = "a transaction cannot span databases";
                    return Err((refuse(ResultCode::AffectsMultipleDsas, text), blamed));
                }
                Some(open) => open,
                None => {
                    let mut writer = database.store.write().map_err(failed)?;
                    if uses_reserve {
                        writer.use_reserve();
                    }
                    open.insert((database, writer))
                }
            };
            if let Err(error) = self.run(
                database,
                (writer, WorkBudget::Unlimited),
                session,
                &mut item,
            ) {
                *full = lacking(database, &error);
                item.fail(&error);
            }
            if !item.result.is_success() {
                item.result.matched_dn.clear();
                return Err((item.result, blamed));
            }
            AuditText::join(&mut audit, item.audit);
        }
        if let Some((database, writer)) = open {
            writer.commit().map_err(|error| {
                *full = lacking(database, &error);
                failed(error)
            })?;
            drop(under_way);
            self.core().changes.committed();
        }
        Ok(audit)
    }

    pub(crate) fn item(&self, request: &WriteRequest) -> BatchItem<'_> {
        match &request.work {
            WriteWork::Update(update) => {
                let entry = request.take_entry(self.schema());
                self.resolved_item(&request.session, update, (entry, false))
            }
            WriteWork::Password(update) => self.password_item(update),
            WriteWork::Bind(name) => {
                self.bind_item(request, name, PreparedUpdate::Bind(name.clone()))
            }
            WriteWork::Attempt(attempt) => {
                let prepared = PreparedUpdate::Attempt(Arc::clone(attempt));
                self.bind_item(request, &attempt.dn, prepared)
            }
            WriteWork::Forward(update) => {
                let form = match update.operation() {
                    Operation::Extended => ResponseForm::Extended(None),
                    operation => ResponseForm::Result(operation),
                };
                BatchItem::refused(update.id, form, update.referral.clone())
            }
            // `apply` runs transactions separately.
            WriteWork::Transaction(id, _) => BatchItem::refused(
                *id,
                ResponseForm::Extended(None),
                LdapResult::new(ResultCode::Other),
            ),
        }
    }

    fn password_item(&self, update: &PasswordUpdate) -> BatchItem<'_> {
        let response = ResponseForm::Extended(update.value.clone());
        let changes = (update.changes.clone(), update.derived.clone());
        let exchange = Some(Box::new(update.exchange.clone()));
        let prepared = PreparedUpdate::Modify(update.dn.clone(), changes.0, changes.1, exchange);
        match self.updatable(&update.dn) {
            Ok(database) => BatchItem {
                modifiers: Modifiers {
                    password_policy: update.wants_policy,
                    ..Modifiers::default()
                },
                prepared: Some((database, prepared)),
                ..BatchItem::refused(update.id, response, LdapResult::success())
            },
            Err(result) => BatchItem::refused(update.id, response, result),
        }
    }

    /// As in slapd, the root makes the changes of a bind.
    fn bind_item(
        &self,
        request: &WriteRequest,
        name: &Dn,
        prepared: PreparedUpdate,
    ) -> BatchItem<'_> {
        let database = self.core().databases.database_of(name);
        let root = database.and_then(|database| database.root.as_ref());
        let identity = root.map(|root| Identity::User(root.name.clone()));
        let nothing = LdapResult::new(ResultCode::NoOperation);
        BatchItem {
            prepared: database.map(|database| (database, prepared)),
            acting: Some(request.session.acting_for(identity.unwrap_or_default())),
            ..BatchItem::refused(NO_MESSAGE, ResponseForm::None, nothing)
        }
    }

    pub(crate) fn update_item(
        &self,
        session: &Session,
        update: &UpdateBuf,
        within_transaction: bool,
    ) -> BatchItem<'_> {
        self.resolved_item(session, update, (None, within_transaction))
    }

    /// As [`update_item`](Self::update_item). The entry of an add may be resolved already.
    fn resolved_item(
        &self,
        session: &Session,
        update: &UpdateBuf,
        (entry, within_transaction): (Option<Entry>, bool),
    ) -> BatchItem<'_> {
        let message = update.message();
        let response = ResponseForm::Result(message.request.operation());
        match self.resolve_update(session, &message, (entry, within_transaction)) {
            Ok(update) => BatchItem {
                modifiers: update.modifiers,
                prepared: Some(update.prepared),
                acting: update.acting,
                ..BatchItem::refused(message.id, response, LdapResult::success())
            },
            Err(result) => {
                let ended = match within_transaction {
                    true => None,
                    false => self.end_activity(session, &message),
                };
                BatchItem::refused(message.id, response, ended.unwrap_or(result))
            }
        }
    }
}

impl<'d> BatchItem<'d> {
    /// Frees the connection that had to change its password, once the change is committed.
    fn end_restriction(&self, session: &Session) {
        self.freed(session)
            .into_iter()
            .for_each(Session::password_has_changed);
    }

    /// Returns the session if it has changed the password that it had to change.
    pub(crate) fn freed<'s>(&self, session: &'s Session) -> Option<&'s Session> {
        let changed = self.returned.new_password_of.as_ref()?;
        let name = session.identity().name()?;
        let is_own = self.result.is_success() && changed.normal() == name.normal();
        is_own.then_some(session)
    }

    /// Returns the id of the request.
    pub(crate) fn id(&self) -> MessageId {
        self.id
    }

    /// Refuses an update that has run.
    pub(crate) fn refuse(&mut self, result: LdapResult) {
        self.result = result;
        self.returned = ResponseValues::default();
        self.audit = None;
    }

    /// Returns the result, and the records for the log of changes.
    pub(crate) fn outcome(self) -> (LdapResult, Option<AuditText>) {
        (self.result, self.audit)
    }

    /// Makes an item that does not run, with its result.
    fn refused(id: MessageId, response: ResponseForm, result: LdapResult) -> BatchItem<'d> {
        BatchItem {
            id,
            response,
            modifiers: Modifiers::default(),
            prepared: None,
            acting: None,
            result,
            returned: ResponseValues::default(),
            audit: None,
        }
    }

    /// Returns the database of an update that runs.
    pub(crate) fn database(&self) -> Option<&'d Database> {
        self.prepared.as_ref().map(|(database, _)| *database)
    }

    pub(crate) fn goes_to(&self, database: &Database) -> bool {
        self.database().is_some_and(|to| std::ptr::eq(to, database))
    }

    /// Records a failure of the store. A refusal of the update itself stays, because it says more.
    pub(crate) fn fail(&mut self, error: &StoreError) {
        if self.result.is_success() {
            self.result = result::store(error);
        }
        self.returned = ResponseValues::default();
        self.audit = None;
    }

    pub(crate) fn reply(self) -> WriteReply {
        let mut bytes = Vec::new();
        let (id, result) = (self.id, self.result);
        match self.response {
            ResponseForm::Result(operation) => {
                let controls = self.returned.controls();
                encode::result(&mut bytes, id, operation, &result, &controls);
            }
            ResponseForm::Extended(value) => {
                let value = value.filter(|_| result.is_success());
                let controls = self.returned.controls();
                let value = value.as_deref();
                encode::extended_result(&mut bytes, id, &result, None, value, &controls);
            }
            ResponseForm::None => {}
        }
        WriteReply {
            result,
            bytes,
            audit: self.audit,
        }
    }
}

/// Returns the reply to a client's transaction.
pub(crate) fn transaction_reply(
    id: MessageId,
    ran: Result<Option<AuditText>, BlamedResult>,
) -> WriteReply {
    let (result, blamed, audit) = match ran {
        Ok(audit) => (LdapResult::success(), None, audit),
        Err((result, blamed)) => (result, blamed, None),
    };
    let value = blamed.map(failed_update);
    let mut bytes = Vec::new();
    encode::extended_result(&mut bytes, id, &result, None, value.as_deref(), &[]);
    WriteReply {
        result,
        bytes,
        audit,
    }
}

/// Returns the room that updates need in a full store. The entries get the new values, and the log
/// does too.
pub(crate) fn room_for(database: &Database, updates: &[UpdateBuf]) -> RoomFor {
    if !updates.is_empty() && updates.iter().all(UpdateBuf::is_delete) {
        return RoomFor::Deletion;
    }
    let copies = 1 + u64::from(database.last_mod);
    let bytes = updates.iter().map(UpdateBuf::new_bytes).sum::<usize>();
    RoomFor::Storing(copies.saturating_mul(bytes as u64))
}

/// Returns the room that a database lacks, unless a reader keeps it.
pub(crate) fn lacking<'d>(
    database: &'d Database,
    error: &StoreError,
) -> Option<(&'d Database, Shortage)> {
    let shortage = error.shortage()?;
    let is_full = shortage == Shortage::Disk || error.lacks_room();
    is_full.then_some((database, shortage))
}

/// Returns true if the reserve or the log of changes may give room. On a full disk they do so for
/// deletions: everything else waits until there is room again.
pub(crate) fn may_retry(shortage: Shortage, purpose: RoomFor) -> bool {
    shortage == Shortage::Map || purpose == RoomFor::Deletion
}

impl ResponseValues {
    pub(crate) fn controls<'r>(&'r self) -> Vec<Control<'r>> {
        let pairs = [
            (oid::PRE_READ, &self.pre_read),
            (oid::POST_READ, &self.post_read),
            (oid::PASSWORD_POLICY, &self.password_policy),
        ];
        let mut controls = Vec::new();
        for (oid, value) in pairs {
            let control = |value: &'r Vec<u8>| Control::with_value(oid, false, value);
            controls.extend(value.as_ref().map(control));
        }
        controls
    }
}
