//! The parts of requests as the texts of a record. Passwords are masked.

use fulgurite_ldap::{
    Authentication, ModifyDnRequest, PartialAttribute, Request, Scope, SearchRequest,
};
use fulgurite_schema::{Dn, Schema};
use fulgurite_store::OperationRecord;

use crate::core::filter_text::{filter_text, normal_text};
use crate::core::logged_operations::LoggedField;
use crate::core::masked::{MASK, is_password};
use crate::write::change_log::operator;

/// Adds the fields of a request about the entry `target`.
pub(super) fn push_request(
    schema: &Schema,
    request: &Request<'_>,
    target: &Dn,
    record: &mut OperationRecord<'static>,
) {
    match request {
        Request::Search(search) => push_search(schema, search, record),
        Request::Bind(bind) => {
            push(record, LoggedField::Version, &bind.version.to_string());
            let method = match bind.authentication {
                Authentication::Simple(_) => "SIMPLE".to_owned(),
                Authentication::Sasl { mechanism, .. } => {
                    format!("SASL({})", String::from_utf8_lossy(mechanism))
                }
                Authentication::Unknown(tag) => tag.0.to_string(),
            };
            push(record, LoggedField::Method, &method);
        }
        Request::Compare(compare) => {
            let assertion = &compare.assertion;
            let (mut text, value) = match schema.describe(assertion.attribute) {
                Ok(known) => (
                    known.text(schema).into_owned().into_bytes(),
                    normal_text(schema, &known, assertion.value),
                ),
                Err(_) => (assertion.attribute.to_vec(), assertion.value.into()),
            };
            text.push(b'=');
            match is_password(schema, assertion.attribute) {
                true => text.extend_from_slice(MASK.as_bytes()),
                false => text.extend_from_slice(&value),
            }
            record.push(LoggedField::Assertion.number(), text);
        }
        Request::Add(add) => {
            for attribute in &add.attributes {
                push_values(schema, attribute, b'+', record);
            }
        }
        Request::Modify(modify) => {
            let mut before = None;
            for change in &modify.changes {
                let sign = operator(change.operation);
                let this = (change.attribute.description, sign);
                if before == Some(this) {
                    push(record, LoggedField::Change, ":");
                }
                before = Some(this);
                push_values(schema, &change.attribute, sign, record);
            }
        }
        Request::ModifyDn(rename) => push_rename(schema, rename, target, record),
        Request::Delete(_) | Request::Unbind | Request::Abandon(_) | Request::Extended(_) => {}
    }
}

fn push_rename(
    schema: &Schema,
    rename: &ModifyDnRequest<'_>,
    target: &Dn,
    record: &mut OperationRecord<'static>,
) {
    let pretty = |name: &[u8]| match Dn::parse_bytes(schema, name) {
        Ok(dn) => dn.pretty().to_owned(),
        Err(_) => String::from_utf8_lossy(name).into_owned(),
    };
    let new_rdn = pretty(rename.new_rdn);
    push(record, LoggedField::NewRdn, &new_rdn);
    let deletes = if rename.delete_old_rdn {
        "TRUE"
    } else {
        "FALSE"
    };
    push(record, LoggedField::DeleteOldRdn, deletes);
    let above = match rename.new_superior {
        Some(superior) => {
            let superior = pretty(superior);
            push(record, LoggedField::NewSuperior, &superior);
            superior
        }
        None => target
            .parent()
            .map_or_else(String::new, |parent| parent.pretty().to_owned()),
    };
    let new_dn = match above.as_str() {
        "" => new_rdn,
        above => format!("{new_rdn},{above}"),
    };
    push(record, LoggedField::NewDn, &new_dn);
}

fn push_search(schema: &Schema, search: &SearchRequest<'_>, record: &mut OperationRecord<'static>) {
    let scope = match search.scope {
        Scope::Base => "base",
        Scope::One => "one",
        Scope::Subtree => "sub",
        Scope::Children => "subord",
    };
    push(record, LoggedField::Scope, scope);
    let deref = match search.deref.number() {
        0 => "never",
        1 => "searching",
        2 => "finding",
        _ => "always",
    };
    push(record, LoggedField::Deref, deref);
    let types_only = if search.types_only { "TRUE" } else { "FALSE" };
    push(record, LoggedField::AttributesOnly, types_only);
    let filter = filter_text(schema, &search.filter);
    push(record, LoggedField::Filter, &filter);
    for name in &search.attributes {
        record.push(LoggedField::Selected.number(), name.to_vec());
    }
}

/// Adds the values of a change, one field each, or the attribute alone.
fn push_values(
    schema: &Schema,
    attribute: &PartialAttribute<'_>,
    sign: u8,
    record: &mut OperationRecord<'static>,
) {
    let mut prefix = match schema.describe(attribute.description) {
        Ok(known) => known.text(schema).into_owned().into_bytes(),
        Err(_) => attribute.description.to_vec(),
    };
    prefix.extend_from_slice(&[b':', sign]);
    let mut has_values = false;
    let is_password = is_password(schema, attribute.description);
    for value in attribute.values.iter() {
        has_values = true;
        let value = if is_password { MASK.as_bytes() } else { value };
        let text = [prefix.as_slice(), b" ", value].concat();
        record.push(LoggedField::Change.number(), text);
    }
    if !has_values {
        record.push(LoggedField::Change.number(), prefix);
    }
}

/// Adds a text.
pub(super) fn push(record: &mut OperationRecord<'static>, field: LoggedField, text: &str) {
    record.push(field.number(), text.as_bytes().to_vec());
}
