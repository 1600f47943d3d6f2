//! The ways of Bitnami's image: databases, users and overlays.

use fulgurite_policy::DatabaseKind;

use super::overlays::{overlay, set_overlays};
use super::variables::{Variables, escaped, items, truth};
use crate::layer::Layer;
use crate::secret::Secret;
use crate::seed_entry::SeedEntry;
use crate::toml_overlay::WrittenOverlay;
use crate::{ConfigError, DatabaseLayer, Origin, Sourced};

/// Gives the databases the numbers of Bitnami's image: the monitor is the first, then the data.
pub(super) fn databases(layer: &mut Layer, suffix: &str, origin: &Origin) {
    let root = layer.first.content.root_dn.as_ref();
    let root = root.and_then(|root| root.value.clone());
    let root = root.unwrap_or_else(|| format!("cn=admin,{suffix}"));
    let mut monitor = DatabaseLayer {
        kind: DatabaseKind::Monitor,
        origin: Some(origin.clone()),
        ..DatabaseLayer::default()
    };
    let rule = format!("to * by dn.exact=\"{root}\" read by * none");
    monitor.policy.access = vec![Sourced::new(rule.into(), origin.clone())];
    let data = DatabaseLayer {
        origin: Some(origin.clone()),
        ..DatabaseLayer::default()
    };
    layer.databases = vec![monitor, data];
}

/// Adds the overlays that Bitnami's variables ask for.
pub(super) fn overlays(layer: &mut Layer, variables: &Variables) -> Result<(), ConfigError> {
    let mut overlays = Vec::new();
    if let Some((value, origin)) = variables.get("LDAP_CONFIGURE_PPOLICY")
        && truth(value)
    {
        let words = [
            ("LDAP_PPOLICY_USE_LOCKOUT", "ppolicy_use_lockout"),
            ("LDAP_PPOLICY_HASH_CLEARTEXT", "ppolicy_hash_cleartext"),
        ];
        let lines = words.iter().filter(|(name, _)| variables.is_true(name));
        let lines: Vec<String> = lines.map(|(_, line)| (*line).to_owned()).collect();
        overlays.push(overlay("ppolicy", &lines, &origin));
    }
    if let Some((value, origin)) = variables.get("LDAP_ENABLE_SYNCPROV")
        && truth(value)
    {
        let word = |name, usual| variables.get(name).map_or(usual, |(value, _)| value);
        let lines = [
            format!(
                "syncprov-checkpoint {}",
                word("LDAP_SYNCPROV_CHECKPPOINT", "100 10")
            ),
            format!(
                "syncprov-sessionlog {}",
                word("LDAP_SYNCPROV_SESSIONLOG", "100")
            ),
        ];
        overlays.push(overlay("syncprov", &lines, &origin));
    }
    overlays.extend(access_log(layer, variables)?);
    set_overlays(layer, &overlays)
}

/// The directives of the log of changes, with Bitnami's variables and their defaults.
const ACCESS_LOG: [(&str, &str, &str); 6] = [
    ("logdb", "LDAP_ACCESSLOG_DB", "cn=accesslog"),
    ("logops", "LDAP_ACCESSLOG_LOGOPS", "writes"),
    ("logsuccess", "LDAP_ACCESSLOG_LOGSUCCESS", "TRUE"),
    ("logpurge", "LDAP_ACCESSLOG_LOGPURGE", "07+00:00 01+00:00"),
    ("logold", "LDAP_ACCESSLOG_LOGOLD", "(objectClass=*)"),
    ("logoldattr", "LDAP_ACCESSLOG_LOGOLDATTR", "objectClass"),
];

