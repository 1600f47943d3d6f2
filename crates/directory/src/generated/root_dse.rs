//! The root DSE (RFC 4512, section 5.1): what the server can do.

use fulgurite_ldap::oid;
use fulgurite_schema::{AttributeDescription, Dn, Entry, Schema};

use crate::core::clock::Timestamp;
use crate::core::connection::Connection;
use crate::core::well_known_types::WellKnownTypes;
use crate::generated::set::set;

/// The class of the root DSE.
const ROOT_DSE_CLASS: &str = "OpenLDAProotDSE";

/// The supported features (RFC 4512, section 5.1).
const FEATURES: [&str; 6] = [
    oid::FEATURE_MODIFY_INCREMENT,
    oid::FEATURE_ALL_OPERATIONAL,
    oid::FEATURE_OBJECT_CLASS_ATTRIBUTES,
    oid::FEATURE_TRUE_FALSE_FILTERS,
    oid::FEATURE_LANGUAGE_TAGS,
    oid::FEATURE_LANGUAGE_RANGES,
];

/// The attributes that name this program.
pub(crate) const VENDOR: [(&str, &str); 2] = [
    ("vendorName", "Fulgurite"),
    ("vendorVersion", env!("CARGO_PKG_VERSION")),
];

/// The content of the root DSE and the subschema subentry that depends on the configuration.
#[derive(Debug)]
pub(crate) struct GeneratedContent<'a> {
    /// The start of the server.
    pub(crate) started: Timestamp,
    /// Suffixes in the form for display.
    pub(crate) naming_contexts: Vec<&'a str>,
    pub(crate) monitor: Option<&'a str>,
    pub(crate) config: Option<&'a str>,
    /// OIDs of controls.
    pub(crate) controls: Vec<&'static str>,
    /// OIDs of extended operations.
    pub(crate) extensions: &'static [&'static str],
    /// Attributes that the configuration adds.
    pub(crate) additions: &'a [(String, Vec<Vec<u8>>)],
}

pub(super) fn root_dse(
    schema: &Schema,
    types: &WellKnownTypes,
    listed: &GeneratedContent<'_>,
) -> Entry {
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
    set(schema, &mut entry, "configContext", listed.config);
    set(schema, &mut entry, "monitorContext", listed.monitor);
    set(
        schema,
        &mut entry,
        "namingContexts",
        &listed.naming_contexts,
    );
    set(schema, &mut entry, "supportedControl", &listed.controls);
    set(schema, &mut entry, "supportedExtension", listed.extensions);
    set(schema, &mut entry, "supportedFeatures", FEATURES);
    set(schema, &mut entry, "supportedLDAPVersion", ["3"]);
    for (name, value) in VENDOR {
        set(schema, &mut entry, name, [value]);
    }
    types.add_computed(&mut entry);
    for (name, values) in listed.additions {
        let Ok(description) = schema.describe(name.as_bytes()) else {
            continue;
        };
        // The configuration adds to the known values, but replaces those of the vendor.
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

/// Returns the root DSE for a connection, which decides about SASL mechanisms and StartTLS.
pub(super) fn root_dse_of(
    schema: &Schema,
    root_dse: &Entry,
    connection: &Connection,
    mechanisms: Vec<&'static str>,
) -> Entry {
    let mut entry = root_dse.clone();
    if !mechanisms.is_empty() {
        set(schema, &mut entry, "supportedSASLMechanisms", mechanisms);
    }
    if connection.offers_tls
        && let Some(attribute) = schema.attribute("supportedExtension")
    {
        let description = AttributeDescription::plain(attribute.index);
        entry.push(&description, oid::START_TLS.into());
    }
    entry
}
