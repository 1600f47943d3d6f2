//! Writes: several operations, one transaction of the store, one commit.
//!
//! ```text
//!   requests of many connections            one store transaction                 replies
//!   add  modify  delete  ...   ---->   check, change | check, refuse | ...   ---->  once it is durable
//! ```
//!
//! Every operation checks everything before it changes anything, so a refused one leaves its neighbours alone. If the
//! commit fails, nothing of the batch remains and none of it is acknowledged.

use std::sync::PoisonError;

use fulgurite_access::{Decisions, Level};
use fulgurite_ldap::{
    LdapResult, Limits as MessageLimits, Message, MessageId, Operation, Request, ResultCode, encode,
};
use fulgurite_schema::{Attribute, CheckOptions, Dn, Entry, Schema};
use fulgurite_store::{EntryId, Found, StoreError, Writer};

use crate::answer::{self, Answer, refuse};
use crate::changes::Change;
use crate::clock::Timestamp;
use crate::controls::RequestControls;
use crate::database::Database;
use crate::directory::{Directory, Place};
use crate::lookup;
use crate::op::modify_dn::Renaming;
use crate::op::{add, delete, modify, modify_dn};
use crate::referral::{self, Referrals};
use crate::session::Session;
use crate::stamp::Stamp;

/// An update on its way to the writer: the request's octets and who sent them.
#[derive(Clone, Debug)]
pub struct WriteRequest {
    session: Session,
    pdu: Box<[u8]>,
}

/// What became of a [`WriteRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteReply {
    /// The result, for the log.
    pub result: LdapResult,
    /// The encoded response.
    pub bytes: Vec<u8>,
}

/// The writer's side of one operation.
pub(crate) struct Context<'w, 'd> {
    pub(crate) directory: &'d Directory,
    pub(crate) session: &'w Session,
    pub(crate) decisions: Decisions<'d>,
    pub(crate) writer: &'w mut Writer<'d>,
    pub(crate) database: &'d Database,
    now: Timestamp,
    /// Whether the request means referral objects themselves.
    pub(crate) managed: bool,
    /// Set when the store failed in the midst of a change.
    broken: bool,
}

/// A request that makes sense by itself, with the store it goes to.
enum Prepared {
    Add(Entry),
    Delete(Dn),
    Modify(Dn, Vec<Change>),
    ModifyDn(Box<Renaming>),
}

/// A request of a batch.
struct Item<'d> {
    id: MessageId,
    operation: Operation,
    /// Whether the request means referral objects themselves.
    managed: bool,
    /// Taken when it is run.
    prepared: Option<(&'d Database, Prepared)>,
    result: LdapResult,
}

impl WriteRequest {
    /// Copies a PDU that holds an add, delete, modify or modify DN request.
    #[must_use]
    pub fn new(session: &Session, pdu: &[u8]) -> WriteRequest {
        WriteRequest {
            session: session.clone(),
            pdu: pdu.into(),
        }
    }
}

impl Directory {
    /// Applies updates in their order and makes them durable; one reply each, in order.
    ///
    /// Waits for the store's writer lock and for the disk. Meant for one thread that does nothing else.
    #[must_use]
    pub fn apply(&self, batch: &[WriteRequest]) -> Vec<WriteReply> {
        let mut items: Vec<Item<'_>> = batch.iter().map(|request| self.item(request)).collect();
        for database in &self.databases {
            self.apply_to(database, batch, &mut items);
        }
        items.into_iter().map(Item::reply).collect()
    }

