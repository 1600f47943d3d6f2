//! Checks the meaning of settings before anything is opened: names, attributes, rules and
//! passwords. Each error names its line.

use std::sync::Arc;

use fulgurite_access::{RuleText, Rules, Selector, WithoutRules};
use fulgurite_auth::Scheme;
use fulgurite_config::{
    ConfigError, Database, DatabaseKind, IndexSetting, Origin, Policy, Settings, Sourced,
    Subordinate,
};
use fulgurite_policy::IndexKind;
use fulgurite_schema::{Dn, Schema, SchemaError};

use super::{convert, replication, schema};

/// An error in the meaning of settings.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// A setting cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A definition of the schema is wrong.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

/// Checks settings as a whole, without opening any store.
///
/// # Errors
/// The first error, with its position.
pub fn check_settings(settings: &Settings) -> Result<Arc<Schema>, CheckError> {
    let schema = Arc::new(schema::schema(settings)?);
    check_names(settings, &schema)?;
    Ok(schema)
}

/// Checks settings to which more may come, such as definitions of attributes in names.
///
/// # Errors
/// The first error, with its position.
pub fn check_unfinished_settings(settings: &Settings) -> Result<Arc<Schema>, CheckError> {
    let own = Arc::new(schema::schema(settings)?);
    for index in settings
        .databases
        .iter()
        .flat_map(|database| &database.storage.indexes)
    {
        check_index(&own, index)?;
    }
    let completed = Arc::new(schema::completed(settings)?);
    check_names(settings, &completed)?;
    Ok(completed)
}

/// Checks the names at the top of all databases.
///
/// # Errors
/// The first wrong name, with its position.
pub fn check_suffix_names(settings: &Settings, schema: &Arc<Schema>) -> Result<(), ConfigError> {
    let suffixes = settings.databases.iter();
    let mut suffixes = suffixes.flat_map(|database| &database.content.suffixes);
    suffixes.try_for_each(|suffix| check_dn(schema, "suffix", &suffix.value, &suffix.origin))
}

/// Checks all names of attributes and entries, all access rules, and all root passwords.
///
/// # Errors
/// The first error, with its position.
pub(crate) fn check_names(settings: &Settings, schema: &Arc<Schema>) -> Result<(), CheckError> {
    let global = &settings.global;
    for name in global.sort_values.iter() {
        if schema.attribute(name).is_none() {
            let message = format!("<sortvals> unknown attribute type {name}");
            return Err(ConfigError::at(&global.sort_values.origin, message).into());
        }
    }
    if let Some(base) = &global.default_search_base.value {
        check_dn(
            schema,
            "defaultsearchbase",
            base,
            &global.default_search_base.origin,
        )?;
    }
    check_hashes(settings)?;
    convert::auth(global)?;
    check_policy(schema, &settings.frontend)?;
    let report = fulgurite_directory::check_overlays(schema, &[], &settings.frontend_overlays);
    report.map_err(|error| ConfigError::at(&error.origin, error.value))?;
    let overlays = settings.config.overlays.iter();
    for overlay in overlays.filter(|overlay| overlay.name != "syncprov") {
        let text = "it has no effect on cn=config";
        tracing::warn!("{}: overlay {}: {text}", overlay.origin, overlay.name);
    }
    replication::warn_of_configuration(settings);
    for database in settings.databases.iter().chain([&settings.config]) {
        check_database(schema, database)?;
        if settings.is_access_log(database) {
            warn_of_overlays(database);
        } else {
            check_overlays(schema, database)?;
        }
    }
    check_suffixes(settings, schema)
}

fn check_database(schema: &Arc<Schema>, database: &Database) -> Result<(), CheckError> {
    for suffix in &database.content.suffixes {
        check_dn(schema, "suffix", suffix, &suffix.origin)?;
    }
    let root = &database.content.root_dn;
    if let Some(name) = &root.value {
        check_dn(schema, "rootdn", name, &root.origin)?;
    }
    let update = &database.content.update_dn;
    if let Some(name) = &update.value {
        check_dn(schema, "updatedn", name, &update.origin)?;
    }
    replication::check(schema, database)?;
    check_directory(database)?;
    for index in &database.storage.indexes {
        check_index(schema, index)?;
    }
    check_policy(schema, &database.policy)?;
    convert::root(database)?;
    Ok(())
}

/// Warns of the overlays of a log of changes that have no effect.
fn warn_of_overlays(database: &Database) {
    let overlays = database.overlays.iter();
    for overlay in overlays.filter(|overlay| overlay.name != "syncprov") {
        let text = "it has no effect on a log of changes";
        tracing::warn!("{}: overlay {}: {text}", overlay.origin, overlay.name);
    }
}

