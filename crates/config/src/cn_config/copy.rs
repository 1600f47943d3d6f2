//! Copies a configuration directory of slapd for other stores, with its values as they are.

use std::path::{Path, PathBuf};

use super::entry::ConfigEntry;
use super::files::ConfigFiles;
use super::write::{WriteError, write_entry};

/// The class of the databases whose stores move. Others have settings that no server here takes.
const CLASS: &str = "olcMdbConfig";

impl ConfigFiles {
    /// Writes the entries into another directory, which must have no files. Databases get the
    /// directories `stores`, in their order; all other values keep their text. Scripts compare it.
    ///
    /// Returns false, and writes nothing, if `stores` are not those of the databases of mdb. The
    /// same holds if a value is no text.
    ///
    /// # Errors
    /// [`WriteError`]: a file that exists, or an error of the system.
    pub fn copy_for_stores(&self, to: &Path, stores: &[PathBuf]) -> Result<bool, WriteError> {
        let Ok(mut entries) = self.entries() else {
            return Ok(false);
        };
        let mut directories = stores.iter();
        for entry in &mut entries {
            set_value(entry, "olcConfigDir", to);
            if attribute(entry, "olcDbDirectory").is_none() {
                continue;
            }
            let classes = attribute(entry, "objectClass");
            let is_mdb = classes.is_some_and(|classes| {
                let mut classes = classes.iter();
                classes.any(|class| class.eq_ignore_ascii_case(CLASS))
            });
            match directories.next() {
                Some(directory) if is_mdb => set_value(entry, "olcDbDirectory", directory),
                _ => return Ok(false),
            }
        }
        if directories.next().is_some() {
            return Ok(false);
        }
        for entry in &entries {
            write_entry(to, entry)?;
        }
        Ok(true)
    }
}

/// Returns the values of an attribute, in any case of letters.
fn attribute<'e>(entry: &'e mut ConfigEntry, name: &str) -> Option<&'e mut Vec<String>> {
    let mut attributes = entry.attributes.iter_mut();
    let found = attributes.find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, values)| values)
}

/// Replaces the value of an attribute that the entry has.
fn set_value(entry: &mut ConfigEntry, name: &str, path: &Path) {
    if let Some(values) = attribute(entry, name) {
        *values = vec![path.display().to_string()];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_folder::write;

    fn directory(class: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| write(folder.path(), name, text);
        write(
            "cn=config.ldif",
            "dn: cn=config\nobjectClass: olcGlobal\ncn: config\nolcConfigDir: /old\n\
             olcLogLevel: stats sync\nentryCSN: 20260101000000.000000Z#000000#000#000000\n",
        );
        write(
            "cn=config/olcDatabase={1}mdb.ldif",
            &format!(
                "dn: olcDatabase={{1}}mdb\nobjectClass: olcDatabaseConfig\nobjectClass: {class}\n\
                 olcDatabase: {{1}}mdb\nOLCdbDirectory: /a\nolcSuffix: dc=a\nolcDbIndex: cn,uid eq\n\
                 olcAccess: {{0}}TO  *  BY * READ\n"
            ),
        );
        folder
    }

    #[test]
    fn values_keep_their_text() {
        let from = directory("olcMdbConfig");
        let to = tempfile::tempdir().unwrap();
        let files = ConfigFiles::read(from.path()).unwrap();
        let stores = [PathBuf::from("/new")];
        assert!(files.copy_for_stores(to.path(), &stores).unwrap());
        let copied = ConfigFiles::read(to.path()).unwrap().entries().unwrap();
        let mut expected = files.entries().unwrap();
        set_value(&mut expected[0], "olcConfigDir", to.path());
        set_value(&mut expected[1], "olcDbDirectory", &stores[0]);
        for (entry, copy) in expected.iter().zip(&copied) {
            for attribute in &entry.attributes {
                assert!(copy.attributes.contains(attribute), "{copy:?}");
            }
        }
        assert_eq!(copied.len(), 2);
        assert!(files.copy_for_stores(to.path(), &stores).is_err());
    }

    #[test]
    fn other_databases_are_not_copied() {
        let to = tempfile::tempdir().unwrap();
        for (class, stores) in [
            ("olcHdbConfig", 1),
            ("olcMdbConfig", 0),
            ("olcMdbConfig", 2),
        ] {
            let from = directory(class);
            let files = ConfigFiles::read(from.path()).unwrap();
            let stores = vec![PathBuf::from("/new"); stores];
            assert!(
                !files.copy_for_stores(to.path(), &stores).unwrap(),
                "{class}"
            );
        }
        assert!(!to.path().join("cn=config.ldif").exists());
    }
}
