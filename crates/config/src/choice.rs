//! The database that a command is about, where the settings declare several.

use fulgurite_policy::DatabaseKind;

use crate::database::DatabaseLayer;
use crate::plain_name::same_name;
use crate::{ConfigError, Database, Layer, Origin, Settings, Sourced};

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

    /// Returns the settings of flags above those of `lower`, with all databases.
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
    ) -> Result<ChosenLayer, ConfigError> {
        let suffixes: Vec<String> = lower.store_suffixes().map(str::to_owned).collect();
        let listed = suffixes.join(" and ");
        let refused = |origin: &Origin| {
            let text =
                format!("the settings have several databases, {listed}; set it for each there");
            Err(ConfigError::at(origin, text))
        };
        let is_one = choice == DatabaseChoice::One;
        let has_several = suffixes.len() > 1;
        if let Some(origin) = variable_of(&lower.first).filter(|_| has_several) {
            return refused(&origin);
        }
        if !is_one || suffixes.is_empty() {
            if let Some(origin) = flag_of(&self.first).filter(|_| has_several) {
                return refused(origin);
            }
            let suffix = self.first.content.suffixes.first();
            let suffix = suffix.filter(|_| is_one).cloned();
            return Ok(ChosenLayer::new(self.over(lower), suffix, choice));
        }
        let suffix = self.first.content.suffixes.pop();
        let Some(place) = lower.chosen_store(suffix.as_ref()) else {
            // A record of the start may make the database, but it takes no flags.
            return match flag_of(&self.first).zip(suffix.as_ref()) {
                Some((_, suffix)) => Err(no_database(suffix, &listed)),
                None => Ok(ChosenLayer::new(self.over(lower), suffix, choice)),
            };
        };
        if has_several {
            if let Some(directory) = &self.first.storage.directory {
                return refused(&directory.origin);
            }
            if suffix.is_none() {
                return Err(no_choice(&listed));
            }
        }
        let general = match has_several {
            true => DatabaseLayer::default(),
            false => std::mem::take(&mut lower.first),
        };
        let flags = std::mem::take(&mut self.first).over(general);
        if let Some(chosen) = lower.databases.get_mut(place) {
            *chosen = flags.over(std::mem::take(chosen));
        }
        Ok(ChosenLayer::new(self.over(lower), suffix, choice))
    }

    /// Returns the layer with no other store than that of the suffix, which a flag names.
    ///
    /// # Errors
    /// [`ConfigError`] if there is none.
    pub fn with_only_store(
        mut self,
        flag: &'static str,
        suffix: &str,
    ) -> Result<Layer, ConfigError> {
        let listed = self.store_suffixes().collect::<Vec<_>>().join(" and ");
        let suffix = Sourced::new(suffix.to_owned(), Origin::Flag(flag));
        if self.chosen_store(Some(&suffix)).is_none() {
            return Err(no_database(&suffix, &listed));
        }
        self.databases
            .retain(|database| !is_store(database) || same_name(suffix_of(database), &suffix));
        Ok(self)
    }

    /// Returns the place of the database with the suffix; without one, of the first.
    fn chosen_store(&self, suffix: Option<&Sourced<String>>) -> Option<usize> {
        self.databases.iter().position(|database| {
            let is_asked = suffix.is_none_or(|suffix| same_name(suffix_of(database), suffix));
            is_asked && is_store(database) && !self.is_access_log(database)
        })
    }
}

/// Settings with all databases, and the choice of one.
///
/// Records of a start count the databases, so they come before the others are left out.
#[derive(Clone, Debug)]
pub struct ChosenLayer {
    layer: Layer,
    suffix: Option<Sourced<String>>,
    choice: DatabaseChoice,
}

impl ChosenLayer {
    fn new(layer: Layer, suffix: Option<Sourced<String>>, choice: DatabaseChoice) -> ChosenLayer {
        ChosenLayer {
            layer,
            suffix,
            choice,
        }
    }

    /// Returns the settings after `change` of all of them. A command on one database gets that one.
    ///
    /// # Errors
    /// [`ConfigError`] of the settings and of `change`; no choice, or one that no database fits.
    pub fn settings(
        self,
        change: impl FnOnce(Settings) -> Result<Settings, ConfigError>,
    ) -> Result<Settings, ConfigError> {
        let mut settings = change(Settings::new(self.layer)?)?;
        if self.choice == DatabaseChoice::One {
            keep_one(&mut settings, self.suffix.as_ref())?;
        }
        Ok(settings)
    }
}