/// Checks the directives of overlays. Warns of attributes that they look up without an index.
fn check_overlays(schema: &Arc<Schema>, database: &Database) -> Result<(), ConfigError> {
    let suffixes = database.content.suffixes.iter();
    let suffixes = suffixes.filter_map(|suffix| Dn::parse(schema, suffix).ok());
    let suffixes: Vec<Dn> = suffixes.collect();
    let report = fulgurite_directory::check_overlays(schema, &suffixes, &database.overlays);
    let report = report.map_err(|error| ConfigError::at(&error.origin, error.value))?;
    for warning in &report.warnings {
        tracing::warn!("{}: {}", warning.origin, warning.value);
    }
    for name in report.lookups.iter() {
        if has_equality_index(schema, database, name) {
            continue;
        }
        tracing::warn!(
            "{}: each update that the overlay checks reads all entries: add \"index {} eq\"",
            name.origin,
            name.value
        );
    }
    Ok(())
}

/// Returns true if the store of a database has an equality index of an attribute. It keeps those of
/// members of groups without a setting, and those of an image's `refint`.
fn has_equality_index(schema: &Schema, database: &Database, name: &str) -> bool {
    let index_of = |name: &str| schema.attribute(name).map(|definition| definition.index);
    let wanted = index_of(name);
    let configured = database.indexes();
    let mut configured = configured.iter();
    let mut members = database.memberships().map(|(member, _)| member);
    let mut referring = database.attributes_of_unwritten_refint();
    members.any(|member| index_of(&member) == wanted)
        || referring.any(|attribute| index_of(attribute) == wanted)
        || configured.any(|index| {
            index.kinds.has(IndexKind::Equality) && index_of(&index.attribute) == wanted
        })
}

/// Like slapd, refuses a directory that does not exist if the setting is from a slapd
/// configuration. Refuses a path that is not a directory in any case.
fn check_directory(database: &Database) -> Result<(), ConfigError> {
    let directory = &database.storage.directory;
    let Some(path) = &directory.value else {
        return Ok(());
    };
    let is_slapds = matches!(directory.origin, Origin::File { column: None, .. });
    let reason = match std::fs::metadata(path) {
        Ok(found) if !found.is_dir() => "Not a directory".to_owned(),
        Err(error) if is_slapds => error.to_string(),
        _ => return Ok(()),
    };
    let message = format!("invalid path {}: {reason}", path.display());
    Err(ConfigError::at(&directory.origin, message))
}

fn check_policy(schema: &Arc<Schema>, policy: &Policy) -> Result<(), ConfigError> {
    for rule in &policy.access {
        let text = RuleText::from(rule.value.to_string());
        Rules::parse(schema, [&text], WithoutRules::default()).map_err(|error| {
            ConfigError::at(
                &rule.origin,
                format!("access rule, character {}: {}", error.column, error.reason),
            )
        })?;
    }
    for rule in &policy.limits {
        Selector::parse(schema, &rule.selector)
            .map_err(|reason| ConfigError::at(&rule.origin, format!("limits: {reason}")))?;
    }
    for name in policy.extra_attributes.iter() {
        let bare = name.trim_start_matches(['@', '!']);
        if schema.attribute(bare).is_none() && schema.object_class(bare).is_none() {
            let message = format!("<extra_attrs> unknown attribute type {name}");
            return Err(ConfigError::at(&policy.extra_attributes.origin, message));
        }
    }
    Ok(())
}

fn check_dn(
    schema: &Arc<Schema>,
    what: &str,
    dn: &str,
    origin: &Origin,
) -> Result<(), ConfigError> {
    match Dn::parse(schema, dn) {
        Ok(_) => Ok(()),
        Err(reason) => {
            let hint = written_as_domain(dn).unwrap_or_default();
            let message = format!("<{what}> invalid DN 21 (Invalid syntax): {reason}{hint}");
            Err(ConfigError::at(origin, message))
        }
    }
}

/// Returns the advice for a domain in the place of a DN.
fn written_as_domain(text: &str) -> Option<String> {
    let is_label = |label: &str| {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        !label.is_empty() && label.chars().all(fits)
    };
    let labels: Vec<&str> = text.split('.').collect();
    if labels.len() < 2 || !labels.iter().all(|label| is_label(label)) {
        return None;
    }
    let parts = labels.iter().map(|label| format!("dc={label}"));
    let parts: Vec<String> = parts.collect();
    Some(format!("; write {}", parts.join(",")))
}

fn check_index(schema: &Arc<Schema>, index: &Sourced<IndexSetting>) -> Result<(), ConfigError> {
    let name = &index.attribute;
    let refuse = |message: String| Err(ConfigError::at(&index.origin, message));
    let bare = name.split(';').next().unwrap_or(name);
    let Some(attribute) = schema.attribute(bare) else {
        return refuse(format!("index attribute \"{name}\" undefined"));
    };
    if index.kinds.has(IndexKind::Substring) && attribute.substring.is_none() {
        return refuse(format!("substr index of attribute \"{name}\" disallowed"));
    }
    if index.kinds.has(IndexKind::Equality) && attribute.equality.is_none() {
        return refuse(format!("equality index of attribute \"{name}\" disallowed"));
    }
    if index.kinds.has(IndexKind::Approximate) && attribute.equality.is_none() {
        return refuse(format!("approx index of attribute \"{name}\" disallowed"));
    }
    Ok(())
}

