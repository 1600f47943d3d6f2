//! The point `record`: each change becomes a record of the log of changes, if there is one.
//!
//! The records wait in the context until the commit.

use fulgurite_ldap::ModifyOperation;
use fulgurite_schema::{Attribute, AttributeDescription, AttributeIndex, Dn, Entry};

use crate::core::session::Name;
use crate::features::audit_record::{AuditBody, RecordHeader};
use crate::features::auditlog::write_record;
use crate::request::change::Change;
use crate::write::context::Context;

/// The author of a change that an anonymous client makes, where slapd has no name at all.
const NO_AUTHOR: &str = "(null)";

/// A new name of an entry, as requested.
pub(crate) struct RecordedRename<'r> {
    pub(crate) dn: &'r Dn,
    pub(crate) new_rdn: &'r Dn,
    pub(crate) delete_old_rdn: bool,
    pub(crate) new_superior: Option<&'r Dn>,
    /// The types of the new RDN whose value the entry had before.
    pub(crate) held: &'r [AttributeIndex],
}

impl Context<'_, '_> {
    /// Records an entry that has been added.
    pub(crate) fn record_add(&mut self, entry: &Entry) {
        if self.features.audit_log.is_none() {
            return;
        }
        let types = &self.core.types;
        let author = match entry.attribute(&types.modifiers_name) {
            Some(held) => first_text(held),
            None => self.requester_name(),
        };
        let body = AuditBody::Add(&entry.attributes);
        self.record("add", &author, &entry.dn, &body);
    }

    /// Records changes of an entry, and the stamps of `after` that no change sets.
    pub(crate) fn record_modify(&mut self, dn: &Dn, changes: &[&[Change]], after: &Entry) {
        if self.features.audit_log.is_none() {
            return;
        }
        let types = &self.core.types;
        let password = types.user_password.attribute;
        let is_set = |description: &AttributeDescription| {
            let mut changes = changes.iter().copied().flatten();
            changes.any(|change| change.attribute.description == *description)
        };
        let kept = self.database.last_mod;
        let author = after.attribute(&types.modifiers_name);
        let author = match author.filter(|_| kept || is_set(&types.modifiers_name)) {
            Some(held) => first_text(held),
            None => self.requester_name(),
        };
        let stamps = [
            &types.entry_csn,
            &types.modifiers_name,
            &types.modify_timestamp,
        ];
        let stamps = stamps.into_iter().filter(|stamp| kept && !is_set(stamp));
        let stamps: Vec<Change> = stamps
            .filter_map(|stamp| after.attribute(stamp))
            .map(|held| Change {
                operation: ModifyOperation::Replace,
                attribute: held.clone(),
            })
            .collect();
        let changes: Vec<&Change> = changes.iter().copied().flatten().collect();
        // The password modify operation verifies the old password by a delete. Like slapd, only the
        // replacement is recorded.
        let kept = changes.iter().enumerate().filter(|(at, change)| {
            let next = changes.get(at + 1);
            !next.is_some_and(|next| is_replaced(change, next, password))
        });
        let kept = kept.map(|(_, change)| *change);
        let body = AuditBody::Modify(kept.chain(&stamps).collect());
        self.record("modify", &author, dn, &body);
    }

    /// Records changes of an entry that follow another change.
    pub(crate) fn record_following(&mut self, dn: &Dn, changes: &[Change], author: &[u8]) {
        if self.features.audit_log.is_none() {
            return;
        }
        let author = match self.database.last_mod {
            true => String::from_utf8_lossy(author).into_owned(),
            false => self.root_name().to_owned(),
        };
        let header = RecordHeader {
            connection: None,
            ..self.header("modify", &author, dn)
        };
        let body = AuditBody::Modify(changes.iter().collect());
        let text = self.recorded(&header, &body);
        self.audit.extend_from_slice(&text);
    }

    /// Records a new name.
    pub(crate) fn record_rename(&mut self, rename: &RecordedRename<'_>) {
        if self.features.audit_log.is_none() {
            return;
        }
        let author = self.requester_name();
        let body = AuditBody::Rename {
            new_rdn: rename.new_rdn.pretty(),
            delete_old_rdn: rename.delete_old_rdn,
            new_superior: rename.new_superior.map(Dn::pretty),
        };
        self.record("modrdn", &author, rename.dn, &body);
    }

    /// Records that an entry has been deleted.
    pub(crate) fn record_delete(&mut self, dn: &Dn) {
        if self.features.audit_log.is_some() {
            let author = self.requester_name();
            self.record("delete", &author, dn, &AuditBody::Delete);
        }
    }

    fn record(&mut self, operation: &'static str, author: &str, dn: &Dn, body: &AuditBody<'_>) {
        let text = self.recorded(&self.header(operation, author, dn), body);
        self.audit.extend_from_slice(&text);
    }

    fn recorded(&self, header: &RecordHeader<'_>, body: &AuditBody<'_>) -> Vec<u8> {
        let log = self.features.audit_log.as_ref();
        let json = log.is_some_and(|log| log.style.json);
        let definitions = (&*self.core.schema, self.core.types.user_password.attribute);
        let mut text = Vec::new();
        write_record(&mut text, json, header, body, definitions);
        text
    }

    fn header<'r>(
        &'r self,
        operation: &'static str,
        author: &'r str,
        dn: &'r Dn,
    ) -> RecordHeader<'r> {
        let real = self.session.real_identity().name();
        let real = real.map_or("", Name::pretty);
        RecordHeader {
            operation,
            seconds: self.now.seconds(),
            time: self.now.rfc3339(),
            suffix: self.database.suffixes().first().map_or("", Dn::pretty),
            author,
            connection: Some((self.session.connection(), real)),
            dn: dn.pretty(),
        }
    }

    fn requester_name(&self) -> String {
        let name = self.session.identity().name();
        name.map_or(NO_AUTHOR, Name::pretty).to_owned()
    }

    /// Returns the name of the root; empty without one.
    pub(crate) fn root_name(&self) -> &str {
        let root = self.database.root.as_ref();
        root.map_or("", |root| root.name.pretty())
    }
}

/// Returns true for the deletion of a password before the replacement of all.
pub(crate) fn is_replaced(change: &Change, next: &Change, password: AttributeIndex) -> bool {
    let description = &change.attribute.description;
    description.attribute == password
        && next.attribute.description == *description
        && change.operation == ModifyOperation::Delete
        && next.operation == ModifyOperation::Replace
}

fn first_text(attribute: &Attribute) -> String {
    let value = attribute.values.first();
    value.map_or_else(String::new, |value| {
        String::from_utf8_lossy(value).into_owned()
    })
}
