//! The entries of the logs, made of their records.

use fulgurite_schema::{AttributeDescription, Dn, Entry, Schema};
use fulgurite_store::{
    ChangeKind, ChangeOperation, ChangeRecord, NewRename, OperationRecord, StoreError,
};

use crate::core::logged_operations::{LoggedField, LoggedKind};

/// An entry of the tree in the making.
pub(super) struct AuditEntry<'s> {
    schema: &'s Schema,
    pub(super) entry: Entry,
}

impl AuditEntry<'_> {
    pub(super) fn new<'s>(schema: &'s Schema, dn: Dn, class: &str) -> AuditEntry<'s> {
        let mut entry = AuditEntry {
            schema,
            entry: Entry::new(dn),
        };
        entry.set("objectClass", class);
        entry
    }

    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.set_all(name, vec![value.as_bytes().to_vec()]);
    }

    /// Sets an attribute unless it has no values, or the schema lacks it.
    pub(super) fn set_all(&mut self, name: &str, values: Vec<Vec<u8>>) {
        if let Some(attribute) = self.schema.attribute(name).filter(|_| !values.is_empty()) {
            let description = AttributeDescription::plain(attribute.index);
            self.entry.set(&description, values);
        }
    }

    pub(super) fn set_rename(&mut self, schema: &Schema, dn: &str, rename: &NewRename<'_>) {
        self.set("reqNewRDN", rename.new_rdn);
        let deletes = if rename.deletes_old { "TRUE" } else { "FALSE" };
        self.set("reqDeleteOldRDN", deletes);
        let parent = Dn::parse(schema, dn).ok().and_then(|dn| dn.parent());
        let parent = parent.as_ref().map_or("", Dn::pretty);
        if let Some(superior) = rename.superior {
            self.set("reqNewSuperior", superior);
        }
        let new_dn = match rename.superior.unwrap_or(parent) {
            "" => rename.new_rdn.to_owned(),
            above => format!("{},{above}", rename.new_rdn),
        };
        self.set("reqNewDN", &new_dn);
    }

    /// Adds a value behind those that the attribute has.
    pub(super) fn add(&mut self, name: &str, value: &[u8]) {
        if let Some(attribute) = self.schema.attribute(name) {
            let description = AttributeDescription::plain(attribute.index);
            self.entry.push(&description, value.to_vec());
        }
    }

    /// Adds the values of a record in their order.
    pub(super) fn add_fields(&mut self, record: &OperationRecord<'_>) {
        let (mut first, last): (Vec<_>, Vec<_>) = record
            .fields
            .iter()
            .partition(|(field, _)| comes_before_result(*field));
        first.sort_by_key(|(field, _)| *field);
        for (field, value) in first {
            self.add_field(*field, value);
        }
        if let Some(code) = record.result {
            self.set("reqResult", &code.to_string());
        }
        for (field, value) in last {
            self.add_field(*field, value);
        }
    }

    fn add_field(&mut self, field: u8, value: &[u8]) {
        if let Some(attribute) = LoggedField::attribute(field) {
            self.add(attribute, value);
        }
    }

    pub(super) fn finish(mut self, has_children: bool) -> Entry {
        let name = self.entry.dn.pretty().to_owned();
        self.set("entryDN", &name);
        self.set("subschemaSubentry", "cn=Subschema");
        let has_children = if has_children { "TRUE" } else { "FALSE" };
        self.set("hasSubordinates", has_children);
        self.entry
    }
}

/// Returns the changes of a record in slapd's notation, one value each.
///
/// A colon comes between two changes of the same kind and attribute.
pub(super) fn modifications(record: &ChangeRecord<'_>) -> Result<Vec<Vec<u8>>, StoreError> {
    if record.is_announcement() {
        return Ok(value_texts(&record.announced()?, ":+ "));
    }
    let operations = record.operations()?;
    let mut texts = Vec::new();
    let mut before = None;
    for operation in &operations {
        let this = (operation.attribute, operation.operator);
        if before == Some(this) && record.kind == ChangeKind::Modify {
            texts.push(b":".to_vec());
        }
        before = Some(this);
        let mut prefix = operation.attribute.as_bytes().to_vec();
        prefix.extend_from_slice(&[b':', operation.operator]);
        if operation.values.is_empty() {
            texts.push(prefix.clone());
        }
        for value in &operation.values {
            texts.push([prefix.as_slice(), b" ", value].concat());
        }
    }
    Ok(texts)
}

/// Returns the logged values from before a change, in slapd's notation.
pub(super) fn old_values(record: &ChangeRecord<'_>) -> Result<Vec<Vec<u8>>, StoreError> {
    Ok(value_texts(&record.old_values()?, ": "))
}

/// Returns the attribute, a mark and the value, for each value.
fn value_texts(attributes: &[ChangeOperation<'_>], mark: &str) -> Vec<Vec<u8>> {
    let mut texts = Vec::new();
    for held in attributes {
        let values = held.values.iter();
        let name = held.attribute.as_bytes();
        texts.extend(values.map(|value| [name, mark.as_bytes(), value].concat()));
    }
    texts
}

/// Returns true for the fields that slapd shows before the result, in the order of their numbers.
fn comes_before_result(field: u8) -> bool {
    let fields = [
        LoggedField::Author,
        LoggedField::Control,
        LoggedField::ResponseControl,
        LoggedField::Target,
        LoggedField::Message,
    ];
    fields.iter().any(|known| known.number() == field)
}

/// Returns the kind under which a change is shown; `None` for one that no client has made.
///
/// An announced entry is shown as a new one. Servers that follow the log may have deleted it.
pub(crate) fn logged_kind(record: &ChangeRecord<'_>) -> Option<LoggedKind> {
    match record.kind {
        _ if record.is_announcement() => Some(LoggedKind::Add),
        ChangeKind::Add => Some(LoggedKind::Add),
        ChangeKind::Modify => Some(LoggedKind::Modify),
        ChangeKind::Rename => Some(LoggedKind::Rename),
        ChangeKind::Delete => Some(LoggedKind::Delete),
        ChangeKind::Loaded | ChangeKind::Glue => None,
    }
}