/// Leaves out all databases with stores but the chosen one, also logs of changes.
fn keep_one(settings: &mut Settings, suffix: Option<&Sourced<String>>) -> Result<(), ConfigError> {
    let of = |database: &Database| database.suffix_if_set().unwrap_or_default().to_owned();
    let suffixes: Vec<String> = settings.served_stores().map(of).collect();
    let listed = suffixes.join(" and ");
    let chosen = match (suffix, suffixes.as_slice()) {
        (_, []) => return Ok(()),
        (Some(suffix), all) => {
            let mut fitting = all.iter().filter(|other| same_name(other, suffix));
            fitting.next().ok_or_else(|| no_database(suffix, &listed))?
        }
        (None, [only]) => only,
        (None, _) => return Err(no_choice(&listed)),
    };
    settings
        .databases
        .retain(|database| database.kind != DatabaseKind::Mdb || same_name(&of(database), chosen));
    Ok(())
}

fn no_database(suffix: &Sourced<String>, listed: &str) -> ConfigError {
    let text = format!(
        "no database has the suffix {}; choose one of {listed}",
        **suffix
    );
    ConfigError::at(&suffix.origin, text)
}

fn no_choice(listed: &str) -> ConfigError {
    let text = format!("the settings have several databases; choose one of {listed}");
    ConfigError::at(&Origin::Flag("--suffix"), text)
}

fn is_store(database: &DatabaseLayer) -> bool {
    database.kind == DatabaseKind::Mdb
}

fn suffix_of(database: &DatabaseLayer) -> &str {
    let first = database.content.suffixes.first();
    first.map_or("", |suffix| suffix.as_str())
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
        let settings = layer
            .flags_over(lower.over(environment), choice)
            .and_then(|chosen| chosen.settings(Ok))
            .map_err(|error| error.to_string())?;
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
            let chosen = layer.flags_over(lower, DatabaseChoice::One).unwrap();
            let settings = chosen.settings(Ok).unwrap();
            assert_eq!(settings.databases.len(), 1);
            let store = settings.first_store().unwrap();
            assert_eq!(store.directory().unwrap(), Path::new("/a"));
            assert_eq!(store.suffix().unwrap(), "dc=x");
        }
    }

    #[test]
    fn a_change_of_all_settings_sees_all_databases() {
        let mut layer = Layer::default();
        for (flag, key, value) in [
            ("--suffix", "suffix", "o=partner"),
            ("--index", "index", "l:eq"),
        ] {
            layer.set_flag(flag, key, value).unwrap();
        }
        let lower = Layer::from_slapd_conf_text(TWO, Path::new("slapd.conf")).unwrap();
        let chosen = layer.flags_over(lower, DatabaseChoice::One).unwrap();
        let with_third = |mut settings: Settings| {
            assert_eq!(settings.databases.len(), 2);
            let mut third = settings.databases[1].clone();
            third.content.suffixes[0].value = "o=third".to_owned();
            settings.databases.push(third);
            Ok(settings)
        };
        let settings = chosen.clone().settings(with_third).unwrap();
        let [partner] = settings.databases.as_slice() else {
            panic!("{:?}", settings.databases);
        };
        assert_eq!(partner.directory().unwrap(), Path::new("/b"));
        let indexes = partner.storage.indexes.iter();
        assert!(indexes.into_iter().any(|index| index.attribute == "l"));
        let gone = chosen.settings(|mut settings| {
            settings.databases.pop();
            Ok(settings)
        });
        let gone = gone.unwrap_err().to_string();
        assert!(gone.contains("choose one of dc=example,dc=org"), "{gone}");
        // A record may make the database that is chosen.
        let mut layer = Layer::default();
        layer.set_flag("--suffix", "suffix", "o=third").unwrap();
        let lower = Layer::from_slapd_conf_text(TWO, Path::new("slapd.conf")).unwrap();
        let chosen = layer.flags_over(lower, DatabaseChoice::One).unwrap();
        assert_eq!(
            chosen.settings(with_third).unwrap().suffix().unwrap(),
            "o=third"
        );
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
