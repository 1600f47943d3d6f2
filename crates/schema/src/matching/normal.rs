//! From a form to the function that makes it.

use std::borrow::Cow;

use super::{Form, InvalidValue, Relation, certificate, numbers, oids, text, time};
use crate::dn;
use crate::prep::Case;
use crate::registry::Schema;
use crate::syntax::is_postal_address;

/// The normal form of an attribute value.
pub(super) fn value<'v>(
    form: Form,
    schema: &Schema,
    value: &'v [u8],
) -> Result<Cow<'v, [u8]>, InvalidValue> {
    match form {
        Form::CaseIgnore => text::directory_string(value, Case::Ignore),
        Form::CaseExact => text::directory_string(value, Case::Exact),
        Form::CaseIgnoreIa5 => text::ia5_string(value, Case::Ignore),
        Form::CaseExactIa5 => text::ia5_string(value, Case::Exact),
        Form::CaseIgnoreList => text::line_list(value),
        Form::NumericString => text::numeric_string(value),
        Form::Telephone => text::telephone_number(value),
        Form::Integer => numbers::integer(value),
        Form::Boolean => numbers::boolean(value),
        Form::BitString => numbers::bit_string(value),
        Form::GeneralizedTime => time::generalized_time(value),
        Form::OctetString | Form::Encoded => Ok(Cow::Borrowed(value)),
        Form::Certificate => certificate::certificate(schema, value),
        Form::CertificateList => certificate::list(schema, value),
        Form::ObjectIdentifier => oids::object_identifier(schema, value),
        Form::OidFirstComponent => {
            oids::object_identifier(schema, oids::first_component(value).unwrap_or(value))
        }
        Form::IntegerFirstComponent => {
            numbers::integer(oids::first_component(value).unwrap_or(value))
        }
        Form::Dn => dn::normal_value(schema, value).map(|n| Cow::Owned(n.into_bytes())),
        Form::NameAndOptionalUid => name_and_uid(schema, value),
        Form::Uuid => numbers::uuid(value),
        Form::Csn => time::csn(value),
    }
}

/// The normal form of an assertion value.
pub(super) fn assertion<'v>(
    form: Form,
    relation: Relation,
    schema: &Schema,
    assertion: &'v [u8],
) -> Result<Cow<'v, [u8]>, InvalidValue> {
    match (form, relation) {
        (_, Relation::BitAnd | Relation::BitOr) => {
            let bits = numbers::small_integer(assertion).ok_or(InvalidValue)?;
            Ok(Cow::Owned(bits.to_be_bytes().to_vec()))
        }
        (_, Relation::ServerId) => server_id(assertion),
        // Stored values with escapes that are none still have a form.
        (Form::CaseIgnoreList, Relation::Equality) if !is_postal_address(assertion) => {
            Err(InvalidValue)
        }
        (Form::ObjectIdentifier | Form::OidFirstComponent, _) => {
            oids::known_identifier(schema, assertion)
        }
        (Form::IntegerFirstComponent, _) => numbers::integer(assertion),
        (Form::Certificate, _) if !is_der_sequence(assertion) => {
            certificate::certificate_assertion(schema, assertion)
        }
        (Form::CertificateList, _) if !is_der_sequence(assertion) => {
            certificate::list_assertion(schema, assertion)
        }
        (Form::Encoded, _) if !is_der_sequence(assertion) => Err(InvalidValue),
        _ => value(form, schema, assertion),
    }
}

/// The normal DN and, after `#` (which a normal DN has in escaped form only), the bit string.
fn name_and_uid(schema: &Schema, value: &[u8]) -> Result<Cow<'static, [u8]>, InvalidValue> {
    let (name, uid) = text::split_uid(value);
    let mut normal = dn::normal_value(schema, name)?.into_bytes();
    if let Some(uid) = uid {
        normal.push(b'#');
        normal.extend_from_slice(uid);
    }
    Ok(Cow::Owned(normal))
}

/// A server id of one to three hexadecimal digits, as CSNs have it.
fn server_id(assertion: &[u8]) -> Result<Cow<'static, [u8]>, InvalidValue> {
    if !(1..=3).contains(&assertion.len()) || !assertion.iter().all(u8::is_ascii_hexdigit) {
        return Err(InvalidValue);
    }
    let mut padded = vec![b'0'; 3 - assertion.len()];
    padded.extend(assertion.iter().map(u8::to_ascii_lowercase));
    Ok(Cow::Owned(padded))
}

pub(super) fn is_der_sequence(value: &[u8]) -> bool {
    value.first() == Some(&0x30)
}
