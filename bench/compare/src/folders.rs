//! Where stores live while they are measured: templates that are made once, copies for those who
//! change them.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rustix::fs::SeekFrom;
use tempfile::TempDir;

use crate::workload::{Content, Medium};

/// The store of an engine for a workload, and its folder.
pub(crate) type Template = (&'static str, Content, Medium);

/// The folders of a run, gone when it ends.
pub(crate) struct Folders {
    memory: TempDir,
    disk: TempDir,
    templates: HashMap<Template, PathBuf>,
    next: u64,
}

impl Folders {
    pub(crate) fn new(memory: &Path, disk: &Path) -> anyhow::Result<Self> {
        let make = |parent: &Path| {
            fs::create_dir_all(parent)?;
            tempfile::Builder::new()
                .prefix("compare-")
                .tempdir_in(parent)
                .with_context(|| format!("cannot make a folder in {}", parent.display()))
        };
        Ok(Folders {
            memory: make(memory)?,
            disk: make(disk)?,
            templates: HashMap::new(),
            next: 0,
        })
    }

    /// A new and empty folder.
    pub(crate) fn fresh(&mut self, medium: Medium) -> anyhow::Result<PathBuf> {
        let root = match medium {
            Medium::Memory => &self.memory,
            Medium::Disk => &self.disk,
        };
        self.next += 1;
        let folder = root.path().join(self.next.to_string());
        fs::create_dir(&folder)?;
        Ok(folder)
    }

    /// A template, if it has been made.
    pub(crate) fn template(&self, template: &Template) -> Option<PathBuf> {
        self.templates.get(template).cloned()
    }

    pub(crate) fn keep(&mut self, template: Template, folder: PathBuf) {
        self.templates.insert(template, folder);
    }

    /// Removes templates that no later workload begins with.
    pub(crate) fn forget(&mut self, needed: impl Fn(Content, Medium) -> bool) {
        self.templates.retain(|(_, content, medium), folder| {
            let keep = needed(*content, *medium);
            if !keep {
                let _ = fs::remove_dir_all(folder);
            }
            keep
        });
    }
}

/// Copies the files of a folder. On a disk they are flushed when this returns, so that no later
/// flush has to write them.
pub(crate) fn copy_files(from: &Path, to: &Path, medium: Medium) -> anyhow::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&target)?;
            copy_files(&entry.path(), &target, medium)?;
            continue;
        }
        let copied = copy_file(&entry.path(), &target)?;
        if medium == Medium::Disk {
            copied.sync_all()?;
        }
    }
    Ok(())
}

/// Copies a file with its holes. The file of a server can have the size of its whole map, which the
/// medium has no room for.
fn copy_file(from: &Path, to: &Path) -> anyhow::Result<File> {
    let (source, target) = (File::open(from)?, File::create(to)?);
    let metadata = source.metadata()?;
    target.set_len(metadata.len())?;
    target.set_permissions(metadata.permissions())?;
    let mut piece = vec![0; 1 << 20];
    let mut at = 0;
    loop {
        at = match rustix::fs::seek(&source, SeekFrom::Data(at)) {
            Ok(begin) => begin,
            // No data follows.
            Err(rustix::io::Errno::NXIO) => return Ok(target),
            Err(error) => return Err(error.into()),
        };
        let end = rustix::fs::seek(&source, SeekFrom::Hole(at))?;
        while at < end {
            let count = usize::try_from(end - at)?.min(piece.len());
            source.read_exact_at(&mut piece[..count], at)?;
            target.write_all_at(&piece[..count], at)?;
            at += count as u64;
        }
    }
}

/// Bytes that the files of a folder take, holes left out.
pub(crate) fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes_in(&entry.path()),
            Ok(metadata) => metadata.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}

/// Where Debian's slapd is unpacked, or the last one with back-hdb.
pub(crate) fn slapd_root(project: &Path, old: bool) -> PathBuf {
    project.join(if old {
        "build/slapd-2.4/root"
    } else {
        "build/slapd"
    })
}

/// The folders of libraries of unpacked packages, for the loader.
pub(crate) fn library_path(root: &Path) -> String {
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    ["usr/lib", "lib"]
        .map(|folder| root.join(folder).join(&triplet).display().to_string())
        .join(":")
}

/// Where the package is unpacked.
pub(crate) fn ds389_root(project: &Path) -> PathBuf {
    project.join("build/389-ds/root")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_keep_holes() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (from, to) = (at("from"), at("to"));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        let sparse = File::create(from.join("map")).unwrap();
        sparse.set_len(1 << 30).unwrap();
        sparse.write_all_at(b"begin", 0).unwrap();
        sparse.write_all_at(b"middle", 300 << 20).unwrap();
        copy_files(&from, &to, Medium::Disk).unwrap();
        let copy = File::open(to.join("map")).unwrap();
        let metadata = copy.metadata().unwrap();
        assert_eq!(metadata.len(), 1 << 30);
        assert!(metadata.blocks() * 512 < 1 << 20, "{}", metadata.blocks());
        for (offset, text) in [(0, &b"begin"[..]), (300 << 20, b"middle")] {
            let mut read = vec![0; text.len()];
            copy.read_exact_at(&mut read, offset).unwrap();
            assert_eq!(read, text);
        }
    }
}
