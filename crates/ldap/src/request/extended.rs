//! Extended requests (RFC 4511 section 4.12).

use fulgurite_ber::{Reader, Tag, Writer};

use crate::Fault;

const NAME: Tag = Tag::context(0);
const VALUE: Tag = Tag::context(1);

/// A request known by its OID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtendedRequest<'a> {
    /// OID of the operation as dotted text; see [`crate::oid`].
    pub oid: &'a [u8],
    /// Its argument.
    pub value: Option<&'a [u8]>,
}

impl<'a> ExtendedRequest<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Fault> {
        Ok(ExtendedRequest {
            oid: Self::decode_oid(reader)?,
            value: reader.optional(VALUE)?,
        })
    }

    /// Reads the OID, which is the first component.
    pub(crate) fn decode_oid(reader: &mut Reader<'a>) -> Result<&'a [u8], Fault> {
        Ok(reader.expect(NAME)?)
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.primitive(NAME, self.oid);
        if let Some(value) = self.value {
            writer.primitive(VALUE, value);
        }
    }
}
