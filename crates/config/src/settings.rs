//! All settings, with defaults.

use std::path::Path;
use std::sync::Arc;

use crate::Origin;
use crate::error::ConfigError;
use crate::ignored_settings;
use crate::layer::Layer;
use crate::listen::ListenUrl;
use crate::plain_name::same_name;
use crate::{ConfigFiles, Database, DatabaseLayer, Global, GlobalLayer, Policy};
use crate::{Note, SeedEntry, SeedWords, Sourced};
use fulgurite_policy::{DatabaseKind, OverlaySettings};

/// All settings, with defaults.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Settings of the whole server.
    pub global: Global,
    /// Rules of all databases. Its access rules follow those of each database.
    pub frontend: Policy,
    /// The overlays of all databases.
    pub frontend_overlays: Vec<OverlaySettings>,
    /// The databases in the order of the configuration, without `cn=config`.
    pub databases: Vec<Database>,
    /// The configuration as entries.
    pub config: Database,
    /// They come from a configuration of slapd, so slapd's defaults apply.
    pub slapd: bool,
    /// Entries that the first start adds, without those of files; see [`Settings::seed_entries`].
    pub seeds: Vec<SeedEntry>,
    /// Words that LDIF files of the start contain as `{{ NAME }}`, with their values.
    pub seed_words: SeedWords,
    /// Modules that slapd would load; `cn=config` shows them.
    pub modules: Vec<Sourced<String>>,
    /// The folders in which slapd looks for modules, with colons between them.
    pub module_path: Option<Sourced<String>>,
    /// The configuration directory that they come from, which changes of `cn=config` rewrite.
    pub files: Option<Arc<ConfigFiles>>,
    /// Messages that need no correction.
    pub notes: Vec<Note>,
}

impl Settings {
    /// Returns a layer's settings with defaults.
    ///
    /// # Errors
    /// [`ConfigError::Conflict`] for settings that exclude or need each other.
    pub fn new(layer: Layer) -> Result<Settings, ConfigError> {
        let mut databases = databases(layer.first, layer.databases, layer.declares_databases);
        databases.extend(monitor(&layer.global, &databases));
        databases.iter_mut().for_each(name_root);
        // In slapd, a database does not inherit bounds for some identities.
        let general = match layer.slapd {
            true => &[],
            false => layer.frontend.limits.as_slice(),
        };
        let databases: Vec<Database> = databases
            .into_iter()
            .map(|mut database| {
                database.policy.limits.extend_from_slice(general);
                database.resolve(&layer.frontend)
            })
            .collect();
        let mut global = layer.global.resolve();
        if global.listen.is_empty() {
            global
                .listen
                .push(Sourced::by_default(ListenUrl::default()));
        }
        let mut notes = layer.notes;
        notes.extend(ignored_settings::notes(&global));
        let mut settings = Settings {
            global,
            config: config_database(layer.config).resolve(&layer.frontend),
            frontend: layer.frontend.resolve(),
            frontend_overlays: layer.frontend_overlays,
            databases,
            slapd: layer.slapd,
            seeds: layer.seeds,
            seed_words: layer.seed_words,
            modules: layer.modules,
            module_path: layer.module_path,
            files: layer.files,
            notes,
        };
        settings.refuse_conflicts()?;
        let logs = settings
            .access_logs()
            .flat_map(|log| log.content.suffixes.first());
        let logs: Vec<Note> = logs.map(note_of_log).collect();
        settings.notes.extend(logs);
        Ok(settings)
    }

    /// Returns the databases that have stores, in their order.
    pub fn stores(&self) -> impl Iterator<Item = &Database> {
        let stores = self.databases.iter();
        stores.filter(|database| database.kind == DatabaseKind::Mdb)
    }

    /// Returns the databases whose stores the server opens, in their order. It opens none that an
    /// overlay `accesslog` names.
    pub fn served_stores(&self) -> impl Iterator<Item = &Database> {
        self.stores()
            .filter(|database| !self.is_access_log(database))
    }

    /// Returns the databases that an overlay `accesslog` names. The server shows the log of changes
    /// in their place.
    pub fn access_logs(&self) -> impl Iterator<Item = &Database> {
        self.stores()
            .filter(|database| self.is_access_log(database))
    }

