//! Settings as entries.

use std::path::Path;

use super::chained_server;
use super::entry::{ConfigEntry, numbered};
use super::number::without_number;
use super::overlay;
use super::values;
use crate::names::SchemaPart;
use crate::{Origin, Settings, Sourced};
use fulgurite_policy::{DatabaseKind, OverlaySettings};

impl Settings {
    /// Returns the tree below `cn=config`, every entry after the one above it.
    ///
    /// Passwords in clear are included only with `secrets`. Hashed ones are always included, as in
    /// slapd.
    pub fn config_entries(&self, secrets: bool) -> Vec<ConfigEntry> {
        let mut entries = vec![values::global(self)];
        entries.extend(modules(self));
        entries.push(ConfigEntry::new(
            "cn=schema,cn=config".to_owned(),
            &["olcSchemaConfig"],
            "cn",
            "schema",
        ));
        entries.extend(schema(&self.global.schema));
        entries.push(values::frontend(self));
        entries.extend(overlays(&self.frontend_overlays, "{-1}frontend"));
        entries.push(values::database(&self.config, "{0}config", secrets));
        for (at, database) in self.databases.iter().enumerate() {
            let name = format!("{{{}}}{}", at + 1, database.kind.as_str());
            entries.push(values::database(database, &name, secrets));
            if database.kind == DatabaseKind::Mdb {
                entries.extend(overlays(&database.overlays, &name));
            }
        }
        entries
    }
}

fn modules(settings: &Settings) -> Option<ConfigEntry> {
    let (modules, path) = (&settings.modules, &settings.module_path);
    if modules.is_empty() && path.is_none() {
        return None;
    }
    let dn = "cn=module{0},cn=config".to_owned();
    let mut entry = ConfigEntry::new(dn, &["olcModuleList"], "cn", "module{0}");
    let path = path.iter().map(|path| path.value.clone());
    entry.add("olcModulePath", path);
    entry.add(
        "olcModuleLoad",
        numbered(modules.iter().map(|module| module.value.clone())),
    );
    Some(entry)
}

/// Returns one entry for each file of definitions.
fn schema(parts: &[Sourced<SchemaPart>]) -> Vec<ConfigEntry> {
    let mut files: Vec<(String, Vec<&SchemaPart>)> = Vec::new();
    for part in parts {
        let name = file_name(part);
        match files.last_mut() {
            Some((last, parts)) if *last == name => parts.push(&part.value),
            _ => files.push((name, vec![&part.value])),
        }
    }
    let files = files.iter().enumerate();
    files
        .map(|(at, (name, parts))| definitions(&format!("{{{at}}}{name}"), parts))
        .collect()
}

/// Returns the name of the file that a part of the schema comes from, without its ending.
fn file_name(part: &Sourced<SchemaPart>) -> String {
    let path = match (&part.value, &part.origin) {
        (SchemaPart::File(path), _) | (_, Origin::File { path, .. }) => path.as_path(),
        _ => Path::new("settings"),
    };
    let stem = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or("schema");
    // The files of a cn=config directory have numbers already.
    without_number(stem.strip_prefix("cn=").unwrap_or(stem)).to_owned()
}

/// Returns the entry of one file's definitions.
fn definitions(name: &str, parts: &[&SchemaPart]) -> ConfigEntry {
    const ATTRIBUTES: [&str; 5] = [
        "olcObjectIdentifier",
        "olcLdapSyntaxes",
        "olcAttributeTypes",
        "olcObjectClasses",
        "olcDitContentRules",
    ];
    let dn = format!("cn={name},cn=schema,cn=config");
    let mut entry = ConfigEntry::new(dn, &["olcSchemaConfig"], "cn", name);
    for attribute in ATTRIBUTES {
        let texts = parts
            .iter()
            .filter(|part| part.attribute() == Some(attribute))
            .filter_map(|part| part.text().map(str::to_owned));
        entry.add(attribute, numbered(texts.collect::<Vec<_>>()));
    }
    entry
}

fn overlays(overlays: &[OverlaySettings], above: &str) -> Vec<ConfigEntry> {
    let overlays = overlays.iter().enumerate();
    overlays
        .flat_map(|(at, settings)| {
            let entry = overlay::entry(at, settings, above);
            let below = chained_server::entries(settings, &entry.dn);
            [entry].into_iter().chain(below)
        })
        .collect()
}
