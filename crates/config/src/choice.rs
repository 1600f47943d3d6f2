//! The database that a command is about, where the settings declare several.

use fulgurite_policy::DatabaseKind;

use crate::database::DatabaseLayer;
use crate::table::is_within;
use crate::{ConfigError, Layer, Origin};

/// The databases that a command works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseChoice {
    /// All of them, as the server does.
    All,
    /// One of them.
    One,
}

impl Layer {
    /// Returns the first suffix of each declared database with a store.
    pub fn store_suffixes(&self) -> impl Iterator<Item = &str> {
        let stores = self.databases.iter().filter(|database| is_store(database));
        let stores = stores.filter(|database| !self.is_access_log(database));
        stores.map(suffix_of)
    }

    /// Returns true if an overlay `accesslog` names the database. It has no store then.
    fn is_access_log(&self, database: &DatabaseLayer) -> bool {
        let own = self.first.overlays.iter();
        let all = own.chain(self.databases.iter().flat_map(|one| &one.overlays));
        let mut names = all
            .filter(|overlay| overlay.name == "accesslog")
            .filter_map(|overlay| overlay.last("logdb"));
        names.any(|name| same_name(name, suffix_of(database)))
    }

    /// Returns the settings of flags above those of `lower`.
    ///
    /// If `lower` declares several databases, flags and environment variables of a database would
    /// change the first one. A command on one database then needs `--suffix`, which chooses it, and
    /// `--data` is refused. The server takes no such flag. Both refuse such variables.
    ///
    /// # Errors
    /// [`ConfigError`]: no choice, a choice that no database fits, or a flag or variable that is
    /// refused.
    pub fn flags_over(
        mut self,
        mut lower: Layer,
        choice: DatabaseChoice,
    ) -> Result<Layer, ConfigError> {
        let suffixes: Vec<String> = lower.store_suffixes().map(str::to_owned).collect();
        let listed = suffixes.join(" and ");
        let asked = self.first.content.suffixes.first();
        if let Some(suffix) = asked.filter(|_| choice == DatabaseChoice::One)
            && !suffixes.is_empty()
            && !suffixes.iter().any(|other| same_name(other, suffix))
        {
            let text = format!(
                "no database has the suffix {}; choose one of {listed}",
                **suffix
            );
            return Err(ConfigError::at(&suffix.origin, text));
        }
        if suffixes.len() < 2 {
            if choice == DatabaseChoice::One && !suffixes.is_empty() {
                keep_one(&mut lower, &listed);
            }
            return Ok(self.over(lower));
        }
        let refused = |origin: &Origin| {
            let text =
                format!("the settings have several databases, {listed}; set it for each there");
            Err(ConfigError::at(origin, text))
        };
        if let Some(origin) = variable_of(&lower.first) {
            return refused(&origin);
        }
        let first = &self.first;
        if choice == DatabaseChoice::All {
            return match flag_of(first) {
                Some(origin) => refused(origin),
                None => Ok(self.over(lower)),
            };
        }
        if let Some(directory) = &first.storage.directory {
            return refused(&directory.origin);
        }
        let Some(suffix) = self.first.content.suffixes.pop() else {
            let text = format!("the settings have several databases; choose one of {listed}");
            return Err(ConfigError::at(&Origin::Flag("--suffix"), text));
        };
        keep_one(&mut lower, &suffix);
        Ok(self.over(lower))
    }
}

/// Leaves out all databases with stores but the one of a suffix. A log of changes has no store, but
/// a folder that flags would change.
fn keep_one(layer: &mut Layer, suffix: &str) {
    layer
        .databases
        .retain(|database| !is_store(database) || same_name(suffix_of(database), suffix));
}

fn is_store(database: &DatabaseLayer) -> bool {
    database.kind == DatabaseKind::Mdb
}

fn suffix_of(database: &DatabaseLayer) -> &str {
    let first = database.content.suffixes.first();
    first.map_or("", |suffix| suffix.as_str())
}

fn same_name(a: &str, b: &str) -> bool {
    is_within(a, b) && is_within(b, a)
}

/// Returns the origin of a setting that belongs to one database.
fn flag_of(first: &DatabaseLayer) -> Option<&Origin> {
    let (content, storage) = (&first.content, &first.storage);
    let suffix = content.suffixes.first().map(|one| &one.origin);
    suffix
        .or(storage.directory.as_ref().map(|one| &one.origin))
        .or(content.root_dn.as_ref().map(|one| &one.origin))
        .or(content.root_password.as_ref().map(|one| &one.origin))
        .or(content.root_password_file.as_ref().map(|one| &one.origin))
        .or(storage.map_bytes_max.as_ref().map(|one| &one.origin))
        .or(storage.durability.as_ref().map(|one| &one.origin))
        .or(storage.indexes.first().map(|one| &one.origin))
}

