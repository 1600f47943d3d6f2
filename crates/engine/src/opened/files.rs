//! The files of an environment: their paths, how they are opened, and the data file's first
//! contents.

use alloc::borrow::ToOwned;
use alloc::vec;
use fulgurite_os::platform::io;
use fulgurite_os::platform::path::{Path, PathBuf};
use fulgurite_os::platform::{path_bytes, path_from_bytes};

use fulgurite_format::{
    DatabaseFlags, META_PAGES, Malformed, Meta, MetaError, PAGE_SIZE_MAX, Pgno, TreeRecord, Txnid,
};
use fulgurite_os::{Access, DataFile, File, FileRole, page_size};

use super::{OpenError, OpenOptions};
use crate::reader::{LockFile, LockOpenError};

/// Flags that the original stores about the options a file was created with.
const FIXED_MAP_FLAG: u16 = 0x01;
const NO_SUBDIR_FLAG: u16 = 0x4000;

/// Where data and lock file lie.
pub(super) fn paths(path: &Path, no_subdir: bool) -> (PathBuf, PathBuf) {
    if no_subdir {
        let lock = [path_bytes(path), b"-lock"].concat();
        (path.to_owned(), path_from_bytes(&lock).to_owned())
    } else {
        (path.join("data.mdb"), path.join("lock.mdb"))
    }
}

/// The file that describes the checkpoint of a data file.
#[cfg(feature = "std")]
pub(super) fn checkpoint_path(data: &Path, no_subdir: bool) -> PathBuf {
    if no_subdir {
        let path = [path_bytes(data), b"-checkpoint"].concat();
        path_from_bytes(&path).to_owned()
    } else {
        directory_of(data).join("checkpoint.mdb")
    }
}

/// Opens the lock file, as the first or next to others; `None` without locking.
pub(super) fn open_lock(path: &Path, options: &OpenOptions) -> Result<Option<LockFile>, OpenError> {
    if options.no_lock {
        return Ok(None);
    }
    match LockFile::open(path, options.readers_max, options.file_mode) {
        Ok(lock) => Ok(Some(lock)),
        // On a read-only file system there can be no writer, so readers need no locks.
        Err(LockOpenError::Io(error))
            if options.read_only && error.kind() == io::ErrorKind::ReadOnlyFilesystem =>
        {
            Ok(None)
        }
        Err(LockOpenError::Io(source)) => Err(OpenError::file(path)(source)),
        Err(LockOpenError::NotALockFile) => Err(OpenError::NotALockFile(path.to_owned())),
        Err(LockOpenError::Version(found)) => Err(OpenError::LockVersion {
            path: path.to_owned(),
            found,
        }),
    }
}

/// Opens the data file, creating an empty one if it may be written.
pub(super) fn open_data(path: &Path, options: &OpenOptions) -> Result<DataFile, OpenError> {
    let access = match options.read_only {
        true => Access::Read,
        false => Access::Change {
            mode: options.file_mode,
        },
    };
    let pages = File::open(FileRole::Data, path, access).map_err(OpenError::file(path))?;
    let meta = (!options.read_only)
        .then(|| File::open(FileRole::Meta, path, Access::WriteSynchronously))
        .transpose()
        .map_err(OpenError::file(path))?;
    Ok(DataFile::new(pages, meta, options.observer.clone()))
}

/// The meta pages of a data file.
pub(super) struct MetaPages {
    pub(super) newest: Meta,
    pub(super) older: Meta,
}

/// Reads both meta pages of a data file. Returns `None` for a writable file that is empty or was
/// never finished.
pub(super) fn read_metas(
    file: &DataFile,
    path: &Path,
    options: &OpenOptions,
) -> Result<Option<MetaPages>, OpenError> {
    let mut first = [0; Meta::LEN];
    let read = file.read_at(0, &mut first).map_err(OpenError::file(path))?;
    if !options.read_only && is_unmade(file, &first, read).map_err(OpenError::file(path))? {
        return Ok(None);
    }
    let meta0 = parse(&first, read, path)?;
    if !meta0.page_size_is_valid() {
        return Err(OpenError::NotADataFile(path.to_owned()));
    }
    let mut second = [0; Meta::LEN];
    let read = file
        .read_at(meta0.page_size() as u64, &mut second)
        .map_err(OpenError::file(path))?;
    let meta1 = parse(&second, read, path)?;
    let damaged = |page, what| OpenError::Damaged {
        path: path.to_owned(),
        page: Pgno(page),
        what,
    };
    if meta1.page_size() != meta0.page_size() {
        return Err(damaged(1, Malformed::TreeRecord));
    }
    let (page, newest, older) = if meta1.txnid > meta0.txnid {
        (1, meta1, meta0)
    } else {
        (0, meta0, meta1)
    };
    newest.check().map_err(|what| damaged(page, what))?;
    if options.previous_snapshot {
        older.check().map_err(|what| damaged(1 - page, what))?;
    }
    Ok(Some(MetaPages { newest, older }))
}

