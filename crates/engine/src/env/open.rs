//! Opening: lock file, data file, map; in the order that keeps other processes safe.

use std::fs::{File, OpenOptions as FileOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64};

use fulgurite_format::{
    DatabaseFlags, META_PAGES, Malformed, Meta, NoMeta, PAGE_SIZE_MAX, Pgno, TreeRecord, Txnid, V09,
};
use fulgurite_os::{DataFile, FileIdentity, Map, fork_generation, page_size};

use super::environment::Parts;
use super::options::MapRule;
use super::registry::{self, Registration};
use super::{DatabaseNames, Environment, Mapping, OpenOptions};
use crate::Error;
use crate::reader::{LockFile, LockOpenError};

/// Map size of a new file, as in LMDB.
const MAP_SIZE_NEW: u64 = 1 << 20;
/// The flag the original stores for environments whose path is the data file.
pub(super) const NO_SUBDIR_FLAG: u16 = 0x4000;
/// The flag the original stores for environments with a fixed map.
pub(super) const FIXED_MAP_FLAG: u16 = 0x01;

/// Why an environment could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system refused a file.
    #[error("cannot open {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The data file is none.
    #[error("{} is not an LMDB data file", .0.display())]
    NotADataFile(PathBuf),
    /// The data file has another version of the format.
    #[error("{} has data format version {found}; this library reads version 1", path.display())]
    DataVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A meta page contradicts itself.
    #[error("{} is damaged: its meta page {page}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The meta page.
        page: Pgno,
        /// What is wrong.
        what: Malformed,
    },
    /// The lock file is none.
    #[error("{} is not a lock file; if no program has the environment open, delete it", .0.display())]
    NotALockFile(PathBuf),
    /// The lock file is used by programs with another layout.
    #[error("{} is in use by programs with another lock format ({found:#x})", path.display())]
    LockVersion {
        /// The file.
        path: PathBuf,
        /// Its format word.
        found: u32,
    },
    /// The address a fixed map must have is taken in this process.
    #[error("{} must be mapped at address {address:#x}, which is taken", path.display())]
    AddressInUse {
        /// The data file.
        path: PathBuf,
        /// The address it stores.
        address: u64,
    },
    /// To go back to the previous snapshot nobody else may have the environment open.
    #[error("{} is open elsewhere; close it there to go back to its previous snapshot", .0.display())]
    Busy(PathBuf),
    /// This process has the environment open already.
    #[error("{} is already open in this process; share that handle", .0.display())]
    AlreadyOpen(PathBuf),
    /// Something failed once the files were open.
    #[error("cannot open {}: {source}", path.display())]
    Engine {
        /// The data file.
        path: PathBuf,
        /// What failed.
        source: Error,
    },
}

pub(super) fn open(path: &Path, options: &OpenOptions) -> Result<Environment, OpenError> {
    let (data_path, lock_path) = file_paths(path, options.no_subdir);
    let file_error = |path: &Path| {
        let path = path.to_owned();
        move |source| OpenError::File { path, source }
    };
    // The identity is asked by path first: opening and closing the lock file of a live environment would drop its
    // locks.
    let _one_at_a_time = registry::opening();
    match FileIdentity::at(&data_path) {
        Ok(identity) if registry::is_open(identity) => {
            return Err(OpenError::AlreadyOpen(path.to_owned()));
        }
        Err(missing) if options.read_only => return Err(file_error(&data_path)(missing)),
        _ => {}
    }
    if FileIdentity::at(&lock_path).is_ok_and(registry::is_open) {
        return Err(OpenError::AlreadyOpen(path.to_owned()));
    }
    let lock = if options.no_lock {
        None
    } else {
        open_lock(&lock_path, options)?
    };
    let pages = FileOptions::new()
        .read(true)
        .write(!options.read_only)
        .create(!options.read_only)
        .truncate(false)
        .mode(options.file_mode)
        .open(&data_path)
        .map_err(file_error(&data_path))?;
    let identity = FileIdentity::of(&pages).map_err(file_error(&data_path))?;
    // The lock file is entered too: somebody may put another data file beside it.
    let lock_identity = FileIdentity::at(&lock_path).ok().filter(|_| lock.is_some());
    let registration = Registration::enter([Some(identity), lock_identity])
        .ok_or_else(|| OpenError::AlreadyOpen(path.to_owned()))?;
    let meta_file = if options.read_only || options.write_map {
        None
    } else {
        Some(synchronous(&data_path).map_err(file_error(&data_path))?)
    };
    let file = DataFile::new(pages, meta_file, options.observer.clone());
    let meta = read_or_create(&file, &data_path, options)?;

    let engine_error = |source| OpenError::Engine {
        path: data_path.clone(),
        source,
    };
    let used = (meta.last.0 + 1).saturating_mul(meta.page_size() as u64);
    let map_size = if meta.map_size == 0 {
        MAP_SIZE_NEW
    } else {
        meta.map_size
    }
    .max(used);
    let bytes_max = match options.map {
        MapRule::Grows(octets) | MapRule::Exact(octets) => octets,
    };
    let writable_map = options.write_map && !options.read_only;
    let wish =
        usize::try_from(bytes_max.max(map_size.min(i64::MAX as u64 / 2))).unwrap_or(usize::MAX / 4);
    let least = usize::try_from(used)
        .unwrap_or(usize::MAX / 4)
        .max(meta.page_size() * 2);
    let map = Map::reserve(file.pages(), wish, least, writable_map)
        .map_err(Error::io("reserving address space for the map"))
        .map_err(engine_error)?;
    if options.no_read_ahead {
        map.advise_random();
    }
    let map_size = map_size.min(map.len() as u64);
    let mapping = Mapping::new(file, map, meta.page_size()).map_err(engine_error)?;
    if writable_map {
        mapping.extend_to(map_size).map_err(engine_error)?;
    }
    if let Some(lock) = &lock {
        lock.settle(meta.txnid).map_err(file_error(&lock_path))?;
    }
    Ok(Environment::from_parts(Parts {
        path: path.to_owned(),
        mapping,
        lock,
        map_size: AtomicU64::new(map_size),
        names: DatabaseNames::new(options.databases_max),
        options: options.clone(),
        durability: AtomicU8::new(options.durability as u8),
        map_async: AtomicBool::new(options.map_async),
        bytes_max: AtomicU64::new(bytes_max),
        fork_generation: fork_generation(),
        failed: AtomicBool::new(false),
        writer: AtomicU64::new(0),
        local_writer: Mutex::new(()),
        spare_buffers: Mutex::default(),
        registration,
    }))
}

