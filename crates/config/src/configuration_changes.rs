//! Settings with changes of `cn=config` that files of a start ask for.
//!
//! ```text
//!   settings --configuration_files--> files in memory --read--> before
//!       |                                  |                       |
//!       |                                changes --read--> after   |
//!       '---------------- with_configuration <---------------------'
//! ```
//!
//! Only a setting that the changes touch comes from the files. All others keep their value and
//! their origin, also those that `cn=config` cannot express.

use std::path::{Path, PathBuf};

use fulgurite_policy::{DatabaseKind, OverlaySettings};

use crate::cn_config::{ConfigEntry, ConfigFiles};
use crate::plain_name::{is_within, same_name};
use crate::table::Storage;
use crate::{ConfigError, Database, Origin, Policy, Secret, Settings, Sourced};

/// The module that slapd's packages load first.
const FIRST_MODULE: &str = "back_mdb";

/// The value of a root password whose file cannot be read.
const UNREAD: &str = "{UNREAD}";

/// The folder of databases whose settings name none. No file is opened there.
const NO_FOLDER: &str = "/nowhere";

impl Settings {
    /// Returns the settings as files of a configuration directory in memory. Messages show `name`
    /// as the directory.
    ///
    /// The files have no definitions and no indexes by default, so that records may bring theirs. A
    /// database has no bound that it shares with all databases.
    ///
    /// # Errors
    /// [`ConfigError`] for a text that no value can hold.
    pub fn configuration_files(&self, name: &Path) -> Result<ConfigFiles, ConfigError> {
        let mut base = self.clone();
        base.global.schema.clear();
        if base.modules.is_empty() {
            base.modules = vec![Sourced::by_default(FIRST_MODULE.to_owned())];
        }
        for (at, database) in base.databases.iter_mut().enumerate() {
            let storage = &mut database.storage;
            storage.default_indexes.value = false;
            if storage.directory.is_none() && database.kind == DatabaseKind::Mdb {
                storage.directory.value = Some(PathBuf::from(format!("{NO_FOLDER}/{at}")));
            }
            show_password_file(database);
        }
        show_password_file(&mut base.config);
        let mut entries = base.config_entries(true);
        let databases = base.databases.iter().enumerate();
        for (at, database) in databases {
            let dn = format!(
                "olcDatabase={{{}}}{},cn=config",
                at + 1,
                database.kind.as_str()
            );
            if let Some(entry) = entries.iter_mut().find(|entry| entry.dn == dn) {
                drop_inherited(entry, &database.policy, &base.frontend);
            }
        }
        base.configuration_files_of(&entries, name)
    }

    /// Returns these settings with the changes between two states of their files.
    #[must_use]
    pub fn with_configuration(self, before: &Settings, after: Settings) -> Settings {
        let schema = [self.global.schema.clone(), after.global.schema.clone()].concat();
        let mut global = self.global.changed(&before.global, after.global);
        global.schema = schema;
        let modules = match names(&before.modules) == names(&after.modules) {
            true => self.modules,
            false => after.modules,
        };
        Settings {
            global,
            frontend: self.frontend.changed(&before.frontend, after.frontend),
            frontend_overlays: overlays(
                self.frontend_overlays,
                &before.frontend_overlays,
                after.frontend_overlays,
            ),
            databases: databases(self.databases, &before.databases, after.databases),
            config: changed_database(self.config, &before.config, after.config),
            modules,
            files: after.files,
            ..self
        }
    }
}

/// Gives a database whose root password is in a file the value `olcRootPW`, so that a record can
/// delete it. Where slapd takes no password, there is none.
fn show_password_file(database: &mut Database) {
    let content = &database.content;
    if content.root_password_file.is_none() || content.root_password.is_some() {
        return;
    }
    let above = match database.kind {
        DatabaseKind::Config => Some("cn=config"),
        DatabaseKind::Mdb => database.suffix_if_set(),
        _ => None,
    };
    let root = content.root_dn.as_deref().zip(above);
    if !root.is_some_and(|(root, above)| is_within(root, above)) {
        return;
    }
    // Not each command that reads settings may read the file.
    let password = database.root_password().ok().flatten();
    let password = password.and_then(|password| String::from_utf8(password).ok());
    let password = Secret(password.unwrap_or_else(|| UNREAD.to_owned()));
    database.content.root_password = Sourced::by_default(Some(password));
    database.content.root_password_file = Sourced::by_default(None);
}

