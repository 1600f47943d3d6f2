//! Environment variables of the container images osixia/openldap and bitnami/openldap.
//!
//! The server reads them at every start, not only at the first one. `FULGURITE_...` wins over them.
//! The images also run scripts, make certificates and replicate. The server does none of this, and
//! notes the variables that have no effect. docs/containers.md lists all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::layer::Layer;
use crate::secret::Secret;
use crate::seed_entry::SeedEntry;
use crate::toml_overlay::{self, WrittenOverlay};
use crate::{ConfigError, DatabaseLayer, Note, Origin, Sourced, levels};
use fulgurite_policy::DatabaseKind;

/// The folder of the files that `LDAP_TLS_..._FILENAME` name in osixia's image.
const OSIXIA_CERTIFICATES: &str = "/container/service/slapd/assets/certs";

/// The folder of osixia's image with files of schema and LDIF.
const OSIXIA_BOOTSTRAP: &str = "/container/service/slapd/assets/config/bootstrap";

/// The variables that are not empty.
pub(crate) struct Variables(pub(crate) BTreeMap<String, String>);

impl Variables {
    fn get(&self, name: &'static str) -> Option<(&str, Origin)> {
        let value = self.0.get(name)?;
        Some((value.as_str(), Origin::Variable(name.to_owned())))
    }

    /// Returns the first of several that is set.
    fn first(&self, names: &[&'static str]) -> Option<(&str, Origin)> {
        names.iter().find_map(|name| self.get(name))
    }

    fn is_true(&self, name: &'static str) -> bool {
        self.get(name).is_some_and(|(value, _)| truth(value))
    }
}

fn truth(value: &str) -> bool {
    ["true", "yes", "on", "1"].contains(&value.to_ascii_lowercase().as_str())
}

impl Variables {
    /// Returns true if the variables are those of Bitnami's image.
    fn is_bitnami(&self) -> bool {
        self.get("LDAP_ROOT").is_some()
    }

