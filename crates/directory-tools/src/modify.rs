//! Change records applied to stores without a server, as slapmodify does.
//!
//! A directory is opened over the stores, and its root makes the changes. They so obey the schema
//! and get the same operational attributes as changes of clients.

use std::io::BufRead;

use fulgurite_directory::{Directory, Identity, Name, Session, WriteRequest};
use fulgurite_ldap::{
    AddRequest, Change, Controls, DeleteRequest, LdapResult, Message, ModifyDnRequest,
    ModifyOperation, ModifyRequest, PartialAttribute, Request,
};
use fulgurite_ldif::{
    Action, Attribute, LdifError, ModificationKind, Reader, ReaderOptions, Record,
};
use fulgurite_schema::Dn;

/// How to apply changes.
#[derive(Clone, Debug)]
pub struct ModifyOptions {
    /// In whose name: the root of the stores.
    pub by: Dn,
    /// Go on after a change that is refused.
    pub continue_on_error: bool,
    /// Read everything, change nothing.
    pub dry_run: bool,
    /// Records that begin in lines before this one are passed over.
    pub from_line: u64,
}

/// The kind of change that a record asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A new entry.
    Add,
    /// An entry less.
    Delete,
    /// Other attributes.
    Modify,
    /// Another name.
    ModifyDn,
}

/// The outcome of a record.
#[derive(Debug)]
pub enum ModifyEvent<'r> {
    /// It was applied, or would have been read in a dry run.
    Applied {
        /// The kind of change.
        kind: ChangeKind,
        /// The entry.
        dn: &'r str,
    },
    /// It is no LDIF.
    Unreadable(LdifError),
    /// It was refused.
    Refused {
        /// The kind of change.
        kind: ChangeKind,
        /// The entry.
        dn: &'r str,
        /// Where the record begins.
        line: u64,
        /// Why.
        result: LdapResult,
    },
}

/// Applies the change records of `input`, each in a separate transaction. Content records are
/// added. Gives the number of records that were not applied.
///
/// # Errors
/// [`LdifError`] when the input cannot be read on; what was applied stays.
pub fn modify(
    directory: &Directory,
    input: impl BufRead,
    options: &ModifyOptions,
    report: &mut dyn FnMut(ModifyEvent<'_>),
) -> Result<u64, LdifError> {
    let mut apply = |update: &WriteRequest| {
        let reply = directory
            .apply(std::slice::from_ref(update))
            .into_iter()
            .next();
        reply.map_or_else(LdapResult::success, |reply| reply.result)
    };
    modify_by(&mut apply, input, options, report)
}

/// Does the same by another way of applying one update.
///
/// # Errors
/// As [`modify`].
pub fn modify_by(
    apply: &mut dyn FnMut(&WriteRequest) -> LdapResult,
    input: impl BufRead,
    options: &ModifyOptions,
    report: &mut dyn FnMut(ModifyEvent<'_>),
) -> Result<u64, LdifError> {
    let session = Session::of(Identity::User(Name::from(&options.by)));
    let mut reader = Reader::with_options(input, ReaderOptions::default());
    let mut refused = 0;
    loop {
        let record = match reader.next_record() {
            Ok(None) => return Ok(refused),
            Ok(Some(record)) if record.line() < options.from_line => continue,
            Ok(Some(record)) => record,
            Err(error) if !error.is_recoverable() => return Err(error),
            Err(error) => {
                refused += 1;
                report(ModifyEvent::Unreadable(error));
                if options.continue_on_error {
                    continue;
                }
                return Ok(refused);
            }
        };
        let (kind, dn) = (kind_of(&record), record.dn());
        let result = if options.dry_run {
            LdapResult::success()
        } else {
            let update = write_request(&session, &record);
            update
                .as_ref()
                .map_or_else(LdapResult::success, &mut *apply)
        };
        if result.is_success() {
            report(ModifyEvent::Applied { kind, dn });
            continue;
        }
        refused += 1;
        report(ModifyEvent::Refused {
            kind,
            dn,
            line: record.line(),
            result,
        });
        if !options.continue_on_error {
            return Ok(refused);
        }
    }
}

fn kind_of(record: &Record<'_>) -> ChangeKind {
    match record.action() {
        Action::Content(_) | Action::Add(_) => ChangeKind::Add,
        Action::Delete => ChangeKind::Delete,
        Action::Modify(_) => ChangeKind::Modify,
        Action::ModifyDn { .. } => ChangeKind::ModifyDn,
    }
}

/// Returns the record as the update that a client would send.
fn write_request(session: &Session, record: &Record<'_>) -> Option<WriteRequest> {
    let update = |request| {
        let message = Message {
            id: 1,
            request,
            controls: Controls::NONE,
        };
        WriteRequest::new(session, &message)
    };
    let dn = record.dn().as_bytes();
    match record.action() {
        Action::Content(attributes) | Action::Add(attributes) => {
            let groups = grouped(attributes);
            let attributes = groups.iter();
            let attributes =
                attributes.map(|(name, values)| PartialAttribute::new(name, values.as_slice()));
            update(Request::Add(AddRequest {
                dn,
                attributes: attributes.collect(),
            }))
        }
        Action::Delete => update(Request::Delete(DeleteRequest { dn })),
        Action::Modify(modifications) => {
            let parts: Vec<(ModificationKind, &str, Vec<&[u8]>)> = modifications
                .map(|part| {
                    let values = part.values.map(|value| value.value).collect();
                    (part.kind, part.description, values)
                })
                .collect();
            let changes = parts.iter().map(|(kind, description, values)| Change {
                operation: operation(*kind),
                attribute: PartialAttribute::new(description, values.as_slice()),
            });
            update(Request::Modify(ModifyRequest {
                dn,
                changes: changes.collect(),
            }))
        }
        Action::ModifyDn {
            new_rdn,
            delete_old_rdn,
            new_superior,
        } => update(Request::ModifyDn(ModifyDnRequest {
            dn,
            new_rdn,
            delete_old_rdn,
            new_superior,
        })),
    }
}

/// Returns the values of an add request by attribute, in the order in which attributes are first
/// named.
fn grouped<'r>(values: impl Iterator<Item = Attribute<'r>>) -> Vec<(&'r str, Vec<&'r [u8]>)> {
    let mut groups: Vec<(&'r str, Vec<&'r [u8]>)> = Vec::new();
    for value in values {
        let mut named = groups.iter_mut();
        match named.find(|(name, _)| name.eq_ignore_ascii_case(value.description)) {
            Some((_, group)) => group.push(value.value),
            None => groups.push((value.description, vec![value.value])),
        }
    }
    groups
}

const fn operation(kind: ModificationKind) -> ModifyOperation {
    match kind {
        ModificationKind::Add => ModifyOperation::Add,
        ModificationKind::Delete => ModifyOperation::Delete,
        ModificationKind::Replace => ModifyOperation::Replace,
        ModificationKind::Increment => ModifyOperation::Increment,
    }
}
