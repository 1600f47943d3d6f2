//! Compare (RFC 4511 section 4.10).

use fulgurite_ber::{Reader, Tag, Writer};

use crate::{Assertion, Fault};

/// A request to say whether an entry has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompareRequest<'a> {
    /// DN text of the entry.
    pub dn: &'a [u8],
    /// The attribute and the value.
    pub assertion: Assertion<'a>,
}

impl<'a> CompareRequest<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Fault> {
        let dn = reader.octet_string()?;
        let mut assertion = reader.nested(Tag::SEQUENCE)?;
        Ok(CompareRequest {
            dn,
            assertion: Assertion::decode(&mut assertion)?,
        })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.octet_string(self.dn);
        writer.container(Tag::SEQUENCE, |writer| self.assertion.encode(writer));
    }
}
