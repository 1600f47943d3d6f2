//! The archives of `fixtures/`, unpacked once per build into the target directory; see
//! `fixtures/README.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::listing::DatabaseLines;
use crate::process::require_tool;
use crate::scratch::{Scratch, target_dir};

/// One sound environment made by a real LMDB.
#[derive(Debug, Clone)]
pub struct Fixture {
    /// Its name.
    pub name: String,
    data: PathBuf,
    dump: PathBuf,
}

impl Fixture {
    /// The listing of LMDB.
    ///
    /// # Panics
    /// If the listing cannot be read.
    #[must_use]
    pub fn databases(&self) -> Vec<DatabaseLines> {
        let text = fs::read_to_string(&self.dump)
            .unwrap_or_else(|e| panic!("read {}: {e}", self.dump.display()));
        DatabaseLines::parse_all(&text)
    }

    /// The pristine data file: for reading by checkers, never to be opened as an environment.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Makes a copy of it as an environment directory named after it inside `scratch`.
    ///
    /// # Panics
    /// If copying fails.
    #[must_use]
    pub fn copy_to(&self, scratch: &Scratch) -> PathBuf {
        copy_data(&self.data, &scratch.join(&self.name))
    }
}

/// One damaged file.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The sound file it was made from: `base-tree` or `base-dups`.
    pub base: String,
    /// The fault.
    pub what: String,
    /// The expected behaviour of an engine.
    pub expected: String,
    data: PathBuf,
}

impl Case {
    /// The damaged data file itself.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Makes a copy of it as an environment directory inside `scratch`.
    ///
    /// # Panics
    /// If copying fails.
    #[must_use]
    pub fn copy_to(&self, scratch: &Scratch) -> PathBuf {
        copy_data(&self.data, &scratch.join(&self.name))
    }
}

/// The 35 sound environments of the 0.9 format.
///
/// # Panics
/// If the archive cannot be unpacked.
#[must_use]
pub fn sound_fixtures() -> Vec<Fixture> {
    let root = unpacked("lmdb-0.9");
    let mut names: Vec<String> = fs::read_dir(&root)
        .expect("list the fixtures")
        .filter_map(|entry| {
            entry
                .expect("a directory entry")
                .file_name()
                .into_string()
                .ok()
        })
        .filter_map(|file| file.strip_suffix(".dump").map(str::to_owned))
        .collect();
    names.sort();
    names.into_iter().map(|name| sound(&root, &name)).collect()
}

/// One sound environment by name.
///
/// # Panics
/// If there is none of that name.
#[must_use]
pub fn fixture(name: &str) -> Fixture {
    sound(&unpacked("lmdb-0.9"), name)
}

/// One of the sound files that the damaged ones were made from.
///
/// # Panics
/// If there is none of that name.
#[must_use]
pub fn base(name: &str) -> Fixture {
    sound(&unpacked("corrupt-0.9").join("bases"), name)
}

/// The damaged files of the 0.9 format, and the names of the cases left out because they are of
/// another format.
///
/// # Panics
/// If the archive cannot be unpacked.
#[must_use]
pub fn corrupt_cases() -> (Vec<Case>, Vec<String>) {
    let root = unpacked("corrupt-0.9");
    let table = fs::read_to_string(root.join("cases.tsv")).expect("read cases.tsv");
    let (mut cases, mut other_format) = (Vec::new(), Vec::new());
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let [name, base, what, expected] = columns[..] else {
            panic!("cases.tsv: {row:?}")
        };
        if name.starts_with("v1-") {
            other_format.push(name.to_owned());
            continue;
        }
        cases.push(Case {
            name: name.to_owned(),
            base: base.to_owned(),
            what: what.to_owned(),
            expected: expected.to_owned(),
            data: root.join(name).join("data.mdb"),
        });
    }
    (cases, other_format)
}

fn sound(root: &Path, name: &str) -> Fixture {
    let fixture = Fixture {
        name: name.to_owned(),
        data: root.join(name).join("data.mdb"),
        dump: root.join(format!("{name}.dump")),
    };
    assert!(
        fixture.data.exists(),
        "no fixture {}",
        fixture.data.display()
    );
    fixture
}

fn copy_data(data: &Path, dir: &Path) -> PathBuf {
    fs::create_dir_all(dir).expect("make an environment directory");
    // Reading and writing instead of `fs::copy`: the pristine files' permissions are none of the
    // copy's.
    let bytes = fs::read(data).unwrap_or_else(|e| panic!("read {}: {e}", data.display()));
    fs::write(dir.join("data.mdb"), bytes).expect("write the copy of a fixture");
    dir.to_owned()
}

/// The directory inside an archive, unpacked by whichever test program comes first.
fn unpacked(archive: &str) -> PathBuf {
    static SOUND: OnceLock<PathBuf> = OnceLock::new();
    static CORRUPT: OnceLock<PathBuf> = OnceLock::new();
    let (cell, inner) = if archive == "lmdb-0.9" {
        (&SOUND, "lmdb-0.9")
    } else {
        (&CORRUPT, "corrupt")
    };
    cell.get_or_init(|| unpack(archive)).join(inner)
}

fn unpack(archive: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(format!("{archive}.tar.xz"));
    let stamp = fs::metadata(&source)
        .unwrap_or_else(|e| panic!("{}: {e}", source.display()))
        .len();
    let done = target_dir().join(format!("{archive}-{stamp}"));
    if done.exists() {
        return done;
    }
    require_tool("xz", "--version", "xz-utils");
    let fresh = Scratch::new("unpack");
    let status = Command::new("tar")
        .arg("-xJf")
        .arg(&source)
        .arg("-C")
        .arg(fresh.path())
        .status();
    assert!(
        status.is_ok_and(|s| s.success()),
        "unpack {}",
        source.display()
    );
    let fresh = fresh.keep();
    if fs::rename(&fresh, &done).is_err() {
        // Another test program was faster; its copy is as good as ours.
        let _ = fs::remove_dir_all(&fresh);
        assert!(
            done.exists(),
            "move the unpacked fixtures to {}",
            done.display()
        );
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archives_are_complete() {
        let sound = sound_fixtures();
        assert_eq!(sound.len(), 35);
        let records: usize = sound
            .iter()
            .flat_map(Fixture::databases)
            .map(|db| db.lines.len())
            .sum();
        assert!(records > 50_000, "{records} records listed");
        let (cases, other_format) = corrupt_cases();
        assert_eq!((cases.len(), other_format.len()), (101, 2));
        assert!(cases.iter().all(|case| case.data().exists()));
        assert!(!base("base-tree").databases().is_empty());
    }
}