pub(super) fn file_paths(path: &Path, no_subdir: bool) -> (PathBuf, PathBuf) {
    if no_subdir {
        let mut lock = path.as_os_str().to_owned();
        lock.push("-lock");
        (path.to_owned(), lock.into())
    } else {
        (path.join("data.mdb"), path.join("lock.mdb"))
    }
}

fn open_lock(path: &Path, options: &OpenOptions) -> Result<Option<LockFile>, OpenError> {
    match LockFile::open(path, options.readers_max, options.file_mode) {
        Ok(lock) => Ok(Some(lock)),
        // On a read-only file system there can be no writer, so readers need no locks.
        Err(LockOpenError::Io(error))
            if options.read_only && error.kind() == io::ErrorKind::ReadOnlyFilesystem =>
        {
            Ok(None)
        }
        Err(LockOpenError::Io(source)) => Err(OpenError::File {
            path: path.to_owned(),
            source,
        }),
        Err(LockOpenError::NotALockFile) => Err(OpenError::NotALockFile(path.to_owned())),
        Err(LockOpenError::Version(found)) => Err(OpenError::LockVersion {
            path: path.to_owned(),
            found,
        }),
    }
}

fn synchronous(path: &Path) -> io::Result<File> {
    FileOptions::new()
        .write(true)
        .custom_flags(fulgurite_os::SYNCHRONOUS)
        .open(path)
}

/// The newest meta page of the file, which is given its two first ones if it is empty.
fn read_or_create(file: &DataFile, path: &Path, options: &OpenOptions) -> Result<Meta, OpenError> {
    let io_error = |source| OpenError::File {
        path: path.to_owned(),
        source,
    };
    let mut first = [0; Meta::LEN];
    let read = file.read_at(0, &mut first).map_err(io_error)?;
    if read == 0 && !options.read_only {
        return create(file, path, options).map_err(io_error);
    }
    let parse = |octets: &[u8], read: usize| {
        if read != Meta::LEN {
            return Err(OpenError::NotADataFile(path.to_owned()));
        }
        Meta::read::<V09>(octets).map_err(|refusal| match refusal {
            NoMeta::Foreign => OpenError::NotADataFile(path.to_owned()),
            NoMeta::Version(found) => OpenError::DataVersion {
                path: path.to_owned(),
                found,
            },
        })
    };
    let meta0 = parse(&first, read)?;
    if !meta0.page_size_is_valid() {
        return Err(OpenError::NotADataFile(path.to_owned()));
    }
    let mut second = [0; Meta::LEN];
    let read = file
        .read_at(meta0.page_size() as u64, &mut second)
        .map_err(io_error)?;
    let meta1 = parse(&second, read)?;
    let damaged = |page, what| OpenError::Damaged {
        path: path.to_owned(),
        page: Pgno(page),
        what,
    };
    if meta1.page_size() != meta0.page_size() {
        return Err(damaged(1, Malformed::TreeRecord));
    }
    let (page, winner) = if meta1.txnid > meta0.txnid {
        (1, meta1)
    } else {
        (0, meta0)
    };
    winner.check().map_err(|what| damaged(page, what))?;
    Ok(winner)
}

fn create(file: &DataFile, path: &Path, options: &OpenOptions) -> io::Result<Meta> {
    let flags = if options.no_subdir { NO_SUBDIR_FLAG } else { 0 } | DatabaseFlags::INTEGER_KEY;
    let mut free = TreeRecord::empty(DatabaseFlags(flags));
    free.pad = page_size().min(PAGE_SIZE_MAX) as u32;
    let meta = Meta {
        map_address: 0,
        map_size: MAP_SIZE_NEW,
        free,
        main: TreeRecord::empty(DatabaseFlags(0)),
        last: Pgno(META_PAGES - 1),
        txnid: Txnid(0),
    };
    let mut both = meta.to_page::<V09>(Pgno(0));
    both.extend(meta.to_page::<V09>(Pgno(1)));
    file.write_at(0, &both)?;
    file.sync()?;
    // The file's name has to survive a power loss too.
    if let Some(directory) = path.parent() {
        let directory = if directory.as_os_str().is_empty() {
            Path::new(".")
        } else {
            directory
        };
        File::open(directory)?.sync_all()?;
    }
    Ok(meta)
}
