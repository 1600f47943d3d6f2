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
//! This file makes the texts. The server writes them after the commit.

use std::path::Path;
use std::sync::Arc;

use fulgurite_ldap::ModifyOperation;
use fulgurite_ldif::Writer;
use fulgurite_policy::{OverlaySettings, Sourced};
use fulgurite_schema::{Attribute, AttributeIndex, Schema};

use super::truth;
use crate::core::connection::Connection;
use crate::request::change::Change;

/// The feature: the file of the log.
#[derive(Debug)]
pub(crate) struct AuditLog {
    pub(crate) file: Arc<Path>,
    /// True if nobody waits for the reader of a named pipe.
    pub(crate) nonblocking: bool,
}

/// Records of changes for the file of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditText {
    /// The file. The server appends to it.
    pub file: Arc<Path>,
    /// True if the server does not wait for the reader of a named pipe.
    pub nonblocking: bool,
    /// LDIF with comments.
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

/// The first lines of a record.
pub(crate) struct RecordHeader<'r> {
    /// `add`, `modify`, `modrdn` or `delete`.
    pub(crate) operation: &'static str,
    /// The time in seconds since 1970.
    pub(crate) seconds: u64,
    pub(crate) suffix: &'r str,
    pub(crate) author: &'r str,
    /// The connection and its authenticated name; `None` for a change by the server itself.
    pub(crate) connection: Option<(&'r Connection, &'r str)>,
    pub(crate) dn: &'r str,
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
        }))
    }
}

/// Appends a record; `body` appends the lines between its header and its end.
pub(crate) fn write_record(
    out: &mut Vec<u8>,
    header: &RecordHeader<'_>,
    body: impl FnOnce(&mut Vec<u8>),
) {
    let RecordHeader {
        operation,
        seconds,
        suffix,
        author,
        connection,
        dn,
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
    body(out);
    out.extend_from_slice(format!("# end {operation} {seconds}\n\n").as_bytes());
}

/// Appends the values of an attribute. Passwords are always in base64.
pub(crate) fn write_values(
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
pub(crate) fn write_change(
    out: &mut Vec<u8>,
    schema: &Schema,
    change: &Change,
    password: AttributeIndex,
) {
    let operation = match change.operation {
        ModifyOperation::Add => "add",
        ModifyOperation::Delete => "delete",
        ModifyOperation::Replace => "replace",
        ModifyOperation::Increment => "increment",
    };
    let name = change.attribute.description.text(schema);
    out.extend_from_slice(format!("{operation}: {name}\n").as_bytes());
    write_values(out, schema, &change.attribute, password);
    out.extend_from_slice(b"-\n");
}
