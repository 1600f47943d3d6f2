//! The entries that must exist from the first start on. The server adds missing ones and leaves
//! existing ones alone. So a restart changes nothing, and a restart with new files adds the new
//! entries.

use std::sync::Arc;

use fulgurite_auth::Scheme;
use fulgurite_config::{ConfigError, Origin, SeedEntry, ServerId, Settings};
use fulgurite_directory::{Author, Directory, Importer, SystemClock, SystemEntropy};
use fulgurite_schema::{AttributeDescription, Dn, Entry, Schema};
use fulgurite_store::{EntryId, NameLookup, Store, StoreError};

/// A failure to add an entry.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// A setting, a file that it names, or an entry has an error.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The schema lacks a definition that the server needs.
    #[error(transparent)]
    Schema(#[from] fulgurite_directory::OpenError),
    /// The list of the changes that were made cannot be read or written.
    #[error("{}: {}", .0.display(), .1)]
    Digests(std::path::PathBuf, std::io::Error),
    /// A store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Adds the missing entries and returns their number. The entries of one store become visible
/// together or not at all.
///
/// # Errors
/// [`SeedError`], with the file and line or the variable that asked for the entry.
pub(crate) fn add_missing(settings: &Settings, directory: &Directory) -> Result<u64, SeedError> {
    let seeds = settings.seed_entries(&password_hash(settings))?;
    if seeds.is_empty() {
        return Ok(0);
    }
    let schema = directory.schema();
    let names = seeds.iter().map(|seed| {
        Dn::parse(schema, &seed.dn)
            .map_err(|reason| config_error(&seed.origin, format!("{}: {reason}", seed.dn)))
    });
    let names = names.collect::<Result<Vec<Dn>, _>>()?;
    let stores: Vec<Arc<Store>> = directory
        .databases()
        .iter()
        .map(|database| database.shared_store())
        .collect();
    let mut places = Vec::new();
    for (seed, name) in seeds.iter().zip(&names) {
        let place = store_of(&stores, name);
        places.push(
            place.ok_or_else(|| {
                config_error(&seed.origin, format!("no database holds {}", seed.dn))
            })?,
        );
    }
    let mut added = 0;
    for (at, store) in stores.iter().enumerate() {
        let own = seeds.iter().zip(&names).zip(&places);
        let own = own.filter(|(_, place)| **place == at).map(|(seed, _)| seed);
        added += add_missing_to(settings, store, schema, own)?;
    }
    Ok(added)
}

/// Returns the store with the most specific suffix for the name.
fn store_of(stores: &[Arc<Store>], name: &Dn) -> Option<usize> {
    let depth = |store: &Store| {
        let suffixes = store
            .suffixes()
            .iter()
            .filter(|suffix| name.is_within(suffix));
        suffixes.map(Dn::depth).max()
    };
    let fitting = stores
        .iter()
        .enumerate()
        .filter_map(|(at, store)| Some((depth(store)?, at)));
    fitting.max().map(|(_, at)| at)
}

fn add_missing_to<'s>(
    settings: &Settings,
    store: &Store,
    schema: &Arc<Schema>,
    seeds: impl Iterator<Item = (&'s SeedEntry, &'s Dn)>,
) -> Result<u64, SeedError> {
    // A snapshot is enough to look for missing entries; most starts find none.
    let mut seeds = seeds.peekable();
    if seeds.peek().is_none() {
        return Ok(0);
    }
    let view = store.snapshot()?;
    let mut missing = Vec::new();
    for (seed, name) in seeds {
        if view.find(name)?.entry().is_none() {
            missing.push((seed, name));
        }
    }
    drop(view);
    if missing.is_empty() {
        return Ok(0);
    }
    let mut importer = Importer::new(
        Arc::clone(schema),
        &author(settings),
        Arc::new(SystemClock::default()),
        Arc::new(SystemEntropy),
    )?;
    let hash = password_hash(settings);
    let mut writer = store.write()?;
    let mut added = 0;
    for (seed, name) in missing {
        let refuse = |reason: String| config_error(&seed.origin, format!("{}: {reason}", seed.dn));
        let parent = match writer.find(name)? {
            NameLookup::Entry(_) => continue,
            NameLookup::Missing { deepest } => match deepest {
                Some((parent, depth)) if depth + 1 == name.depth() => parent,
                None if store.suffixes().contains(name) => EntryId::ROOT,
                _ => return Err(refuse("it has no parent entry".to_owned()).into()),
            },
        };
        let entry = importer
            .complete(entry(schema, seed, name, &hash)?)
            .map_err(|violation| refuse(violation.text))?;
        writer.add(parent, &entry)?;
        added += 1;
    }
    writer.log_load()?;
    writer.commit()?;
    Ok(added)
}

