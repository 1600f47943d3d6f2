//! The dereference control of OpenLDAP (draft-masarati-ldap-deref): attributes of the entries that
//! values of an entry name.

use fulgurite_ber::{Reader, Tag, Writer};

use super::kind::ControlKind;
use crate::{Fault, oid};

/// The attributes of a response value.
const ATTRIBUTES: Tag = Tag::context(0).constructed();

/// The value of the request: which attributes name entries, and what to return of those.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dereference<'a> {
    /// In the order of the response.
    pub specs: Vec<DereferenceSpec<'a>>,
}

/// An attribute whose values name entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DereferenceSpec<'a> {
    /// The attribute of the entry found.
    pub attribute: &'a [u8],
    /// The attributes of the entries that it names.
    pub attributes: Vec<&'a [u8]>,
}

impl<'a> Dereference<'a> {
    /// The control's constants.
    pub const KIND: ControlKind =
        ControlKind::with_value(oid::DEREFERENCE, "Dereference control", |value| {
            Dereference::decode(value).map(|_| ())
        });

    /// Decodes a control value.
    ///
    /// # Errors
    /// A [`Fault`] for anything but the sequence of the draft, also for an empty list.
    pub fn decode(value: &'a [u8]) -> Result<Self, Fault> {
        let mut outside = Reader::new(value);
        let mut list = outside.nested(Tag::SEQUENCE)?;
        outside.end()?;
        let mut specs = Vec::new();
        while !list.is_empty() {
            let mut spec = list.nested(Tag::SEQUENCE)?;
            let attribute = spec.octet_string()?;
            let mut names = spec.nested(Tag::SEQUENCE)?;
            let mut attributes = Vec::new();
            while !names.is_empty() {
                attributes.push(names.octet_string()?);
            }
            spec.skip_extensions()?;
            specs.push(DereferenceSpec {
                attribute,
                attributes,
            });
        }
        if specs.is_empty() {
            return Err(Fault::Empty("list of attributes to dereference"));
        }
        Ok(Dereference { specs })
    }

    /// Returns the control value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
            for spec in &self.specs {
                writer.container(Tag::SEQUENCE, |writer| {
                    writer.octet_string(spec.attribute);
                    writer.container(Tag::SEQUENCE, |writer| {
                        let names = spec.attributes.iter();
                        names.for_each(|name| writer.octet_string(name));
                    });
                });
            }
        });
        out
    }
}

/// One value of the response: a value that may name an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DereferencedValue<'a> {
    /// The attribute of the entry found.
    pub attribute: &'a str,
    /// Its value.
    pub value: &'a [u8],
    /// The names and values of the attributes of the entry that the value names.
    pub attributes: Vec<(&'a str, Vec<&'a [u8]>)>,
}

/// Returns the value of the response control.
#[must_use]
pub fn dereferenced(values: &[DereferencedValue<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    Writer::new(&mut out).container(Tag::SEQUENCE, |writer| {
        values.iter().for_each(|value| value.encode(writer));
    });
    out
}

impl DereferencedValue<'_> {
    fn encode(&self, writer: &mut Writer<'_>) {
        writer.container(Tag::SEQUENCE, |writer| {
            writer.octet_string(self.attribute.as_bytes());
            writer.octet_string(self.value);
            if self.attributes.is_empty() {
                return;
            }
            writer.container(ATTRIBUTES, |writer| {
                for (name, values) in &self.attributes {
                    writer.container(Tag::SEQUENCE, |writer| {
                        writer.octet_string(name.as_bytes());
                        writer.container(Tag::SET, |writer| {
                            values.iter().for_each(|value| writer.octet_string(value));
                        });
                    });
                }
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_back_and_mutations_are_faults() {
        let request = Dereference {
            specs: vec![
                DereferenceSpec {
                    attribute: b"member",
                    attributes: vec![b"cn", b"mail"],
                },
                DereferenceSpec {
                    attribute: b"owner",
                    attributes: Vec::new(),
                },
            ],
        };
        let value = request.encode();
        assert_eq!(Dereference::decode(&value), Ok(request));
        for len in 0..value.len() {
            assert!(Dereference::decode(&value[..len]).is_err(), "{len}");
        }
        assert!(Dereference::decode(b"\x30\x00").is_err());
    }

    #[test]
    fn a_response_has_the_bytes_of_slapd() {
        let values = [
            DereferencedValue {
                attribute: "member",
                value: b"uid=a,ou=p,dc=example,dc=com",
                attributes: vec![("cn", vec![b"a"]), ("mail", vec![b"a@x", b"A2@x"])],
            },
            DereferencedValue {
                attribute: "member",
                value: b"uid=gone,ou=p,dc=example,dc=com",
                attributes: Vec::new(),
            },
        ];
        let expected = b"0u0H\x04\x06member\x04\x1cuid=a,ou=p,dc=example,dc=com\
            \xa0 0\t\x04\x02cn1\x03\x04\x01a0\x13\x04\x04mail1\x0b\x04\x03a@x\x04\x04A2@x\
            0)\x04\x06member\x04\x1fuid=gone,ou=p,dc=example,dc=com";
        assert_eq!(dereferenced(&values), expected);
    }
}
