//! Writes files so that a repeated call changes nothing, and an edited file is safe.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use nix::unistd::{Gid, Uid};

/// The owner of files that the server reads or writes.
pub(crate) type Owner = Option<(Uid, Gid)>;

/// A file that must have a content.
pub(crate) struct WantedFile<'f> {
    /// Its path in the system that it is for.
    pub(crate) path: &'f Path,
    pub(crate) text: &'f str,
    /// Permission bits.
    pub(crate) mode: u32,
    pub(crate) owner: Owner,
}

/// The file system of the installation, and a record of the changes.
pub(super) struct Files {
    root: Option<PathBuf>,
    pub(super) force: bool,
    /// One line for each file and folder.
    pub(super) report: Vec<String>,
    /// Number of files and folders that were made or changed.
    pub(super) changes: usize,
}

impl Files {
    pub(super) fn new(root: Option<PathBuf>, force: bool) -> Files {
        Files {
            root,
            force,
            report: Vec::new(),
            changes: 0,
        }
    }

    /// Returns the place of a path below the root folder.
    pub(super) fn place(&self, path: &Path) -> PathBuf {
        match &self.root {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }

    /// Returns true if a file exists.
    pub(super) fn exists(&self, path: &Path) -> bool {
        self.place(path).exists()
    }

    /// Makes a folder with those above it, if it is missing.
    pub(super) fn folder(&mut self, path: &Path, mode: u32, owner: Owner) -> anyhow::Result<()> {
        let place = self.place(path);
        if place.is_dir() {
            return Ok(());
        }
        let made = place.parent().map_or(Ok(()), make_open_folders);
        made.and_then(|()| fs::DirBuilder::new().mode(mode).create(&place))
            // The mask of this program takes bits away.
            .and_then(|()| fs::set_permissions(&place, fs::Permissions::from_mode(mode)))
            .and_then(|()| give(&place, owner))
            .with_context(|| format!("cannot make the folder {}", place.display()))?;
        self.changed("made", path);
        Ok(())
    }

    /// Writes a file if it is missing. A file with other content is replaced only with --force.
    pub(super) fn file(&mut self, wanted: &WantedFile<'_>) -> anyhow::Result<()> {
        let place = self.place(wanted.path);
        let stored = match fs::read_to_string(&place) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", place.display()));
            }
        };
        match stored {
            Some(text) if text == wanted.text => {
                self.say("unchanged", wanted.path);
                return Ok(());
            }
            Some(_) if !self.force => {
                self.say("kept (edited)", wanted.path);
                return Ok(());
            }
            Some(_) => {
                fs::rename(&place, old_name(&place))
                    .with_context(|| format!("cannot rename {}", place.display()))?;
                self.changed("replaced", wanted.path);
            }
            None => self.changed("wrote", wanted.path),
        }
        write_whole(&place, wanted).with_context(|| format!("cannot write {}", place.display()))
    }

    /// Replaces a file, whatever it has.
    pub(super) fn replace(&mut self, wanted: &WantedFile<'_>) -> anyhow::Result<()> {
        let force = std::mem::replace(&mut self.force, true);
        let replaced = self.file(wanted);
        self.force = force;
        replaced
    }

    /// Notes that a file stays without a look at its content.
    pub(super) fn kept(&mut self, path: &Path) {
        self.say("unchanged", path);
    }

    fn changed(&mut self, word: &str, path: &Path) {
        self.changes += 1;
        self.say(word, path);
    }

    fn say(&mut self, word: &str, path: &Path) {
        self.report.push(format!("{word:<13} {}", path.display()));
    }
}

/// Makes missing folders that everybody may enter.
fn make_open_folders(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    path.parent().map_or(Ok(()), make_open_folders)?;
    fs::create_dir(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// Returns a free name for a file that is replaced: its own with `.old`, or `.old.2` and so on.
fn old_name(place: &Path) -> PathBuf {
    let numbered = |ending: &str| {
        let mut name = place.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let further = (2..u32::MAX).map(|number| numbered(&format!(".old.{number}")));
    let mut names = std::iter::once(numbered(".old")).chain(further);
    names
        .find(|name| !name.exists())
        .unwrap_or_else(|| numbered(".old"))
}

/// Writes a new file, which appears with its whole content.
pub(crate) fn write_whole(place: &Path, wanted: &WantedFile<'_>) -> io::Result<()> {
    place.parent().map_or(Ok(()), make_open_folders)?;
    let mut new = place.to_owned().into_os_string();
    new.push(".new");
    let new = PathBuf::from(new);
    let _ = fs::remove_file(&new);
    // Never readable by others, not even for a moment.
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)?;
    file.write_all(wanted.text.as_bytes())?;
    file.set_permissions(fs::Permissions::from_mode(wanted.mode))?;
    file.sync_all()?;
    give(&new, wanted.owner)?;
    fs::rename(&new, place)
}

fn give(place: &Path, owner: Owner) -> io::Result<()> {
    match owner {
        Some((user, group)) => {
            std::os::unix::fs::chown(place, Some(user.as_raw()), Some(group.as_raw()))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted<'f>(path: &'f Path, text: &'f str) -> WantedFile<'f> {
        WantedFile {
            path,
            text,
            mode: 0o640,
            owner: None,
        }
    }

    #[test]
    fn a_file_is_written_once_and_an_edited_one_is_kept() {
        let root = tempfile::tempdir().unwrap();
        let path = Path::new("/etc/x/settings");
        let place = root.path().join("etc/x/settings");
        let mut files = Files::new(Some(root.path().to_owned()), false);
        files.file(&wanted(path, "one\n")).unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), "one\n");
        let mode = fs::metadata(&place).unwrap().permissions().mode();
        assert_eq!((mode & 0o7777, files.changes), (0o640, 1));
        files.file(&wanted(path, "one\n")).unwrap();
        fs::write(&place, "edited\n").unwrap();
        files.file(&wanted(path, "one\n")).unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), "edited\n");
        assert_eq!(files.changes, 1);
        assert_eq!(
            files.report,
            [
                "wrote         /etc/x/settings",
                "unchanged     /etc/x/settings",
                "kept (edited) /etc/x/settings"
            ]
        );
        let mut files = Files::new(Some(root.path().to_owned()), true);
        assert!(files.exists(path));
        files.file(&wanted(path, "one\n")).unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), "one\n");
        let old = root.path().join("etc/x/settings.old");
        assert_eq!(fs::read_to_string(&old).unwrap(), "edited\n");
        files.file(&wanted(path, "two\n")).unwrap();
        assert_eq!(fs::read_to_string(old).unwrap(), "edited\n");
        let older = root.path().join("etc/x/settings.old.2");
        assert_eq!(fs::read_to_string(older).unwrap(), "one\n");
    }

    #[test]
    fn a_folder_has_its_mode_and_those_above_are_open() {
        let root = tempfile::tempdir().unwrap();
        let mut files = Files::new(Some(root.path().to_owned()), false);
        files.folder(Path::new("/a/b/data"), 0o700, None).unwrap();
        files.folder(Path::new("/a/b/data"), 0o700, None).unwrap();
        let mode = |name: &str| {
            let place = root.path().join(name);
            fs::metadata(place).unwrap().permissions().mode() & 0o7777
        };
        assert_eq!((mode("a/b/data"), mode("a/b")), (0o700, 0o755));
        assert_eq!(files.changes, 1);
    }
}
