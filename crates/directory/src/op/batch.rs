//! Writes: several operations, one transaction of the store, one commit.
//!
//! ```text
//!   requests of many connections            one store transaction                 replies
//!   add  modify  delete  ...   ---->   check, change | check, refuse | ...   ---->  once it is durable
//!                                                    |
//!                                        the store fails: once more, one by one
//! ```
//!
//! Every operation checks everything before it changes anything, so a refused one leaves its neighbours alone. If the
//! store itself fails in the midst of a change, or in the commit, nothing of the batch remains; then each operation has
//! a transaction of its own, so that only those fail that cannot be done. A transaction of a client (RFC 5805) always
//! has its own.

use fulgurite_ldap::{
    Control, LdapResult, Message, MessageId, Operation, Request, ResultCode, UpdateBuf, encode,
    failed_update, oid,
};
use fulgurite_schema::{Dn, Entry};
use fulgurite_store::{StoreError, Writer};

use crate::core::database::Database;
use crate::core::result::{self, Answer, refuse};
use crate::core::session::Session;
use crate::directory::{Directory, Place};
use crate::op::modify_dn::Renaming;
use crate::op::transaction;
use crate::op::{add, delete, modify, modify_dn};
use crate::request::modifiers::Modifiers;
use crate::request::restrictions::Deed;
use crate::write::changes::Change;
use crate::write::context::{Context, Returned};

/// Octets of requests, and of entries that they change, up to which an update is short.
pub(crate) const SHORT_BYTES_MAX: usize = 16 * 1024;

/// How long an update may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Haste {
    /// Others wait beside it: what touches much ends the transaction.
    Short,
    Any,
}

/// Something for the writer to do, and on whose behalf.
#[derive(Clone, Debug)]
pub struct WriteRequest {
    session: Session,
    work: Work,
}

#[derive(Clone, Debug)]
enum Work {
    /// An add, delete, modify or modify DN.
    Update(UpdateBuf),
    /// The end of a transaction: its updates, and the id of the request that ends it.
    Transaction(MessageId, Vec<UpdateBuf>),
    /// The end of a password modify.
    Password(Box<PasswordUpdate>),
}

/// A password modify whose passwords have been looked at.
#[derive(Clone, Debug)]
pub(crate) struct PasswordUpdate {
    pub(crate) id: MessageId,
    pub(crate) dn: Dn,
    pub(crate) changes: Vec<Change>,
    /// What the server keeps beside the password.
    pub(crate) derived: Vec<Change>,
    /// The value of the response.
    pub(crate) value: Option<Vec<u8>>,
}

/// What became of a [`WriteRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteReply {
    /// The result, for the log.
    pub result: LdapResult,
    /// The encoded response.
    pub bytes: Vec<u8>,
}

/// A request that makes sense by itself, with the database it goes to.
enum Prepared {
    Add(Entry),
    Delete(Dn),
    /// With changes that follow from them: these need no rights of their own.
    Modify(Dn, Vec<Change>, Vec<Change>),
    ModifyDn(Box<Renaming>),
}

/// An update of a batch.
struct Item<'d> {
    id: MessageId,
    response: Response,
    modifiers: Modifiers,
    /// Taken when it is run.
    prepared: Option<(&'d Database, Prepared)>,
    /// Whom it is done for, if not for the session that asks.
    acting: Option<Session>,
    result: LdapResult,
    returned: Returned,
}

/// What can be known of an update without a look at entries.
struct Update<'d> {
    modifiers: Modifiers,
    prepared: (&'d Database, Prepared),
    acting: Option<Session>,
}

/// The form of the answer.
enum Response {
    Result(Operation),
    /// With the value it has at success.
    Extended(Option<Vec<u8>>),
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
            work: Work::Update(update),
        }
    }

    /// The updates of a transaction, to be done all or none; `id` ends it.
    pub(crate) fn transaction(
        session: &Session,
        id: MessageId,
        updates: Vec<UpdateBuf>,
    ) -> WriteRequest {
        WriteRequest {
            session: session.clone(),
            work: Work::Transaction(id, updates),
        }
    }

    pub(crate) fn password(session: &Session, update: PasswordUpdate) -> WriteRequest {
        WriteRequest {
            session: session.clone(),
            work: Work::Password(Box::new(update)),
        }
    }

    /// Whether the request by itself promises to be done soon.
    fn is_short(&self) -> bool {
        match &self.work {
            Work::Update(update) => update.bytes() <= SHORT_BYTES_MAX,
            Work::Transaction(..) => false,
            Work::Password(_) => true,
        }
    }
}