/// Removes the bounds that a database shares with all databases.
fn drop_inherited(entry: &mut ConfigEntry, own: &Policy, all: &Policy) {
    let size = own.size.value == all.size.value;
    let time = own.time.value == all.time.value;
    entry
        .attributes
        .retain(|(attribute, _)| match attribute.as_str() {
            "olcSizeLimit" => !size,
            "olcTimeLimit" => !time,
            _ => true,
        });
}

fn names(modules: &[Sourced<String>]) -> Vec<&str> {
    modules.iter().map(|module| module.value.as_str()).collect()
}

/// Returns the databases after the changes. A new one comes from the files as a whole.
///
/// A database with the folder of an earlier one is that one. If none has it, a change may have
/// moved the database of its suffix.
fn databases(own: Vec<Database>, before: &[Database], after: Vec<Database>) -> Vec<Database> {
    let is_kept = |old: &Database| after.iter().any(|new| has_folder_of(old, new));
    let kept: Vec<bool> = before.iter().map(is_kept).collect();
    let mut own: Vec<Option<Database>> = own.into_iter().map(Some).collect();
    let mut take = |new: Database| {
        let moved = |(old, is_kept): (&Database, &bool)| {
            let suffixes = [old, &new].map(Database::suffix_if_set);
            let [Some(held), Some(wanted)] = suffixes else {
                return false;
            };
            !is_kept && same_name(held, wanted) && old.kind == new.kind
        };
        let at = before.iter().position(|old| has_folder_of(old, &new));
        let at = at.or_else(|| before.iter().zip(&kept).position(moved));
        let held = at.and_then(|at| own.get_mut(at)?.take().zip(before.get(at)));
        match held {
            Some((own, before)) => changed_database(own, before, new),
            None => new,
        }
    };
    after.iter().cloned().map(&mut take).collect()
}

fn has_folder_of(old: &Database, new: &Database) -> bool {
    old.kind == new.kind && old.storage.directory.value == new.storage.directory.value
}

fn changed_database(own: Database, before: &Database, after: Database) -> Database {
    let is_gone = before.content.root_password.is_some() && after.content.root_password.is_none();
    let mut content = own.content.changed(&before.content, after.content);
    if is_gone || (content.root_password.is_some() && content.root_password_file.is_some()) {
        // The new password replaces the one in the file, or there is none any more.
        content.root_password_file = Sourced::by_default(None);
    }
    let storage: Storage = own.storage.changed(&before.storage, after.storage);
    Database {
        kind: own.kind,
        origin: own.origin,
        policy: own.policy.changed(&before.policy, after.policy),
        content,
        storage,
        overlays: overlays(own.overlays, &before.overlays, after.overlays),
    }
}

