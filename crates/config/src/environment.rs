//! Settings from environment variables named `FULGURITE_...`.

use std::collections::BTreeMap;

use crate::Origin;
use crate::container::{self, Variables};
use crate::error::ConfigError;
use crate::layer::Layer;
use crate::suggest::nearest;
use crate::table::{Info, VARIABLE_PREFIX as PREFIX, settings_info};
use crate::{Note, Sourced};

impl Layer {
    /// Reads the variables whose names begin with `FULGURITE_`, out of `std::env::vars()`.
    ///
    /// A key's variable is its name in capitals with `_` for `.`: `limits.size` is
    /// `FULGURITE_LIMITS_SIZE`. Empty variables count as absent. An unknown variable is refused
    /// only if it looks like a mistyped one. Container platforms add variables such as
    /// `FULGURITE_SERVICE_HOST` for a service of that name.
    ///
    /// Below them, the variables of the images osixia/openldap and bitnami/openldap are understood
    /// (`LDAP_ROOT`, `LDAP_DOMAIN`, `LDAP_ADMIN_PASSWORD` and so on).
    ///
    /// # Errors
    /// [`ConfigError::Value`] for a value its key does not take, [`ConfigError::UnknownKey`] for a
    /// near miss.
    pub fn from_environment(
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Layer, ConfigError> {
        let variables = variables.into_iter().filter(|(_, value)| !value.is_empty());
        let variables: BTreeMap<String, String> = variables.collect();
        let mut layer = Layer::default();
        for (name, value) in &variables {
            let Some(rest) = name.strip_prefix(PREFIX) else {
                continue;
            };
            let origin = Origin::Variable(name.clone());
            match find_key(name) {
                Some(key) => layer.set(key, value.as_str(), &origin)?,
                None if rest == "REPLICAS" => layer.notes.push(Note {
                    origin,
                    text: "it has no effect: use syncrepl in a file of settings".to_owned(),
                    warning: true,
                }),
                None => refuse_near_miss(name, rest)?,
            }
        }
        // A container that is configured by its environment alone gets its first entry.
        if let Some(suffix) = layer.first.content.suffixes.first() {
            let wanted = Sourced::new(true, suffix.origin.clone());
            layer.global.create_suffix.get_or_insert(wanted);
        }
        Ok(layer.over(container::read(&Variables(variables))?))
    }
}

/// Returns the key that a variable sets.
fn find_key(name: &str) -> Option<&'static str> {
    let named = |info: &&Info| info.variables().any(|variable| variable == name);
    settings_info().find(named).and_then(|info| info.key)
}

