//! Small disks in memory, which a test fills.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The size of a disk, for the options of `mount`.
const SIZE: &str = "size=768m";

/// A disk over a folder.
pub(crate) struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    /// Puts a disk over a folder, with the files that are there; `None` without the right to mount.
    pub(crate) fn over(folder: &Path) -> Option<SmallDisk> {
        let aside = folder.with_extension("aside");
        if folder.exists() {
            fs::rename(folder, &aside).expect("moved aside");
        }
        fs::create_dir_all(folder).expect("a folder");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", SIZE, "tmpfs"]).arg(folder);
        let is_mounted = mount.status().is_ok_and(|status| status.success());
        let disk = is_mounted.then(|| SmallDisk {
            folder: folder.to_owned(),
        });
        if aside.exists() {
            let mut copy = Command::new("cp");
            copy.arg("-a").arg(aside.join(".")).arg(folder);
            assert!(copy.status().expect("cp runs").success());
            fs::remove_dir_all(&aside).expect("removed");
        }
        disk
    }

    /// Moves the files back to where they would be without the disk. Nobody may use them.
    pub(crate) fn leave(self) {
        let aside = self.folder.with_extension("aside");
        let mut copy = Command::new("cp");
        copy.arg("-a").arg(&self.folder).arg(&aside);
        assert!(copy.status().expect("cp runs").success());
        let folder = self.folder.clone();
        drop(self);
        fs::remove_dir(&folder).expect("an empty folder");
        fs::rename(&aside, &folder).expect("moved back");
    }

    fn filler(&self) -> PathBuf {
        self.folder.join("filler")
    }

    /// Takes all the room that is left.
    pub(crate) fn fill(&self) {
        let mut filler = File::create(self.filler()).expect("a file");
        let block = vec![1; 1 << 20];
        for len in [1 << 20, 4096] {
            while filler.write_all(&block[..len]).is_ok() {}
        }
        let (left, used) = (self.available(), filler.metadata().expect("facts").len());
        assert!(left < 4096 && used > 0, "{left} bytes are left");
    }

    /// Returns the bytes that a file can still get.
    pub(crate) fn available(&self) -> u64 {
        let facts = rustix::fs::statvfs(&self.folder).expect("facts of the disk");
        facts.f_bavail * facts.f_bsize
    }

    /// Gives the room back.
    pub(crate) fn clear(&self) {
        fs::remove_file(self.filler()).expect("removed");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Processes that still use it end later.
        drop(Command::new("umount").arg("-l").arg(&self.folder).status());
    }
}