fn overlays(
    own: Vec<OverlaySettings>,
    before: &[OverlaySettings],
    after: Vec<OverlaySettings>,
) -> Vec<OverlaySettings> {
    let plain = |all: &[OverlaySettings]| -> Vec<OverlaySettings> {
        let mut all = all.to_vec();
        for overlay in &mut all {
            overlay.origin = Origin::Default;
            let lines = overlay.lines.iter_mut();
            lines.for_each(|line| line.origin = Origin::Default);
        }
        all
    };
    match plain(before) == plain(&after) {
        true => own,
        false => after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConfigChange, Layer, Limit};

    fn settings() -> Settings {
        let text = "suffix = \"dc=x\"\ndata = \"/store\"\nlimits.bind_delay = 3\nlimits.size = 7\n\
            limits.connections = 9\nroot.dn = \"cn=admin,dc=x\"\nroot.password_file = \"/secret\"\n\
            storage.log_bytes_max = 4096\nlog.format = \"json\"\nindex.l = \"eq\"\n";
        Settings::new(Layer::from_toml(text, Path::new("x.toml")).unwrap()).unwrap()
    }

    /// Returns the settings after `change` of one entry.
    fn changed(dn: &str, change: impl Fn(&mut ConfigEntry)) -> Settings {
        let own = settings();
        let files = own.configuration_files(Path::new("/ldif")).unwrap();
        let before = Settings::new(files.layer().unwrap()).unwrap();
        let mut entries = files.entries().unwrap().into_iter();
        let mut entry = entries.find(|entry| entry.dn == dn).unwrap();
        change(&mut entry);
        let (files, _) = files.changed(ConfigChange::Replace(entry)).unwrap();
        let after = Settings::new(files.layer().unwrap()).unwrap();
        own.with_configuration(&before, after)
    }

    fn shown(settings: &Settings) -> Vec<(String, String, String)> {
        let lines = settings.shown().into_iter();
        lines
            .map(|line| (line.key.to_owned(), line.value, line.origin.to_string()))
            .collect()
    }

    #[test]
    fn all_settings_without_a_change_stay() {
        let same = changed("cn=config", |_| ());
        assert_eq!(shown(&same), shown(&settings()));
        assert!(same.modules.is_empty());
        assert_eq!(
            same.databases[0].indexes(),
            settings().databases[0].indexes()
        );
    }

    #[test]
    fn a_change_takes_its_setting_alone() {
        let add = |name: &'static str, value: &'static str| {
            move |entry: &mut ConfigEntry| {
                entry.attributes.retain(|(known, _)| known != name);
                entry.add(name, [value.to_owned()]);
            }
        };
        let database = "olcDatabase={1}mdb,cn=config";
        for (dn, name, value, key) in [
            (
                "olcDatabase={-1}frontend,cn=config",
                "olcSizeLimit",
                "8",
                "limits.size",
            ),
            (database, "olcSizeLimit", "8", "limits.size"),
            (database, "olcRootPW", "new", "root.password"),
            (database, "olcDbIndex", "cn sub", "index"),
            ("cn=config", "olcIdleTimeout", "5", "limits.idle"),
        ] {
            let new = changed(dn, add(name, value));
            let old = shown(&settings());
            let others = shown(&new).into_iter().filter(|line| !old.contains(line));
            let others: Vec<_> = others.map(|(key, _, _)| key).collect();
            assert!(
                others.iter().all(|other| {
                    *other == key || (key == "root.password" && other == "root.password_file")
                }),
                "{name}: {others:?}"
            );
            assert!(others.iter().any(|other| *other == key), "{name}");
        }
    }

    #[test]
    fn a_bound_of_all_databases_reaches_each() {
        let new = changed("olcDatabase={-1}frontend,cn=config", |entry| {
            entry.attributes.retain(|(name, _)| name != "olcSizeLimit");
            entry.add("olcSizeLimit", ["unlimited".to_owned()]);
        });
        assert_eq!(new.databases[0].policy.size.soft, Some(Limit::Unlimited));
    }

    #[test]
    fn a_database_in_another_folder_keeps_its_settings() {
        let moved = changed("olcDatabase={1}mdb,cn=config", |entry| {
            entry
                .attributes
                .retain(|(name, _)| name != "olcDbDirectory");
            entry.add("olcDbDirectory", ["/other".to_owned()]);
        });
        let old = shown(&settings());
        let others = shown(&moved).into_iter().filter(|line| !old.contains(line));
        let others: Vec<_> = others.map(|(key, value, _)| (key, value)).collect();
        assert_eq!(others, [("data".to_owned(), "/other".to_owned())]);
        // A new database of another name is no moved one.
        let new = changed("olcDatabase={1}mdb,cn=config", |entry| {
            entry.attributes.retain(|(name, _)| {
                !["olcDbDirectory", "olcSuffix", "olcRootDN", "olcRootPW"].contains(&name.as_str())
            });
            entry.add("olcDbDirectory", ["/other".to_owned()]);
            entry.add("olcSuffix", ["dc=y".to_owned()]);
        });
        assert!(new.databases[0].content.root_password_file.is_none());
    }

    #[test]
    fn a_password_in_a_file_can_be_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        for is_readable in [false, true] {
            if is_readable {
                std::fs::write(&file, "opensesame\n").unwrap();
            }
            let text = format!(
                "suffix = \"dc=x\"\ndata = \"/store\"\nroot.dn = \"cn=admin,dc=x\"\n\
                 root.password_file = {file:?}\n"
            );
            let own = Layer::from_toml(&text, Path::new("x.toml")).and_then(Settings::new);
            let own = own.unwrap();
            let files = own.configuration_files(Path::new("/ldif")).unwrap();
            let before = Settings::new(files.layer().unwrap()).unwrap();
            let same = own.clone().with_configuration(&before, before.clone());
            assert_eq!(shown(&same), shown(&own));
            let entries = files.entries().unwrap().into_iter();
            let mut entries = entries.filter(|entry| !entry.values("olcRootPW").is_empty());
            let mut entry = entries.next().unwrap();
            entry.attributes.retain(|(name, _)| name != "olcRootPW");
            let (files, _) = files.changed(ConfigChange::Replace(entry)).unwrap();
            let after = Settings::new(files.layer().unwrap()).unwrap();
            let without = own.with_configuration(&before, after);
            assert_eq!(without.databases[0].root_password().unwrap(), None);
        }
    }
}
