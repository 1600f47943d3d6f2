//! The attribute types that operations know by name.

use fulgurite_schema::{AttributeDescription, Schema};

use crate::directory::OpenError;

/// Handles of the attribute types the server itself reads or writes (RFC 4512, section 3.4; RFC 4530; RFC 5020).
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) user_password: AttributeDescription,
    pub(crate) structural_object_class: AttributeDescription,
    pub(crate) entry_uuid: AttributeDescription,
    pub(crate) entry_csn: AttributeDescription,
    pub(crate) creators_name: AttributeDescription,
    pub(crate) create_timestamp: AttributeDescription,
    pub(crate) modifiers_name: AttributeDescription,
    pub(crate) modify_timestamp: AttributeDescription,
    pub(crate) entry_dn: AttributeDescription,
    pub(crate) subschema_subentry: AttributeDescription,
    pub(crate) has_subordinates: AttributeDescription,
    /// Not part of every schema.
    pub(crate) num_subordinates: Option<AttributeDescription>,
}

impl Known {
    pub(crate) fn of(schema: &Schema) -> Result<Known, OpenError> {
        let find = |name: &'static str| {
            schema
                .attribute(name)
                .map(|attribute| AttributeDescription::plain(attribute.index))
        };
        let need = |name| find(name).ok_or(OpenError::SchemaLacks(name));
        Ok(Known {
            user_password: need("userPassword")?,
            structural_object_class: need("structuralObjectClass")?,
            entry_uuid: need("entryUUID")?,
            entry_csn: need("entryCSN")?,
            creators_name: need("creatorsName")?,
            create_timestamp: need("createTimestamp")?,
            modifiers_name: need("modifiersName")?,
            modify_timestamp: need("modifyTimestamp")?,
            entry_dn: need("entryDN")?,
            subschema_subentry: need("subschemaSubentry")?,
            has_subordinates: need("hasSubordinates")?,
            num_subordinates: find("numSubordinates"),
        })
    }
}
