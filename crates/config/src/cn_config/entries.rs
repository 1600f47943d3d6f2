//! Settings as entries.

use std::path::Path;

use super::entry::{ConfigEntry, numbered};
use super::number::without_number;
use super::overlay;
use super::values;
use crate::database::Database;
use crate::names::SchemaPart;
use crate::{Origin, Settings, Sourced};
use fulgurite_policy::DatabaseKind;

impl Settings {
    /// Returns the tree below `cn=config`, every entry after the one above it.
    ///
    /// Passwords in clear are included only with `secrets`. Hashed ones are always included, as in
    /// slapd.
    pub fn config_entries(&self, secrets: bool) -> Vec<ConfigEntry> {
        let mut entries = vec![values::global(self)];
        entries.extend(modules(&self.modules));
        entries.push(ConfigEntry::new(
            "cn=schema,cn=config".to_owned(),
            &["olcSchemaConfig"],
            "cn",
            "schema",
        ));
        entries.extend(schema(&self.global.schema));
        entries.push(values::frontend(self));
        entries.push(values::database(&self.config, "{0}config", secrets));
        for (at, database) in self.databases.iter().enumerate() {
            let name = format!("{{{}}}{}", at + 1, database.kind.as_str());
            entries.push(values::database(database, &name, secrets));
            entries.extend(overlays(database, &name));
        }
        entries
    }
}

fn modules(modules: &[Sourced<String>]) -> Option<ConfigEntry> {
    if modules.is_empty() {
        return None;
    }
    let dn = "cn=module{0},cn=config".to_owned();
    let mut entry = ConfigEntry::new(dn, &["olcModuleList"], "cn", "module{0}");
    entry.add(
        "olcModuleLoad",
        numbered(modules.iter().map(|module| module.value.clone())),
    );
    Some(entry)
}

/// Returns one entry for each file of definitions.
fn schema(parts: &[Sourced<SchemaPart>]) -> Vec<ConfigEntry> {
    let mut groups: Vec<(String, Vec<&SchemaPart>)> = Vec::new();
    for part in parts {
        let path = match (&part.value, &part.origin) {
            (SchemaPart::File(path), _) | (_, Origin::File { path, .. }) => path.as_path(),
            _ => Path::new("settings"),
        };
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or("schema");
        // The files of a cn=config directory have numbers already.
        let stem = stem.strip_prefix("cn=").unwrap_or(stem);
        let name = without_number(stem).to_owned();
        match groups.last_mut() {
            Some((last, parts)) if *last == name => parts.push(&part.value),
            _ => groups.push((name, vec![&part.value])),
        }
    }
    let entry = |(at, (name, parts)): (usize, (String, Vec<&SchemaPart>))| {
        let name = format!("{{{at}}}{name}");
        let dn = format!("cn={name},cn=schema,cn=config");
        let mut entry = ConfigEntry::new(dn, &["olcSchemaConfig"], "cn", &name);
        let texts = |wanted: fn(&SchemaPart) -> Option<&String>| {
            let texts = parts.iter().filter_map(|part| wanted(part)).cloned();
            numbered(texts.collect::<Vec<_>>())
        };
        entry.add(
            "olcObjectIdentifier",
            texts(|part| match part {
                SchemaPart::ObjectIdentifier(text) => Some(text),
                _ => None,
            }),
        );
        entry.add(
            "olcLdapSyntaxes",
            texts(|part| match part {
                SchemaPart::LdapSyntax(text) => Some(text),
                _ => None,
            }),
        );
        entry.add(
            "olcAttributeTypes",
            texts(|part| match part {
                SchemaPart::AttributeType(text) => Some(text),
                _ => None,
            }),
        );
        entry.add(
            "olcObjectClasses",
            texts(|part| match part {
                SchemaPart::ObjectClass(text) => Some(text),
                _ => None,
            }),
        );
        entry.add(
            "olcDitContentRules",
            texts(|part| match part {
                SchemaPart::DitContentRule(text) => Some(text),
                _ => None,
            }),
        );
        entry
    };
    groups.into_iter().enumerate().map(entry).collect()
}

fn overlays(database: &Database, above: &str) -> Vec<ConfigEntry> {
    if database.kind != DatabaseKind::Mdb {
        return Vec::new();
    }
    let overlays = database.overlays.iter().enumerate();
    overlays
        .map(|(at, settings)| overlay::entry(at, settings, above))
        .collect()
}
