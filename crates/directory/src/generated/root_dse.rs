//! The two entries that are in no store: the root DSE and the subschema subentry.

use fulgurite_ldap::oid;
use fulgurite_schema::{AttributeDescription, Dn, Entry, Schema};

use crate::core::clock::Timestamp;
use crate::core::session::Session;
use crate::core::well_known_types::Known;
use crate::directory::{Directory, OpenError};
use crate::op::extended;
use crate::request::controls;
use crate::rights::computed::{self, SUBSCHEMA};

/// Class of the root DSE.
const ROOT_DSE_CLASS: &str = "OpenLDAProotDSE";

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

/// What the root DSE lists that depends on the configuration.
#[derive(Debug, Default)]
pub(crate) struct Listed<'a> {
    /// Suffixes, as shown to people.
    pub(crate) naming_contexts: Vec<&'a str>,
    pub(crate) monitor: Option<&'a str>,
    pub(crate) config: Option<&'a str>,
    /// Attributes added as they are.
    pub(crate) additions: &'a [(String, Vec<Vec<u8>>)],
}

impl Special {
    pub(crate) fn new(
        schema: &Schema,
        known: &Known,
        listed: &Listed<'_>,
        started: Timestamp,
    ) -> Result<Special, OpenError> {
        let subschema_dn =
            Dn::parse(schema, SUBSCHEMA).map_err(|_| OpenError::SchemaLacks("cn"))?;
        let root_dse = root_dse(schema, known, listed);
        let subschema = subschema(schema, known, subschema_dn, started);
        Ok(Special {
            root_dse,
            subschema,
        })
    }
}

fn root_dse(schema: &Schema, known: &Known, listed: &Listed<'_>) -> Entry {
    let mut entry = Entry::new(Dn::root());
    if schema.object_class(ROOT_DSE_CLASS).is_some() {
        set(schema, &mut entry, "objectClass", ["top", ROOT_DSE_CLASS]);
        set(
            schema,
            &mut entry,
            "structuralObjectClass",
            [ROOT_DSE_CLASS],
        );
    } else {
        set(schema, &mut entry, "objectClass", ["top"]);
    }
    let version = env!("CARGO_PKG_VERSION");
    set(schema, &mut entry, "configContext", listed.config);
    set(schema, &mut entry, "monitorContext", listed.monitor);
    set(
        schema,
        &mut entry,
        "namingContexts",
        &listed.naming_contexts,
    );
    set(
        schema,
        &mut entry,
        "supportedControl",
        controls::supported(),
    );
    set(
        schema,
        &mut entry,
        "supportedExtension",
        extended::SUPPORTED,
    );
    set(schema, &mut entry, "supportedFeatures", FEATURES);
    set(schema, &mut entry, "supportedLDAPVersion", ["3"]);
    set(schema, &mut entry, "vendorName", ["Fulgurite"]);
    set(schema, &mut entry, "vendorVersion", [version]);
    computed::of_unstored(known, &mut entry);
    for (name, values) in listed.additions {
        let Ok(description) = schema.describe(name.as_bytes()) else {
            continue;
        };
        // What is added stands beside what is known, but for the vendor: that is the administrator's to choose.
        let present = entry
            .attribute(&description)
            .map(|held| held.values.clone());
        let mut all = present.unwrap_or_default();
        if name.to_ascii_lowercase().starts_with("vendor") {
            all.clear();
        }
        all.extend(
            values
                .iter()
                .filter(|value| !all.contains(value))
                .cloned()
                .collect::<Vec<_>>(),
        );
        entry.set(&description, all);
    }
    entry
}

impl Directory {
    /// The root DSE as a session sees it: what can be used depends on the connection.
    pub(crate) fn root_dse(&self, session: &Session) -> Entry {
        let mut entry = self.special.root_dse.clone();
        let connection = session.connection();
        let mechanisms = self.sasl_mechanisms(connection);
        if !mechanisms.is_empty() {
            set(
                &self.schema,
                &mut entry,
                "supportedSASLMechanisms",
                mechanisms,
            );
        }
        if connection.offers_tls
            && let Some(attribute) = self.schema.attribute("supportedExtension")
        {
            let description = AttributeDescription::plain(attribute.index);
            entry.push(&description, oid::START_TLS.into());
        }
        entry
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
        "dITStructureRules",
        schema.published_structure_rules(),
    );
    set(
        schema,
        &mut entry,
        "nameForms",
        schema.published_name_forms(),
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
    computed::of_unstored(known, &mut entry);
    entry
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
