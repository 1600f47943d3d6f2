//! The attribute types and classes that operations know by name.

use std::sync::Arc;

use fulgurite_schema::{
    AttributeDescription, AttributeIndex, AttributeSelector, Entry, Filter, Schema, Truth,
};
use fulgurite_store::{BIND_STATE_ATTRIBUTES, EntryView};

use crate::core::error::OpenError;

/// The name of the subschema subentry of every entry.
pub(crate) const SUBSCHEMA: &str = "cn=Subschema";

/// The attribute types that the server itself reads or writes (RFC 4512 section 3.4, RFC 4530, RFC
/// 5020).
#[derive(Clone, Debug)]
pub(crate) struct WellKnownTypes {
    pub(crate) object_class: AttributeDescription,
    /// `ref`: the URLs of a referral object.
    pub(crate) reference: AttributeDescription,
    /// Names and OIDs of the class `referral` and those derived from it.
    pub(crate) referral_class: Vec<Box<str>>,
    /// Matches referral objects.
    pub(crate) referral_filter: Filter<AttributeSelector>,
    /// Names and OIDs of the class `alias` and those derived from it.
    pub(crate) alias_class: Vec<Box<str>>,
    /// Matches aliases.
    pub(crate) alias_filter: Arc<Filter<AttributeSelector>>,
    /// `aliasedObjectName`: the target of an alias. Some schemas lack it.
    pub(crate) aliased_object: Option<AttributeIndex>,
    /// Names and OIDs of the class `subentry` and those derived from it.
    pub(crate) subentry_class: Vec<Box<str>>,
    /// `subtreeSpecification`: the attribute that each subentry has. Some schemas lack it.
    pub(crate) subtree_specification: Option<AttributeDescription>,
    /// Matches subentries.
    pub(crate) subentry_filter: Filter<AttributeSelector>,
    /// Matches glue, which replaces parents that a copy does not have.
    pub(crate) glue_filter: Filter<AttributeSelector>,
    pub(crate) user_password: AttributeDescription,
    /// `authPassword`: keys derived from passwords (RFC 3112, RFC 5803). Some schemas lack it.
    pub(crate) auth_password: Option<AttributeDescription>,
    pub(crate) structural_object_class: AttributeDescription,
    pub(crate) entry_uuid: AttributeDescription,
    pub(crate) entry_csn: AttributeDescription,
    /// `contextCSN`. Some schemas lack it.
    pub(crate) context_csn: Option<AttributeDescription>,
    /// `auditContext`. Only the schema of the overlay `accesslog` has it.
    pub(crate) audit_context: Option<AttributeDescription>,
    pub(crate) creators_name: AttributeDescription,
    pub(crate) create_timestamp: AttributeDescription,
    pub(crate) modifiers_name: AttributeDescription,
    pub(crate) modify_timestamp: AttributeDescription,
    pub(crate) entry_dn: AttributeDescription,
    pub(crate) subschema_subentry: AttributeDescription,
    pub(crate) has_subordinates: AttributeDescription,
    /// Some schemas lack it.
    pub(crate) num_subordinates: Option<AttributeDescription>,
    /// The attributes of bind states, as far as the schema has them.
    pub(crate) of_binds: Vec<AttributeIndex>,
}

