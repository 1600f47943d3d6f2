//! Environment variables of the container images osixia/openldap and bitnami/openldap.
//!
//! The server reads them at every start, not only at the first one. `FULGURITE_...` wins over them.
//! The images also run scripts and make certificates. The server does none of this, and notes the
//! variables that have no effect. docs/containers.md lists all of them.

mod bitnami;
mod osixia;
mod overlays;
mod variables;

use std::path::{Path, PathBuf};

use crate::layer::Layer;
use crate::secret::Secret;
use crate::{ConfigError, Note, Origin, Sourced, levels};

pub(crate) use variables::Variables;
use variables::{escaped, truth};

/// The folder of the files that `LDAP_TLS_..._FILENAME` name in osixia's image.
const OSIXIA_CERTIFICATES: &str = "/container/service/slapd/assets/certs";

/// Variables that have an effect, besides those of `PLAIN` and of certificates.
const USED: [&str; 61] = [
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
    "LDAP_ENABLE_PROXYPROTO",
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
    "LDAP_PROXYPROTO_LDAPS_PORT_NUMBER",
    "LDAP_PROXYPROTO_PORT_NUMBER",
    "LDAP_READONLY_USER",
    "LDAP_READONLY_USER_PASSWORD",
    "LDAP_READONLY_USER_PASSWORD_FILE",
    "LDAP_READONLY_USER_USERNAME",
    "LDAP_REPLICATION",
    "LDAP_REPLICATION_DB_SYNCPROV",
    "LDAP_REPLICATION_HDB_SYNCPROV",
    "LDAP_REPLICATION_HOSTS",
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
            bitnami::databases(&mut layer, suffix, origin);
            bitnami::tree(&mut layer, variables, suffix)?;
            bitnami::overlays(&mut layer, variables)?;
        } else {
            osixia::rules(&mut layer, variables, suffix, origin)?;
            osixia::replication(&mut layer, variables, suffix)?;
            osixia::overlays(&mut layer, origin)?;
            osixia::seeds(&mut layer, variables, (suffix, origin))?;
        }
    }
    add_notes(&mut layer, variables);
    Ok(layer)
}

/// Adds a note about the variables without effect.
fn add_notes(layer: &mut Layer, variables: &Variables) {
    let is_used = |name: &str| {
        let plain = PLAIN.iter().map(|(name, _)| name);
        let files = CERTIFICATES.iter().map(|(name, _)| name);
        let mut all = plain.chain(files).chain(&USED);
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
    let behind_proxy = |names: &[&'static str], own: u16| {
        let proxied = variables.is_true("LDAP_ENABLE_PROXYPROTO");
        proxied.then(|| port(names).map_or(own, |(port, _)| port))
    };
    let own = plain.map_or(usual, |(port, _)| port);
    let proxied = behind_proxy(&["LDAP_PROXYPROTO_PORT_NUMBER"], own);
    let mut urls = addresses("ldap", own, proxied);
    if wants_tls(variables) {
        let own = tls.map_or(usual_tls, |(port, _)| port);
        let proxied = behind_proxy(&["LDAP_PROXYPROTO_LDAPS_PORT_NUMBER"], own);
        urls = format!("{urls} {}", addresses("ldaps", own, proxied));
    }
    layer.set("listen", urls.as_str(), &origin)
}

/// Returns the addresses of one protocol. A port for load balancers replaces an equal one.
fn addresses(scheme: &str, own: u16, proxied: Option<u16>) -> String {
    match proxied {
        None => format!("{scheme}://:{own}"),
        Some(port) if port == own => format!("p{scheme}://:{port}"),
        Some(port) => format!("{scheme}://:{own} p{scheme}://:{port}"),
    }
}

/// Returns true if the variables name certificates. The server makes none itself, unlike the
/// images.
fn wants_tls(variables: &Variables) -> bool {
    let bitnami = variables.is_true("LDAP_ENABLE_TLS");
    let refused = variables
        .get("LDAP_TLS")
        .is_some_and(|(value, _)| !truth(value));
    let osixia = variables.get("LDAP_TLS_CRT_FILENAME").is_some() && !refused;
    let both = variables.is_true("LDAP_TLS") && variables.get("LDAP_TLS_CERT_FILE").is_some();
    bitnami || osixia || both
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