impl Directory {
    /// Applies updates in their order and makes them durable; one reply each, in order.
    ///
    /// Waits for the store's writer lock and for the disk. Meant for one thread that does nothing else.
    #[must_use]
    pub fn apply(&self, batch: &[WriteRequest]) -> Vec<WriteReply> {
        let mut replies = Vec::with_capacity(batch.len());
        let mut rest = batch;
        while let Some((first, behind)) = rest.split_first() {
            if let Work::Transaction(id, updates) = &first.work {
                replies.push(self.apply_transaction(&first.session, *id, updates));
                rest = behind;
                continue;
            }
            let is_single =
                |request: &&WriteRequest| !matches!(request.work, Work::Transaction(..));
            let count = rest.iter().take_while(is_single).count();
            let (together, behind) = rest.split_at(count);
            replies.extend(self.apply_together(together));
            rest = behind;
        }
        replies
    }

    /// Applies updates that have nothing to do with each other.
    fn apply_together(&self, batch: &[WriteRequest]) -> impl Iterator<Item = WriteReply> {
        let mut items: Vec<Item<'_>> = batch.iter().map(|request| self.item(request)).collect();
        for database in &self.databases {
            let mut here: Vec<_> = items
                .iter_mut()
                .zip(batch)
                .filter(|(item, _)| item.goes_to(database))
                .collect();
            if !here.is_empty() {
                self.apply_to(database, &mut here);
            }
        }
        items.into_iter().map(Item::reply)
    }

    /// Runs what goes to one database: all of it in one transaction of the store, or if that fails each in its own.
    fn apply_to<'d>(
        &'d self,
        database: &'d Database,
        updates: &mut [(&mut Item<'d>, &WriteRequest)],
    ) {
        let run = |updates: &mut [(&mut Item<'d>, &WriteRequest)]| {
            let writer = database.store.write()?;
            self.run_all(database, writer, Haste::Any, updates)
        };
        let Err(error) = run(updates) else {
            return;
        };
        if let [(item, _)] = updates {
            item.fail(&error);
            return;
        }
        for update in updates {
            *update.0 = self.item(update.1);
            if let Err(error) = run(std::slice::from_mut(update)) {
                update.0.fail(&error);
            }
        }
    }

    /// Applies updates as [`apply`](Self::apply) does if that waits neither for another writer nor for a disk, and takes
    /// about as long as so many searches: none of them touches much. Otherwise `None`, and nothing has changed.
    #[must_use]
    pub fn apply_at_once(&self, batch: &[WriteRequest]) -> Option<Vec<WriteReply>> {
        let waits = |database: &Database| database.store.waits_for_disk();
        if self.databases.iter().any(waits) || !batch.iter().all(WriteRequest::is_short) {
            return None;
        }
        let mut items: Vec<Item<'_>> = batch.iter().map(|request| self.item(request)).collect();
        let mut databases = items.iter().filter_map(Item::database);
        if let Some(database) = databases.next() {
            if !databases.all(|other| std::ptr::eq(other, database)) {
                return None;
            }
            let writer = database.store.try_write().ok()??;
            let mut here: Vec<_> = items.iter_mut().zip(batch).collect();
            self.run_all(database, writer, Haste::Short, &mut here)
                .ok()?;
        }
        Some(items.into_iter().map(Item::reply).collect())
    }

    /// Runs updates in their order, and commits if any of them changed something.
    fn run_all<'d>(
        &'d self,
        database: &'d Database,
        mut writer: Writer<'d>,
        haste: Haste,
        updates: &mut [(&mut Item<'d>, &WriteRequest)],
    ) -> Result<(), StoreError> {
        let mut changed = false;
        for (item, request) in updates {
            self.run(database, (&mut writer, haste), &request.session, item)?;
            changed |= item.result.is_success();
        }
        if changed {
            writer.commit()?;
        }
        Ok(())
    }

    /// Runs one update.
    ///
    /// # Errors
    /// When the store failed, so that what the writer holds is not to be trusted any more.
    fn run<'d>(
        &'d self,
        database: &'d Database,
        (writer, haste): (&mut Writer<'d>, Haste),
        session: &Session,
        item: &mut Item<'d>,
    ) -> Result<(), StoreError> {
        let Some((_, prepared)) = item.prepared.take() else {
            return Ok(());
        };
        let acting = item.acting.take();
        let session = acting.as_ref().unwrap_or(session);
        let mut context = Context {
            directory: self,
            session,
            decisions: database.decisions(session),
            writer,
            database,
            modifiers: &item.modifiers,
            now: self.clock.now(),
            returned: Returned::default(),
            haste,
            broken: false,
        };
        item.result = match prepared.run(&mut context) {
            Ok(()) => LdapResult::success(),
            Err(result) => result,
        };
        if context.broken {
            return Err(StoreError::Poisoned);
        }
        item.returned = context.returned;
        Ok(())
    }

    /// Does all updates of a transaction, or none.
    fn apply_transaction(
        &self,
        session: &Session,
        id: MessageId,
        updates: &[UpdateBuf],
    ) -> WriteReply {
        let (result, blamed) = match self.run_transaction(session, updates) {
            Ok(()) => (LdapResult::success(), None),
            Err((result, blamed)) => (result, blamed),
        };
        let value = blamed.map(failed_update);
        let mut bytes = Vec::new();
        encode::extended_result(&mut bytes, id, &result, None, value.as_deref(), &[]);
        WriteReply { result, bytes }
    }

    /// As [`apply_transaction`](Self::apply_transaction); an error with the update that is to blame, if one is.
    fn run_transaction(
        &self,
        session: &Session,
        updates: &[UpdateBuf],
    ) -> Result<(), (LdapResult, Option<MessageId>)> {
        let failed = |error: StoreError| (result::store(&error), None);
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
                None => open.insert((database, database.store.write().map_err(failed)?)),
            };
            if let Err(error) = self.run(database, (writer, Haste::Any), session, &mut item) {
                item.fail(&error);
            }
            if !item.result.is_success() {
                item.result.matched_dn.clear();
                return Err((item.result, blamed));
            }
        }
        match open {
            Some((_, writer)) => writer.commit().map_err(failed),
            None => Ok(()),
        }
    }

    fn item(&self, request: &WriteRequest) -> Item<'_> {
        match &request.work {
            Work::Update(update) => self.update_item(&request.session, update, false),
            Work::Password(update) => self.password_item(update),
            // These are run by themselves.
            Work::Transaction(id, _) => Item::refused(
                *id,
                Response::Extended(None),
                LdapResult::new(ResultCode::Other),
            ),
        }
    }

