//! Earlier states of a configuration directory, which a command can bring back.
//!
//! ```text
//!   DIR/.generations/000041/cn=config.ldif, cn=config/...     before the change 41
//!                    making   links are being made            left by a crash: removed
//!                    ready    complete, the change follows    left by a crash: kept if the files changed
//!                    leaving  a state that is forgotten       left by a crash: removed
//! ```
//!
//! A change replaces files and never writes into them. So a state is a folder of hard links, which
//! takes no time and little room.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::files::ConfigFiles;
use super::replace::{flush, link, make_folder, write_durably};
use super::write::WriteError;
use crate::ConfigError;

/// The folder of the earlier states.
const FOLDER: &str = ".generations";

/// The name of a state while it is removed.
const LEAVING: &str = "leaving";

/// Earlier states that are kept.
const GENERATIONS_MAX: usize = 50;

/// An earlier state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Its number; a later state has a greater one.
    pub number: u64,
    /// The names of the entries that differ from the state after it.
    pub changed: Vec<String>,
}

impl ConfigFiles {
    /// Returns the earlier states, the newest first.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`].
    pub fn generations(&self) -> Result<Vec<Generation>, ConfigError> {
        let mut after = self.relative_texts();
        let mut generations = Vec::new();
        for number in self.readable_numbers()?.into_iter().rev() {
            let files = self.generation(number)?;
            let texts = files.relative_texts();
            generations.push(Generation {
                number,
                changed: changed_names(&texts, &after),
            });
            after = texts;
        }
        Ok(generations)
    }

    /// Returns the files of the newest state that differs from these, with its number.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`].
    pub fn previous(&self) -> Result<Option<(u64, ConfigFiles)>, ConfigError> {
        for number in self.readable_numbers()?.into_iter().rev() {
            let files = self.generation(number)?;
            if files.relative_texts() != self.relative_texts() {
                return Ok(Some((number, files.moved_to(self.directory()))));
            }
        }
        Ok(None)
    }

    /// Replaces these files on disk by those of an earlier state, and forgets that state. Returns
    /// the error of a flush, or of a state that could not be forgotten.
    ///
    /// # Errors
    /// [`WriteError`]; the files on disk are these.
    pub fn return_to(
        &self,
        number: u64,
        files: &ConfigFiles,
    ) -> Result<Option<WriteError>, WriteError> {
        let numbers = self.numbers().map_err(|cause| self.folder_error(cause))?;
        let flushed = self.exchange_files(files)?;
        // The newest goes first: those that a crash leaves are older than the files, or the same.
        let mut newer = numbers.into_iter().rev().filter(|one| *one >= number);
        let forgotten = newer.try_for_each(|one| self.forget(one));
        Ok(flushed.or(forgotten.err().map(|cause| self.folder_error(cause))))
    }

