//! Add (RFC 4511 section 4.7).

use fulgurite_ber::{Reader, Tag, Writer};

use crate::{Fault, PartialAttribute};

/// A request to create an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddRequest<'a> {
    /// DN text of the new entry.
    pub dn: &'a [u8],
    /// Its attributes, each with at least one value.
    pub attributes: Vec<PartialAttribute<'a>>,
}

impl<'a> AddRequest<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Fault> {
        let dn = reader.octet_string()?;
        let mut list = reader.nested(Tag::SEQUENCE)?;
        let mut attributes = Vec::new();
        while !list.is_empty() {
            let attribute = PartialAttribute::decode(&mut list)?;
            if attribute.values.is_empty() {
                return Err(Fault::Empty("the set of values of an attribute to add"));
            }
            attributes.push(attribute);
        }
        Ok(AddRequest { dn, attributes })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.octet_string(self.dn);
        writer.container(Tag::SEQUENCE, |writer| {
            for attribute in &self.attributes {
                attribute.encode(writer);
            }
        });
    }
}