fn refuse_near_miss(name: &str, rest: &str) -> Result<(), ConfigError> {
    let general = settings_info().filter_map(|info| info.variables().next());
    let known: Vec<String> = general
        .filter_map(|name| Some(name.strip_prefix(PREFIX)?.to_ascii_lowercase()))
        .collect();
    // "PORT" is no mistyped "ROOT.DN": short words are not compared.
    match nearest(rest, known.iter().map(String::as_str)) {
        Some(near) if rest.len() > 4 => Err(ConfigError::UnknownKey {
            origin: Origin::Variable(name.to_owned()),
            key: name.to_owned(),
            hint: Some(format!("{PREFIX}{}", near.to_ascii_uppercase())),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    fn no_hash(_: &str) -> Result<String, String> {
        Err("no file has such a word".to_owned())
    }

    fn read(pairs: &[(&str, &str)]) -> Result<Layer, ConfigError> {
        Layer::from_environment(
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        )
    }

    #[test]
    fn variables_with_the_prefix_are_read() {
        let layer = read(&[
            ("PATH", "/bin"),
            ("FULGURITE_SUFFIX", "dc=example,dc=com"),
            (
                "FULGURITE_LISTEN",
                "ldap://127.0.0.1:3890 ldap://[::1]:3890",
            ),
            ("FULGURITE_LIMITS_SIZE", "unlimited"),
            ("FULGURITE_INDEX", "uid:eq mail:eq,sub"),
            ("FULGURITE_DATA", ""),
            ("FULGURITE_LOG_OPERATIONS", "yes"),
            ("FULGURITE_SERVICE_HOST", "10.0.0.1"),
            ("FULGURITE_PORT", "tcp://10.0.0.1:389"),
        ])
        .unwrap();
        let database = &layer.first;
        assert_eq!(&*database.content.suffixes[0].value, "dc=example,dc=com");
        assert_eq!(layer.global.listen.len(), 2);
        assert_eq!(database.storage.indexes.len(), 2);
        assert!(database.storage.directory.is_none());
        assert!(layer.global.log_operations.is_some_and(|said| said.value));
    }

    #[test]
    fn errors_name_the_variable() {
        let error = read(&[("FULGURITE_THREADS", "many")])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("FULGURITE_THREADS") && error.contains("cores"),
            "{error}"
        );
        let error = read(&[("FULGURITE_SUFIX", "dc=x")])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("did you mean \"FULGURITE_SUFFIX\"?"),
            "{error}"
        );
    }

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        Settings::new(read(pairs).unwrap_or_else(|error| panic!("{error}"))).unwrap()
    }

    #[test]
    fn a_password_without_a_name_is_the_admins() {
        let settings = settings(&[
            ("FULGURITE_SUFFIX", "dc=example,dc=com"),
            ("FULGURITE_ADMIN_PASSWORD", "secret"),
            ("FULGURITE_ORGANIZATION", "Example"),
        ]);
        let content = &settings.databases[0].content;
        assert_eq!(
            content.root_dn.as_deref(),
            Some("cn=admin,dc=example,dc=com")
        );
        assert_eq!(
            content.root_dn.origin.to_string(),
            "environment variable FULGURITE_ADMIN_PASSWORD"
        );
        let seeds = settings.seed_entries(&no_hash).unwrap();
        assert_eq!(seeds.len(), 1);
        assert_eq!(seeds[0].dn, "dc=example,dc=com");
        assert!(
            seeds[0]
                .attributes
                .contains(&("o".to_owned(), vec![b"Example".to_vec()]))
        );
    }

    #[test]
    fn the_variables_of_osixia() {
        let settings = settings(&[
            ("LDAP_ORGANISATION", "Example Inc."),
            ("LDAP_DOMAIN", "example.org"),
            ("LDAP_ADMIN_PASSWORD", "a"),
            ("LDAP_CONFIG_PASSWORD", "c"),
            ("LDAP_READONLY_USER", "true"),
            ("LDAP_READONLY_USER_PASSWORD", "r"),
            ("LDAP_RFC2307BIS_SCHEMA", "true"),
            ("LDAP_TLS", "true"),
            ("LDAP_TLS_CRT_FILENAME", "x.crt"),
            ("LDAP_TLS_KEY_FILENAME", "x.key"),
            ("LDAP_TLS_ENFORCE", "true"),
            ("LDAP_TLS_VERIFY_CLIENT", "try"),
            ("LDAP_LOG_LEVEL", "256"),
            ("LDAP_PORT", "tcp://10.0.0.1:389"),
            ("LDAP_REPLICATION", "true"),
        ]);
        assert_eq!(settings.suffix().unwrap(), "dc=example,dc=org");
        let content = &settings.databases[0].content;
        assert_eq!(
            content.root_dn.as_deref(),
            Some("cn=admin,dc=example,dc=org")
        );
        assert_eq!(
            settings.config.content.root_dn.as_deref(),
            Some("cn=admin,cn=config")
        );
        let global = &settings.global;
        let listen: Vec<_> = global.listen.iter().map(|url| url.to_string()).collect();
        assert_eq!(listen, ["ldap://:389", "ldaps://:636"]);
        assert!(
            global
                .tls_certificate
                .as_ref()
                .unwrap()
                .ends_with("certs/x.crt")
        );
        assert_eq!(settings.frontend.security.tls, 1);
        assert!(*global.rfc2307bis && *global.log_operations);
        let seeds = settings.seed_entries(&no_hash).unwrap();
        let names: Vec<_> = seeds.iter().map(|seed| seed.dn.as_str()).collect();
        assert_eq!(
            names,
            ["dc=example,dc=org", "cn=readonly,dc=example,dc=org"]
        );
        let rules = &settings.databases[0].policy.access;
        assert!(
            rules[2]
                .value
                .as_str()
                .contains("by dn.exact=\"cn=readonly,dc=example,dc=org\" read by * none")
        );
        assert_eq!(settings.notes.len(), 1);
    }

    #[test]
    fn the_variables_of_bitnami_stand_below_ours() {
        let settings = settings(&[
            ("LDAP_ROOT", "dc=example,dc=org"),
            ("LDAP_ADMIN_USERNAME", "boss"),
            ("LDAP_ADMIN_PASSWORD_FILE", "/run/secrets/admin"),
            ("LDAP_USERS", "user01, user02"),
            ("LDAP_PASSWORDS", "one,two"),
            ("LDAP_ENABLE_TLS", "yes"),
            ("LDAP_TLS_CERT_FILE", "/certs/x.crt"),
            ("LDAP_LDAPS_PORT_NUMBER", "2636"),
            ("LDAP_ALLOW_ANON_BINDING", "no"),
            ("FULGURITE_TLS_CERT", "/ours.crt"),
        ]);
        let kinds = settings.databases.iter().map(|database| database.kind);
        let kinds: Vec<_> = kinds.collect();
        assert_eq!(
            kinds,
            [crate::DatabaseKind::Monitor, crate::DatabaseKind::Mdb]
        );
        let content = &settings.databases[1].content;
        assert_eq!(
            content.root_dn.as_deref(),
            Some("cn=boss,dc=example,dc=org")
        );
        let global = &settings.global;
        let listen: Vec<_> = global.listen.iter().map(|url| url.to_string()).collect();
        assert_eq!(listen, ["ldap://:1389", "ldaps://:2636"]);
        assert_eq!(
            global.tls_certificate.as_deref(),
            Some(std::path::Path::new("/ours.crt"))
        );
        assert!(global.disallow.bind_anon);
        let seeds = settings.seed_entries(&no_hash).unwrap();
        let names: Vec<_> = seeds.iter().map(|seed| seed.dn.as_str()).collect();
        assert_eq!(
            names,
            [
                "dc=example,dc=org",
                "ou=users,dc=example,dc=org",
                "ou=groups,dc=example,dc=org",
                "cn=user01,ou=users,dc=example,dc=org",
                "cn=user02,ou=users,dc=example,dc=org",
                "cn=readers,ou=groups,dc=example,dc=org",
            ]
        );
        let password = |at: usize| {
            let found = seeds[at]
                .attributes
                .iter()
                .find(|(name, _)| name == "userPassword");
            found.unwrap().1[0].clone()
        };
        assert_eq!(
            (password(3), password(4)),
            (b"one".to_vec(), b"two".to_vec())
        );
    }

    #[test]
    fn the_features_of_bitnami() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        std::fs::write(&file, "secret\n").unwrap();
        let pairs = [
            ("LDAP_ROOT", "ou=a,dc=example,dc=org"),
            ("LDAP_SUFFIX", "dc=example,dc=org"),
            ("LDAP_ADMIN_PASSWORD", "a"),
            ("LDAP_CONFIG_ADMIN_ENABLED", "yes"),
            ("LDAP_CONFIG_ADMIN_PASSWORD_FILE", file.to_str().unwrap()),
            ("LDAP_PASSWORD_HASH", "{SSHA}"),
            ("LDAP_CONFIGURE_PPOLICY", "yes"),
            ("LDAP_PPOLICY_HASH_CLEARTEXT", "yes"),
            ("LDAP_PPOLICY_USE_LOCKOUT", "no"),
            ("LDAP_ENABLE_SYNCPROV", "yes"),
            ("LDAP_SYNCPROV_SESSIONLOG", "7"),
            ("LDAP_ENABLE_ACCESSLOG", "yes"),
            ("LDAP_ENABLE_PROXYPROTO", "yes"),
            ("LDAP_REQUIRE_TLS", "yes"),
            ("LDAP_TLS_VERIFY_CLIENTS", "try"),
            ("LDAP_ADD_SCHEMAS", "no"),
            ("LDAP_EXTRA_SCHEMAS", "dyngroup"),
            ("LDAP_USERS", "ada;bob"),
            ("LDAP_PASSWORDS", "one two"),
            ("LDAP_USER_DC", "all"),
            ("LDAP_GROUP_OU", "teams"),
            ("LDAP_ULIMIT_NOFILES", "1024"),
            ("KEEP_EXISTING_CONFIG", "true"),
            ("LDAP_SERVICE_HOST", "10.0.0.1"),
        ];
        let settings = settings(&pairs);
        let database = settings.first_store().unwrap();
        assert_eq!(database.suffix().unwrap(), "dc=example,dc=org");
        assert_eq!(
            database.content.root_dn.as_deref(),
            Some("cn=admin,ou=a,dc=example,dc=org")
        );
        assert_eq!(
            settings.config.root_password().unwrap().as_deref(),
            Some(&b"secret"[..])
        );
        let overlays = database.overlays.iter().map(|overlay| {
            let lines = overlay.lines.iter().map(|line| line.directive.keyword);
            (overlay.name.as_str(), lines.collect::<Vec<_>>())
        });
        assert_eq!(
            overlays.collect::<Vec<_>>(),
            [
                ("ppolicy", vec!["ppolicy_hash_cleartext"]),
                (
                    "syncprov",
                    vec!["syncprov-checkpoint", "syncprov-sessionlog"]
                ),
                (
                    "accesslog",
                    vec![
                        "logdb",
                        "logops",
                        "logsuccess",
                        "logpurge",
                        "logold",
                        "logoldattr"
                    ]
                ),
            ]
        );
        assert_eq!(settings.global.password_hash.value, ["{SSHA}"]);
        assert_eq!(settings.frontend.security.tls, 1);
        assert!(settings.global.schema.is_empty());
        let seeds = settings.seed_entries(&no_hash).unwrap();
        let names: Vec<_> = seeds.iter().map(|seed| seed.dn.as_str()).collect();
        assert_eq!(
            names,
            [
                "dc=example,dc=org",
                "ou=a,dc=example,dc=org",
                "ou=all,ou=a,dc=example,dc=org",
                "ou=teams,ou=a,dc=example,dc=org",
                "cn=ada,ou=all,ou=a,dc=example,dc=org",
                "cn=bob,ou=all,ou=a,dc=example,dc=org",
                "cn=readers,ou=teams,ou=a,dc=example,dc=org",
            ]
        );
        let notes: Vec<_> = settings
            .notes
            .iter()
            .map(|note| note.text.as_str())
            .collect();
        let said = |part: &str| notes.iter().filter(|text| text.contains(part)).count();
        assert_eq!(
            said("without effect: KEEP_EXISTING_CONFIG, LDAP_ULIMIT_NOFILES"),
            1
        );
        let listen = settings.global.listen.iter().map(|url| url.to_string());
        assert_eq!(listen.collect::<Vec<_>>(), ["pldap://:1389"]);
        let wrong = read(&[
            ("LDAP_ROOT", "dc=x"),
            ("LDAP_USERS", "a,b"),
            ("LDAP_PASSWORDS", "one"),
        ]);
        let wrong = wrong.unwrap_err().to_string();
        assert!(
            wrong.contains("1 passwords are given for 2 users"),
            "{wrong}"
        );
    }

    #[test]
    fn ports_for_load_balancers_stand_beside_others() {
        let listen = |more: &[(&str, &str)]| {
            let pairs = [("LDAP_ROOT", "dc=x"), ("LDAP_ENABLE_PROXYPROTO", "yes")];
            let settings = settings(&[&pairs, more].concat());
            let listen = settings.global.listen.iter();
            listen.map(|url| url.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            listen(&[("LDAP_PROXYPROTO_PORT_NUMBER", "2389")]),
            ["ldap://:1389", "pldap://:2389"]
        );
        let tls = ("LDAP_ENABLE_TLS", "yes");
        assert_eq!(listen(&[tls]), ["pldap://:1389", "pldaps://:1636"]);
        let port = ("LDAP_PROXYPROTO_LDAPS_PORT_NUMBER", "2636");
        assert_eq!(
            listen(&[tls, port]),
            ["pldap://:1389", "ldaps://:1636", "pldaps://:2636"]
        );
    }

    #[test]
    fn servers_of_osixia_are_providers_of_each_other() {
        let pairs = [
            ("LDAP_DOMAIN", "example.org"),
            ("LDAP_ADMIN_PASSWORD", "a \"b\" \\"),
            ("LDAP_REPLICATION", "true"),
            (
                "LDAP_REPLICATION_HOSTS",
                "#PYTHON2BASH:['ldap://one.example.org','ldap://two.example.org','ldap://three.example.org']",
            ),
        ];
        let as_two = settings(&[&pairs[..], &[("HOSTNAME", "two.example.org")]].concat());
        let database = as_two.first_store().unwrap();
        assert!(*database.content.multi_provider);
        let providers = database
            .content
            .syncrepl
            .iter()
            .map(|one| &one.value.settings);
        let providers: Vec<_> = providers
            .map(|one| (one.rid, one.link.url.as_str(), one.search_base.as_str()))
            .collect();
        assert_eq!(
            providers,
            [
                (101, "ldap://one.example.org", "dc=example,dc=org"),
                (103, "ldap://three.example.org", "dc=example,dc=org")
            ]
        );
        let bind = &database.content.syncrepl[0].value.settings.link.bind;
        assert_eq!(bind.dn.as_deref(), Some("cn=admin,dc=example,dc=org"));
        let secret = bind.credentials.as_ref().map(|secret| secret.0.as_str());
        assert_eq!(secret, Some("a \"b\" \\"));
        assert_eq!(as_two.global.server_ids[0].id, 2);
        let overlays = database.overlays.iter().map(|one| one.name.as_str());
        assert_eq!(
            overlays.collect::<Vec<_>>(),
            ["memberof", "refint", "syncprov"]
        );
        let own_words = "binddn=cn=admin,$$LDAP_BASE_DN bindmethod=simple credentials=x \
             searchbase=$$LDAP_BASE_DN type=refreshOnly retry=\"5 +\"";
        let more = [
            ("FQDN", "one.example.org"),
            ("LDAP_REPLICATION_DB_SYNCPROV", own_words),
        ];
        let as_one = settings(&[&pairs[..], &more].concat());
        let syncrepl = &as_one.first_store().unwrap().content.syncrepl;
        assert_eq!(syncrepl.len(), 2);
        assert!(!syncrepl[0].value.settings.persist);
        let lost = read(&[&pairs[..], &[("HOSTNAME", "0c1d2e")]].concat());
        let lost = lost.unwrap_err().to_string();
        assert!(lost.contains("this server is not in the list"), "{lost}");
    }

    #[test]
    fn the_overlays_of_osixia() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        std::fs::write(&file, "secret\n").unwrap();
        let settings = settings(&[
            ("LDAP_DOMAIN", "example.org"),
            ("LDAP_READONLY_USER", "true"),
            ("LDAP_READONLY_USER_PASSWORD_FILE", file.to_str().unwrap()),
            ("LDAP_CONFIG_PASSWORD_FILE", file.to_str().unwrap()),
        ]);
        let overlays = &settings.first_store().unwrap().overlays;
        let names: Vec<_> = overlays.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["memberof", "refint"]);
        let words = &settings.seed_words;
        let text = "{{ LDAP_BASE_DN }} {{ LDAP_READONLY_USER_PASSWORD_ENCRYPTED }} \
                    {{ LDAP_CONFIG_PASSWORD_ENCRYPTED }} {{ LDAP_ADMIN_PASSWORD_ENCRYPTED }}";
        let filled = words.fill(text, &|clear| Ok(format!("#{clear}"))).unwrap();
        let expected = "dc=example,dc=org #secret #secret {{ LDAP_ADMIN_PASSWORD_ENCRYPTED }}";
        assert_eq!(filled, expected);
        assert!(settings.config.root_password().unwrap().is_some());
    }
}
