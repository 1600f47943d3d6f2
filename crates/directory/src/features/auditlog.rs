//! The log of changes as LDIF (slapd's overlay `auditlog`), byte for byte as slapd writes it.
//!
//! ```text
//!   # modify 1767323045 dc=example,dc=com cn=admin,dc=example,dc=com IP=127.0.0.1:4711 conn=3
//!   # realdn: uid=jane,ou=people,dc=example,dc=com         only if another name has authenticated
//!   dn: uid=john,ou=people,dc=example,dc=com
//!   changetype: modify
//!   replace: title
//!   title: boss
//!   -
//!   # end modify 1767323045
//! ```
//!
//! This file makes the texts, or lines of JSON. The server writes them after the commit.

use std::path::Path;
use std::sync::Arc;

use fulgurite_ldif::Writer;
use fulgurite_policy::{OverlaySettings, Sourced};
use fulgurite_schema::{Attribute, AttributeIndex, Schema};

use super::audit_record::{AuditBody, RecordHeader, operation_name};
use super::{audit_json, truth};
use crate::request::change::Change;

/// The feature: the file of the log.
#[derive(Debug)]
pub(crate) struct AuditLog {
    pub(crate) file: Arc<Path>,
    /// True if nobody waits for the reader of a named pipe.
    pub(crate) nonblocking: bool,
    pub(crate) style: AuditStyle,
}

/// The form of the records of all logs, and their promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditStyle {
    /// True for lines of JSON instead of LDIF.
    pub json: bool,
    /// True if records are on the disk before the answer.
    pub durable: bool,
}

/// Records of changes for the file of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditText {
    /// The file. The server appends to it.
    pub file: Arc<Path>,
    /// True if the server does not wait for the reader of a named pipe.
    pub nonblocking: bool,
    /// True if the records must be on the disk before the answer.
    pub durable: bool,
    /// LDIF with comments, or lines of JSON.
    pub text: Vec<u8>,
}

impl AuditText {
    /// Appends more records of the same file.
    pub(crate) fn join(all: &mut Option<AuditText>, more: Option<AuditText>) {
        match (&mut *all, more) {
            (Some(all), Some(more)) => all.text.extend(more.text),
            (None, more) => *all = more,
            (Some(_), None) => {}
        }
    }
}

impl AuditLog {
    /// Compiles the directives of the overlay. Without a file there is no log.
    ///
    /// # Errors
    /// slapd's sentence about the first wrong directive.
    pub(super) fn compile(settings: &OverlaySettings) -> Result<Option<AuditLog>, Sourced<String>> {
        let (mut file, mut nonblocking) = ("", false);
        for line in &settings.lines {
            let keyword = line.directive.keyword;
            if keyword == "auditlognonblocking" {
                let on = truth::parse(line.first());
                let text = format!("<{keyword}> invalid value");
                nonblocking = on.ok_or_else(|| Sourced::new(text, line.origin.clone()))?;
                continue;
            }
            let text = match line.arguments.len() {
                0 => format!("keyword <{keyword}> missing <filename> argument"),
                1 => {
                    file = line.first();
                    continue;
                }
                _ => format!("<{keyword}> extra cruft after <filename>."),
            };
            return Err(Sourced::new(text, line.origin.clone()));
        }
        Ok((!file.is_empty()).then(|| AuditLog {
            file: Path::new(file).into(),
            nonblocking,
            style: AuditStyle::default(),
        }))
    }
}

/// Appends a record.
pub(crate) fn write_record(
    out: &mut Vec<u8>,
    json: bool,
    header: &RecordHeader<'_>,
    body: &AuditBody<'_>,
    definitions: (&Schema, AttributeIndex),
) {
    match json {
        true => audit_json::write_line(out, header, body, definitions.0),
        false => write_ldif(out, header, body, definitions),
    }
}

fn write_ldif(
    out: &mut Vec<u8>,
    header: &RecordHeader<'_>,
    body: &AuditBody<'_>,
    (schema, password): (&Schema, AttributeIndex),
) {
    let RecordHeader {
        operation,
        seconds,
        suffix,
        author,
        connection,
        dn,
        ..
    } = header;
    let (peer, number, real) = match connection {
        Some((connection, real)) => {
            let number = connection.id.to_string();
            (connection.peer.to_string(), number, *real)
        }
        None => (String::new(), "-1".to_owned(), ""),
    };
    let line = format!("# {operation} {seconds} {suffix} {author} {peer} conn={number}\n");
    out.extend_from_slice(line.as_bytes());
    if !real.is_empty() && real != *author {
        out.extend_from_slice(format!("# realdn: {real}\n").as_bytes());
    }
    out.extend_from_slice(format!("dn: {dn}\nchangetype: {operation}\n").as_bytes());
    match body {
        AuditBody::Add(attributes) => {
            for attribute in *attributes {
                write_values(out, schema, attribute, password);
            }
        }
        AuditBody::Modify(changes) => {
            for change in changes {
                write_change(out, schema, change, password);
            }
        }
        AuditBody::Rename {
            new_rdn,
            delete_old_rdn,
            new_superior,
        } => {
            let delete = u8::from(*delete_old_rdn);
            let mut text = format!("newrdn: {new_rdn}\ndeleteoldrdn: {delete}\n");
            if let Some(superior) = new_superior {
                text.push_str(&format!("newsuperior: {superior}\n"));
            }
            out.extend_from_slice(text.as_bytes());
        }
        AuditBody::Delete => {}
    }
    out.extend_from_slice(format!("# end {operation} {seconds}\n\n").as_bytes());
}

/// Appends the values of an attribute. Passwords are always in base64.
fn write_values(
    out: &mut Vec<u8>,
    schema: &Schema,
    attribute: &Attribute,
    password: AttributeIndex,
) {
    let name = attribute.description.text(schema);
    let is_password = attribute.description.attribute == password;
    let mut writer = Writer::new(out);
    for value in &attribute.values {
        // A vector takes all bytes.
        let _ = match is_password {
            true => writer.encoded(&name, value),
            false => writer.value(&name, value),
        };
    }
    let _ = writer.into_inner().map(drop);
}

/// Appends one change of a modify.
fn write_change(out: &mut Vec<u8>, schema: &Schema, change: &Change, password: AttributeIndex) {
    let operation = operation_name(change.operation);
    let name = change.attribute.description.text(schema);
    out.extend_from_slice(format!("{operation}: {name}\n").as_bytes());
    write_values(out, schema, &change.attribute, password);
    out.extend_from_slice(b"-\n");
}
