//! The ways of osixia's image: rules, overlays, files of LDIF, and servers that copy each other.

use std::path::Path;

use super::overlays::{overlay, set_overlays};
use super::variables::{Variables, escaped, truth};
use crate::layer::Layer;
use crate::replication_hosts::{hosts, own_place};
use crate::seed_entry::SeedEntry;
use crate::setting::Value;
use crate::{ConfigError, Note, Origin, SeedWords, Sourced};

/// The folder of osixia's image with files of schema and LDIF.
const BOOTSTRAP: &str = "/container/service/slapd/assets/config/bootstrap";

/// Adds the overlays of osixia's image.
pub(super) fn overlays(layer: &mut Layer, origin: &Origin) -> Result<(), ConfigError> {
    let memberof = [
        "memberof-group-oc groupOfUniqueNames",
        "memberof-member-ad uniqueMember",
        "memberof-refint TRUE",
    ];
    let refint = ["refint_attributes owner manager uniqueMember member"];
    let mut overlays = vec![
        overlay("memberof", &memberof, origin),
        overlay("refint", &refint, origin),
    ];
    if !layer.first.content.syncrepl.is_empty() {
        overlays.push(overlay::<&str>("syncprov", &[], origin));
    }
    set_overlays(layer, &overlays)
}

/// The words of osixia's image about each provider, behind its number and its URL.
const PROVIDER: &str = "binddn=\"cn=admin,$LDAP_BASE_DN\" bindmethod=simple \
     credentials=\"$LDAP_ADMIN_PASSWORD\" searchbase=\"$LDAP_BASE_DN\" type=refreshAndPersist \
     interval=00:00:00:10 retry=\"60 +\" timeout=1 starttls=critical";

/// Makes the servers of osixia's list providers of each other.
pub(super) fn replication(
    layer: &mut Layer,
    variables: &Variables,
    suffix: &str,
) -> Result<(), ConfigError> {
    let Some((wanted, origin)) = variables.get("LDAP_REPLICATION") else {
        return Ok(());
    };
    let mut note = |text: &str, warning| {
        layer.notes.push(Note {
            origin: origin.clone(),
            text: text.to_owned(),
            warning,
        });
    };
    if wanted.eq_ignore_ascii_case("own") {
        note(
            "files of one's own are not read; use syncrepl in a file of settings",
            true,
        );
    }
    if !truth(wanted) {
        return Ok(());
    }
    let Some((list, origin)) = variables.get("LDAP_REPLICATION_HOSTS") else {
        note(
            "nothing is copied: LDAP_REPLICATION_HOSTS has to have the URLs of all servers",
            true,
        );
        return Ok(());
    };
    note(
        "cn=config is not copied: give all servers the same settings",
        false,
    );
    let hosts = hosts(list);
    let names = ["FQDN", "HOSTNAME"].map(|name| variables.get(name).map(|(name, _)| name));
    let names: Vec<&str> = names.into_iter().flatten().collect();
    let Some(own) = own_place(&hosts, &names) else {
        let text = "this server is not in the list: HOSTNAME or FQDN has to name one host of it";
        return Err(ConfigError::at(&origin, text.to_owned()));
    };
    let secret = |name, file| variables.secret(name, file);
    let admin = secret("LDAP_ADMIN_PASSWORD", "LDAP_ADMIN_PASSWORD_FILE")?;
    let words = variables.first(&[
        "LDAP_REPLICATION_DB_SYNCPROV",
        "LDAP_REPLICATION_HDB_SYNCPROV",
    ]);
    let words = words.map_or(PROVIDER, |(words, _)| words);
    let password = admin.map_or_else(String::new, |(password, _)| password);
    let password = password.replace('\\', "\\\\").replace('"', "\\\"");
    // The images of others write a dollar sign twice.
    let words = words.replace("$$", "$").replace("$LDAP_BASE_DN", suffix);
    let words = words.replace("$LDAP_ADMIN_PASSWORD", &password);
    let others = hosts.iter().enumerate().filter(|(at, _)| *at != own);
    let providers = others.map(|(at, host)| {
        let text = format!("rid={} provider={host} {words}", 101 + at);
        Sourced::new(Value::Text(text), origin.clone())
    });
    layer.set("syncrepl", Value::List(providers.collect()), &origin)?;
    let number = (own + 1).to_string();
    layer.set("server_id", number.as_str(), &origin)?;
    layer.set("multi_provider", "true", &origin)
}

/// The identity of the machine's root at a UNIX socket.
const ROOT_OF_MACHINE: &str = "dn.exact=gidNumber=0+uidNumber=0,cn=peercred,cn=external,cn=auth";

/// Adds the rules of osixia's image, under which strangers read nothing, and its user that reads
/// everything.
pub(super) fn rules(
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
        // As in the image, so that rules have the numbers there that files of others expect.
        format!("to * by {ROOT_OF_MACHINE} manage by * break"),
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
pub(super) fn seeds(
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
        let folder = Path::new(BOOTSTRAP).join(name);
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
    let words = &mut layer.seed_words;
    *words = SeedWords::default();
    for (name, value) in [
        ("LDAP_BASE_DN", suffix.to_owned()),
        ("LDAP_BACKEND", "mdb".to_owned()),
        ("LDAP_DOMAIN", word("LDAP_DOMAIN", &domain.join("."))),
        ("LDAP_ORGANISATION", word("LDAP_ORGANISATION", "")),
        (
            "LDAP_READONLY_USER_USERNAME",
            word("LDAP_READONLY_USER_USERNAME", "readonly"),
        ),
    ] {
        words.add_text(name, value);
    }
    let reader = readonly_password(variables)?;
    words.add_password("LDAP_READONLY_USER_PASSWORD_ENCRYPTED", reader);
    for (word, name, file) in [
        (
            "LDAP_ADMIN_PASSWORD_ENCRYPTED",
            "LDAP_ADMIN_PASSWORD",
            "LDAP_ADMIN_PASSWORD_FILE",
        ),
        (
            "LDAP_CONFIG_PASSWORD_ENCRYPTED",
            "LDAP_CONFIG_PASSWORD",
            "LDAP_CONFIG_PASSWORD_FILE",
        ),
    ] {
        if let Some((password, _)) = variables.secret(name, file)? {
            words.add_password(word, password);
        }
    }
    Ok(())
}
