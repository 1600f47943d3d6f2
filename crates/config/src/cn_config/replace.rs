//! Replaces the files of a configuration directory, so that a crash leaves the old or the new ones.
//!
//! ```text
//!   one file changes     new file, flush, rename, flush of its folder
//!   one file goes        unlink, flush of its folder
//!   several files        a whole new folder cn=config, flushed, exchanged with the old one at once
//! ```
//!
//! Some file systems cannot exchange folders. There, several files change one after the other, and
//! a crash between them leaves a mixture.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::files::{ConfigFiles, FOLDER};
use super::write::WriteError;

/// The folder of a change of several files, next to the one it replaces.
const STAGE: &str = ".changing";

impl ConfigFiles {
    /// Replaces these files on disk by those of a change. It returns when they are durable, or with
    /// the error of a flush after the change was made.
    ///
    /// Files in the folders that belong to no entry stay. The old files stay as a generation.
    /// Files in memory are not written.
    ///
    /// # Errors
    /// [`WriteError`]; the files on disk are the old ones.
    pub fn replace_by(&self, next: &ConfigFiles) -> Result<Option<WriteError>, WriteError> {
        if next.is_in_memory() || self == next {
            return Ok(None);
        }
        let begun = self.begin_generation();
        begun.map_err(|cause| self.folder_error(cause))?;
        let flushed = self.exchange_files(next);
        // The change is made. A state without a number gets it before the next change.
        let settled = self.settle().err();
        Ok(flushed?.or(settled))
    }

    /// Replaces these files on disk and keeps no state.
    pub(super) fn exchange_files(
        &self,
        next: &ConfigFiles,
    ) -> Result<Option<WriteError>, WriteError> {
        let (old, new) = (self.texts(), next.texts());
        let is_new = |path: &&PathBuf| old.get(*path) != new.get(*path);
        let written: Vec<&PathBuf> = new.keys().filter(is_new).collect();
        let removed: Vec<&PathBuf> = old.keys().filter(|path| !new.contains_key(*path)).collect();
        match (written.as_slice(), removed.as_slice()) {
            ([], []) => Ok(None),
            ([path], []) => next.write(path),
            ([], [path]) => remove(path),
            (written, removed) => {
                let exchanged = self.exchange(next).map_err(|cause| WriteError {
                    path: self.directory().join(STAGE),
                    cause,
                })?;
                if let Some(flushed) = exchanged {
                    // The file at the top is in no folder. One change of a client never has both.
                    let top = written
                        .iter()
                        .find(|path| path.parent() == Some(self.directory()));
                    let top = top.map(|top| next.write(top)).transpose()?;
                    return Ok(flushed.or(top.flatten()));
                }
                let mut failed = None;
                for path in written {
                    failed = next.write(path)?.or(failed);
                }
                for path in removed.iter().rev() {
                    failed = remove(path)?.or(failed);
                }
                Ok(failed)
            }
        }
    }

