//! Records of operations that are no changes, for the log that slapd's overlay `accesslog` shows.
//!
//! A record begins with its request and ends with the result that the client gets. Operations that
//! slapd's front end refuses are in no log: slapd knows no database for them.

use std::sync::Arc;

use fulgurite_ldap::{LdapResult, Message, Request, ResponseMessage, ResultCode, frame, oid};
use fulgurite_schema::{AttributeDescription, Dn};
use fulgurite_store::{NameLookup, OperationLog, OperationRecord, Store, StoreError};
use uuid::Uuid;

use super::logged_request::{push, push_request};
use crate::core::control_text::control_texts;
use crate::core::database::Database;
use crate::core::entry_identity::EntryIdentity;
use crate::core::foundation::Core;
use crate::core::logged_operations::{LoggedField, LoggedKind, LoggedOperations};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::features::log_gate::target_of;
use crate::generated::namespace::NamespaceTarget;
use crate::request::controls::RequestKind;
use crate::request::limits::{LimitsRequest, search_limits};
use crate::rights::facts::UnstoredFacts;

/// The record of an operation that has begun.
pub struct BegunRecord {
    log: Arc<OperationLog>,
    record: OperationRecord<'static>,
    kind: LoggedKind,
    successes_only: bool,
    /// The limits of a search in seconds and entries.
    limits: Option<(String, String)>,
    entries: u64,
    /// The update, whose entry a refusal is about.
    updated: Option<BegunUpdate>,
}

/// An update that has begun.
struct BegunUpdate {
    store: Arc<Store>,
    dn: Dn,
    touched: Touched,
}

/// The attributes whose old values the log may have.
enum Touched {
    None,
    These(Vec<AttributeDescription>),
    All,
}

impl Touched {
    /// Returns the attributes that a request changes. As in slapd, a refused rename has
    /// none, and a modify also changes the stamps.
    fn of(core: &Core, request: &Request<'_>) -> Touched {
        let Request::Modify(modify) = request else {
            return match request {
                Request::Delete(_) => Touched::All,
                _ => Touched::None,
            };
        };
        let changes = modify.changes.iter();
        let named = changes.map(|change| core.schema.describe(change.attribute.description));
        let types = &core.types;
        let stamps = [
            &types.entry_csn,
            &types.modifiers_name,
            &types.modify_timestamp,
        ];
        let stamps = stamps.into_iter().cloned();
        Touched::These(named.filter_map(Result::ok).chain(stamps).collect())
    }

    fn has(&self, description: &AttributeDescription) -> bool {
        match self {
            Touched::None => false,
            Touched::These(touched) => touched.contains(description),
            Touched::All => true,
        }
    }
}

impl std::fmt::Debug for BegunRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BegunRecord")
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}

impl BegunRecord {
    /// Sets the number of entries that a search has returned.
    pub fn set_entries(&mut self, entries: u64) {
        self.entries = entries;
    }
}

impl Directory {
    /// Begins the record of an operation; `None` unless a log shall have it.
    #[must_use]
    #[inline]
    pub fn begin_record(
        &self,
        session: &Session,
        message: &Message<'_>,
    ) -> Option<Box<BegunRecord>> {
        if !self.log_gate.may_want(message) {
            return None;
        }
        self.begin_wanted_record(session, message)
    }

    fn begin_wanted_record(
        &self,
        session: &Session,
        message: &Message<'_>,
    ) -> Option<Box<BegunRecord>> {
        let schema = self.schema();
        let operation = message.request.operation();
        let kind = LoggedKind::of(operation)?;
        let target = target_of(&message.request)?;
        let target = Dn::parse_bytes(schema, target).ok()?;
        let database = self.logged_database(&message.request, &target)?;
        let (log, wanted) = self.log_of(database)?;
        let is_left_out = kind.is_update() && wanted.successes_only;
        if is_left_out || !wanted.has(kind, Some(&target)) {
            return None;
        }
        let acting = message.controls.find(oid::PROXIED_AUTHORIZATION);
        let acting = acting.and_then(|_| {
            let kind = RequestKind::Operation(operation);
            self.controls_of(session, kind, &message.controls).ok()?.1
        });
        let session = acting.as_ref().unwrap_or(session);
        let mut record = OperationRecord {
            kind: kind.number(),
            start_us: self.core().clock.now().0,
            session: session.connection().id,
            ..OperationRecord::default()
        };
        let author = match kind {
            LoggedKind::Bind => "",
            _ => session.name(),
        };
        push(&mut record, LoggedField::Author, author);
        for text in control_texts(message.controls.iter()) {
            record.push(LoggedField::Control.number(), text);
        }
        push(&mut record, LoggedField::Target, target.pretty());
        push_request(schema, &message.request, &target, &mut record);
        Some(Box::new(BegunRecord {
            log,
            record,
            kind,
            successes_only: wanted.successes_only,
            limits: self.limits_of(session, database, &message.request, &target),
            entries: 0,
            updated: (kind.is_update()).then(|| BegunUpdate {
                store: database.shared_store(),
                touched: Touched::of(self.core(), &message.request),
                dn: target,
            }),
        }))
    }

