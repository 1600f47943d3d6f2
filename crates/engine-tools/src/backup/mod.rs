//! Backups by transaction: a full one, then increments that hold only what has changed.
//!
//! ```text
//!   full-120.fgb <--- incr-120-135.fgb <--- incr-135-150.fgb        each names the digest of the one before
//!        |                   |                     |
//!   all pages that      pages of snapshot 135 that are not what     restored at 150: the three in this order,
//!   snapshot 120 has    the files before make of them               each over the other; then checked
//! ```
//!
//! Pages of this format do not say which transaction wrote them, and the number of a page says nothing either: it may have
//! been freed and used again, several times. So a backup keeps a digest of each page it holds, and an increment holds the
//! pages of the new snapshot whose digest is not the one that the chain has for that number. Whatever happened in between,
//! compaction of the environment included, restoring the chain gives exactly the new snapshot. The digest is BLAKE3's, whole:
//! a page that is taken for unchanged because somebody could make two pages with one digest would be lost silently, and
//! values come from anybody.
//!
//! A backup reads one snapshot through a reader's slot: writers, with the original library too, go on. It looks at every
//! page in use, so an increment takes as much reading as a full backup, and far less writing.
//!
//! An environment has no name of its own in this format. What shows that a directory's backups are of another one: another
//! page size, a lower transaction id, other trees with the same id: then nothing is written. Where no page is left of what
//! the chain has, a full backup is made that stands alone. An environment that was restored from the newest backup goes on
//! with the chain.

mod error;
mod format;
mod read;
mod restore;
mod set;
mod write;

pub use error::BackupError;
pub use restore::{Restored, restore};

use std::path::{Path, PathBuf};

use fulgurite::{ReachedPages, ReadTxn};

use crate::{Progress, open_read_only};
use format::{Header, META_LEN, digest_of};
use read::BackupFile;
use set::{Digests, DirectoryLock, Set, name_of};
use write::Writer;

/// The part of a meta page that says what the trees are, without the map's size, which may differ.
const META_TREES: std::ops::Range<usize> = 40..META_LEN;

/// What a backup has to do with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackupKind {
    /// It stands alone.
    Full,
    /// It builds on the backup of this transaction.
    Incremental(u64),
}

/// What came of a backup.
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
    /// What it builds on.
    pub kind: BackupKind,
    /// The transaction whose snapshot it holds, or completes.
    pub txnid: u64,
    /// Pages it holds.
    pub pages: u64,
    /// Pages that the snapshot has.
    pub pages_of_snapshot: u64,
    /// Size of a page in octets.
    pub page_size: u32,
    /// Length of the file in octets.
    pub octets: u64,
}

/// Backs up the environment at `path` into `directory`, which is made if it is missing: an increment to the newest backup
/// there, or a full one if there is none or `full` asks for it.
/// # Errors
/// [`BackupError`]; the directory then holds what it held before.
pub fn backup(
    path: &Path,
    directory: &Path,
    full: bool,
    progress: &mut dyn FnMut(Progress),
) -> Result<BackupOutcome, BackupError> {
    let environment = open_read_only(path)?;
    std::fs::create_dir_all(directory).map_err(BackupError::io("making", directory))?;
    let _lock = DirectoryLock::take(directory)?;
    let set = Set::open(directory)?;
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
        // Nothing is left of what the chain has: it need not be gone on with. And if the environment is another one,
        // it should not be.
        None => snapshot
            .write(&[], progress)?
            .ok_or(BackupError::Empty(directory.to_owned()))?,
    };
    Ok(BackupOutcome::Written(entry))
}

/// The snapshot that is backed up, and where to.
struct Source<'s> {
    txn: &'s ReadTxn<'s>,
    metas: &'s [Vec<u8>; 2],
    reached: &'s ReachedPages<'s>,
    directory: &'s Path,
}

impl Source<'_> {
    /// Writes a file that goes on with a chain, or a full one if there is none; `None`, and nothing is written, if there is
    /// one and it has no page in common with the snapshot.
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
            // A reader that was ended may have seen other pages than its own.
            .and_then(|()| self.txn.check_readable().map_err(BackupError::from));
        let pages = writer.pages();
        if written.is_err() || before.is_some() && pages == header.reached && pages > 0 {
            writer.abandon();
            return written.map(|()| None);
        }
        let octets = writer.finish(self.directory, &name)?;
        Ok(Some(BackupEntry {
            path: self.directory.join(name),
            kind: kind_of(&header),
            txnid: header.to,
            pages,
            pages_of_snapshot: header.reached,
            page_size: header.page_size,
            octets,
        }))
    }
}

/// The backups in a directory, oldest first. Looks at the ends of the files only.
/// # Errors
/// [`BackupError`].
pub fn list_backups(directory: &Path) -> Result<Vec<BackupEntry>, BackupError> {
    let set = Set::open(directory)?;
    Ok(set.files.iter().map(entry_of).collect())
}

/// Reads all backups in a directory and compares them with their digests, and each with what it builds on. Returns them.
/// # Errors
/// [`BackupError`], the first found.
pub fn verify_backups(
    directory: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<BackupEntry>, BackupError> {
    let set = Set::open(directory)?;
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

/// Whether the newest backup is of this very snapshot. Refuses environments that it cannot be of.
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
            "its pages have {ours} octets, and theirs {theirs}"
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

/// Writes the pages that are not as the chain has them.
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
        octets: file.len,
    }
}

fn kind_of(header: &Header) -> BackupKind {
    header
        .from
        .map_or(BackupKind::Full, BackupKind::Incremental)
}
