//! Backups by transaction: a full one, then increments that hold only the changed pages.
//!
//! ```text
//!   full-120.fgb <--- incr-120-135.fgb <--- incr-135-150.fgb        each has the digest of the one before
//!        |                   |                     |
//!   all pages of        pages of snapshot 135   restored at 150: the three in this order,
//!   snapshot 120        that differ from 120    each over the one before; then checked
//! ```
//!
//! Pages of this format do not record the transaction that wrote them. A page number alone does not
//! help either, because the page may have been freed and reused. So a backup keeps a digest of each
//! of its pages. An increment holds the pages of the new snapshot whose digest differs from the
//! chain's. Restoring the chain gives exactly the new snapshot, even if the environment was
//! compacted in between. The digest is the whole of BLAKE3's. With a weaker one an attacker could
//! craft two pages with one digest, and the backup would lose a page.
//!
//! A backup reads one snapshot through a reader slot. Writers go on, with the original library too.
//! It reads every page in use, so an increment reads as much as a full backup, and writes far less.
//!
//! An environment has no name in this format. Three facts show that the backups are of another one:
//! another page size, a lower transaction id, or other trees. Then the backup writes nothing. If
//! the chain and the snapshot share no page, it makes a full backup. An environment that was
//! restored from the newest backup continues the chain.

mod error;
mod format;
mod read;
mod restore;
mod set;
mod write;

pub use error::BackupError;
pub use restore::{RestoreReport, restore};

use std::path::{Path, PathBuf};

use fulgurite::{ReachedPages, ReadTxn};

use crate::{Progress, open_read_only};
use format::{Header, META_LEN, digest_of};
use read::BackupFile;
use set::{BackupSet, Digests, DirectoryLock, name_of};
use write::Writer;

/// The part of a meta page that describes the trees, without the map size, which may differ.
const META_TREES: std::ops::Range<usize> = 40..META_LEN;

/// The relation of a backup to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupKind {
    /// It needs no other backup.
    Full,
    /// It builds on the backup of this transaction.
    Incremental(u64),
}

/// The outcome of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackupOutcome {
    /// A file was written.
    Written(BackupEntry),
    /// The newest backup is of this transaction already, and nothing was written.
    Unchanged(u64),
}

/// One backup of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupEntry {
    /// Its file.
    pub path: PathBuf,
    /// Full, or built on another.
    pub kind: BackupKind,
    /// The transaction of the snapshot that it holds or completes.
    pub txnid: u64,
    /// Pages it holds.
    pub pages: u64,
    /// Pages of the snapshot.
    pub pages_of_snapshot: u64,
    /// Size of a page in bytes.
    pub page_size: u32,
    /// Length of the file in bytes.
    pub bytes: u64,
}

/// Backs up the environment at `path` into `directory`, which it makes if it is missing.
///
/// The backup is an increment to the newest one there. It is a full one if there is none or if
/// `full` is set.
/// # Errors
/// [`BackupError`]; the directory is then unchanged.
pub fn backup(
    path: &Path,
    directory: &Path,
    full: bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<BackupOutcome, BackupError> {
    let environment = open_read_only(path)?;
    std::fs::create_dir_all(directory).map_err(BackupError::io("making", directory))?;
    let _lock = DirectoryLock::take(directory)?;
    let set = BackupSet::open(directory)?;
    let txn = environment.read()?;
    let metas = txn.meta_pages()?;
    let newest = set.newest();
    if let Some(newest) = newest
        && is_held_by(&txn, &metas, newest, directory)?
        && !(full && newest.header.from.is_some())
    {
        return Ok(BackupOutcome::Unchanged(newest.header.to));
    }
    let chain = match newest {
        Some(_) if !full => set.chain(None)?,
        _ => Vec::new(),
    };
    let reached = txn.reached_pages()?;
    let snapshot = Source {
        txn: &txn,
        metas: &metas,
        reached: &reached,
        directory,
    };
    let entry = match snapshot.write(&chain, progress)? {
        Some(entry) => entry,
        // The chain and the snapshot share no page, so an increment would save nothing. If the
        // environment is another one, the chain must not continue.
        None => snapshot
            .write(&[], progress)?
            .ok_or(BackupError::Empty(directory.to_owned()))?,
    };
    Ok(BackupOutcome::Written(entry))
}

/// The snapshot, and the directory of its backup.
struct Source<'s> {
    txn: &'s ReadTxn<'s>,
    metas: &'s [Vec<u8>; 2],
    reached: &'s ReachedPages<'s>,
    directory: &'s Path,
}