/// Returns the author of new entries: the root of the first database that has one.
fn author(settings: &Settings) -> Author {
    let root = settings
        .stores()
        .find_map(|database| database.content.root_dn.value.clone());
    Author {
        name: root.unwrap_or_default(),
        server_id: ServerId::own(&settings.global.server_ids, &settings.global.listen),
        last_mod: true,
        computed: (settings.stores())
            .flat_map(|database| database.computed_attributes())
            .collect(),
    }
}

/// Returns the function that hashes a password of a variable, also where files name it by a word.
/// Its error is a clause with the reason.
pub(super) fn password_hash(settings: &Settings) -> impl Fn(&str) -> Result<String, String> {
    let mut names = settings.global.password_hash.iter();
    let scheme = names.find_map(|name| Scheme::from_name(name));
    let scheme = scheme.unwrap_or_default();
    move |clear| {
        let hash = fulgurite_auth::hash(scheme, clear.as_bytes());
        hash.map_err(|reason| reason.to_string())
    }
}

fn entry(
    schema: &Schema,
    seed: &SeedEntry,
    name: &Dn,
    hash: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Entry, ConfigError> {
    let refuse = |reason: String| config_error(&seed.origin, format!("{}: {reason}", seed.dn));
    let mut entry = Entry::new(name.clone());
    for (attribute, values) in &seed.attributes {
        let description: AttributeDescription = schema
            .describe(attribute.as_bytes())
            .map_err(|reason| refuse(format!("{attribute}: {reason}")))?;
        let is_password = attribute.eq_ignore_ascii_case("userPassword");
        for value in values {
            let clear = std::str::from_utf8(value).ok();
            let clear = clear.filter(|_| is_password && in_clear(seed, value));
            let stored = match clear {
                Some(clear) => hash(clear).map_err(refuse)?.into_bytes(),
                None => value.clone(),
            };
            entry.push(&description, stored);
        }
    }
    Ok(entry)
}

/// Returns true for a plain password from an environment variable. Values from files are stored
/// unchanged.
fn in_clear(seed: &SeedEntry, value: &[u8]) -> bool {
    matches!(seed.origin, Origin::Variable(_)) && !value.starts_with(b"{")
}

fn config_error(origin: &Origin, message: String) -> ConfigError {
    ConfigError::at(origin, message)
}

#[cfg(test)]
mod tests {
    use fulgurite_config::Layer;

    use super::*;
    use crate::compose::open::open_directory;

    fn settings(variables: &[(&str, &str)]) -> Settings {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Settings::new(Layer::from_environment(variables).unwrap()).unwrap()
    }

    #[test]
    fn every_start_adds_missing_entries_only() {
        let folder = tempfile::tempdir().unwrap();
        let ldif = folder.path().join("ldif");
        std::fs::create_dir(&ldif).unwrap();
        let data = folder.path().join("data");
        let settings = settings(&[
            ("FULGURITE_DATA", data.to_str().unwrap()),
            ("FULGURITE_SEED_LDIF_DIR", ldif.to_str().unwrap()),
            ("LDAP_ROOT", "dc=example,dc=org"),
            ("LDAP_USERS", "ada"),
            ("LDAP_PASSWORDS", "lovelace"),
        ]);
        let start = || add_missing(&settings, &open_directory(&settings).unwrap());
        assert_eq!(start().unwrap(), 5);
        assert_eq!(start().unwrap(), 0);
        let unit = "dn: ou=more,dc=example,dc=org\nobjectClass: organizationalUnit\nou: more\n";
        std::fs::write(ldif.join("10-more.ldif"), unit).unwrap();
        assert_eq!(start().unwrap(), 1);
        assert_eq!(start().unwrap(), 0);
        let lost =
            "dn: ou=a,ou=nowhere,dc=example,dc=org\nobjectClass: organizationalUnit\nou: a\n";
        std::fs::write(ldif.join("20-lost.ldif"), format!("\n{lost}")).unwrap();
        let error = start().unwrap_err().to_string();
        assert!(
            error.contains("20-lost.ldif: line 2: ") && error.ends_with("it has no parent entry"),
            "{error}"
        );
    }

    #[test]
    fn passwords_of_variables_are_hashed() {
        assert_hashed(&[], "{ARGON2}");
        assert_hashed(&[("LDAP_PASSWORD_HASH", "{SSHA}")], "{SSHA}");
    }

    fn assert_hashed(more: &[(&str, &str)], scheme: &str) {
        let folder = tempfile::tempdir().unwrap();
        let variables = [
            ("FULGURITE_DATA", folder.path().to_str().unwrap()),
            ("LDAP_DOMAIN", "example.org"),
            ("LDAP_READONLY_USER", "true"),
            ("LDAP_READONLY_USER_PASSWORD", "opensesame"),
        ];
        let settings = settings(&[&variables[..], more].concat());
        let directory = open_directory(&settings).unwrap();
        add_missing(&settings, &directory).unwrap();
        let store = directory.databases()[0].shared_store();
        let view = store.snapshot().unwrap();
        let name = Dn::parse(directory.schema(), "cn=readonly,dc=example,dc=org").unwrap();
        let id = view.find(&name).unwrap().entry().unwrap();
        let entry = view.entry(id).unwrap().unwrap().to_entry().unwrap();
        let attribute = directory.schema().attribute("userPassword").unwrap().index;
        let [password] = entry.values(attribute) else {
            panic!("one password is wanted");
        };
        assert!(password.starts_with(scheme.as_bytes()), "{scheme}");
        assert_eq!(fulgurite_auth::verify(password, b"opensesame"), Ok(true));
    }

    #[test]
    fn words_of_passwords_in_files_become_one_hash() {
        let folder = tempfile::tempdir().unwrap();
        let ldif = folder.path().join("ldif");
        std::fs::create_dir(&ldif).unwrap();
        let entry = "dn: cn=app,{{ LDAP_BASE_DN }}\nobjectClass: device\n\
            objectClass: simpleSecurityObject\ncn: app\n\
            userPassword: {{ LDAP_ADMIN_PASSWORD_ENCRYPTED }}\n\
            description: {{ LDAP_CONFIG_PASSWORD_ENCRYPTED }}\n\
            l: {{ LDAP_CONFIG_PASSWORD_ENCRYPTED }}\n";
        let change = "dn: {{ LDAP_BASE_DN }}\nchangetype: modify\nreplace: description\n\
            description: {{ LDAP_READONLY_USER_PASSWORD_ENCRYPTED }}\n";
        std::fs::write(ldif.join("10.ldif"), entry).unwrap();
        std::fs::write(ldif.join("20.ldif"), change).unwrap();
        let start = || {
            settings(&[
                ("FULGURITE_DATA", folder.path().to_str().unwrap()),
                ("FULGURITE_SEED_LDIF_DIR", ldif.to_str().unwrap()),
                ("LDAP_DOMAIN", "example.org"),
                ("LDAP_ADMIN_PASSWORD", "open-admin"),
                ("LDAP_CONFIG_PASSWORD", "open-config"),
                ("LDAP_READONLY_USER_PASSWORD", "open-reader"),
            ])
        };
        let first = start();
        let directory = open_directory(&first).unwrap();
        add_missing(&first, &directory).unwrap();
        assert_eq!(
            super::super::seed_changes::make(&first, &directory).unwrap(),
            1
        );
        let value = |dn: &str, attribute: &str| {
            let store = directory.databases()[0].shared_store();
            let view = store.snapshot().unwrap();
            let name = Dn::parse(directory.schema(), dn).unwrap();
            let id = view.find(&name).unwrap().entry().unwrap();
            let entry = view.entry(id).unwrap().unwrap().to_entry().unwrap();
            let attribute = directory.schema().attribute(attribute).unwrap().index;
            String::from_utf8(entry.values(attribute)[0].to_vec()).unwrap()
        };
        let app = "cn=app,dc=example,dc=org";
        for (dn, attribute, clear) in [
            (app, "userPassword", "open-admin"),
            (app, "description", "open-config"),
            ("dc=example,dc=org", "description", "open-reader"),
        ] {
            let stored = value(dn, attribute);
            let is_held = fulgurite_auth::verify(stored.as_bytes(), clear.as_bytes());
            assert!(
                stored.starts_with("{ARGON2}") && is_held == Ok(true),
                "{stored}"
            );
        }
        assert_eq!(value(app, "description"), value(app, "l"));
        // The next start has other salts, and makes no change again.
        let again = start();
        assert_eq!(
            super::super::seed_changes::make(&again, &directory).unwrap(),
            0
        );
    }
}