/// Adds the database that shows the log of changes, and returns its overlay. The root of the data
/// may read it. A root of the log has a password only if a variable says it.
fn access_log(
    layer: &mut Layer,
    variables: &Variables,
) -> Result<Option<WrittenOverlay>, ConfigError> {
    let wanted = variables.get("LDAP_ENABLE_ACCESSLOG");
    let Some((_, origin)) = wanted.filter(|(value, _)| truth(value)) else {
        return Ok(None);
    };
    let word = |name, usual| variables.get(name).map_or(usual, |(value, _)| value);
    let lines = ACCESS_LOG.map(|(keyword, name, usual)| match keyword {
        // A filter is one argument.
        "logold" => format!("{keyword} \"{}\"", word(name, usual)),
        _ => format!("{keyword} {}", word(name, usual)),
    });
    let suffix = word("LDAP_ACCESSLOG_DB", "cn=accesslog").to_owned();
    let admin = escaped(word("LDAP_ACCESSLOG_ADMIN_USERNAME", "admin"));
    let mut log = DatabaseLayer {
        origin: Some(origin.clone()),
        ..DatabaseLayer::default()
    };
    let root = Some(format!("cn={admin},{suffix}"));
    log.content.root_dn = Some(Sourced::new(root, origin.clone()));
    let password = variables.secret(
        "LDAP_ACCESSLOG_ADMIN_PASSWORD",
        "LDAP_ACCESSLOG_ADMIN_PASSWORD_FILE",
    )?;
    if let Some((password, origin)) = password {
        log.content.root_password = Some(Sourced::new(Some(Secret(password)), origin));
    }
    log.content.suffixes = vec![Sourced::new(suffix, origin.clone())];
    let monitor = layer.databases.first();
    log.policy.access = monitor.map_or_else(Vec::new, |monitor| monitor.policy.access.clone());
    layer.databases.push(log);
    Ok(Some(overlay("accesslog", &lines, &origin)))
}

/// Adds users, their units and their group, as Bitnami's image does.
pub(super) fn tree(
    layer: &mut Layer,
    variables: &Variables,
    suffix: &str,
) -> Result<(), ConfigError> {
    let root = variables.get("LDAP_ROOT").map_or(suffix, |(root, _)| root);
    if let Some((_, origin)) = variables.get("LDAP_ROOT").filter(|_| root != suffix) {
        let name = root.split(',').next().and_then(|rdn| rdn.split_once('='));
        if let Some((attribute, value)) = name {
            let class = match attribute.eq_ignore_ascii_case("dc") {
                true => &["dcObject", "organization"][..],
                false => &["organizationalUnit"],
            };
            let entry = SeedEntry::new(root, class, origin).with(attribute, value);
            let entry = if class.len() > 1 {
                entry.with("o", value)
            } else {
                entry
            };
            layer.seeds.push(entry);
        }
    }
    let replaced = variables.get("LDAP_CUSTOM_LDIF_DIR").is_some();
    let Some((users, origin)) = variables.get("LDAP_USERS") else {
        return Ok(());
    };
    if replaced || variables.is_true("LDAP_SKIP_DEFAULT_TREE") {
        return Ok(());
    }
    let word = |name, usual| variables.first(name).map_or(usual, |(value, _)| value);
    let unit_name = word(&["LDAP_USER_OU", "LDAP_USER_DC"], "users");
    let group_unit_name = word(&["LDAP_GROUP_OU", "LDAP_USER_DC"], "groups");
    let unit = format!("ou={},{root}", escaped(unit_name));
    let group_unit = format!("ou={},{root}", escaped(group_unit_name));
    let seed = |dn: &str, classes: &[&str]| SeedEntry::new(dn, classes, origin.clone());
    let users = items(users);
    let passwords = items(word(&["LDAP_PASSWORDS"], ""));
    if !passwords.is_empty() && passwords.len() != users.len() {
        let text = format!(
            "{} passwords are given for {} users",
            passwords.len(),
            users.len()
        );
        return Err(ConfigError::at(&origin, text));
    }
    let seeds = &mut layer.seeds;
    seeds.push(seed(&unit, &["organizationalUnit"]).with("ou", unit_name));
    if unit != group_unit {
        seeds.push(seed(&group_unit, &["organizationalUnit"]).with("ou", group_unit_name));
    }
    let mut passwords = passwords.into_iter();
    let mut members = Vec::new();
    for (at, user) in users.into_iter().enumerate() {
        let dn = format!("cn={},{unit}", escaped(user));
        let number = (1000 + at).to_string();
        let entry = seed(&dn, &["inetOrgPerson", "posixAccount", "shadowAccount"])
            .with("cn", user)
            .with("sn", user)
            .with("uid", user)
            .with("uidNumber", &number)
            .with("gidNumber", &number)
            .with("homeDirectory", &format!("/home/{user}"));
        seeds.push(match passwords.next() {
            Some(password) => entry.with("userPassword", password),
            None => entry,
        });
        members.push(dn);
    }
    if !members.is_empty() {
        let group = word(&["LDAP_GROUP"], "readers");
        let dn = format!("cn={},{group_unit}", escaped(group));
        let entry = seed(&dn, &["groupOfNames"]).with("cn", group);
        seeds.push(
            members
                .iter()
                .fold(entry, |entry, member| entry.with("member", member)),
        );
    }
    Ok(())
}