    /// Ends a record with the responses to the operation.
    pub fn end_record(&self, begun: BegunRecord, responses: &[u8]) {
        let Some(response) = last_response(responses) else {
            return;
        };
        let Some(result) = response.response.result() else {
            return;
        };
        if !begun.is_wanted(result) {
            return;
        }
        let BegunRecord {
            log, mut record, ..
        } = begun;
        record.result = Some(result.code.number());
        for text in control_texts(response.controls.iter()) {
            record.push(LoggedField::ResponseControl.number(), text);
        }
        if !result.diagnostic.is_empty() {
            push(&mut record, LoggedField::Message, &result.diagnostic);
        }
        if let Some((time, size)) = &begun.limits {
            push(
                &mut record,
                LoggedField::Entries,
                &begun.entries.to_string(),
            );
            push(&mut record, LoggedField::TimeLimit, time);
            push(&mut record, LoggedField::SizeLimit, size);
        }
        if let Some(update) = begun.updated {
            // A store that cannot be read refuses the update too.
            let _ = self.push_entry(&update, &mut record);
        }
        self.append(&log, &record);
    }

    /// Records an abandon that stops an operation, or an unbind.
    #[inline]
    pub fn record_unanswered(&self, session: &Session, message: &Message<'_>) {
        if self.log_gate.may_want(message) {
            self.record_end(session, message);
        }
    }

    /// Records it in the log of the database that the client's identity is in. An abandon of an
    /// anonymous client is recorded if there is no choice of logs.
    fn record_end(&self, session: &Session, message: &Message<'_>) -> Option<()> {
        let kind = LoggedKind::of(message.request.operation())?;
        let databases = &self.core().databases;
        let (author, database) = match session.identity().name() {
            Some(name) => (name.pretty(), databases.database_of_normal(name.normal())?),
            None if kind == LoggedKind::Abandon => ("", self.only_logged_database()?),
            None => return None,
        };
        let (log, wanted) = self.log_of(database)?;
        if !wanted.has(kind, None) {
            return None;
        }
        let mut record = OperationRecord {
            kind: kind.number(),
            start_us: self.core().clock.now().0,
            session: session.connection().id,
            ..OperationRecord::default()
        };
        push(&mut record, LoggedField::Author, author);
        for text in control_texts(message.controls.iter()) {
            record.push(LoggedField::Control.number(), text);
        }
        if let Request::Abandon(id) = message.request {
            push(&mut record, LoggedField::MessageId, &id.to_string());
        }
        self.append(&log, &record);
        Some(())
    }

    /// Returns the database with a log, unless several have one.
    fn only_logged_database(&self) -> Option<&Database> {
        let databases = self.core().databases.iter();
        let mut logged = databases.filter(|database| self.log_of(database).is_some());
        logged.next().filter(|_| logged.next().is_none())
    }

    /// Commits the records that wait in memory, and drops old ones.
    pub fn flush_records(&self) {
        let now_us = self.core().clock.now().0;
        for log in self.generated().operation_logs() {
            if let Err(error) = log.flush(now_us) {
                self.lost(log, &error);
            }
        }
    }

    fn append(&self, log: &OperationLog, record: &OperationRecord<'_>) {
        if let Err(error) = log.append(record) {
            self.lost(log, &error);
        }
    }

    fn lost(&self, log: &OperationLog, error: &StoreError) {
        let core = self.core();
        core.notices.warn(&*core.clock, "accesslog", || {
            let path = log.path().display();
            format!("{path}: records of operations are lost: {error}")
        });
    }

