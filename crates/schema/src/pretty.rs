//! The form in which values are stored and shown: the client's spelling, unless a value has one
//! standard spelling.
//!
//! Names lose the spaces and other freedoms of RFC 1779 and 2253. UUIDs and older forms of change
//! sequence numbers become today's form. Object classes get their first names. Answers so look
//! alike for all writers, and as other servers give them.

use std::borrow::Cow;

use crate::dn::Dn;
use crate::entry::Attribute;
use crate::matching::split_uid;
use crate::registry::{AttributeIndex, Schema};
use crate::syntax::Kind;

impl Schema {
    /// Returns the form to store. A value that is none of its syntax stays as it is.
    #[must_use]
    pub fn pretty_value<'v>(&self, attribute: AttributeIndex, value: &'v [u8]) -> Cow<'v, [u8]> {
        if attribute == self.object_class_attribute() {
            return match self.object_class_by_bytes(value) {
                Some(class) if class.name().as_bytes() != value => {
                    Cow::Owned(class.name().as_bytes().to_vec())
                }
                _ => Cow::Borrowed(value),
            };
        }
        let pretty = match self.attribute_at(attribute).syntax.kind {
            Kind::Dn if is_plain_name(self, value) => None,
            Kind::Dn => pretty_name(self, value),
            Kind::NameAndOptionalUid => name_and_uid(self, value),
            Kind::Uuid if value.iter().any(u8::is_ascii_uppercase) => {
                Some(value.to_ascii_lowercase())
            }
            Kind::Csn => self
                .normal_value(attribute, value)
                .filter(|normal| normal.len() == CSN_OCTETS)
                .map(Cow::into_owned),
            _ => None,
        };
        match pretty {
            Some(pretty) => Cow::Owned(pretty),
            None => Cow::Borrowed(value),
        }
    }
}

impl Attribute {
    /// Brings the values into the form to store ([`Schema::pretty_value`]).
    pub fn make_pretty(&mut self, schema: &Schema) {
        for value in &mut self.values {
            if let Cow::Owned(pretty) = schema.pretty_value(self.description.attribute, value) {
                *value = pretty;
            }
        }
    }
}

/// A change sequence number of today.
const CSN_OCTETS: usize = 40;

/// Returns true if a name is certainly pretty already. It is printable ASCII with types by their
/// first names, one to a level. Nothing is escaped, and no value begins or ends with a space.
fn is_plain_name(schema: &Schema, value: &[u8]) -> bool {
    let plain = |b: &u8| {
        (0x20..0x7f).contains(b) && !matches!(b, b'\\' | b'"' | b'+' | b'#' | b';' | b'<' | b'>')
    };
    value.iter().all(plain)
        && value.split(|b| *b == b',').all(|level| {
            let Some(at) = memchr::memchr(b'=', level) else {
                return false;
            };
            let (kind, rest) = level.split_at(at);
            let text = rest.get(1..).unwrap_or_default();
            schema
                .attribute_by_bytes(kind)
                .is_some_and(|attribute| attribute.name().as_bytes() == kind)
                && !text.contains(&b'=')
                && !text.starts_with(b" ")
                && !text.ends_with(b" ")
        })
}

fn pretty_name(schema: &Schema, value: &[u8]) -> Option<Vec<u8>> {
    let name = Dn::parse_bytes(schema, value).ok()?;
    Some(name.pretty().as_bytes().to_vec())
}

fn name_and_uid(schema: &Schema, value: &[u8]) -> Option<Vec<u8>> {
    let (name, uid) = split_uid(value);
    let mut pretty = pretty_name(schema, name)?;
    if let Some(uid) = uid {
        pretty.push(b'#');
        pretty.extend_from_slice(uid);
    }
    Some(pretty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_one_good_spelling() {
        let schema = Schema::standard();
        for (attribute, value, pretty) in [
            ("member", "CN = a , dc=B", "cn=a,dc=B"),
            ("member", "sn=b+CN=a", "cn=a+sn=b"),
            ("member", "cn=A  B,dc=x", "cn=A  B,dc=x"),
            ("member", "commonName=a", "cn=a"),
            ("member", "cn=a=b", "cn=a\\3Db"),
            ("member", "cn=\"a,b\"", "cn=a\\2Cb"),
            ("member", "", ""),
            ("member", "not a name", "not a name"),
            ("uniqueMember", "CN=x #'01'B", "cn=x#'01'B"),
            ("uniqueMember", "cn=x", "cn=x"),
            ("description", "CN = a", "CN = a"),
            ("objectClass", "2.5.6.6", "person"),
            ("objectClass", "PERSON", "person"),
            ("objectClass", "nosuch", "nosuch"),
            (
                "entryUUID",
                "597AE2F6-16A6-1027-98F4-D28B5365DC14",
                "597ae2f6-16a6-1027-98f4-d28b5365dc14",
            ),
            (
                "entryCSN",
                "20240131101112Z#00000a#00#000000",
                "20240131101112.000000Z#00000a#000#000000",
            ),
            ("entryCSN", "x", "x"),
        ] {
            let index = schema.attribute(attribute).unwrap().index;
            let stored = schema.pretty_value(index, value.as_bytes());
            assert_eq!(
                String::from_utf8_lossy(&stored),
                pretty,
                "{attribute} {value}"
            );
            let again = schema.pretty_value(index, &stored).into_owned();
            assert_eq!(again, *stored);
        }
    }
}
