//! Dependencies: licences, doubles and sources, by the rules of `deny.toml`.
//!
//! `cargo deny` checks the same and known vulnerabilities too, for which it needs a network.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use toml::Table;

/// Reports every dependency that breaks a rule.
///
/// `rules` is the text of `deny.toml`, `lock` that of `Cargo.lock`; `metadata` is the answer of
/// `cargo metadata` with dependencies.
pub(crate) fn faults(rules: &str, lock: &str, metadata: &Value) -> Vec<String> {
    let (rules, lock) = match (rules.parse::<Table>(), lock.parse::<Table>()) {
        (Ok(rules), Ok(lock)) => (rules, lock),
        (Err(error), _) => return vec![format!("deny.toml: {error}")],
        (_, Err(error)) => return vec![format!("Cargo.lock: {error}")],
    };
    let mut faults = licence_faults(&rules, metadata);
    faults.extend(double_faults(&rules, &lock));
    faults
}

fn licence_faults(rules: &Table, metadata: &Value) -> Vec<String> {
    let allowed: BTreeSet<&str> = entries(rules, "licenses", "allow")
        .iter()
        .filter_map(toml::Value::as_str)
        .collect();
    let packages = metadata["packages"].as_array();
    let packages = packages.map(Vec::as_slice).unwrap_or_default();
    let mut faults = Vec::new();
    if packages.is_empty() {
        faults.push("cargo metadata names no packages".to_owned());
    }
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let own = package["source"].is_null();
        let licence = package["license"].as_str().unwrap_or_default();
        if !own && !is_allowed(licence, &allowed) {
            faults.push(format!(
                "crate {name} has the licence \"{licence}\", which deny.toml does not allow"
            ));
        }
    }
    faults
}

/// Evaluates a licence expression (SPDX, and the older form with slashes).
fn is_allowed(licence: &str, allowed: &BTreeSet<&str>) -> bool {
    let licence = licence.replace(" / ", " OR ").replace('/', " OR ");
    // The expressions in use have no nested parentheses: all alternatives of each part are in one.
    licence.split(" AND ").all(|part| {
        part.trim_matches(['(', ')'])
            .split(" OR ")
            .any(|one| allowed.contains(one.trim_matches(['(', ')', ' '])))
    })
}

fn double_faults(rules: &Table, lock: &Table) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut faults = Vec::new();
    let packages = lock.get("package").and_then(toml::Value::as_array);
    for package in packages.map(Vec::as_slice).unwrap_or_default() {
        let text = |key: &str| package.get(key).and_then(toml::Value::as_str).unwrap_or("");
        versions
            .entry(text("name"))
            .or_default()
            .push(text("version"));
        if !text("source").is_empty() && !text("source").starts_with("registry+") {
            faults.push(format!("crate {} is not from the registry", text("name")));
        }
    }
    let mut skipped: BTreeSet<&str> = entries(rules, "bans", "skip")
        .iter()
        .filter_map(|row| row.get("crate")?.as_str())
        .collect();
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let (newest, older) = versions.split_last().expect("two versions");
        for version in older {
            if !skipped.remove(format!("{name}@{version}").as_str()) {
                faults.push(format!(
                    "crate {name} is there twice ({version} and {newest}): end it, or list it in deny.toml"
                ));
            }
        }
    }
    for row in skipped {
        faults.push(format!(
            "deny.toml: {row} is no double any more: remove its row"
        ));
    }
    faults
}

fn entries<'t>(rules: &'t Table, section: &str, key: &str) -> &'t [toml::Value] {
    let list = rules
        .get(section)
        .and_then(|section| section.get(key)?.as_array());
    list.map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const RULES: &str = "[licenses]\nallow = [\"MIT\", \"ISC\"]\n[bans]\nskip = [{ crate = \"a@1.0.0\", reason = \"b\" }]\n";

    fn lock(packages: &[(&str, &str)]) -> String {
        let row = |(name, version): &(&str, &str)| {
            format!(
                "[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"registry+x\"\n"
            )
        };
        packages.iter().map(row).collect()
    }

    fn licences(licence: &str) -> Vec<String> {
        let metadata =
            json!({"packages": [{"name": "x", "source": "registry+x", "license": licence}]});
        faults(RULES, &lock(&[("a", "1.0.0"), ("a", "2.0.0")]), &metadata)
    }

    #[test]
    fn one_allowed_alternative_of_each_part_is_enough() {
        assert!(licences("GPL-3.0 OR MIT").is_empty());
        assert!(licences("Apache-2.0/MIT").is_empty());
        assert!(licences("(MIT OR GPL-3.0) AND ISC").is_empty());
        assert_eq!(licences("MIT AND GPL-3.0").len(), 1);
        assert_eq!(licences("").len(), 1);
    }

    #[test]
    fn doubles_are_listed_and_the_list_has_no_other_rows() {
        let metadata = json!({"packages": [{"name": "own", "source": null}]});
        let check = |packages: &[(&str, &str)]| faults(RULES, &lock(packages), &metadata);
        assert!(check(&[("a", "1.0.0"), ("a", "2.0.0")]).is_empty());
        assert_eq!(check(&[("a", "1.1.0"), ("a", "2.0.0")]).len(), 2);
        assert!(check(&[("a", "2.0.0")])[0].contains("no double"));
    }
}
