//! Restoring an environment from backups.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fulgurite::check::{CheckOptions, Checker, Fault};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::BackupError;
use super::format::META_LEN;
use super::read::BackupFile;
use super::set::{BackupSet, PART_SUFFIX};
use super::write::sync_directory;
use crate::Progress;

/// The outcome of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreReport {
    /// The data file.
    pub path: PathBuf,
    /// The transaction of the restored snapshot.
    pub txnid: u64,
    /// Backup files that were used.
    pub files: usize,
    /// Length of the data file in bytes.
    pub bytes: u64,
    /// Pages that are neither used nor free. The original had lost them too.
    pub lost_pages: u64,
}

/// Restores the snapshot of transaction `txnid`, by default the newest, to a new environment at
/// `to`.
///
/// `to` is a directory, which is made if it is missing, or with `no_subdir` a file. The restore
/// first compares every file with its digest, then each page as it writes it. Then it checks the
/// whole file as [`fulgurite::check`] does, and only then gives it its name. The file is durable on
/// return.
/// # Errors
/// [`BackupError`]. Nothing is overwritten.
pub fn restore(
    directory: &Path,
    to: &Path,
    no_subdir: bool,
    txnid: Option<u64>,
    progress: &mut dyn FnMut(Progress),
) -> Result<RestoreReport, BackupError> {
    let set = BackupSet::open(directory)?;
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
        // The first error matters more. A remaining file does not have the name of a data file.
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
) -> Result<RestoreReport, BackupError> {
    let Some(newest) = chain.last() else {
        return Err(BackupError::Empty(path.to_owned()));
    };
    let page_size = u64::from(newest.header.page_size);
    let bytes = (newest.header.last + 1) * page_size;
    let writing = || BackupError::io("writing", part);
    let file = File::create(part).map_err(writing())?;
    file.set_len(bytes).map_err(writing())?;
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
            // A later snapshot may have fewer pages.
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
    Ok(RestoreReport {
        path: path.to_owned(),
        txnid: newest.header.to,
        files: chain.len(),
        bytes,
        lost_pages,
    })
}

fn write_meta(file: &File, at: u64, meta: &[u8; META_LEN]) -> std::io::Result<()> {
    file.write_all_at(meta, at)
}

/// Checks the restored file and returns how many pages it has lost. It ignores order, because a
/// program may have its own.
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

/// Returns true for a page that is neither used nor free. It is wasted but harmless, and the
/// original had lost it already.
fn is_loss(fault: &Fault) -> bool {
    matches!(fault, Fault::Lost)
}

/// Gives the file its name, unless another file has it meanwhile.
fn give_name(part: &Path, path: &Path) -> Result<(), BackupError> {
    match renameat_with(CWD, part, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(BackupError::Exists(path.to_owned())),
        // Some file systems do not support this flag.
        Err(Errno::INVAL | Errno::NOSYS) if path.symlink_metadata().is_err() => {
            fs::rename(part, path).map_err(BackupError::io("naming", path))
        }
        Err(error) => Err(BackupError::io("naming", path)(error.into())),
    }
}
