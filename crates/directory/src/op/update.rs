//! Updates, resolved and checked without a look at entries.

use std::sync::Arc;

use fulgurite_ldap::{Message, Request, ResultCode};
use fulgurite_schema::{Dn, Entry};

use crate::core::control_text::control_texts;
use crate::core::database::Database;
use crate::core::result::{self, OpResult, refuse};
use crate::core::session::Session;
use crate::core::transaction_queue::unknown_transaction;
use crate::directory::Directory;
use crate::generated::namespace::NamespaceTarget;
use crate::op::modify_dn::Rename;
use crate::op::{add, bind_policy, bind_record, delete, modify, modify_dn};
use crate::request::change::Change;
use crate::request::controls::RequestKind;
use crate::request::modifiers::Modifiers;
use crate::request::restrictions::OperationKind;
use crate::write::context::Context;
use crate::write::request::{BindAttempt, PasswordExchange};

/// An update whose names and values are resolved.
pub(crate) enum PreparedUpdate {
    Add(Entry),
    Delete(Dn),
    /// The client's changes, and those that the server derives from them, which need no rights.
    /// A password modify also has its passwords.
    Modify(Dn, Vec<Change>, Vec<Change>, Option<Box<PasswordExchange>>),
    ModifyDn(Box<Rename>),
    /// The record of a successful bind.
    Bind(Dn),
    /// The judgement of a bind.
    Attempt(Arc<BindAttempt>),
}

/// An update with its database and modifiers.
pub(crate) struct ResolvedUpdate<'d> {
    pub(crate) modifiers: Modifiers,
    pub(crate) prepared: (&'d Database, PreparedUpdate),
    pub(crate) acting: Option<Session>,
}

impl Directory {
    /// Resolves an update and checks all that needs no look at entries. The entry of an add may be
    /// resolved already.
    pub(crate) fn resolve_update(
        &self,
        session: &Session,
        message: &Message<'_>,
        (entry, within_transaction): (Option<Entry>, bool),
    ) -> OpResult<ResolvedUpdate<'_>> {
        let operation = message.request.operation();
        let (controls, acting) = self.controls_of(
            session,
            RequestKind::Operation(operation),
            &message.controls,
        )?;
        if controls.transaction.is_some() && !within_transaction {
            return Err(unknown_transaction());
        }
        self.require_password_policy(&controls)?;
        let session = acting.as_ref().unwrap_or(session);
        let mut modifiers = Modifiers::resolve(self.schema(), &controls)?;
        let dn = self.refuse_generated(session, &message.request, entry.as_ref())?;
        let prepared = self.prepare(session, message, (dn, entry))?;
        if self.features_of(prepared.0).access_log.is_some() {
            modifiers.logged_controls = control_texts(message.controls.iter());
        }
        Ok(ResolvedUpdate {
            modifiers,
            prepared,
            acting,
        })
    }

    /// Fails for an update that no state of the entries could accept.
    pub(crate) fn check_update(&self, session: &Session, message: &Message<'_>) -> OpResult {
        self.resolve_update(session, message, (None, true))
            .map(drop)
    }

    /// Resolves the request; `dn` is its name if it is parsed already, `entry` that of an add.
    fn prepare(
        &self,
        session: &Session,
        message: &Message<'_>,
        (dn, entry): (Option<Dn>, Option<Entry>),
    ) -> OpResult<(&Database, PreparedUpdate)> {
        let name = |text| dn.map_or_else(|| result::dn(self.schema(), text), Ok);
        let prepared = match &message.request {
            Request::Add(request) => PreparedUpdate::Add(match entry {
                Some(entry) => add::admit(self, entry)?,
                None => add::prepare(self, name(request.dn)?, request)?,
            }),
            Request::Delete(request) => {
                PreparedUpdate::Delete(delete::prepare(self, name(request.dn)?)?)
            }
            Request::ModifyDn(request) => {
                PreparedUpdate::ModifyDn(Box::new(modify_dn::prepare(self, request)?))
            }
            Request::Modify(request) => {
                let (dn, changes) = modify::prepare(self, name(request.dn)?, request)?;
                PreparedUpdate::Modify(dn, changes, Vec::new(), None)
            }
            _ => return Err(refuse(ResultCode::ProtocolError, "not an update")),
        };
        let database = self.updatable(prepared.dn())?;
        self.policy()
            .permit_update(session, database, message.request.operation())?;
        self.refuse_shadow(session, database, Some(prepared.dn()))?;
        Ok((database, prepared))
    }

    /// Fails for an update of generated entries. Returns the name of the request if it had to be
    /// parsed.
    fn refuse_generated(
        &self,
        session: &Session,
        request: &Request<'_>,
        entry: Option<&Entry>,
    ) -> OpResult<Option<Dn>> {
        let Some(name) = name_of(request) else {
            return Ok(None);
        };
        if self.generated().trees.is_empty() {
            return Ok(None);
        }
        let parsed = match entry {
            Some(_) => None,
            None => match result::dn(self.schema(), name) {
                Ok(dn) => Some(dn),
                Err(_) => return Ok(None),
            },
        };
        let dn = entry.map(|entry| &entry.dn).or(parsed.as_ref());
        if let Some(NamespaceTarget::Tree(tree)) = dn.map(|dn| self.target(dn)) {
            let kind = OperationKind::Other(request.operation());
            self.policy()
                .permit(session, Some(&tree.restrictions), kind)?;
            return Err(tree.read_only());
        }
        Ok(parsed)
    }
}