impl WellKnownTypes {
    pub(crate) fn of(schema: &Schema) -> Result<WellKnownTypes, OpenError> {
        let find = |name: &'static str| {
            schema
                .attribute(name)
                .map(|attribute| AttributeDescription::plain(attribute.index))
        };
        let need = |name| find(name).ok_or(OpenError::SchemaLacks(name));
        Ok(WellKnownTypes {
            object_class: need("objectClass")?,
            reference: need("ref")?,
            referral_class: class_names(schema, "referral"),
            referral_filter: class_filter(schema, &need("objectClass")?, "referral"),
            alias_class: class_names(schema, "alias"),
            alias_filter: Arc::new(class_filter(schema, &need("objectClass")?, "alias")),
            aliased_object: find("aliasedObjectName").map(|found| found.attribute),
            subentry_class: class_names(schema, "subentry"),
            subtree_specification: find("subtreeSpecification"),
            subentry_filter: class_filter(schema, &need("objectClass")?, "subentry"),
            glue_filter: class_filter(schema, &need("objectClass")?, "glue"),
            user_password: need("userPassword")?,
            auth_password: find("authPassword"),
            structural_object_class: need("structuralObjectClass")?,
            entry_uuid: need("entryUUID")?,
            entry_csn: need("entryCSN")?,
            context_csn: find("contextCSN"),
            audit_context: find("auditContext"),
            creators_name: need("creatorsName")?,
            create_timestamp: need("createTimestamp")?,
            modifiers_name: need("modifiersName")?,
            modify_timestamp: need("modifyTimestamp")?,
            entry_dn: need("entryDN")?,
            subschema_subentry: need("subschemaSubentry")?,
            has_subordinates: need("hasSubordinates")?,
            num_subordinates: find("numSubordinates"),
            of_binds: of_binds(schema),
        })
    }

    /// Returns the attributes that each change of an entry sets.
    pub(crate) const fn stamps(&self) -> [&AttributeDescription; 3] {
        [
            &self.entry_csn,
            &self.modifiers_name,
            &self.modify_timestamp,
        ]
    }

    /// Returns true for an attribute that each change of an entry sets.
    pub(crate) fn is_stamp(&self, description: &AttributeDescription) -> bool {
        self.stamps().contains(&description)
    }

    /// Returns true for an attribute of bind states.
    pub(crate) fn is_of_binds(&self, description: &AttributeDescription) -> bool {
        description.options().is_none() && self.of_binds.contains(&description.attribute)
    }

    /// Returns true if the entry is of the class `referral`.
    pub(crate) fn is_referral(&self, entry: &EntryView<'_>) -> bool {
        self.has_class(entry, &self.referral_class)
    }

    /// Returns true if the entry is of the class `alias`.
    pub(crate) fn is_alias(&self, entry: &EntryView<'_>) -> bool {
        self.has_class(entry, &self.alias_class)
    }

    /// Returns true if the entry is of the class `subentry`.
    pub(crate) fn is_subentry(&self, entry: &EntryView<'_>) -> bool {
        self.has_class(entry, &self.subentry_class)
    }

    /// Returns true if an entry that is not stored yet is of a class with one of these names.
    pub(crate) fn is_of_class(&self, entry: &Entry, names: &[Box<str>]) -> bool {
        let mut classes = entry.values(self.object_class.attribute).iter();
        classes.any(|class| {
            let mut names = names.iter().map(|name| name.as_bytes());
            names.any(|name| class.eq_ignore_ascii_case(name))
        })
    }

    /// Sets the computed attributes of an entry that no store holds. It sets none about
    /// subordinates, like slapd.
    pub(crate) fn add_computed(&self, entry: &mut Entry) {
        let dn = entry.dn.pretty().as_bytes().to_vec();
        entry.set(&self.entry_dn, vec![dn]);
        entry.set(&self.subschema_subentry, vec![SUBSCHEMA.into()]);
    }

    fn has_class(&self, entry: &EntryView<'_>, names: &[Box<str>]) -> bool {
        let classes = entry.plain_values(self.object_class.attribute);
        classes
            .into_iter()
            .flat_map(|values| values.iter())
            .any(|class| {
                names
                    .iter()
                    .any(|name| class.eq_ignore_ascii_case(name.as_bytes()))
            })
    }
}

/// Returns true for glue, which replaces a parent that a copy does not have.
pub(crate) fn is_glue(types: &WellKnownTypes, entry: &EntryView<'_>) -> bool {
    let classes = entry.plain_values(types.structural_object_class.attribute);
    let mut classes = classes.into_iter().flat_map(|values| values.iter());
    classes.any(|class| class.eq_ignore_ascii_case(b"glue"))
}

fn of_binds(schema: &Schema) -> Vec<AttributeIndex> {
    let names = BIND_STATE_ATTRIBUTES.iter();
    let known = names.filter_map(|name| schema.attribute(name));
    known.map(|attribute| attribute.index).collect()
}

/// Returns every name and OID that makes an entry one of this class.
fn class_names(schema: &Schema, class: &str) -> Vec<Box<str>> {
    let oids = schema.class_closure(class).unwrap_or_default();
    let classes = oids.into_iter().filter_map(|oid| schema.object_class(oid));
    classes
        .flat_map(|class| {
            class
                .names
                .iter()
                .map(|name| name.as_str())
                .chain([class.oid.as_str()])
        })
        .map(Box::from)
        .collect()
}

fn class_filter(
    schema: &Schema,
    attribute: &AttributeDescription,
    name: &str,
) -> Filter<AttributeSelector> {
    let (Some(class), Some(oids)) = (schema.object_class(name), schema.class_closure(name)) else {
        return Filter::Constant(Truth::False);
    };
    Filter::ObjectClass {
        attribute: attribute.clone(),
        class: class.index,
        implied_by: oids.into_iter().map(|oid| oid.as_bytes().into()).collect(),
    }
}
