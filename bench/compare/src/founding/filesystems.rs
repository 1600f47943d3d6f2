//! File systems in files, mounted for the time of a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file system to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileSystem {
    /// As the tables name it.
    pub(crate) name: &'static str,
    /// Its name for `mkfs`.
    kind: &'static str,
    /// True if its journal is in memory, in another file.
    journal_apart: bool,
}

const fn file_system(name: &'static str, kind: &'static str, journal_apart: bool) -> FileSystem {
    FileSystem {
        name,
        kind,
        journal_apart,
    }
}

pub(crate) const FILE_SYSTEMS: &[FileSystem] = &[
    file_system("ext2", "ext2", false),
    file_system("ext3", "ext3", false),
    file_system("ext3-journal", "ext3", true),
    file_system("ext4", "ext4", false),
    file_system("ext4-journal", "ext4", true),
    file_system("xfs", "xfs", false),
    file_system("btrfs", "btrfs", false),
];

/// Sizes of the files; they have holes at first.
const IMAGE_BYTES: u64 = 1 << 30;
const JOURNAL_BYTES: u64 = 128 << 20;

/// A mounted one, gone when it is dropped.
pub(crate) struct Mounted {
    pub(crate) folder: PathBuf,
    image: PathBuf,
    /// The journal's file and its device.
    journal: Option<(PathBuf, String)>,
}

impl FileSystem {
    /// Makes it in a file on `disk`, its journal in `memory`, and mounts it.
    /// # Errors
    /// The reason why it cannot be had here.
    pub(crate) fn mount(self, memory: &Path, disk: &Path) -> Result<Mounted, String> {
        let text = |error: std::io::Error| error.to_string();
        let make = format!("mkfs.{}", self.kind);
        run(Command::new(&make).arg("-V")).map_err(|_| format!("there is no {make}"))?;
        fs::create_dir_all(disk).map_err(text)?;
        let own = format!("founding-{}-{}", self.name, std::process::id());
        let mut mounted = Mounted {
            folder: disk.join(&own),
            image: disk.join(format!("{own}.image")),
            journal: None,
        };
        sparse(&mounted.image, IMAGE_BYTES).map_err(text)?;
        let mut command = Command::new(&make);
        if self.kind.starts_with("ext") {
            command.args(["-q", "-F", "-b", "4096"]);
        }
        if self.journal_apart {
            let file = memory.join(format!("{own}.journal"));
            sparse(&file, JOURNAL_BYTES).map_err(text)?;
            mounted.journal = Some((file.clone(), String::new()));
            let device = run(Command::new("losetup")
                .args(["--find", "--show"])
                .arg(&file))?;
            mounted.journal = Some((file, device.clone()));
            run(Command::new("mke2fs").args([
                "-q",
                "-F",
                "-b",
                "4096",
                "-O",
                "journal_dev",
                &device,
            ]))?;
            command.args(["-J", &format!("device={device}")]);
        }
        run(command.arg(&mounted.image))?;
        fs::create_dir_all(&mounted.folder).map_err(text)?;
        run(Command::new("mount")
            .args(["-o", "loop"])
            .arg(&mounted.image)
            .arg(&mounted.folder))?;
        Ok(mounted)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // These fail if it was not made.
        let _ = run(Command::new("umount").arg(&self.folder));
        let _ = fs::remove_dir(&self.folder);
        let _ = fs::remove_file(&self.image);
        if let Some((file, device)) = &self.journal {
            let _ = run(Command::new("losetup").args(["--detach", device]));
            let _ = fs::remove_file(file);
        }
    }
}

fn sparse(path: &Path, bytes: u64) -> std::io::Result<()> {
    fs::File::create(path)?.set_len(bytes)
}

/// Runs a command to its end, and returns its words; or its complaint.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().replace('\n', " ");
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(text(&output.stderr))
    }
}