    /// Writes one file in the place of the old one.
    fn write(&self, path: &Path) -> Result<Option<WriteError>, WriteError> {
        let text = self.texts().get(path).map(Vec::as_slice);
        let text = text.unwrap_or_default();
        let fail = |cause| WriteError {
            path: path.to_owned(),
            cause,
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        if !folder.is_dir() {
            make_folder(folder).map_err(fail)?;
            flush(folder.parent().unwrap_or(folder)).map_err(fail)?;
        }
        let mut new = path.as_os_str().to_owned();
        new.push(".new");
        let new = PathBuf::from(new);
        let written = write_durably(&new, text).and_then(|()| fs::rename(&new, path));
        if let Err(cause) = written {
            // The name has no ending that a reader looks for.
            let _ = fs::remove_file(&new);
            return Err(fail(cause));
        }
        Ok(flush(folder).map_err(fail).err())
    }

    /// Writes the whole folder anew and exchanges it with the old one. Returns the error of a flush
    /// after the exchange, and `None` if the file system cannot exchange folders.
    fn exchange(&self, next: &ConfigFiles) -> io::Result<Option<Option<WriteError>>> {
        let stage = self.directory().join(STAGE);
        if stage.exists() {
            fs::remove_dir_all(&stage)?;
        }
        make_folder(&stage)?;
        let filled = fill(&stage, next).and_then(|()| self.keep_others(&stage, next));
        let exchanged = filled.and_then(|()| {
            let (new, old) = (stage.join(FOLDER), self.directory().join(FOLDER));
            match renameat_with(CWD, &new, CWD, &old, RenameFlags::EXCHANGE) {
                Ok(()) => {
                    let fail = |cause| WriteError {
                        path: self.directory().to_owned(),
                        cause,
                    };
                    Ok(Some(flush(self.directory()).map_err(fail).err()))
                }
                Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(None),
                Err(error) => Err(error.into()),
            }
        });
        // No reader enters a folder that is left.
        let _ = fs::remove_dir_all(&stage);
        exchanged
    }

    /// Links the files that belong to no entry into a stage.
    ///
    /// # Errors
    /// An error of the system, and a file where a reader would look for an entry.
    fn keep_others(&self, stage: &Path, next: &ConfigFiles) -> io::Result<()> {
        let known = || self.texts().keys().chain(next.texts().keys());
        let mut folders = vec![self.directory().join(FOLDER)];
        while let Some(folder) = folders.pop() {
            if !folder.is_dir() {
                continue;
            }
            let is_of_entry = known().any(|path| path.with_extension("") == folder);
            let mut made = None;
            for file in fs::read_dir(&folder)? {
                let file = file?;
                let (path, kind) = (file.path(), file.file_type()?);
                if kind.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = file.file_name();
                let name = name.to_string_lossy();
                if self.texts().contains_key(&path) || name.ends_with(".ldif.new") {
                    continue;
                }
                if is_of_entry && name.ends_with(".ldif") {
                    let text = format!(
                        "{} is new since the server has read the directory",
                        path.display()
                    );
                    return Err(io::Error::other(text));
                }
                let Ok(place) = path.strip_prefix(self.directory()) else {
                    continue;
                };
                let kept = stage.join(place);
                let above = kept.parent().unwrap_or(stage);
                make_folder(above)?;
                link(&path, &kept, kind.is_file())?;
                made = Some(above.to_owned());
            }
            if let Some(made) = made {
                flush(&made)?;
            }
        }
        Ok(())
    }
}

/// Gives a file a second name, or copies one whose owner forbids that.
pub(super) fn link(path: &Path, to: &Path, is_file: bool) -> io::Result<()> {
    match fs::hard_link(path, to) {
        Err(_) if is_file => write_durably(to, &fs::read(path)?),
        done => done,
    }
}

/// Writes all files below the folder `cn=config` into a stage.
fn fill(stage: &Path, next: &ConfigFiles) -> io::Result<()> {
    let top = stage.join(FOLDER);
    make_folder(&top)?;
    let mut folders = vec![top];
    for (path, text) in next.texts() {
        let Ok(place) = path.strip_prefix(next.directory()) else {
            continue;
        };
        if !place.starts_with(FOLDER) {
            continue;
        }
        let path = stage.join(place);
        if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
            make_folder(folder)?;
            folders.push(folder.to_owned());
        }
        write_durably(&path, text)?;
    }
    folders.iter().rev().try_for_each(|folder| flush(folder))
}

/// Makes a folder as slapd does. The files contain passwords.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o750).create(path)
}

