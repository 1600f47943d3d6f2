//! Making an environment again from backups.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fulgurite::check::{CheckOptions, Checker, Fault};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::BackupError;
use super::format::META_LEN;
use super::read::BackupFile;
use super::set::{PART_SUFFIX, Set};
use super::write::sync_directory;
use crate::Progress;

/// What was restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The data file.
    pub path: PathBuf,
    /// The transaction it is at.
    pub txnid: u64,
    /// Backup files that it took.
    pub files: usize,
    /// Length of the data file in octets.
    pub octets: u64,
    /// Pages that are neither used nor free: the original had lost them too.
    pub lost_pages: u64,
}

/// Restores the snapshot of transaction `txnid`, by default the newest, from the backups in `directory` to a new
/// environment at `to`: into that directory, which is made if it is missing, or with `no_subdir` to that file.
///
/// Every file's digest is compared first, then each page's as it is put in its place, and the whole is checked as
/// [`fulgurite::check`] does; only then the data file gets its name. It is durable on return.
/// # Errors
/// [`BackupError`]. Nothing is overwritten.
pub fn restore(
    directory: &Path,
    to: &Path,
    no_subdir: bool,
    txnid: Option<u64>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Restored, BackupError> {
    let set = Set::open(directory)?;
    let chain = set.chain(txnid)?;
    let path = target(to, no_subdir)?;
    if path.symlink_metadata().is_ok() {
        return Err(BackupError::Exists(path));
    }
    let mut part = path.clone().into_os_string();
    part.push(PART_SUFFIX);
    let part = PathBuf::from(part);
    let restored = restore_to(&chain, &path, &part, progress);
    if restored.is_err() {
        // What matters is why it failed; what cannot be removed does not have the name of a data file.
        let _ = fs::remove_file(&part);
    }
    restored
}

fn target(to: &Path, no_subdir: bool) -> Result<PathBuf, BackupError> {
    if no_subdir {
        return Ok(to.to_owned());
    }
    fs::create_dir_all(to).map_err(BackupError::io("making", to))?;
    Ok(to.join("data.mdb"))
}

fn restore_to(
    chain: &[&BackupFile],
    path: &Path,
    part: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Restored, BackupError> {
    let Some(newest) = chain.last() else {
        return Err(BackupError::Empty(path.to_owned()));
    };
    let page_size = u64::from(newest.header.page_size);
    let octets = (newest.header.last + 1) * page_size;
    let writing = || BackupError::io("writing", part);
    let file = File::create(part).map_err(writing())?;
    file.set_len(octets).map_err(writing())?;
    for (index, meta) in newest.metas.iter().enumerate() {
        write_meta(&file, index as u64 * page_size, meta).map_err(writing())?;
    }
    let total = chain.iter().map(|file| 2 * file.len).sum();
    let mut done = 0;
    for backup in chain {
        backup.check_whole()?;
        done += backup.len;
        progress(Progress { done, total });
        backup.pages(|pgno, page| {
            // A later snapshot may end earlier.
            if pgno > newest.header.last {
                return Ok(());
            }
            file.write_all_at(page, pgno * page_size).map_err(writing())
        })?;
        done += backup.len;
        progress(Progress { done, total });
    }
    file.sync_all().map_err(writing())?;
    let lost_pages = check(part, newest)?;
    give_name(part, path)?;
    let directory = match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    sync_directory(directory)?;
    Ok(Restored {
        path: path.to_owned(),
        txnid: newest.header.to,
        files: chain.len(),
        octets,
        lost_pages,
    })
}

fn write_meta(file: &File, at: u64, meta: &[u8; META_LEN]) -> std::io::Result<()> {
    file.write_all_at(meta, at)
}

/// Checks the restored file; returns how many pages it has lost. An order that is a program's own cannot be judged.
fn check(part: &Path, newest: &BackupFile) -> Result<u64, BackupError> {
    let options = CheckOptions::default().any_order_everywhere(true);
    let report = Checker::new(options)
        .check_file(part)
        .map_err(|error| BackupError::Unsound(error.to_string()))?;
    if report.txnid != newest.header.to || report.last_pgno != newest.header.last {
        let found = format!("it is at transaction {}", report.txnid);
        return Err(BackupError::Unsound(found));
    }
    let faults = || {
        report
            .findings
            .iter()
            .filter(|found| !is_loss(&found.fault))
    };
    match faults().next() {
        None => Ok(report.findings_total),
        Some(first) => {
            let count = faults().count();
            Err(BackupError::Unsound(format!("{first} ({count} in all)")))
        }
    }
}

/// Pages that nobody has are wasted, and no harm; the environment that was backed up had lost them already.
fn is_loss(fault: &Fault) -> bool {
    matches!(fault, Fault::Lost)
}

/// Gives the file its name, unless another has it meanwhile.
fn give_name(part: &Path, path: &Path) -> Result<(), BackupError> {
    match renameat_with(CWD, part, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(BackupError::Exists(path.to_owned())),
        // Some file systems do not know how.
        Err(Errno::INVAL | Errno::NOSYS) if path.symlink_metadata().is_err() => {
            fs::rename(part, path).map_err(BackupError::io("naming", path))
        }
        Err(error) => Err(BackupError::io("naming", path)(error.into())),
    }
}