/// Checks that at least one scheme for new passwords is known. Like slapd, it ignores the others.
/// In slapd's configuration their names have braces.
fn check_hashes(settings: &Settings) -> Result<(), ConfigError> {
    let hashes = &settings.global.password_hash;
    let known = |name: &String| match settings.slapd {
        true => is_braced_scheme(name),
        false => Scheme::from_name(name).is_some(),
    };
    for name in hashes.iter().filter(|name| !known(name)) {
        tracing::warn!(
            "{}: <password-hash> scheme not available ({name})",
            hashes.origin
        );
    }
    if hashes.is_empty() || hashes.iter().any(known) {
        return Ok(());
    }
    let keyword = match settings.files {
        Some(_) => "olcPasswordHash",
        None => "password-hash",
    };
    let message = format!("<{keyword}> no valid hashes found");
    Err(ConfigError::at(&hashes.origin, message))
}

/// Returns true for the name of a known scheme in braces.
pub(super) fn is_braced_scheme(name: &str) -> bool {
    name.starts_with('{') && Scheme::from_name(name).is_some()
}

/// Checks that no suffix occurs twice and that each subordinate database has a superior.
fn check_suffixes(settings: &Settings, schema: &Arc<Schema>) -> Result<(), CheckError> {
    let mut known: Vec<(Dn, &Database)> = Vec::new();
    for database in &settings.databases {
        for suffix in &database.content.suffixes {
            let Ok(dn) = Dn::parse(schema, suffix) else {
                continue;
            };
            if known.iter().any(|(other, _)| *other == dn) {
                let message = format!(
                    "<suffix> namingContext \"{}\" already served by a preceding database",
                    suffix.value
                );
                return Err(ConfigError::at(&suffix.origin, message).into());
            }
            known.push((dn, database));
        }
    }
    for (dn, database) in &known {
        let glued = *database.content.subordinate != Subordinate::No;
        let above = |(other, of): &(Dn, &Database)| {
            other != dn && dn.is_within(other) && of.kind == DatabaseKind::Mdb
        };
        if glued && !known.iter().any(above) {
            let message = format!("glue: no superior found for sub {}!", dn.pretty());
            let origin = &database.content.subordinate.origin;
            return Err(ConfigError::at(origin, message).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use fulgurite_config::Layer;

    use super::*;

    #[test]
    fn a_domain_in_the_place_of_a_name_gets_the_advice() {
        let refused = |suffix: &str| {
            let mut layer = Layer::default();
            layer
                .set("suffix", suffix, &Origin::Flag("--suffix"))
                .expect("a text");
            let settings = Settings::new(layer).expect("sound");
            check_settings(&settings).expect_err(suffix).to_string()
        };
        let text = refused("example.org");
        assert!(text.ends_with("; write dc=example,dc=org"), "{text}");
        let text = refused("dc=example.org,x");
        assert!(!text.contains("write"), "{text}");
    }

    #[test]
    fn an_index_that_no_rule_answers_is_refused_in_slapds_words() {
        let schema = Schema::standard();
        for (kind, text) in [
            ("eq", "equality index of attribute \"jpegPhoto\" disallowed"),
            ("sub", "substr index of attribute \"jpegPhoto\" disallowed"),
            (
                "approx",
                "approx index of attribute \"jpegPhoto\" disallowed",
            ),
        ] {
            let lines = format!("database mdb\nsuffix dc=x\nindex jpegPhoto {kind}\n");
            let layer = Layer::from_slapd_conf_text(&lines, "a.conf".as_ref());
            let settings = Settings::new(layer.expect("readable")).expect("sound");
            let database = settings.stores().next().expect("a database");
            let index = &database.storage.indexes[0];
            let refused = check_index(&schema, index).expect_err(kind);
            assert!(refused.to_string().ends_with(text), "{refused}");
        }
    }

    #[test]
    fn indexes_of_members_need_no_setting() {
        let text = "database mdb\nsuffix dc=x\nindex sn eq\noverlay memberof\n\
                    memberof-member-ad MEMBER\n";
        let layer = Layer::from_slapd_conf_text(text, "a.conf".as_ref());
        let settings = Settings::new(layer.expect("readable")).expect("sound");
        let database = settings.stores().next().expect("a database");
        let schema = Schema::standard();
        let has_index = |name: &str| has_equality_index(&schema, database, name);
        assert!(has_index("sn") && has_index("member"));
        assert!(!has_index("owner"));
    }
}