    /// Returns true if an overlay `accesslog` of another database names this one.
    #[must_use]
    pub fn is_access_log(&self, database: &Database) -> bool {
        let suffixes = &database.content.suffixes;
        let mut others = self
            .stores()
            .filter(|other| !std::ptr::eq(*other, database));
        others.any(|other| {
            let overlays = other.overlays.iter();
            let mut logs = overlays.filter(|overlay| overlay.name == "accesslog");
            logs.any(|log| {
                let name = log.last("logdb");
                name.is_some_and(|name| suffixes.iter().any(|suffix| same_name(name, suffix)))
            })
        })
    }

    /// Returns the first database that has a store. Most configurations have one only.
    ///
    /// # Errors
    /// [`ConfigError::Conflict`] if none has.
    pub fn first_store(&self) -> Result<&Database, ConfigError> {
        self.stores().next().ok_or_else(|| {
            ConfigError::Conflict("the settings declare no database that has a store".to_owned())
        })
    }

    /// Returns [`Database::directory`] of the first store.
    ///
    /// # Errors
    /// As there, and if there is no store.
    pub fn data(&self) -> Result<&Path, ConfigError> {
        self.first_store()?.directory()
    }

    /// Returns [`Database::suffix`] of the first store.
    ///
    /// # Errors
    /// As there, and if there is no store.
    pub fn suffix(&self) -> Result<&str, ConfigError> {
        self.first_store()?.suffix()
    }

    fn refuse_conflicts(&self) -> Result<(), ConfigError> {
        for database in self.databases.iter().chain([&self.config]) {
            let content = &database.content;
            let text = content.root_password.is_some();
            let file = content.root_password_file.is_some();
            let named = content.root_dn.is_some();
            let problem = if text && file {
                "the root password is given twice, once as text and once as a file: keep one"
            } else if (text || file) && !named {
                "there is a root password but no root name: give --root-dn DN or root.dn as well"
            } else {
                continue;
            };
            return Err(ConfigError::Conflict(problem.to_owned()));
        }
        self.refuse_cluster_conflicts()
    }
}

/// Returns the database of the server's state, if `monitor` demands one that is not declared.
fn monitor(global: &GlobalLayer, declared: &[DatabaseLayer]) -> Option<DatabaseLayer> {
    let wanted = global.monitor.as_ref().filter(|monitor| monitor.value)?;
    let mut kinds = declared.iter().map(|database| database.kind);
    let is_declared = kinds.any(|kind| kind == DatabaseKind::Monitor);
    (!is_declared).then(|| DatabaseLayer {
        kind: DatabaseKind::Monitor,
        origin: Some(wanted.origin.clone()),
        ..DatabaseLayer::default()
    })
}

/// Returns the configuration as a database. As in slapd, its root may read it if it has a password;
/// other identities need rules.
fn config_database(layer: DatabaseLayer) -> DatabaseLayer {
    let mut config = DatabaseLayer {
        kind: DatabaseKind::Config,
        ..layer
    };
    let root = &mut config.content.root_dn;
    root.get_or_insert_with(|| Sourced::by_default(Some("cn=config".to_owned())));
    if config.policy.access.is_empty() {
        let nobody = Sourced::by_default("to * by * none".to_owned().into());
        config.policy.access.push(nobody);
    }
    config
}

/// Sets the root's name to `cn=admin` below the suffix if only the environment gives a password.
fn name_root(database: &mut DatabaseLayer) {
    let content = &mut database.content;
    let password = content.root_password.as_ref().map(|said| &said.origin);
    let file = content.root_password_file.as_ref().map(|said| &said.origin);
    let by_variable = password
        .or(file)
        .filter(|origin| matches!(origin, Origin::Variable(_)));
    if let (Some(origin), Some(suffix), None) =
        (by_variable, content.suffixes.first(), &content.root_dn)
    {
        let name = Some(format!("cn=admin,{}", suffix.value));
        content.root_dn = Some(Sourced::new(name, origin.clone()));
    }
}

/// Returns the declared databases, the first one with the settings of `first`; or `first` alone.
fn databases(
    first: DatabaseLayer,
    mut declared: Vec<DatabaseLayer>,
    all_declared: bool,
) -> Vec<DatabaseLayer> {
    if declared.is_empty() {
        let silent = first.storage.directory.is_none() && first.content.suffixes.is_empty();
        return match all_declared && silent {
            true => declared,
            false => vec![first],
        };
    }
    let place = declared
        .iter_mut()
        .find(|database| database.kind == DatabaseKind::Mdb);
    if let Some(place) = place {
        *place = first.over(std::mem::take(place));
    }
    declared
}