/// Returns the environment variable of a setting that belongs to one database.
fn variable_of(first: &DatabaseLayer) -> Option<Origin> {
    let mut variable = None;
    let mut look = |_: &'static str, _: String, origin: &Origin| {
        if matches!(origin, Origin::Variable(_)) {
            variable.get_or_insert_with(|| origin.clone());
        }
    };
    first.content.clone().resolve().each(&mut look);
    first.storage.clone().resolve().each(&mut look);
    first.policy.clone().resolve().each(&mut look);
    variable
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Settings;

    const TWO: &str = "database mdb\nsuffix dc=example,dc=org\ndirectory /a\n\
                       database mdb\nsuffix o=Partner\ndirectory /b\n";

    fn chosen(
        flags: &[(&'static str, &str, &str)],
        choice: DatabaseChoice,
    ) -> Result<String, String> {
        chosen_with(flags, choice, &[])
    }

    fn chosen_with(
        flags: &[(&'static str, &str, &str)],
        choice: DatabaseChoice,
        variables: &[(&str, &str)],
    ) -> Result<String, String> {
        let mut layer = Layer::default();
        for (flag, key, value) in flags {
            layer.set_flag(flag, key, *value).unwrap();
        }
        let lower = Layer::from_slapd_conf_text(TWO, Path::new("slapd.conf")).unwrap();
        let variables = variables.iter();
        let variables = variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let environment = Layer::from_environment(variables).unwrap();
        let layer = layer
            .flags_over(lower.over(environment), choice)
            .map_err(|error| error.to_string())?;
        let settings = Settings::new(layer).unwrap();
        let directories = settings
            .stores()
            .map(|store| store.directory().unwrap().display());
        Ok(directories
            .map(|path| path.to_string())
            .collect::<Vec<_>>()
            .join(" "))
    }

    #[test]
    fn a_command_on_one_database_needs_a_choice() {
        let one = |flags: &[_]| chosen(flags, DatabaseChoice::One);
        assert_eq!(one(&[("--suffix", "suffix", "O = partner")]).unwrap(), "/b");
        assert_eq!(
            one(&[("--suffix", "suffix", "dc=example,dc=org")]).unwrap(),
            "/a"
        );
        for (flags, word) in [
            (&[][..], "choose one of dc=example,dc=org and o=Partner"),
            (
                &[("--suffix", "suffix", "o=other")],
                "no database has the suffix o=other",
            ),
            (
                &[("--suffix", "suffix", "dc=org")],
                "no database has the suffix dc=org",
            ),
            (
                &[
                    ("--suffix", "suffix", "o=Partner"),
                    ("--data", "data", "/c"),
                ],
                "--data",
            ),
        ] {
            let refused = one(flags).unwrap_err();
            assert!(refused.contains(word), "{refused}");
        }
    }

    #[test]
    fn a_log_of_changes_before_the_only_database_is_not_chosen() {
        let text = "database mdb\nsuffix cn=log\ndirectory /log\n\
                    database mdb\nsuffix dc=x\ndirectory /a\noverlay accesslog\nlogdb cn=log\n";
        for flags in [&[][..], &[("--suffix", "suffix", "dc=x")]] {
            let mut layer = Layer::default();
            for (flag, key, value) in flags {
                layer.set_flag(flag, key, *value).unwrap();
            }
            let lower = Layer::from_slapd_conf_text(text, Path::new("slapd.conf")).unwrap();
            let layer = layer.flags_over(lower, DatabaseChoice::One).unwrap();
            let settings = Settings::new(layer).unwrap();
            let store = settings.first_store().unwrap();
            assert_eq!(store.directory().unwrap(), Path::new("/a"));
            assert_eq!(store.suffix().unwrap(), "dc=x");
        }
    }

    #[test]
    fn flags_of_the_server_change_no_database_of_several() {
        let all = |flags: &[_]| chosen(flags, DatabaseChoice::All);
        assert_eq!(all(&[]).unwrap(), "/a /b");
        assert_eq!(all(&[("--threads", "threads", "3")]).unwrap(), "/a /b");
        for (flag, key, value) in [
            ("--data", "data", "/c"),
            ("--suffix", "suffix", "o=Partner"),
            ("--root-dn", "root.dn", "cn=admin"),
        ] {
            let refused = all(&[(flag, key, value)]).unwrap_err();
            assert!(refused.contains(flag), "{refused}");
        }
    }

    #[test]
    fn variables_change_no_database_of_several() {
        let choices = [
            (&[][..], DatabaseChoice::All),
            (&[("--suffix", "suffix", "o=Partner")], DatabaseChoice::One),
        ];
        for (flags, choice) in choices {
            let free = [("FULGURITE_THREADS", "3"), ("FULGURITE_LIMITS_SIZE", "9")];
            chosen_with(flags, choice, &free).unwrap();
            for (name, value) in [
                ("FULGURITE_DATA", "/c"),
                ("FULGURITE_SUFFIX", "o=Partner"),
                ("FULGURITE_ROOT_PASSWORD", "secret"),
                ("FULGURITE_INDEX", "uid:eq"),
                ("LDAP_ROOT", "dc=example,dc=org"),
            ] {
                let refused = chosen_with(flags, choice, &[(name, value)]).unwrap_err();
                let is_named = refused.starts_with(&format!("environment variable {name}: "));
                assert!(is_named && refused.contains("set it for each"), "{refused}");
            }
        }
    }
}