/// Returns the name of the entry that an update is about.
pub(crate) fn name_of<'m>(request: &Request<'m>) -> Option<&'m [u8]> {
    match request {
        Request::Add(add) => Some(add.dn),
        Request::Delete(delete) => Some(delete.dn),
        Request::Modify(modify) => Some(modify.dn),
        Request::ModifyDn(rename) => Some(rename.dn),
        _ => None,
    }
}

impl PreparedUpdate {
    fn dn(&self) -> &Dn {
        match self {
            PreparedUpdate::Add(entry) => &entry.dn,
            PreparedUpdate::Delete(dn)
            | PreparedUpdate::Modify(dn, ..)
            | PreparedUpdate::Bind(dn) => dn,
            PreparedUpdate::Attempt(attempt) => &attempt.dn,
            PreparedUpdate::ModifyDn(rename) => &rename.dn,
        }
    }

    pub(crate) fn run(self, context: &mut Context<'_, '_>) -> OpResult {
        // The server itself records binds.
        let is_record = matches!(self, PreparedUpdate::Bind(_) | PreparedUpdate::Attempt(_));
        let is_free = is_record || !context.session.must_change_password();
        if !is_free && !self.changes_only_password(context) {
            return Err(context.refuse_until_password_change());
        }
        self.run_unrestricted(context)
    }

    /// Returns true for what a connection may do before it has changed its password.
    fn changes_only_password(&self, context: &Context<'_, '_>) -> bool {
        let password = &context.core.types.user_password;
        let is_password = |change: &Change| change.attribute.description == *password;
        match self {
            PreparedUpdate::Modify(_, changes, ..) => {
                !changes.is_empty() && changes.iter().all(is_password)
            }
            _ => false,
        }
    }

    fn run_unrestricted(self, context: &mut Context<'_, '_>) -> OpResult {
        match self {
            PreparedUpdate::Add(entry) => add::run(context, entry),
            PreparedUpdate::Delete(dn) => delete::run(context, &dn),
            PreparedUpdate::Modify(dn, changes, derived, exchange) => {
                let additions = modify::Additions {
                    derived: &derived,
                    exchange: exchange.as_deref(),
                };
                modify::run(context, &dn, &changes, &additions)
            }
            PreparedUpdate::ModifyDn(rename) => modify_dn::run(context, &rename),
            PreparedUpdate::Bind(dn) => bind_record::run(context, &dn),
            PreparedUpdate::Attempt(attempt) => bind_policy::record(context, &attempt),
        }
    }
}