pub(super) fn write_durably(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

/// Removes a file and its empty folder. Returns the error of the flush.
fn remove(path: &Path) -> Result<Option<WriteError>, WriteError> {
    let fail = |cause| WriteError {
        path: path.to_owned(),
        cause,
    };
    fs::remove_file(path).map_err(fail)?;
    // It stays with files that belong to no entry. No reader enters it.
    let _ = fs::remove_dir(path.with_extension(""));
    let flushed = flush(path.parent().unwrap_or(Path::new(".")));
    Ok(flushed.map_err(fail).err())
}

pub(super) fn flush(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::super::entry::ConfigEntry;
    use super::*;

    fn entry(dn: &str, attributes: &[(&str, &[&str])]) -> ConfigEntry {
        let attributes = attributes.iter().map(|(name, values)| {
            let values = values.iter().map(|value| (*value).to_owned());
            ((*name).to_owned(), values.collect())
        });
        ConfigEntry {
            dn: dn.to_owned(),
            attributes: attributes.collect(),
        }
    }

    fn database(number: usize, name: &str) -> ConfigEntry {
        let rdn = format!("{{{number}}}{name}");
        entry(
            &format!("olcDatabase={rdn},cn=config"),
            &[
                ("objectClass", &["olcDatabaseConfig"]),
                ("olcDatabase", &[&rdn]),
            ],
        )
    }

    #[test]
    fn files_on_disk_are_those_of_the_change() {
        let folder = tempfile::tempdir().unwrap();
        let top = entry(
            "cn=config",
            &[("objectClass", &["olcGlobal"]), ("cn", &["config"])],
        );
        let overlay = entry(
            "olcOverlay={0}unique,olcDatabase={1}mdb,cn=config",
            &[
                ("objectClass", &["olcOverlayConfig"]),
                ("olcOverlay", &["{0}unique"]),
            ],
        );
        std::fs::write(
            folder.path().join("cn=config.ldif"),
            "dn: cn=config\nobjectClass: olcGlobal\ncn: config\n",
        )
        .unwrap();
        let mut now = ConfigFiles::read(folder.path()).unwrap();
        let mut moved = overlay.clone();
        moved.dn = moved.dn.replace("{1}mdb", "{2}mdb");
        let steps = [
            vec![top.clone(), database(0, "config")],
            vec![top.clone(), database(0, "config"), database(1, "mdb")],
            vec![
                top.clone(),
                database(0, "config"),
                database(1, "mdb"),
                overlay,
            ],
            vec![
                top.clone(),
                database(0, "config"),
                database(1, "monitor"),
                database(2, "mdb"),
                moved,
            ],
            vec![top.clone(), database(0, "config"), database(1, "mdb")],
            vec![top, database(0, "config")],
        ];
        for entries in steps {
            let next = now.with_entries(&entries).unwrap();
            assert!(now.replace_by(&next).unwrap().is_none());
            now = ConfigFiles::read(folder.path()).unwrap();
            assert_eq!(now, next);
            let mut read = now.entries().unwrap();
            for entry in &mut read {
                // The writer derives it.
                entry
                    .attributes
                    .retain(|(name, _)| name != "structuralObjectClass");
            }
            assert_eq!(read, entries);
            assert!(!folder.path().join(STAGE).exists());
        }
        // The file at the top, its folder, and the earlier states.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
        let below = folder.path().join(FOLDER);
        assert_eq!(std::fs::read_dir(below).unwrap().count(), 1);
    }

    #[test]
    fn files_of_no_entry_stay() {
        let folder = tempfile::tempdir().unwrap();
        let top = entry("cn=config", &[("cn", &["config"])]);
        let text = "dn: cn=config\ncn: config\n";
        fs::write(folder.path().join("cn=config.ldif"), text).unwrap();
        let now = ConfigFiles::read(folder.path()).unwrap();
        fs::create_dir(folder.path().join(FOLDER)).unwrap();
        let two = [top.clone(), database(0, "config"), database(1, "mdb")];
        let one = [top.clone(), database(0, "config")];
        let [two, one, none] =
            [&two[..], &one, &[top]].map(|entries| now.with_entries(entries).unwrap());
        now.replace_by(&two).unwrap();
        let below = folder.path().join(FOLDER);
        let of_database = below.join("olcDatabase={1}mdb");
        fs::create_dir_all(below.join("old/cn=config")).unwrap();
        fs::create_dir(&of_database).unwrap();
        let others = [
            below.join("notes"),
            below.join("old/cn=config/x.ldif"),
            of_database.join("notes"),
        ];
        for path in &others {
            fs::write(path, "x").unwrap();
        }
        let are_kept = || {
            let mut others = others.iter();
            others.all(|path| fs::read_to_string(path).is_ok_and(|text| text == "x"))
        };
        // By the exchange of folders, and file by file.
        two.replace_by(&none).unwrap();
        assert!(are_kept());
        none.replace_by(&two).unwrap();
        assert!(are_kept());
        two.replace_by(&one).unwrap();
        assert!(are_kept());
        assert_eq!(ConfigFiles::read(folder.path()).unwrap(), one);
        // An entry that was added by hand.
        let by_hand = below.join("olcDatabase={7}mdb.ldif");
        fs::write(&by_hand, "dn: olcDatabase={7}mdb\nolcDatabase: {7}mdb\n").unwrap();
        one.replace_by(&two).unwrap();
        let error = two.replace_by(&none).unwrap_err().to_string();
        assert!(error.contains("is new since"), "{error}");
        assert!(by_hand.exists() && are_kept());
    }

    #[test]
    fn entries_that_stay_keep_their_text() {
        let folder = tempfile::tempdir().unwrap();
        let text = "# by hand\ndn: cn=config\nCN: config\nobjectClass: olcGlobal\n";
        std::fs::write(folder.path().join("cn=config.ldif"), text).unwrap();
        let now = ConfigFiles::read(folder.path()).unwrap();
        let mut entries = now.entries().unwrap();
        entries.push(database(0, "config"));
        let next = now.with_entries(&entries).unwrap();
        now.replace_by(&next).unwrap();
        let kept = std::fs::read_to_string(folder.path().join("cn=config.ldif")).unwrap();
        assert_eq!(kept, text);
        let bad = entry("cn=../x,cn=config", &[("cn", &["../x"])]);
        assert!(now.with_entries(&[bad]).is_err());
    }
}