    /// Returns a secret that a variable has, or the file that another one names.
    fn secret(
        &self,
        name: &'static str,
        file: &'static str,
    ) -> Result<Option<(String, Origin)>, ConfigError> {
        if let Some((value, origin)) = self.get(name) {
            return Ok(Some((value.to_owned(), origin)));
        }
        let Some((path, origin)) = self.get(file) else {
            return Ok(None);
        };
        let path = PathBuf::from(path);
        let text = std::fs::read_to_string(&path).map_err(|cause| ConfigError::Unreadable {
            what: "password file",
            path,
            cause,
        })?;
        Ok(Some((
            text.trim_end_matches(['\n', '\r']).to_owned(),
            origin,
        )))
    }
}

/// Variables that have an effect, besides those of `PLAIN` and of certificates.
const USED: [&str; 54] = [
    "LDAP_ACCESSLOG_ADMIN_PASSWORD",
    "LDAP_ACCESSLOG_ADMIN_PASSWORD_FILE",
    "LDAP_ACCESSLOG_ADMIN_USERNAME",
    "LDAP_ACCESSLOG_DB",
    "LDAP_ACCESSLOG_LOGOLD",
    "LDAP_ACCESSLOG_LOGOLDATTR",
    "LDAP_ACCESSLOG_LOGOPS",
    "LDAP_ACCESSLOG_LOGPURGE",
    "LDAP_ACCESSLOG_LOGSUCCESS",
    "LDAP_ADD_SCHEMAS",
    "LDAP_ADMIN_PASSWORD",
    "LDAP_ADMIN_PASSWORD_FILE",
    "LDAP_ADMIN_USERNAME",
    "LDAP_ALLOW_ANON_BINDING",
    "LDAP_BACKEND",
    "LDAP_BASE_DN",
    "LDAP_CONFIGURE_PPOLICY",
    "LDAP_CONFIG_ADMIN_ENABLED",
    "LDAP_CONFIG_ADMIN_PASSWORD",
    "LDAP_CONFIG_ADMIN_PASSWORD_FILE",
    "LDAP_CONFIG_ADMIN_USERNAME",
    "LDAP_CONFIG_PASSWORD",
    "LDAP_CONFIG_PASSWORD_FILE",
    "LDAP_DOMAIN",
    "LDAP_ENABLE_ACCESSLOG",
    "LDAP_ENABLE_SYNCPROV",
    "LDAP_ENABLE_TLS",
    "LDAP_EXTRA_SCHEMAS",
    "LDAP_GROUP",
    "LDAP_GROUP_OU",
    "LDAP_LDAPS_PORT_NUMBER",
    "LDAP_LOGLEVEL",
    "LDAP_LOG_LEVEL",
    "LDAP_PASSWORDS",
    "LDAP_PORT",
    "LDAP_PORT_NUMBER",
    "LDAP_PPOLICY_HASH_CLEARTEXT",
    "LDAP_PPOLICY_USE_LOCKOUT",
    "LDAP_READONLY_USER",
    "LDAP_READONLY_USER_PASSWORD",
    "LDAP_READONLY_USER_PASSWORD_FILE",
    "LDAP_READONLY_USER_USERNAME",
    "LDAP_REQUIRE_TLS",
    "LDAP_ROOT",
    "LDAP_SKIP_DEFAULT_TREE",
    "LDAP_SUFFIX",
    "LDAP_SYNCPROV_CHECKPPOINT",
    "LDAP_SYNCPROV_SESSIONLOG",
    "LDAP_TLS",
    "LDAP_TLS_ENFORCE",
    "LDAP_USERS",
    "LDAP_USER_DC",
    "LDAP_USER_OU",
    "LDAPS_PORT",
];

/// Variables that ask for a feature that the server lacks, with the reason.
const MISSING: [(&str, &str); 3] = [
    ("LDAP_REPLICATION", NO_COPIES),
    ("LDAP_REPLICATION_HOSTS", NO_COPIES),
    (
        "LDAP_ENABLE_PROXYPROTO",
        "the server does not read the PROXY protocol, so it listens without it",
    ),
];

const NO_COPIES: &str =
    "replication by this variable is left out; use syncrepl in a file of settings";

/// Reads the images' variables.
pub(crate) fn read(variables: &Variables) -> Result<Layer, ConfigError> {
    let mut layer = Layer::default();
    let suffix = suffix(variables);
    if let Some((suffix, origin)) = &suffix {
        layer.set("suffix", suffix.as_str(), origin)?;
        layer.set("start.create_suffix", "true", origin)?;
    }
    for (name, key) in PLAIN {
        if let Some((value, origin)) = variables.get(name) {
            layer.set(key, value, &origin)?;
        }
    }
    admin(&mut layer, variables, suffix.as_ref())?;
    config_admin(&mut layer, variables);
    listeners(&mut layer, variables, suffix.is_some())?;
    certificates(&mut layer, variables)?;
    log_level(&mut layer, variables)?;
    extra_schemas(&mut layer, variables);
    if let Some((suffix, origin)) = &suffix {
        if variables.is_bitnami() {
            bitnami_databases(&mut layer, suffix, origin);
            bitnami_tree(&mut layer, variables, suffix)?;
            bitnami_overlays(&mut layer, variables)?;
        } else {
            osixia_rules(&mut layer, variables, suffix, origin)?;
            osixia_overlays(&mut layer, origin)?;
            osixia_seeds(&mut layer, variables, (suffix, origin))?;
        }
    }
    add_notes(&mut layer, variables);
    Ok(layer)
}

/// Adds a note for each variable that asks for a missing feature, and one for those without effect.
fn add_notes(layer: &mut Layer, variables: &Variables) {
    for (name, reason) in MISSING {
        if let Some((value, origin)) = variables.get(name)
            && !["false", "no"].contains(&value)
        {
            layer.notes.push(Note {
                origin,
                text: reason.to_owned(),
                warning: true,
            });
        }
    }
    let is_used = |name: &str| {
        let plain = PLAIN.iter().map(|(name, _)| name);
        let missing = MISSING.iter().map(|(name, _)| name);
        let files = CERTIFICATES.iter().map(|(name, _)| name);
        let mut all = plain.chain(missing).chain(files).chain(&USED);
        all.any(|used| *used == name)
    };
    // Orchestrators describe a service of the name "ldap" in such variables.
    let is_service = |name: &str| name.contains("_SERVICE_") || name.starts_with("LDAP_PORT_");
    let unused = variables.0.keys().filter(|name| {
        let is_of_images = name.starts_with("LDAP_") || *name == "KEEP_EXISTING_CONFIG";
        is_of_images && !is_used(name) && !is_service(name)
    });
    let unused: Vec<&str> = unused.map(String::as_str).collect();
    if let Some(first) = unused.first() {
        layer.notes.push(Note {
            origin: Origin::Variable((*first).to_owned()),
            text: format!("without effect: {}", unused.join(", ")),
            warning: false,
        });
    }
}

/// Variables that set a key to their value.
const PLAIN: [(&str, &str); 16] = [
    ("LDAP_PASSWORD_HASH", "password.hash"),
    ("LDAP_TLS_VERIFY_CLIENTS", "tls.verify_client"),
    ("LDAP_ORGANISATION", "start.organization"),
    ("LDAP_RFC2307BIS_SCHEMA", "rfc2307bis"),
    ("LDAP_TLS_CERT_FILE", "tls.certificate"),
    ("LDAP_TLS_KEY_FILE", "tls.key"),
    ("LDAP_TLS_CA_FILE", "tls.ca"),
    ("LDAP_TLS_DH_PARAMS_FILE", "tls.dh_parameters"),
    ("LDAP_TLS_CIPHER_SUITE", "tls.ciphers"),
    ("LDAP_TLS_VERIFY_CLIENT", "tls.verify_client"),
    ("LDAP_TLS_PROTOCOL_MIN", "tls.protocol_min"),
    ("LDAP_CUSTOM_LDIF_DIR", "start.ldif_directory"),
    ("LDAP_SEED_INTERNAL_LDIF_PATH", "start.ldif_directory"),
    ("LDAP_CUSTOM_SCHEMA_DIR", "start.schema_directory"),
    ("LDAP_SEED_INTERNAL_SCHEMA_PATH", "start.schema_directory"),
    ("LDAP_CUSTOM_SCHEMA_FILE", "schema"),
];

/// Returns the suffix, such as `dc=example,dc=org`, which may also be given as a domain.
fn suffix(variables: &Variables) -> Option<(String, Origin)> {
    if let Some((suffix, origin)) = variables.first(&["LDAP_SUFFIX", "LDAP_ROOT", "LDAP_BASE_DN"]) {
        return Some((suffix.to_owned(), origin));
    }
    let (domain, origin) = variables.get("LDAP_DOMAIN")?;
    let parts = domain.split('.').filter(|part| !part.is_empty());
    let parts: Vec<String> = parts.map(|part| format!("dc={part}")).collect();
    Some((parts.join(","), origin))
}

fn admin(
    layer: &mut Layer,
    variables: &Variables,
    suffix: Option<&(String, Origin)>,
) -> Result<(), ConfigError> {
    if let Some((password, origin)) = variables.get("LDAP_ADMIN_PASSWORD") {
        layer.set("root.password", password, &origin)?;
    } else if let Some((file, origin)) = variables.get("LDAP_ADMIN_PASSWORD_FILE") {
        layer.set("root.password_file", file, &origin)?;
    }
    let root = variables.get("LDAP_ROOT").or_else(|| {
        let (suffix, origin) = suffix?;
        Some((suffix.as_str(), origin.clone()))
    });
    let name = variables.get("LDAP_ADMIN_USERNAME");
    // Without a name, the root is cn=admin below the suffix, which may be another entry.
    let name = name.or_else(|| Some(("admin", variables.get("LDAP_SUFFIX")?.1)));
    if let (Some((name, origin)), Some((root, _))) = (name, root) {
        let dn = format!("cn={},{root}", escaped(name));
        layer.set("root.dn", dn.as_str(), &origin)?;
    }
    Ok(())
}

fn config_admin(layer: &mut Layer, variables: &Variables) {
    let bitnami = variables.is_true("LDAP_CONFIG_ADMIN_ENABLED");
    let (text, file) = match bitnami {
        true => (
            "LDAP_CONFIG_ADMIN_PASSWORD",
            "LDAP_CONFIG_ADMIN_PASSWORD_FILE",
        ),
        false => ("LDAP_CONFIG_PASSWORD", "LDAP_CONFIG_PASSWORD_FILE"),
    };
    let (text, file) = (variables.get(text), variables.get(file));
    let Some((_, origin)) = text.clone().or_else(|| file.clone()) else {
        return;
    };
    let name = variables
        .get("LDAP_CONFIG_ADMIN_USERNAME")
        .filter(|_| bitnami);
    let name = name.map_or("admin", |(name, _)| name);
    let content = &mut layer.config.content;
    let dn = format!("cn={},cn=config", escaped(name));
    content.root_dn = Some(Sourced::new(Some(dn), origin));
    match (text, file) {
        (Some((password, origin)), _) => {
            let secret = Some(Secret(password.to_owned()));
            content.root_password = Some(Sourced::new(secret, origin));
        }
        (None, Some((file, origin))) => {
            content.root_password_file = Some(Sourced::new(Some(file.into()), origin));
        }
        (None, None) => {}
    }
}

/// Sets the images' listeners: every address, and their ports.
fn listeners(
    layer: &mut Layer,
    variables: &Variables,
    said_suffix: bool,
) -> Result<(), ConfigError> {
    // Orchestrators put addresses of services into variables of these names: "tcp://10.0.0.1:389".
    let port = |names: &[&'static str]| {
        let found = variables.first(names)?;
        found.0.parse::<u16>().ok().map(|port| (port, found.1))
    };
    let plain = port(&["LDAP_PORT_NUMBER", "LDAP_PORT"]);
    let tls = port(&["LDAP_LDAPS_PORT_NUMBER", "LDAPS_PORT"]);
    if plain.is_none() && tls.is_none() && !said_suffix {
        return Ok(());
    }
    let bitnami = variables.is_bitnami();
    let (usual, usual_tls) = if bitnami { (1389, 1636) } else { (389, 636) };
    let origin = plain
        .as_ref()
        .or(tls.as_ref())
        .map(|(_, origin)| origin.clone());
    let origin = origin
        .or_else(|| Some(suffix(variables)?.1))
        .unwrap_or(Origin::Default);
    let mut urls = format!("ldap://:{}", plain.map_or(usual, |(port, _)| port));
    if wants_tls(variables) {
        urls.push_str(&format!(
            " ldaps://:{}",
            tls.map_or(usual_tls, |(port, _)| port)
        ));
    }
    layer.set("listen", urls.as_str(), &origin)
}

/// Returns true if the variables name certificates. The server makes none itself, unlike the
/// images.
fn wants_tls(variables: &Variables) -> bool {
    let bitnami = variables.is_true("LDAP_ENABLE_TLS");
    let refused = variables
        .get("LDAP_TLS")
        .is_some_and(|(value, _)| !truth(value));
    bitnami || variables.get("LDAP_TLS_CRT_FILENAME").is_some() && !refused
}

/// The variables of osixia's image that name files of certificates.
const CERTIFICATES: [(&str, &str); 4] = [
    ("LDAP_TLS_CRT_FILENAME", "tls.certificate"),
    ("LDAP_TLS_KEY_FILENAME", "tls.key"),
    ("LDAP_TLS_CA_CRT_FILENAME", "tls.ca"),
    ("LDAP_TLS_DH_PARAM_FILENAME", "tls.dh_parameters"),
];

fn certificates(layer: &mut Layer, variables: &Variables) -> Result<(), ConfigError> {
    if wants_tls(variables) {
        for (name, key) in CERTIFICATES {
            if let Some((file, origin)) = variables.get(name) {
                let path = Path::new(OSIXIA_CERTIFICATES).join(file);
                layer.set(key, path.to_string_lossy().as_ref(), &origin)?;
            }
        }
    }
    if let Some((value, origin)) = variables.first(&["LDAP_TLS_ENFORCE", "LDAP_REQUIRE_TLS"])
        && truth(value)
    {
        layer.set("security", "tls=1", &origin)?;
        layer.set("local_ssf", "0", &origin)?;
    }
    if let Some((value, origin)) = variables.get("LDAP_ALLOW_ANON_BINDING")
        && !truth(value)
    {
        layer.set("disallow", "bind_anon", &origin)?;
    }
    Ok(())
}

fn log_level(layer: &mut Layer, variables: &Variables) -> Result<(), ConfigError> {
    let Some((words, origin)) = variables.first(&["LDAP_LOG_LEVEL", "LDAP_LOGLEVEL"]) else {
        return Ok(());
    };
    let mut mask = 0;
    for word in words.split([' ', ',']).filter(|word| !word.is_empty()) {
        mask |= levels::parse_level(word).map_err(|_| {
            ConfigError::at(&origin, format!("\"{word}\" is no log level of slapd"))
        })?;
    }
    layer.global.set_log_mask(mask, &origin);
    Ok(())
}

fn extra_schemas(layer: &mut Layer, variables: &Variables) {
    let Some((names, origin)) = variables.get("LDAP_EXTRA_SCHEMAS") else {
        return;
    };
    let adds = variables.get("LDAP_ADD_SCHEMAS");
    if adds.is_some_and(|(value, _)| !truth(value)) {
        return;
    }
    for name in names.split([',', ' ']).filter(|name| !name.is_empty()) {
        // A file that does not exist is a schema that is built in.
        let file = crate::SchemaPart::File(PathBuf::from(format!("{name}.schema")));
        layer.global.schema.push(Sourced::new(file, origin.clone()));
    }
}

/// Gives the databases the numbers of Bitnami's image: the monitor is the first, then the data.
fn bitnami_databases(layer: &mut Layer, suffix: &str, origin: &Origin) {
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
fn bitnami_overlays(layer: &mut Layer, variables: &Variables) -> Result<(), ConfigError> {
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
    overlays.extend(bitnami_access_log(layer, variables)?);
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
fn bitnami_access_log(
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

/// Adds the overlays of osixia's image.
fn osixia_overlays(layer: &mut Layer, origin: &Origin) -> Result<(), ConfigError> {
    let memberof = [
        "memberof-group-oc groupOfUniqueNames",
        "memberof-member-ad uniqueMember",
        "memberof-refint TRUE",
    ];
    let refint = ["refint_attributes owner manager uniqueMember member"];
    let overlays = [
        overlay("memberof", &memberof, origin),
        overlay("refint", &refint, origin),
    ];
    set_overlays(layer, &overlays)
}

fn overlay<S: AsRef<str>>(name: &str, lines: &[S], origin: &Origin) -> WrittenOverlay {
    let sourced = |text: &str| Sourced::new(text.to_owned(), origin.clone());
    WrittenOverlay {
        name: sourced(name),
        lines: lines.iter().map(|line| sourced(line.as_ref())).collect(),
    }
}

fn set_overlays(layer: &mut Layer, written: &[WrittenOverlay]) -> Result<(), ConfigError> {
    let (overlays, notes) = toml_overlay::read(written)?;
    layer.first.overlays = overlays;
    layer.notes.extend(notes);
    Ok(())
}

/// Returns the items of a list, which commas, semicolons or blanks divide.
fn items(list: &str) -> Vec<&str> {
    let items = list.split([',', ';', ' ']);
    items.filter(|item| !item.is_empty()).collect()
}

/// Adds users, their units and their group, as Bitnami's image does.
fn bitnami_tree(layer: &mut Layer, variables: &Variables, suffix: &str) -> Result<(), ConfigError> {
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

/// Adds the rules of osixia's image, under which strangers read nothing, and its user that reads
/// everything.
fn osixia_rules(
    layer: &mut Layer,
    variables: &Variables,
    suffix: &str,
    origin: &Origin,
) -> Result<(), ConfigError> {
    let admin = format!("dn.exact=\"cn=admin,{suffix}\"");
    let mut reader = String::new();
    if variables.is_true("LDAP_READONLY_USER") {
        let word = |name, usual| variables.get(name).map_or(usual, |(value, _)| value);
        let name = word("LDAP_READONLY_USER_USERNAME", "readonly");
        let dn = format!("cn={},{suffix}", escaped(name));
        let classes = ["simpleSecurityObject", "organizationalRole"];
        let entry = SeedEntry::new(&dn, &classes, origin.clone())
            .with("cn", name)
            .with("userPassword", &readonly_password(variables)?)
            .with("description", "reads everything");
        layer.seeds.push(entry);
        reader = format!(" by dn.exact=\"{dn}\" read");
    }
    let rules = [
        format!(
            "to attrs=userPassword,shadowLastChange by self write by {admin} write by anonymous auth by * none"
        ),
        format!("to * by self read by {admin} write{reader} by * none"),
    ];
    let rules = rules.map(|rule| Sourced::new(rule.into(), origin.clone()));
    layer.first.policy.access = rules.to_vec();
    Ok(())
}

fn readonly_password(variables: &Variables) -> Result<String, ConfigError> {
    let given = variables.secret(
        "LDAP_READONLY_USER_PASSWORD",
        "LDAP_READONLY_USER_PASSWORD_FILE",
    )?;
    Ok(given.map_or_else(|| "readonly".to_owned(), |(password, _)| password))
}

/// Sets the folders of osixia's image if there are none yet, and the words that its files contain
/// in braces.
fn osixia_seeds(
    layer: &mut Layer,
    variables: &Variables,
    (suffix, origin): (&str, &Origin),
) -> Result<(), ConfigError> {
    let folders = [
        ("schema", "start.schema_directory"),
        ("ldif", "start.ldif_directory"),
    ];
    let is_said = [
        layer.global.schema_directory.is_some(),
        layer.global.ldif_directory.is_some(),
    ];
    for ((name, key), is_said) in folders.into_iter().zip(is_said) {
        let folder = Path::new(OSIXIA_BOOTSTRAP).join(name);
        if folder.is_dir() && !is_said {
            layer.set(key, folder.to_string_lossy().as_ref(), origin)?;
        }
    }
    let domain = suffix.split(',').filter_map(|part| part.split_once('='));
    let domain: Vec<&str> = domain.map(|(_, value)| value).collect();
    let word = |name, usual: &str| {
        let given = variables.get(name).map(|(value, _)| value.to_owned());
        given.unwrap_or_else(|| usual.to_owned())
    };
    let words = [
        ("LDAP_BASE_DN", suffix.to_owned()),
        ("LDAP_BACKEND", "mdb".to_owned()),
        ("LDAP_DOMAIN", word("LDAP_DOMAIN", &domain.join("."))),
        ("LDAP_ORGANISATION", word("LDAP_ORGANISATION", "")),
        (
            "LDAP_READONLY_USER_USERNAME",
            word("LDAP_READONLY_USER_USERNAME", "readonly"),
        ),
        (
            "LDAP_READONLY_USER_PASSWORD_ENCRYPTED",
            readonly_password(variables)?,
        ),
    ];
    let words = words.map(|(name, value)| (name.to_owned(), value));
    layer.seed_words = words.into_iter().collect();
    Ok(())
}

/// Returns a value escaped for a name (RFC 4514, section 2.4), as far as these images' values need
/// it.
fn escaped(value: &str) -> String {
    let mut out = String::new();
    for letter in value.chars() {
        if matches!(letter, ',' | '+' | '"' | '\\' | '<' | '>' | ';' | '=') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}