    /// Brings the earlier states in order if a crash has interrupted a change. The caller holds the
    /// lock of the directory.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn settle(&self) -> Result<(), WriteError> {
        let settled = self.settle_generation();
        settled.map_err(|cause| self.folder_error(cause))
    }

    /// Makes a state of these files, ready for a change of them.
    pub(super) fn begin_generation(&self) -> io::Result<()> {
        self.settle_generation()?;
        let (making, ready) = (self.place("making"), self.place("ready"));
        make_folder(&making)?;
        let mut folders = vec![making.clone()];
        for (path, text) in self.texts() {
            let Ok(place) = path.strip_prefix(self.directory()) else {
                continue;
            };
            let to = making.join(place);
            if let Some(folder) = to.parent().filter(|folder| !folder.is_dir()) {
                make_folder(folder)?;
                folders.push(folder.to_owned());
            }
            // A hand may have changed the file since.
            match fs::read(path).is_ok_and(|on_disk| on_disk == *text) {
                true => link(path, &to, true)?,
                false => write_durably(&to, text)?,
            }
        }
        folders.iter().rev().try_for_each(|folder| flush(folder))?;
        fs::rename(making, ready)?;
        flush(&self.directory().join(FOLDER))?;
        flush(self.directory())
    }

    /// Gives the state that is ready its number, unless the files on disk are the same. Removes
    /// what a crash has left.
    pub(super) fn settle_generation(&self) -> io::Result<()> {
        let ready = self.place("ready");
        for left in [self.place("making"), self.place(LEAVING)] {
            if left.exists() {
                fs::remove_dir_all(&left)?;
            }
        }
        if !ready.exists() {
            return Ok(());
        }
        let held = ConfigFiles::read(&ready).map(|files| files.relative_texts());
        let on_disk = ConfigFiles::read(self.directory()).map(|files| files.relative_texts());
        // Files that cannot be read may be another state.
        if let (Ok(held), Ok(on_disk)) = (held, on_disk)
            && held == on_disk
        {
            return self.remove_at_once(&ready);
        }
        let numbers = self.numbers()?;
        let number = numbers.last().map_or(1, |last| last + 1);
        fs::rename(&ready, self.numbered(number))?;
        let gone = (numbers.len() + 1).saturating_sub(GENERATIONS_MAX);
        let mut gone = numbers.into_iter().take(gone);
        gone.try_for_each(|number| self.forget(number))?;
        flush(&self.directory().join(FOLDER))
    }

    /// Removes a state.
    fn forget(&self, number: u64) -> io::Result<()> {
        self.remove_at_once(&self.numbered(number))
    }

    /// Removes a folder so that a crash leaves all of it, or nothing that counts as a state.
    fn remove_at_once(&self, folder: &Path) -> io::Result<()> {
        let leaving = self.place(LEAVING);
        if leaving.exists() {
            fs::remove_dir_all(&leaving)?;
        }
        fs::rename(folder, &leaving)?;
        flush(&self.directory().join(FOLDER))?;
        fs::remove_dir_all(leaving)
    }

    pub(super) fn folder_error(&self, cause: io::Error) -> WriteError {
        WriteError {
            path: self.directory().join(FOLDER),
            cause,
        }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.directory().join(FOLDER).join(name)
    }

    fn numbered(&self, number: u64) -> PathBuf {
        self.place(&format!("{number:06}"))
    }

    /// Returns the numbers of the states, ascending.
    fn numbers(&self) -> io::Result<Vec<u64>> {
        let folder = match fs::read_dir(self.directory().join(FOLDER)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            folder => folder?,
        };
        let mut numbers = Vec::new();
        for file in folder {
            numbers.extend(
                file?
                    .file_name()
                    .to_str()
                    .and_then(|name| name.parse::<u64>().ok()),
            );
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn readable_numbers(&self) -> Result<Vec<u64>, ConfigError> {
        self.numbers().map_err(|cause| ConfigError::Unreadable {
            what: "folder of earlier states",
            path: self.directory().join(FOLDER),
            cause,
        })
    }

    fn generation(&self, number: u64) -> Result<ConfigFiles, ConfigError> {
        ConfigFiles::read(&self.numbered(number))
    }

    /// Returns the texts by their paths below the directory.
    fn relative_texts(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let texts = self.texts().iter();
        let texts = texts.map(|(path, text)| {
            let place = path.strip_prefix(self.directory()).unwrap_or(path);
            (place.to_owned(), text.clone())
        });
        texts.collect()
    }
}

/// Returns the names of the entries that differ.
fn changed_names(
    before: &BTreeMap<PathBuf, Vec<u8>>,
    after: &BTreeMap<PathBuf, Vec<u8>>,
) -> Vec<String> {
    let both = before
        .keys()
        .chain(after.keys().filter(|path| !before.contains_key(*path)));
    let changed = both.filter(|path| before.get(*path) != after.get(*path));
    changed.map(|path| name(path)).collect()
}

/// Returns the name of the entry in a file.
fn name(path: &Path) -> String {
    let path = path.with_extension("");
    let parts = path.components().rev();
    let parts: Vec<_> = parts
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::super::entry::ConfigEntry;
    use super::*;

    fn entry(dn: &str, value: &str) -> ConfigEntry {
        ConfigEntry {
            dn: dn.to_owned(),
            attributes: vec![("cn".to_owned(), vec![value.to_owned()])],
        }
    }

    fn first(folder: &Path) -> ConfigFiles {
        fs::write(folder.join("cn=config.ldif"), "dn: cn=config\ncn: 0\n").unwrap();
        fs::create_dir(folder.join("cn=config")).unwrap();
        let schema = folder.join("cn=config/cn=schema.ldif");
        fs::write(schema, "dn: cn=schema\ncn: 0\n").unwrap();
        ConfigFiles::read(folder).unwrap()
    }

    fn with(files: &ConfigFiles, value: &str) -> ConfigFiles {
        let entries = [
            entry("cn=config", value),
            entry("cn=schema,cn=config", value),
        ];
        files.with_entries(&entries).unwrap()
    }

    #[test]
    fn changes_are_undone_in_turn() {
        let folder = tempfile::tempdir().unwrap();
        let mut states = vec![first(folder.path())];
        for value in ["1", "2", "3"] {
            let next = with(&states[0], value);
            let held = states.last().unwrap();
            assert!(held.replace_by(&next).unwrap().is_none());
            states.push(next);
        }
        let generations = states[3].generations().unwrap();
        let numbers: Vec<u64> = generations.iter().map(|one| one.number).collect();
        assert_eq!(numbers, [3, 2, 1]);
        assert_eq!(generations[0].changed, ["cn=schema,cn=config", "cn=config"]);
        for expected in states[..3].iter().rev() {
            let held = ConfigFiles::read(folder.path()).unwrap();
            let (number, files) = held.previous().unwrap().unwrap();
            assert!(held.return_to(number, &files).unwrap().is_none());
            assert_eq!(&ConfigFiles::read(folder.path()).unwrap(), expected);
        }
        let held = ConfigFiles::read(folder.path()).unwrap();
        assert_eq!(held.previous().unwrap(), None);
    }

    #[test]
    fn only_the_last_states_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut held = first(folder.path());
        for value in 0..GENERATIONS_MAX + 5 {
            let next = with(&held, &format!("v{value}"));
            held.replace_by(&next).unwrap();
            held = next;
        }
        let numbers = held.numbers().unwrap();
        assert_eq!(
            (numbers.len(), numbers.first()),
            (GENERATIONS_MAX, Some(&6))
        );
    }

    #[test]
    fn an_undo_after_a_crash_goes_back_one_state() {
        let folder = tempfile::tempdir().unwrap();
        let first = first(folder.path());
        let (second, third) = (with(&first, "1"), with(&first, "2"));
        first.replace_by(&second).unwrap();
        // The crash comes after the change, before its state has a number.
        second.begin_generation().unwrap();
        second.exchange_files(&third).unwrap();
        third.settle().unwrap();
        let (number, previous) = third.previous().unwrap().unwrap();
        assert_eq!((number, &previous), (2, &second));
    }

    #[test]
    fn states_are_removed_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut states = vec![first(folder.path())];
        for value in ["1", "2", "3"] {
            let next = with(&states[0], value);
            states.last().unwrap().replace_by(&next).unwrap();
            states.push(next);
        }
        let last = &states[3];
        // The crash comes while a state is removed.
        fs::rename(last.numbered(3), last.place(LEAVING)).unwrap();
        fs::remove_file(last.place(LEAVING).join("cn=config.ldif")).unwrap();
        last.settle().unwrap();
        assert!(!last.place(LEAVING).exists());
        assert_eq!(last.generations().unwrap().len(), 2);
        // The files are those of the state 2, so an undo forgets the states 1 and 2.
        last.exchange_files(&states[1]).unwrap();
        let (number, files) = states[1].previous().unwrap().unwrap();
        assert_eq!((number, &files), (1, &states[0]));
        // A state that cannot be removed ends it before older ones go.
        let stuck = states[1].numbered(2);
        let removed = fs::remove_dir_all(&stuck).and_then(|()| fs::write(&stuck, "x"));
        removed.unwrap();
        let failed = states[1].return_to(number, &files).unwrap();
        assert!(failed.is_some(), "a file is no folder of a state");
        assert!(states[0].numbered(1).is_dir());
    }

    #[test]
    fn a_state_stays_if_a_folder_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let files = first(folder.path());
        files.begin_generation().unwrap();
        let next = with(&files, "1");
        files.exchange_files(&next).unwrap();
        // A folder in the place of a file cannot be read.
        let top = folder.path().join("cn=config.ldif");
        let aside = folder.path().join("aside");
        fs::rename(&top, &aside).unwrap();
        fs::create_dir(&top).unwrap();
        next.settle().unwrap();
        fs::remove_dir(&top).unwrap();
        fs::rename(&aside, &top).unwrap();
        assert_eq!(next.previous().unwrap(), Some((1, files)));
        // Without the list of states, no number is given out.
        let states = next.place("");
        fs::rename(&states, &aside).unwrap();
        fs::write(next.directory().join(FOLDER), "no folder").unwrap();
        assert!(next.generations().is_err() && next.previous().is_err());
    }

    #[test]
    fn a_crash_at_any_moment_leaves_the_states() {
        let folder = tempfile::tempdir().unwrap();
        let files = first(folder.path());
        // While the links were made.
        make_folder(&files.place("making")).unwrap();
        fs::write(files.place("making").join("cn=config.ldif"), "dn: cn").unwrap();
        // Before the change.
        files.begin_generation().unwrap();
        files.settle_generation().unwrap();
        assert_eq!(files.previous().unwrap(), None);
        // After the change.
        files.begin_generation().unwrap();
        let next = with(&files, "1");
        files.exchange_files(&next).unwrap();
        next.settle_generation().unwrap();
        let (number, previous) = next.previous().unwrap().unwrap();
        assert_eq!((number, &previous), (1, &files));
        // After the return, before the state was forgotten.
        next.exchange_files(&previous).unwrap();
        assert_eq!(files.previous().unwrap(), None);
    }
}