/// Returns the note that no store of a log of changes is opened.
fn note_of_log(suffix: &Sourced<String>) -> Note {
    let text = format!(
        "suffix {:?}: the overlay accesslog shows the log of changes there; the store of this database is not opened",
        suffix.value
    );
    Note::new(&suffix.origin, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FeatureSet as _, IndexSetting, Limit};

    fn settings(pairs: &[(&str, &str)]) -> Result<Settings, ConfigError> {
        let mut layer = Layer::default();
        for (key, value) in pairs {
            layer.set_flag("--test", key, *value)?;
        }
        Settings::new(layer)
    }

    #[test]
    fn defaults_are_the_documented_ones() {
        let settings = settings(&[]).unwrap();
        assert_eq!(settings.frontend.size.soft, Some(Limit::At(500)));
        assert_eq!(settings.frontend.time.soft, Some(Limit::At(3600)));
        assert_eq!(*settings.global.idle, None);
        assert_eq!(settings.global.filter_depth.get(), 1000);
        assert_eq!(
            settings.global.listen[0].to_string(),
            "ldap://127.0.0.1:389"
        );
        assert_eq!(settings.first_store().unwrap().indexes().len(), 13);
        let missing = settings.data().unwrap_err().to_string();
        assert!(
            missing.contains("--data DIR") && missing.contains("FULGURITE_DATA"),
            "{missing}"
        );
        assert!(settings.suffix().is_err());
    }

    #[test]
    fn default_indexes_can_be_changed_and_dropped() {
        let indexes = |pairs: &[(&str, &str)]| {
            let settings = settings(pairs).unwrap();
            settings.first_store().unwrap().indexes()
        };
        let changed = indexes(&[("index", "UID:none l:eq")]);
        assert!(
            !changed
                .iter()
                .any(|one| one.attribute.eq_ignore_ascii_case("uid"))
        );
        assert_eq!(changed.len(), 13);
        let alone = indexes(&[("index", "UID:none l:eq"), ("default_indexes", "false")]);
        assert_eq!(alone, [IndexSetting::parse("l:eq").unwrap()]);
    }

    #[test]
    fn root_password_is_read_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        std::fs::write(&file, "two words \r\n").unwrap();
        let path = file.to_str().unwrap();
        let settings = settings(&[("root.dn", "cn=admin"), ("root.password_file", path)]).unwrap();
        let password = || settings.first_store().unwrap().root_password();
        assert_eq!(password().unwrap().as_deref(), Some(&b"two words "[..]));
        std::fs::write(&file, "\n").unwrap();
        assert!(password().unwrap_err().to_string().contains("is empty"));
        std::fs::remove_file(&file).unwrap();
        let unreadable = password().unwrap_err().to_string();
        assert!(
            unreadable.starts_with("cannot read root password file"),
            "{unreadable}"
        );
    }

    #[test]
    fn conflicts_are_refused() {
        let twice = settings(&[
            ("root.dn", "cn=admin"),
            ("root.password", "a"),
            ("root.password_file", "b"),
        ]);
        assert!(twice.unwrap_err().to_string().contains("twice"));
        let nameless = settings(&[("root.password", "a")]);
        assert!(nameless.unwrap_err().to_string().contains("--root-dn"));
    }

    #[test]
    fn databases_inherit_limits_and_join_conditions() {
        let text = "limits.size = 7\nrequire = [\"bind\"]\nsecurity = [\"tls=128\"]\n\
            [[database]]\nsuffix = \"dc=a\"\nlimits.time = 5\nrequire = [\"authc\"]\nsecurity = [\"tls=1\", \"ssf=9\"]\n\
            [[database]]\nsuffix = \"dc=b\"\nrequire = [\"none\"]\nrestrict = [\"write\"]\n";
        let layer = Layer::from_toml(text, Path::new("x.toml")).unwrap();
        let settings = Settings::new(layer).unwrap();
        let [a, b] = settings.databases.as_slice() else {
            panic!("{:?}", settings.databases);
        };
        assert_eq!(a.policy.size.soft, Some(Limit::At(7)));
        assert_eq!(a.policy.time.soft, Some(Limit::At(5)));
        assert_eq!(a.policy.require.words(), ["bind", "authc"]);
        assert_eq!(a.policy.security.words(), ["ssf=9", "tls=128"]);
        assert_eq!(b.policy.require.words(), [""; 0]);
        assert_eq!(
            b.policy.restrict.words(),
            ["add", "modify", "rename", "delete"]
        );
        assert_eq!(b.policy.time.soft, Some(Limit::At(3600)));
    }
}
