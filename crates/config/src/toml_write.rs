//! Writes a layer as a TOML file with comments, which gives the same layer when it is read.

use std::fmt::Write as _;

use fulgurite_policy::{DatabaseKind, OverlaySettings};

use crate::database::DatabaseLayer;
use crate::document::comment;
use crate::setting::{quoted, toml_list};
use crate::table::settings_info;
use crate::{Layer, toml_overlay};

const INTRODUCTION: &str = "\
# Settings of fulgurite, converted from a configuration of slapd. docs/settings.md describes each key.
#
#   fulgurite config check THIS-FILE
#   fulgurite serve --config THIS-FILE
#
# slapd takes its addresses from its command line, so they are not here.
#listen = [\"ldap:///\", \"ldapi:///\"]
";

impl Layer {
    /// Returns the layer as a TOML file. It contains passwords if the layer does.
    ///
    /// Seeds, notes, and the directives that have no setting are left out.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut out = INTRODUCTION.to_owned();
        if self.slapd {
            comment(
                &mut out,
                "Rights and limits that nothing sets are those of slapd.",
            );
            out.push_str("slapd_defaults = true\n");
        }
        if !self.modules.is_empty() {
            let modules: Vec<&str> = self.modules.iter().map(|one| one.value.as_str()).collect();
            comment(
                &mut out,
                "Modules that cn=config shows. All features are built in.",
            );
            let _ = writeln!(out, "slapd_modules = {}", toml_list(&modules));
        }
        let mut write = |key: &'static str, value: String| setting(&mut out, key, &value);
        self.global.each_toml(&mut write);
        self.frontend.each_toml(&mut write);
        database(&mut out, &self.first, None);
        let general = |name: &str| {
            let mut overlays = self.frontend_overlays.iter();
            overlays.find(|overlay| overlay.name == name)
        };
        let is_limited = self.databases.iter().any(|one| has_own(one, "sssvlv"));
        // A file has overlays of databases only. Limits of sorted searches hold for all of them.
        let mut limits = general("sssvlv").filter(|_| !is_limited);
        for one in &self.databases {
            database(&mut out, one, Some(one.kind.as_str()));
            let chain = general("chain").filter(|_| is_chained(one));
            let limits = match one.kind {
                DatabaseKind::Mdb => limits.take(),
                _ => None,
            };
            for settings in chain.into_iter().chain(limits) {
                overlay(&mut out, settings, "database.overlay");
            }
        }
        if self.config.origin.is_some() {
            database(&mut out, &self.config, Some("config"));
        }
        out
    }
}

/// Writes a database; one without a kind is described at the top of the file.
fn database(out: &mut String, database: &DatabaseLayer, kind: Option<&str>) {
    if let Some(kind) = kind {
        let _ = write!(out, "\n[[database]]\ntype = {}\n", quoted(kind));
    }
    let mut write = |key: &'static str, value: String| setting(out, key, &value);
    database.content.each_toml(&mut write);
    database.storage.each_toml(&mut write);
    database.policy.each_toml(&mut write);
    if let Some(Some(password)) = database
        .content
        .root_password
        .as_ref()
        .map(|one| &one.value)
    {
        setting(out, "root.password", &quoted(&password.0));
    }
    let table = if kind.is_some() {
        "database.overlay"
    } else {
        "overlay"
    };
    for settings in &database.overlays {
        overlay(out, settings, table);
    }
}

/// Returns true for a copy that has no overlay `chain` yet.
fn is_chained(database: &DatabaseLayer) -> bool {
    !database.content.syncrepl.is_empty() && !has_own(database, "chain")
}

fn has_own(database: &DatabaseLayer, name: &str) -> bool {
    let mut own = database.overlays.iter();
    own.any(|overlay| overlay.name == name)
}

fn overlay(out: &mut String, overlay: &OverlaySettings, table: &str) {
    let lines = overlay.lines.iter();
    let lines: Vec<String> = lines.map(|line| toml_overlay::line(&line.value)).collect();
    let name = quoted(&overlay.name);
    let _ = write!(out, "\n[[{table}]]\nname = {name}\n");
    if !lines.is_empty() {
        let lines: Vec<String> = lines.iter().map(|line| quoted(line)).collect();
        let _ = writeln!(out, "lines = [\n    {},\n]", lines.join(",\n    "));
    }
}

fn setting(out: &mut String, key: &'static str, value: &str) {
    if let Some(info) = settings_info().find(|info| info.key == Some(key)) {
        out.push('\n');
        comment(out, &info.text());
    }
    let _ = writeln!(out, "{key} = {value}");
}