    /// Returns the database that an operation belongs to.
    fn logged_database(&self, request: &Request<'_>, target: &Dn) -> Option<&Database> {
        let databases = &self.core().databases;
        let found = match request {
            Request::Search(search) => {
                let generated = self.generated();
                generated.target_of_search(databases, target, search.scope)
            }
            _ => self.target(target),
        };
        match found {
            NamespaceTarget::Database(database) => Some(database),
            _ => None,
        }
    }

    /// Returns the log of a database, and the operations that it has.
    fn log_of(&self, database: &Database) -> Option<(Arc<OperationLog>, &LoggedOperations)> {
        let settings = self.features_of(database).access_log.as_ref()?;
        let mut trees = self.generated().trees.iter();
        let tree = trees.find(|tree| tree.suffix == settings.suffix.value)?;
        let log = tree.log()?.operations()?;
        Some((Arc::clone(log), &settings.operations))
    }

    /// Returns the limits that hold for a search, as text.
    fn limits_of(
        &self,
        session: &Session,
        database: &Database,
        request: &Request<'_>,
        base: &Dn,
    ) -> Option<(String, String)> {
        let Request::Search(search) = request else {
            return None;
        };
        let wanted = LimitsRequest {
            requester: session.identity().name().map_or("", |name| name.normal()),
            is_root: database.is_root(session),
            base: base.normal(),
            size: search.size_limit,
            time_s: search.time_limit_s,
            page: None,
        };
        let facts = UnstoredFacts::unstored(self.core(), None);
        let limits = search_limits(&database.limits, &wanted, &facts).unwrap_or_default();
        let text = |limit: Option<u64>| limit.map_or_else(|| "-1".to_owned(), |at| at.to_string());
        let time_s = limits.time_us_max.map(|time_us| time_us / 1_000_000);
        Some((text(time_s), text(limits.size_max.map(u64::from))))
    }

    /// Adds the values of an entry whose update was refused, and its entryUUID.
    fn push_entry(
        &self,
        update: &BegunUpdate,
        record: &mut OperationRecord<'static>,
    ) -> Result<(), StoreError> {
        let core = self.core();
        let view = update.store.snapshot()?;
        let NameLookup::Entry(id) = view.find(&update.dn)? else {
            return Ok(());
        };
        let database = core.databases.database_of(&update.dn);
        let settings = database.and_then(|database| self.features_of(database).access_log.as_ref());
        let old = settings.and_then(|settings| settings.operations.old.as_ref());
        if let Some((old, entry)) = old.zip(view.entry(id)?)
            && !matches!(update.touched, Touched::None)
            && old.filter.test(&core.schema, &entry).is_true()
        {
            let held = entry.to_entry()?.attributes.into_iter();
            let is_wanted = |description: &AttributeDescription| {
                update.touched.has(description) || old.attributes.contains(description)
            };
            for held in held.filter(|held| is_wanted(&held.description)) {
                let name = held.description.text(&core.schema);
                for value in &held.values {
                    let text = [name.as_bytes(), b": ", value].concat();
                    record.push(LoggedField::Old.number(), text);
                }
            }
        }
        if let Ok(Some(identity)) = EntryIdentity::find(&core.types, &view, id) {
            let uuid = Uuid::from_bytes(identity.uuid).hyphenated().to_string();
            push(record, LoggedField::EntryUuid, &uuid);
        }
        Ok(())
    }
}

impl BegunRecord {
    /// Returns true if a log shall have an operation with this result.
    fn is_wanted(&self, result: &LdapResult) -> bool {
        let is_success = matches!(
            result.code,
            ResultCode::Success | ResultCode::CompareTrue | ResultCode::CompareFalse
        );
        // The log of changes has updates that succeed.
        if is_success {
            return !self.kind.is_update();
        }
        let is_of_front_end = matches!(
            result.code,
            ResultCode::ProtocolError
                | ResultCode::UnavailableCriticalExtension
                | ResultCode::UndefinedAttributeType
                | ResultCode::InvalidAttributeSyntax
                | ResultCode::InvalidDnSyntax
                | ResultCode::SaslBindInProgress
        );
        !self.successes_only && !is_of_front_end
    }
}

/// Returns the last one of some encoded responses.
fn last_response(mut responses: &[u8]) -> Option<ResponseMessage<'_>> {
    loop {
        let len = frame(responses, usize::MAX).ok()??;
        let (pdu, rest) = responses.split_at_checked(len)?;
        if rest.is_empty() {
            return ResponseMessage::decode(pdu).ok();
        }
        responses = rest;
    }
}
