//! Modify DN (RFC 4511 section 4.9).

use fulgurite_ber::{Reader, Tag, Writer};

use crate::Fault;

const NEW_SUPERIOR: Tag = Tag::context(0);

/// A request to rename an entry, to move it, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModifyDnRequest<'a> {
    /// DN text of the entry.
    pub dn: &'a [u8],
    /// RDN text it gets.
    pub new_rdn: &'a [u8],
    /// True if the values of the old RDN leave the entry.
    pub delete_old_rdn: bool,
    /// DN text of the new parent, if it moves.
    pub new_superior: Option<&'a [u8]>,
}

impl<'a> ModifyDnRequest<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Fault> {
        Ok(ModifyDnRequest {
            dn: reader.octet_string()?,
            new_rdn: reader.octet_string()?,
            delete_old_rdn: reader.boolean()?,
            new_superior: reader.optional(NEW_SUPERIOR)?,
        })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.octet_string(self.dn);
        writer.octet_string(self.new_rdn);
        writer.boolean(self.delete_old_rdn);
        if let Some(dn) = self.new_superior {
            writer.primitive(NEW_SUPERIOR, dn);
        }
    }
}