    fn password_item(&self, update: &PasswordUpdate) -> Item<'_> {
        let response = Response::Extended(update.value.clone());
        let changes = (update.changes.clone(), update.derived.clone());
        let prepared = Prepared::Modify(update.dn.clone(), changes.0, changes.1);
        match self.updatable(&update.dn) {
            Ok(database) => Item {
                prepared: Some((database, prepared)),
                ..Item::refused(update.id, response, LdapResult::success())
            },
            Err(result) => Item::refused(update.id, response, result),
        }
    }

    fn update_item(
        &self,
        session: &Session,
        update: &UpdateBuf,
        within_transaction: bool,
    ) -> Item<'_> {
        let message = update.message();
        let response = Response::Result(message.request.operation());
        match self.update(session, &message, within_transaction) {
            Ok(update) => Item {
                modifiers: update.modifiers,
                prepared: Some(update.prepared),
                acting: update.acting,
                ..Item::refused(message.id, response, LdapResult::success())
            },
            Err(result) => Item::refused(message.id, response, result),
        }
    }

    /// Finds out all that can be known of an update without a look at entries.
    fn update(
        &self,
        session: &Session,
        message: &Message<'_>,
        within_transaction: bool,
    ) -> Answer<Update<'_>> {
        let operation = message.request.operation();
        let (controls, acting) = self.controls_of(session, operation, &message.controls)?;
        if controls.transaction.is_some() && !within_transaction {
            return Err(transaction::unknown());
        }
        let session = acting.as_ref().unwrap_or(session);
        let modifiers = Modifiers::resolve(&self.schema, &controls)?;
        let dn = self.refuse_made_up(session, &message.request)?;
        let prepared = self.prepare(session, message, dn)?;
        Ok(Update {
            modifiers,
            prepared,
            acting,
        })
    }

    /// Refuses an update that cannot be done whatever the entries are.
    pub(crate) fn check_update(&self, session: &Session, message: &Message<'_>) -> Answer {
        self.update(session, message, true).map(drop)
    }

    /// With the request's name, if that has been read already.
    fn prepare(
        &self,
        session: &Session,
        message: &Message<'_>,
        dn: Option<Dn>,
    ) -> Answer<(&Database, Prepared)> {
        let name = |text| dn.map_or_else(|| result::dn(&self.schema, text), Ok);
        let prepared = match &message.request {
            Request::Add(request) => Prepared::Add(add::prepare(self, name(request.dn)?, request)?),
            Request::Delete(request) => Prepared::Delete(delete::prepare(self, name(request.dn)?)?),
            Request::ModifyDn(request) => {
                Prepared::ModifyDn(Box::new(modify_dn::prepare(self, request)?))
            }
            Request::Modify(request) => {
                let (dn, changes) = modify::prepare(self, name(request.dn)?, request)?;
                Prepared::Modify(dn, changes, Vec::new())
            }
            _ => return Err(refuse(ResultCode::ProtocolError, "not an update")),
        };
        let database = self.updatable(prepared.dn())?;
        self.permit_update(session, database, message.request.operation())?;
        Ok((database, prepared))
    }

    /// Refuses an update of entries that the server makes up, of which nothing else need be known. Returns the request's name
    /// if it had to be read, and can be.
    fn refuse_made_up(&self, session: &Session, request: &Request<'_>) -> Answer<Option<Dn>> {
        let name = match request {
            Request::Add(add) => add.dn,
            Request::Delete(delete) => delete.dn,
            Request::Modify(modify) => modify.dn,
            Request::ModifyDn(rename) => rename.dn,
            _ => return Ok(None),
        };
        if self.trees.is_empty() {
            return Ok(None);
        }
        let Ok(dn) = result::dn(&self.schema, name) else {
            return Ok(None);
        };
        match self.place(&dn) {
            Place::Tree(tree) => {
                let deed = Deed::Other(request.operation());
                self.permit(session, Some(&tree.restrictions), deed)?;
                Err(tree.read_only())
            }
            _ => Ok(Some(dn)),
        }
    }

    /// The database an update of this name goes to.
    pub(crate) fn updatable(&self, dn: &Dn) -> Answer<&Database> {
        match self.place(dn) {
            Place::In(database) => Ok(database),
            Place::Tree(tree) => Err(tree.read_only()),
            Place::Nowhere if !self.referral.is_empty() => {
                Err(self.elsewhere(dn, None, ResultCode::Referral))
            }
            Place::RootDse | Place::Subschema | Place::Nowhere => Err(result::no_global_superior()),
        }
    }
}