impl Source<'_> {
    /// Writes a file that continues a chain, or a full one if there is none. Returns `None`, with
    /// nothing written, if the chain and the snapshot share no page.
    fn write(
        &self,
        chain: &[&BackupFile],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Option<BackupEntry>, BackupError> {
        let before = chain.last();
        let header = Header {
            page_size: self.metas[0].len() as u32,
            from: before.map(|before| before.header.to),
            to: self.txn.id().0,
            last: self.txn.last_page().0,
            reached: self.reached.len(),
            before: before.map_or([0; 32], |before| before.trailer.file),
        };
        let name = name_of(&header);
        let mut writer = Writer::begin(self.directory, &name, &header, self.metas)?;
        let written = write_pages(self.reached, chain, &mut writer, progress)
            // A reader that a writer has ended may have read other pages than its own.
            .and_then(|()| self.txn.check_readable().map_err(BackupError::from));
        let pages = writer.pages();
        if written.is_err() || before.is_some() && pages == header.reached && pages > 0 {
            writer.abandon();
            return written.map(|()| None);
        }
        let bytes = writer.finish(self.directory, &name)?;
        Ok(Some(BackupEntry {
            path: self.directory.join(name),
            kind: kind_of(&header),
            txnid: header.to,
            pages,
            pages_of_snapshot: header.reached,
            page_size: header.page_size,
            bytes,
        }))
    }
}

/// Lists the backups in a directory, oldest first. It reads only the ends of the files.
/// # Errors
/// [`BackupError`].
pub fn list_backups(directory: &Path) -> Result<Vec<BackupEntry>, BackupError> {
    let set = BackupSet::open(directory)?;
    Ok(set.files.iter().map(entry_of).collect())
}

/// Reads all backups in a directory and returns them. It compares each with its digests and with
/// the backup before it.
/// # Errors
/// The first [`BackupError`].
pub fn verify_backups(
    directory: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<BackupEntry>, BackupError> {
    let set = BackupSet::open(directory)?;
    let total = set.files.iter().map(|file| file.len).sum();
    let mut done = 0;
    for file in &set.files {
        set.chain(Some(file.header.to))?;
        file.check_whole()?;
        file.pages(|_, _| Ok(()))?;
        done += file.len;
        progress(Progress { done, total });
    }
    if set.files.is_empty() {
        return Err(BackupError::Empty(directory.to_owned()));
    }
    Ok(set.files.iter().map(entry_of).collect())
}

/// Returns true if the newest backup is of this snapshot. Fails for an environment that it cannot
/// be of.
fn is_held_by(
    txn: &ReadTxn<'_>,
    metas: &[Vec<u8>; 2],
    newest: &BackupFile,
    directory: &Path,
) -> Result<bool, BackupError> {
    let foreign = |why: String| BackupError::Foreign {
        directory: directory.to_owned(),
        why,
    };
    let (ours, theirs) = (metas[0].len(), newest.header.page_size as usize);
    if ours != theirs {
        return Err(foreign(format!(
            "its pages have {ours} bytes, and theirs {theirs}"
        )));
    }
    let id = txn.id().0;
    if id < newest.header.to {
        return Err(BackupError::Behind {
            directory: directory.to_owned(),
            environment: id,
            newest: newest.header.to,
        });
    }
    if id > newest.header.to {
        return Ok(false);
    }
    let index = (id % 2) as usize;
    let trees = |meta: Option<&[u8]>| {
        meta.and_then(|meta| meta.get(META_TREES))
            .map(<[u8]>::to_vec)
    };
    let now = trees(metas.get(index).map(Vec::as_slice));
    let then = trees(newest.metas.get(index).map(<[u8; META_LEN]>::as_slice));
    if now != then {
        return Err(foreign(format!(
            "both are at transaction {id}, with other contents"
        )));
    }
    Ok(true)
}

/// Writes the pages that differ from the chain.
fn write_pages(
    reached: &ReachedPages<'_>,
    chain: &[&BackupFile],
    writer: &mut Writer,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), BackupError> {
    let mut known = Digests::of(chain)?;
    let mut done = 0;
    for page in reached.iter() {
        let (pgno, page) = page?;
        let digest = digest_of(page);
        if known.digest(pgno.0)? != Some(digest) {
            writer.page(pgno.0, page, &digest)?;
        }
        done += page.len() as u64;
        if done.is_multiple_of(1 << 22) {
            progress(Progress {
                done,
                total: reached.len() * page.len() as u64,
            });
        }
    }
    known.finish()
}

fn entry_of(file: &BackupFile) -> BackupEntry {
    BackupEntry {
        path: file.path.clone(),
        kind: kind_of(&file.header),
        txnid: file.header.to,
        pages: file.trailer.pages,
        pages_of_snapshot: file.header.reached,
        page_size: file.header.page_size,
        bytes: file.len,
    }
}

fn kind_of(header: &Header) -> BackupKind {
    header
        .from
        .map_or(BackupKind::Full, BackupKind::Incremental)
}