/// Returns true if nothing was ever written to the file. A power loss during its creation may leave
/// only its length.
fn is_unmade(file: &DataFile, first: &[u8; Meta::LEN], read: usize) -> io::Result<bool> {
    if read == 0 {
        return Ok(true);
    }
    let len = new_len() as u64;
    if first.iter().any(|byte| *byte != 0) || file.pages().len()? > len {
        return Ok(false);
    }
    let mut all = vec![0; new_len()];
    file.read_at(0, &mut all)?;
    Ok(all.iter().all(|byte| *byte == 0))
}

/// Bytes of a new file.
fn new_len() -> usize {
    META_PAGES as usize * page_size().min(PAGE_SIZE_MAX)
}

fn parse(bytes: &[u8], read: usize, path: &Path) -> Result<Meta, OpenError> {
    if read != Meta::LEN {
        return Err(OpenError::NotADataFile(path.to_owned()));
    }
    Meta::read(bytes).map_err(|refusal| match refusal {
        MetaError::Foreign => OpenError::NotADataFile(path.to_owned()),
        MetaError::Version(found) => OpenError::DataVersion {
            path: path.to_owned(),
            found,
        },
    })
}

/// Returns the contents of the meta pages of a new file.
pub(super) fn new_meta(options: &OpenOptions) -> Meta {
    let mut flags = DatabaseFlags::INTEGER_KEY;
    if options.no_subdir {
        flags |= NO_SUBDIR_FLAG;
    }
    if options.fixed_map {
        flags |= FIXED_MAP_FLAG;
    }
    let mut free = TreeRecord::empty(DatabaseFlags(flags));
    free.pad = page_size().min(PAGE_SIZE_MAX) as u32;
    Meta {
        map_address: 0,
        map_size: 0,
        free,
        main: TreeRecord::empty(DatabaseFlags(0)),
        last: Pgno(META_PAGES - 1),
        txnid: Txnid(0),
    }
}

/// Returns true if the meta page is that of a file that nothing was ever committed to.
pub(super) fn is_fresh(meta: &Meta) -> bool {
    let is_empty = |tree: &TreeRecord| tree.depth == 0 && tree.entries == 0;
    meta.txnid == Txnid(0)
        && meta.last == Pgno(META_PAGES - 1)
        && is_empty(&meta.free)
        && is_empty(&meta.main)
}

/// Writes the first two pages of a new file.
pub(super) fn create(file: &DataFile, path: &Path, meta: &Meta) -> io::Result<()> {
    let made = create_durably(file, path, meta);
    if made.is_err() {
        // A half-made file, or one that may vanish, is made anew by the next opening. If that fails
        // too, zeros mean the same: the pages may exist in memory only.
        if file.resize(0).is_err() {
            let _ = file.write_at(0, &vec![0; new_len()]);
        }
    }
    made
}

fn create_durably(file: &DataFile, path: &Path, meta: &Meta) -> io::Result<()> {
    let mut both = meta.to_page(Pgno(0));
    both.extend(meta.to_page(Pgno(1)));
    file.write_at(0, &both)?;
    file.sync()?;
    // The file's name has to survive a power loss too.
    file.sync_directory(directory_of(path))
}

/// The directory that a file is in.
pub(crate) fn directory_of(path: &Path) -> &Path {
    // The caller's path names a file, so that no slash ends it.
    let bytes = path_bytes(path);
    match bytes.iter().rposition(|byte| *byte == b'/') {
        Some(0) => Path::new("/"),
        Some(end) => path_from_bytes(bytes.get(..end).unwrap_or_default()),
        None => Path::new("."),
    }
}