    /// Runs what goes to one store.
    fn apply_to<'d>(
        &'d self,
        database: &'d Database,
        batch: &[WriteRequest],
        items: &mut [Item<'d>],
    ) {
        let wanted = |item: &Item<'_>| {
            let goes_here = |(to, _): &(&Database, Prepared)| std::ptr::eq(*to, database);
            item.prepared.as_ref().is_some_and(goes_here)
        };
        if !items.iter().any(wanted) {
            return;
        }
        let mut mine = vec![false; items.len()];
        for (mine, item) in mine.iter_mut().zip(items.iter()) {
            *mine = wanted(item);
        }
        let outcome = self.run_all(database, batch, items, &mine);
        if let Err(error) = outcome {
            let failed = answer::store(&error);
            for (item, _) in items.iter_mut().zip(&mine).filter(|(_, mine)| **mine) {
                item.result = failed.clone();
            }
        }
    }

    /// Runs the items marked, and commits if any of them changed something.
    fn run_all<'d>(
        &'d self,
        database: &'d Database,
        batch: &[WriteRequest],
        items: &mut [Item<'d>],
        mine: &[bool],
    ) -> Result<(), StoreError> {
        let mut writer = database.store.write()?;
        let mut changed = false;
        for ((item, request), _) in items
            .iter_mut()
            .zip(batch)
            .zip(mine)
            .filter(|(_, mine)| **mine)
        {
            let Some((_, prepared)) = item.prepared.take() else {
                continue;
            };
            let mut context = Context {
                directory: self,
                session: &request.session,
                decisions: database.decisions(&request.session),
                writer: &mut writer,
                database,
                now: self.clock.now(),
                managed: item.managed,
                broken: false,
            };
            item.result = match context.run(prepared) {
                Ok(()) => LdapResult::success(),
                Err(result) => result,
            };
            changed |= item.result.is_success();
            if context.broken {
                return Err(StoreError::Poisoned);
            }
        }
        if changed {
            writer.commit()?;
        }
        Ok(())
    }

    fn item(&self, request: &WriteRequest) -> Item<'_> {
        let message = match Message::decode(&request.pdu, &MessageLimits::default()) {
            Ok(message) => message,
            Err(error) => {
                return Item {
                    id: error.message_id().unwrap_or(0),
                    operation: Operation::Modify,
                    managed: false,
                    prepared: None,
                    result: refuse(ResultCode::ProtocolError, error.to_string()),
                };
            }
        };
        let operation = message.request.operation();
        let controls = RequestControls::decode(operation, &message.controls);
        let managed = controls
            .as_ref()
            .is_ok_and(|controls| controls.manage_dsa_it);
        let prepared = controls.and_then(|_| self.prepare(&request.session, &message));
        let (prepared, result) = match prepared {
            Ok(prepared) => (Some(prepared), LdapResult::success()),
            Err(result) => (None, result),
        };
        Item {
            id: message.id,
            operation,
            managed,
            prepared,
            result,
        }
    }

    fn prepare(&self, session: &Session, message: &Message<'_>) -> Answer<(&Database, Prepared)> {
        let prepared = match &message.request {
            Request::Add(request) => Prepared::Add(add::prepare(self, request)?),
            Request::Delete(request) => Prepared::Delete(delete::prepare(self, request)?),
            Request::ModifyDn(request) => {
                Prepared::ModifyDn(Box::new(modify_dn::prepare(self, request)?))
            }
            Request::Modify(request) => {
                let (dn, changes) = modify::prepare(self, request)?;
                Prepared::Modify(dn, changes)
            }
            _ => return Err(refuse(ResultCode::ProtocolError, "not an update")),
        };
        let database = self.updatable(prepared.dn())?;
        self.permit_update(session, database, message.request.operation())?;
        Ok((database, prepared))
    }

    /// The database an update of this name goes to.
    pub(crate) fn updatable(&self, dn: &Dn) -> Answer<&Database> {
        match self.place(dn) {
            Place::In(database) => Ok(database),
            Place::Tree(tree) => Err(tree.read_only()),
            Place::Nowhere if !self.referral.is_empty() => {
                Err(self.elsewhere(dn, None, ResultCode::Referral))
            }
            Place::RootDse | Place::Subschema | Place::Nowhere => Err(answer::no_global_superior()),
        }
    }
}

impl Prepared {
    fn dn(&self) -> &Dn {
        match self {
            Prepared::Add(entry) => &entry.dn,
            Prepared::Delete(dn) | Prepared::Modify(dn, _) => dn,
            Prepared::ModifyDn(renaming) => &renaming.dn,
        }
    }
}

impl Item<'_> {
    fn reply(self) -> WriteReply {
        let mut bytes = Vec::new();
        encode::result(&mut bytes, self.id, self.operation, &self.result, &[]);
        WriteReply {
            result: self.result,
            bytes,
        }
    }
}

