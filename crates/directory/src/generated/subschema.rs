//! The subschema subentry (RFC 4512, section 4.2): the schema as clients read it.

use fulgurite_schema::{Dn, Entry, Schema};

use crate::core::clock::Timestamp;
use crate::core::well_known_types::WellKnownTypes;
use crate::generated::set::set;

pub(super) fn subschema(
    schema: &Schema,
    types: &WellKnownTypes,
    dn: Dn,
    started: Timestamp,
) -> Entry {
    let mut entry = Entry::new(dn);
    let classes = ["top", "subentry", "subschema", "extensibleObject"];
    set(schema, &mut entry, "objectClass", classes);
    set(schema, &mut entry, "cn", ["Subschema"]);
    set(schema, &mut entry, "structuralObjectClass", ["subentry"]);
    let time = started.generalized();
    set(schema, &mut entry, "createTimestamp", [time.as_str()]);
    set(schema, &mut entry, "modifyTimestamp", [time.as_str()]);
    set_definitions(schema, &mut entry);
    types.add_computed(&mut entry);
    entry
}

/// Sets the definitions of the schema, one attribute for each kind.
fn set_definitions(schema: &Schema, entry: &mut Entry) {
    set(
        schema,
        entry,
        "objectClasses",
        schema.published_object_classes(),
    );
    set(
        schema,
        entry,
        "attributeTypes",
        schema.published_attribute_types(),
    );
    set(
        schema,
        entry,
        "dITContentRules",
        schema.published_content_rules(),
    );
    set(
        schema,
        entry,
        "dITStructureRules",
        schema.published_structure_rules(),
    );
    set(schema, entry, "nameForms", schema.published_name_forms());
    set(schema, entry, "ldapSyntaxes", schema.published_syntaxes());
    set(
        schema,
        entry,
        "matchingRules",
        schema.published_matching_rules(),
    );
    set(
        schema,
        entry,
        "matchingRuleUse",
        schema.published_matching_rule_uses(),
    );
}
