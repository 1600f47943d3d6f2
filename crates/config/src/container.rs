//! Environment variables of the container images osixia/openldap and bitnami/openldap.
//!
//! The server reads them at every start, not only at the first one. `FULGURITE_...` wins over them.
//! The images also run scripts, make certificates and replicate. The server does none of this, and
//! notes the variables that ask for replication.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::layer::Layer;
use crate::secret::Secret;
use crate::seed_entry::SeedEntry;
use crate::{ConfigError, Note, Origin, Sourced, levels};

/// The folder of the files that `LDAP_TLS_..._FILENAME` name in osixia's image.
const OSIXIA_CERTIFICATES: &str = "/container/service/slapd/assets/certs";

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
        if variables.get("LDAP_ROOT").is_some() {
            bitnami_tree(&mut layer, variables, suffix);
        } else {
            osixia_rules(&mut layer, variables, suffix, origin);
        }
    }
    for name in ["LDAP_REPLICATION", "LDAP_REPLICATION_HOSTS"] {
        if let Some((value, origin)) = variables.get(name)
            && !["false", "no"].contains(&value)
        {
            layer.notes.push(Note {
                origin,
                text: "this server does not copy others; replication is left out".to_owned(),
                warning: true,
            });
        }
    }
    Ok(layer)
}

/// Variables that set a key to their value.
const PLAIN: [(&str, &str); 14] = [
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
    if let Some((suffix, origin)) = variables.first(&["LDAP_ROOT", "LDAP_BASE_DN"]) {
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
    if let (Some((name, origin)), Some((suffix, _))) =
        (variables.get("LDAP_ADMIN_USERNAME"), suffix)
    {
        layer.set(
            "root.dn",
            format!("cn={},{suffix}", escaped(name)).as_str(),
            &origin,
        )?;
    }
    Ok(())
}

fn config_admin(layer: &mut Layer, variables: &Variables) {
    let bitnami = variables.is_true("LDAP_CONFIG_ADMIN_ENABLED");
    let password = match bitnami {
        true => variables.get("LDAP_CONFIG_ADMIN_PASSWORD"),
        false => variables.get("LDAP_CONFIG_PASSWORD"),
    };
    let Some((password, origin)) = password else {
        return;
    };
    let name = variables
        .get("LDAP_CONFIG_ADMIN_USERNAME")
        .filter(|_| bitnami);
    let name = name.map_or("admin", |(name, _)| name);
    let content = &mut layer.config.content;
    let dn = format!("cn={},cn=config", escaped(name));
    content.root_dn = Some(Sourced::new(Some(dn), origin.clone()));
    let secret = Some(Secret(password.to_owned()));
    content.root_password = Some(Sourced::new(secret, origin));
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
    let bitnami = variables.get("LDAP_ROOT").is_some();
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

fn certificates(layer: &mut Layer, variables: &Variables) -> Result<(), ConfigError> {
    const NAMES: [(&str, &str); 4] = [
        ("LDAP_TLS_CRT_FILENAME", "tls.certificate"),
        ("LDAP_TLS_KEY_FILENAME", "tls.key"),
        ("LDAP_TLS_CA_CRT_FILENAME", "tls.ca"),
        ("LDAP_TLS_DH_PARAM_FILENAME", "tls.dh_parameters"),
    ];
    if wants_tls(variables) {
        for (name, key) in NAMES {
            if let Some((file, origin)) = variables.get(name) {
                let path = Path::new(OSIXIA_CERTIFICATES).join(file);
                layer.set(key, path.to_string_lossy().as_ref(), &origin)?;
            }
        }
    }
    if let Some((value, origin)) = variables.get("LDAP_TLS_ENFORCE")
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
    for name in names.split([',', ' ']).filter(|name| !name.is_empty()) {
        // A file that does not exist is a schema that is built in.
        let file = crate::SchemaPart::File(PathBuf::from(format!("{name}.schema")));
        layer.global.schema.push(Sourced::new(file, origin.clone()));
    }
}

/// Adds users, their unit and their group, as Bitnami's image does.
fn bitnami_tree(layer: &mut Layer, variables: &Variables, suffix: &str) {
    let replaced = variables.get("LDAP_CUSTOM_LDIF_DIR").is_some();
    let Some((users, origin)) = variables.get("LDAP_USERS") else {
        return;
    };
    if replaced || variables.is_true("LDAP_SKIP_DEFAULT_TREE") {
        return;
    }
    let word = |name, usual| variables.first(name).map_or(usual, |(value, _)| value);
    let unit_name = word(&["LDAP_USER_DC", "LDAP_USER_OU"], "users");
    let unit = format!("ou={},{suffix}", escaped(unit_name));
    let seed = |dn: &str, classes: &[&str]| SeedEntry::new(dn, classes, origin.clone());
    let seeds = &mut layer.seeds;
    seeds.push(seed(&unit, &["organizationalUnit"]).with("ou", unit_name));
    let passwords = word(&["LDAP_PASSWORDS"], "");
    let mut passwords = passwords.split(',').map(str::trim);
    let mut members = Vec::new();
    for (at, user) in users
        .split(',')
        .map(str::trim)
        .filter(|user| !user.is_empty())
        .enumerate()
    {
        let dn = format!("cn={},{unit}", escaped(user));
        let number = (1000 + at).to_string();
        let entry = seed(&dn, &["inetOrgPerson", "posixAccount", "shadowAccount"])
            .with("cn", user)
            .with("sn", user)
            .with("uid", user)
            .with("uidNumber", &number)
            .with("gidNumber", &number)
            .with("homeDirectory", &format!("/home/{user}"));
        let password = passwords.next().filter(|password| !password.is_empty());
        seeds.push(match password {
            Some(password) => entry.with("userPassword", password),
            None => entry,
        });
        members.push(dn);
    }
    if !members.is_empty() {
        let group = word(&["LDAP_GROUP"], "readers");
        let dn = format!("cn={},{unit}", escaped(group));
        let entry = seed(&dn, &["groupOfNames"]).with("cn", group);
        seeds.push(
            members
                .iter()
                .fold(entry, |entry, member| entry.with("member", member)),
        );
    }
}

/// Adds the rules of osixia's image, under which strangers read nothing, and its user that reads
/// everything.
fn osixia_rules(layer: &mut Layer, variables: &Variables, suffix: &str, origin: &Origin) {
    let admin = format!("dn.exact=\"cn=admin,{suffix}\"");
    let mut reader = String::new();
    if variables.is_true("LDAP_READONLY_USER") {
        let word = |name, usual| variables.get(name).map_or(usual, |(value, _)| value);
        let name = word("LDAP_READONLY_USER_USERNAME", "readonly");
        let dn = format!("cn={},{suffix}", escaped(name));
        let classes = ["simpleSecurityObject", "organizationalRole"];
        let entry = SeedEntry::new(&dn, &classes, origin.clone())
            .with("cn", name)
            .with(
                "userPassword",
                word("LDAP_READONLY_USER_PASSWORD", "readonly"),
            )
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
