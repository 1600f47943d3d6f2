//! The two entries that are in no store: the root DSE and the subschema subentry.

use fulgurite_ldap::oid;
use fulgurite_schema::{AttributeDescription, Dn, Entry, Schema};

use crate::clock::Timestamp;
use crate::controls;
use crate::directory::OpenError;
use crate::known::Known;
use crate::op::extended;

/// Name of the subschema subentry.
const SUBSCHEMA: &str = "cn=Subschema";

/// Features in use (RFC 4512, section 5.1).
const FEATURES: [&str; 6] = [
    oid::FEATURE_MODIFY_INCREMENT,
    oid::FEATURE_ALL_OPERATIONAL,
    oid::FEATURE_OBJECT_CLASS_ATTRIBUTES,
    oid::FEATURE_TRUE_FALSE_FILTERS,
    oid::FEATURE_LANGUAGE_TAGS,
    oid::FEATURE_LANGUAGE_RANGES,
];

/// Entries made of the server's own knowledge.
#[derive(Debug)]
pub(crate) struct Special {
    pub(crate) root_dse: Entry,
    pub(crate) subschema: Entry,
}

impl Special {
    pub(crate) fn new<'s>(
        schema: &Schema,
        known: &Known,
        suffixes: impl Iterator<Item = &'s Dn>,
        started: Timestamp,
    ) -> Result<Special, OpenError> {
        let subschema_dn =
            Dn::parse(schema, SUBSCHEMA).map_err(|_| OpenError::SchemaLacks("cn"))?;
        let mut root_dse = Entry::new(Dn::root());
        set(schema, &mut root_dse, "objectClass", ["top"]);
        set(
            schema,
            &mut root_dse,
            "namingContexts",
            suffixes.map(Dn::pretty),
        );
        set(
            schema,
            &mut root_dse,
            "supportedControl",
            controls::supported(),
        );
        set(
            schema,
            &mut root_dse,
            "supportedExtension",
            extended::SUPPORTED,
        );
        set(schema, &mut root_dse, "supportedFeatures", FEATURES);
        set(schema, &mut root_dse, "supportedLDAPVersion", ["3"]);
        set(schema, &mut root_dse, "vendorName", ["Fulgurite"]);
        set(
            schema,
            &mut root_dse,
            "vendorVersion",
            [env!("CARGO_PKG_VERSION")],
        );
        finish(known, &mut root_dse);
        let subschema = subschema(schema, known, subschema_dn, started);
        Ok(Special {
            root_dse,
            subschema,
        })
    }
}

fn subschema(schema: &Schema, known: &Known, dn: Dn, started: Timestamp) -> Entry {
    let mut entry = Entry::new(dn);
    let classes = ["top", "subentry", "subschema", "extensibleObject"];
    set(schema, &mut entry, "objectClass", classes);
    set(schema, &mut entry, "cn", ["Subschema"]);
    set(schema, &mut entry, "structuralObjectClass", ["subentry"]);
    let time = started.generalized();
    set(schema, &mut entry, "createTimestamp", [time.as_str()]);
    set(schema, &mut entry, "modifyTimestamp", [time.as_str()]);
    set(
        schema,
        &mut entry,
        "objectClasses",
        schema.published_object_classes(),
    );
    set(
        schema,
        &mut entry,
        "attributeTypes",
        schema.published_attribute_types(),
    );
    set(
        schema,
        &mut entry,
        "dITContentRules",
        schema.published_content_rules(),
    );
    set(
        schema,
        &mut entry,
        "ldapSyntaxes",
        schema.published_syntaxes(),
    );
    set(
        schema,
        &mut entry,
        "matchingRules",
        schema.published_matching_rules(),
    );
    set(
        schema,
        &mut entry,
        "matchingRuleUse",
        schema.published_matching_rule_uses(),
    );
    finish(known, &mut entry);
    entry
}

/// Adds what every entry has.
fn finish(known: &Known, entry: &mut Entry) {
    let dn = entry.dn.pretty().as_bytes().to_vec();
    entry.set(&known.entry_dn, vec![dn]);
    entry.set(&known.subschema_subentry, vec![SUBSCHEMA.into()]);
}

/// Sets an attribute, if the schema defines it.
fn set(
    schema: &Schema,
    entry: &mut Entry,
    name: &str,
    values: impl IntoIterator<Item: AsRef<str>>,
) {
    if let Some(attribute) = schema.attribute(name) {
        let octets = |value: &dyn AsRef<str>| value.as_ref().as_bytes().to_vec();
        let values = values.into_iter().map(|value| octets(&value));
        let description = AttributeDescription::plain(attribute.index);
        entry.set(&description, values.collect());
    }
}