impl Prepared {
    fn dn(&self) -> &Dn {
        match self {
            Prepared::Add(entry) => &entry.dn,
            Prepared::Delete(dn) | Prepared::Modify(dn, ..) => dn,
            Prepared::ModifyDn(renaming) => &renaming.dn,
        }
    }

    fn run(self, context: &mut Context<'_, '_>) -> Answer {
        match self {
            Prepared::Add(entry) => add::run(context, entry),
            Prepared::Delete(dn) => delete::run(context, &dn),
            Prepared::Modify(dn, changes, derived) => modify::run(context, &dn, &changes, &derived),
            Prepared::ModifyDn(renaming) => modify_dn::run(context, &renaming),
        }
    }
}

impl<'d> Item<'d> {
    /// An update that is not to be run, with its result.
    fn refused(id: MessageId, response: Response, result: LdapResult) -> Item<'d> {
        Item {
            id,
            response,
            modifiers: Modifiers::default(),
            prepared: None,
            acting: None,
            result,
            returned: Returned::default(),
        }
    }

    /// The database it goes to, if it is to be run.
    fn database(&self) -> Option<&'d Database> {
        self.prepared.as_ref().map(|(database, _)| *database)
    }

    fn goes_to(&self, database: &Database) -> bool {
        self.database().is_some_and(|to| std::ptr::eq(to, database))
    }

    /// The store has failed; what the update itself found out says more.
    fn fail(&mut self, error: &StoreError) {
        if self.result.is_success() {
            self.result = result::store(error);
        }
        self.returned = Returned::default();
    }

    fn reply(self) -> WriteReply {
        let mut bytes = Vec::new();
        let (id, result) = (self.id, self.result);
        match self.response {
            Response::Result(operation) => {
                let controls = self.returned.controls();
                encode::result(&mut bytes, id, operation, &result, &controls);
            }
            Response::Extended(value) => {
                let value = value.filter(|_| result.is_success());
                encode::extended_result(&mut bytes, id, &result, None, value.as_deref(), &[]);
            }
        }
        WriteReply { result, bytes }
    }
}

impl Returned {
    fn controls<'r>(&'r self) -> Vec<Control<'r>> {
        let pairs = [
            (oid::PRE_READ, &self.pre_read),
            (oid::POST_READ, &self.post_read),
        ];
        let mut controls = Vec::new();
        for (oid, value) in pairs {
            let control = |value: &'r Vec<u8>| Control::with_value(oid, false, value);
            controls.extend(value.as_ref().map(control));
        }
        controls
    }
}
