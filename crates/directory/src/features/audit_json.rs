//! The log of changes as JSON, one object on each line. docs/overlays.md describes the members.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fulgurite_schema::{Attribute, Schema};

use super::audit_record::{AuditBody, RecordHeader, operation_name};
use crate::core::masked::is_password_name;

/// Appends a record as one line.
pub(super) fn write_line(
    out: &mut Vec<u8>,
    header: &RecordHeader<'_>,
    body: &AuditBody<'_>,
    schema: &Schema,
) {
    let mut object = Object::begin(out);
    object.string("time", &header.time);
    object.string("operation", header.operation);
    object.string("suffix", header.suffix);
    object.string("author", header.author);
    if let Some((connection, real)) = header.connection {
        if !real.is_empty() && real != header.author {
            object.string("realdn", real);
        }
        object.string("peer", &connection.peer.to_string());
        object.raw("connection", &connection.id.to_string());
    }
    object.string("dn", header.dn);
    match body {
        AuditBody::Add(attributes) => {
            let out = object.member("attributes");
            let mut held = Object::begin(out);
            for attribute in *attributes {
                let name = attribute.description.text(schema);
                write_values(held.member(&name), attribute, &name);
            }
            held.end();
        }
        AuditBody::Modify(changes) => {
            let out = object.member("changes");
            out.push(b'[');
            for (number, change) in changes.iter().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                let mut written = Object::begin(out);
                written.string("operation", operation_name(change.operation));
                let name = change.attribute.description.text(schema);
                written.string("attribute", &name);
                write_values(written.member("values"), &change.attribute, &name);
                written.end();
            }
            out.push(b']');
        }
        AuditBody::Rename {
            new_rdn,
            delete_old_rdn,
            new_superior,
        } => {
            object.string("newrdn", new_rdn);
            object.raw("deleteoldrdn", &delete_old_rdn.to_string());
            if let Some(superior) = new_superior {
                object.string("newsuperior", superior);
            }
        }
        AuditBody::Delete => {}
    }
    object.end();
    out.push(b'\n');
}

/// Appends a list of values. One that is no text is an object with base64. One that is a password
/// is an object without it.
fn write_values(out: &mut Vec<u8>, attribute: &Attribute, name: &str) {
    let is_password = is_password_name(name);
    out.push(b'[');
    for (number, value) in attribute.values.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        match str::from_utf8(value) {
            _ if is_password => {
                let mut object = Object::begin(out);
                object.raw("masked", "true");
                object.end();
            }
            Ok(text) => write_string(out, text),
            Err(_) => {
                let mut object = Object::begin(out);
                object.string("base64", &STANDARD.encode(value));
                object.end();
            }
        }
    }
    out.push(b']');
}

fn write_string(out: &mut Vec<u8>, text: &str) {
    // A vector takes all bytes.
    let _ = serde_json::to_writer(out, text);
}

/// An object in the making.
struct Object<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
}

impl<'o> Object<'o> {
    fn begin(out: &'o mut Vec<u8>) -> Object<'o> {
        out.push(b'{');
        Object {
            out,
            is_empty: true,
        }
    }

    /// Begins a member. The caller appends its value.
    fn member(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.out.push(b',');
        }
        write_string(self.out, name);
        self.out.push(b':');
        self.out
    }

    fn string(&mut self, name: &str, value: &str) {
        write_string(self.member(name), value);
    }

    fn raw(&mut self, name: &str, value: &str) {
        self.member(name).extend_from_slice(value.as_bytes());
    }

    fn end(self) {
        self.out.push(b'}');
    }
}