impl<'d> Context<'_, 'd> {
    fn run(&mut self, prepared: Prepared) -> Answer {
        match prepared {
            Prepared::Add(entry) => add::run(self, entry),
            Prepared::Delete(dn) => delete::run(self, &dn),
            Prepared::Modify(dn, changes) => modify::run(self, &dn, &changes),
            Prepared::ModifyDn(renaming) => modify_dn::run(self, &renaming),
        }
    }

    /// Looks a name up in what the batch has made of the store so far.
    pub(crate) fn find(&self, dn: &Dn) -> Answer<Found> {
        self.writer.find(dn).map_err(|error| answer::store(&error))
    }

    /// The entry of a name, or noSuchObject, or a referral.
    pub(crate) fn locate(&self, dn: &Dn) -> Answer<EntryId> {
        let found = self.find(dn)?;
        self.follow_referral(dn, found)?;
        match found {
            Found::Entry(id) => Ok(id),
            missing => Err(self.no_such_object(missing)),
        }
    }

    /// Sends the client elsewhere if the name is that of a referral object or below one.
    pub(crate) fn follow_referral(&self, dn: &Dn, found: Found) -> Answer {
        let referrals = Referrals {
            known: &self.directory.known,
            scope: None,
            managed: self.managed,
        };
        match referrals.instead(self.writer, &self.decisions, dn, found)? {
            None => Ok(()),
            Some(referral) => Err(referral),
        }
    }

    /// Refuses an alias as parent: what is below it could never be reached by its name.
    pub(crate) fn refuse_alias(&self, parent: EntryId) -> Answer {
        let entry = self
            .writer
            .entry(parent)
            .map_err(|error| answer::store(&error))?;
        match entry {
            Some(entry) if referral::is_alias(&entry, &self.directory.known) => {
                Err(refuse(ResultCode::AliasProblem, "parent is an alias"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn no_such_object(&self, missing: Found) -> LdapResult {
        let name = |id| self.writer.dn(id);
        lookup::no_such_object(&self.directory.schema, &self.decisions, missing, name)
    }

    pub(crate) fn has_children(&self, id: EntryId) -> Answer<bool> {
        self.writer
            .has_children(id)
            .map_err(|error| answer::store(&error))
    }

    /// A copy of an entry, to be changed.
    pub(crate) fn entry(&self, id: EntryId) -> Answer<Entry> {
        let entry = self.writer.entry(id).and_then(|entry| {
            entry
                .ok_or(StoreError::NoSuchEntry(id))
                .and_then(|entry| entry.to_entry())
        });
        entry.map_err(|error| answer::store(&error))
    }

    /// How a changed entry is checked: its values have been looked at one by one already, or come from the store.
    pub(crate) fn check_options(&self, entry: &Entry) -> CheckOptions {
        let class = entry
            .values(self.directory.known.structural_object_class.attribute)
            .first()
            .and_then(|name| std::str::from_utf8(name).ok())
            .and_then(|name| self.directory.schema.object_class(name));
        CheckOptions {
            structural_class: class.map(|class| class.index),
            skip_values: true,
        }
    }

    /// An entry comes or goes only with the right to write both it and its superior's list of children.
    pub(crate) fn require_placing(&self, dn: &Dn) -> Answer {
        let refused = |text| Err(refuse(ResultCode::InsufficientAccessRights, text));
        let above = dn.parent().unwrap_or_else(Dn::root);
        if self.decisions.at(above.normal()).children() < Level::Write {
            return refused("no write access to parent");
        }
        if self.decisions.at(dn.normal()).entry() < Level::Write {
            return refused("no write access to entry");
        }
        Ok(())
    }

    /// The naming context a name belongs to.
    pub(crate) fn suffix_of(&self, dn: &Dn) -> Option<&'d Dn> {
        self.database.suffix_of(dn)
    }

    pub(crate) fn is_suffix(&self, dn: &Dn) -> bool {
        self.database.suffixes().contains(dn)
    }

    /// Whether a name belongs to the database at hand.
    pub(crate) fn is_here(&self, dn: &Dn) -> bool {
        let database = self.directory.database_of(dn);
        database.is_some_and(|database| std::ptr::eq(database, self.database))
    }

    /// The marks of this operation. Each call takes a new CSN.
    pub(crate) fn stamp(&self) -> Stamp<'_> {
        let mut csn = self
            .directory
            .csn
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Stamp {
            time: self.now,
            csn: csn.next(self.now),
            by: self.session.name(),
        }
    }

    /// A change that the store refused although all had been checked: the transaction is not to be trusted any more.
    pub(crate) fn failed(&mut self, error: &StoreError) -> LdapResult {
        self.broken = matches!(
            error,
            StoreError::Engine(_) | StoreError::Damaged(_) | StoreError::Poisoned
        );
        answer::store(error)
    }
}

/// Attributes that the server keeps are not for clients to set.
pub(crate) fn require_user_modification<'a>(
    schema: &Schema,
    mut attributes: impl Iterator<Item = &'a Attribute>,
) -> Answer {
    let kept = attributes.find(|attribute| {
        schema
            .attribute_at(attribute.description.attribute)
            .no_user_modification
    });
    match kept {
        None => Ok(()),
        Some(attribute) => {
            let name = attribute.description.text(schema);
            let text = format!("{name}: no user modification allowed");
            Err(refuse(ResultCode::ConstraintViolation, text))
        }
    }
}
