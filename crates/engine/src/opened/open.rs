//! OpenRequest, in the order that keeps other processes safe: lock file, data file, map, then
//! letting others in.

use alloc::sync::Arc;
use core::sync::atomic::AtomicBool;
use fulgurite_os::platform::io;
use fulgurite_os::platform::path::{Path, PathBuf};
use fulgurite_os::platform::sync::Mutex;

use fulgurite_format::Meta;
use fulgurite_os::{
    DataFile, FileIdentity, FileRole, IS_A_DIRECTORY, Map, fork_generation, is_directory,
};

#[cfg(feature = "std")]
use super::checkpoints;
use super::counted::Strong;
use super::disk_room::DiskRoom;
#[cfg(feature = "std")]
use super::error::CheckpointProblem;
use super::files::{self, MetaPages};
use super::flush_times::FlushCounters;
use super::map_size::MapSize;
use super::registry::{self, FileUse, RegisteredEnvironment, Registration};
use super::shared::{CountFree, Shared};
use super::store_window::StoreWindow;
use super::{Handle, Mapping, OpenError, OpenOptions, fixed};
use crate::reader::{LockFile, WriterMark};

/// Opens an environment. `count_free` is stored for the time when the environment is closed.
pub(crate) fn open(
    path: &Path,
    options: &OpenOptions,
    count_free: CountFree,
) -> Result<Handle, OpenError> {
    let (data_path, lock_path) = files::paths(path, options.no_subdir);
    let request = OpenRequest {
        data_path,
        lock_path,
        options,
        count_free,
    };
    let _one_at_a_time = registry::opening();
    let shared = match request.find_open()? {
        Some(shared) => {
            request.join(&shared)?;
            shared
        }
        None => request.open_files()?,
    };
    Ok(Handle::new(shared, path, options))
}

/// The paths and options of an opening.
struct OpenRequest<'a> {
    data_path: PathBuf,
    lock_path: PathBuf,
    options: &'a OpenOptions,
    count_free: CountFree,
}

/// The snapshot an environment is opened on.
struct StartSnapshot {
    meta: Meta,
    /// The file has no meta pages yet.
    is_new: bool,
    /// There is a newer snapshot, which is not wanted.
    abandons: bool,
}

impl OpenRequest<'_> {
    /// Finds the environment if this process has it open. Files are looked up by path: request and
    /// closing the lock file of a live environment would drop its locks.
    fn find_open(&self) -> Result<Option<Strong<RegisteredEnvironment>>, OpenError> {
        match is_directory(FileRole::Data, &self.data_path) {
            // Found out before a lock file is made next to it.
            Ok(true) => {
                return Err(self.file_error(io::Error::from_raw_os_error(IS_A_DIRECTORY)));
            }
            Err(error) if self.options.read_only || error.kind() != io::ErrorKind::NotFound => {
                return Err(self.file_error(error));
            }
            _ => {}
        }
        let known = |role, path: &Path| match FileIdentity::at(role, path) {
            Ok(identity) => Ok(registry::look_up(identity)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FileUse::Unknown),
            // It may well be open already: not to know is no reason to open it again.
            Err(error) => Err(OpenError::file(path)(error)),
        };
        match (
            known(FileRole::Data, &self.data_path)?,
            known(FileRole::Lock, &self.lock_path)?,
        ) {
            (FileUse::Data(shared), _) => Ok(Some(shared)),
            (FileUse::Unknown, FileUse::Unknown) => Ok(None),
            _ => Err(OpenError::AlreadyOpen(self.lock_path.clone())),
        }
    }

    /// Adds the wishes of another handle to the open environment.
    fn join(&self, shared: &Shared) -> Result<(), OpenError> {
        let engine_error = OpenError::engine(&self.data_path);
        if self.goes_back() {
            return Err(OpenError::Busy(self.data_path.clone()));
        }
        #[cfg(feature = "std")]
        if self.options.checkpoints && !self.options.read_only && shared.checkpoints.is_none() {
            return Err(OpenError::Checkpoint {
                path: self.data_path.clone(),
                problem: CheckpointProblem::InUse,
            });
        }
        if self.options.fixed_map {
            let meta = shared.published_meta().map_err(&engine_error)?;
            fixed::check(shared.mapping().map(), &meta, &self.data_path)?;
        }
        if !self.options.read_only && !shared.mapping().file().is_writable() {
            let file = files::open_data(&self.data_path, self.options)?;
            #[cfg(feature = "std")]
            self.checkpoints(&file, shared.lock.as_ref()).refuse()?;
            let writable_map = self.options.write_map;
            shared
                .become_writable(file, writable_map)
                .map_err(&engine_error)?;
        }
        shared.join_size(self.options.map).map_err(engine_error)
    }

    /// Opens the files, which this process does not have open.
    fn open_files(&self) -> Result<Strong<RegisteredEnvironment>, OpenError> {
        let engine_error = OpenError::engine(&self.data_path);
        let lock = files::open_lock(&self.lock_path, self.options)?;
        self.check_alone(lock.as_ref())?;
        let file = files::open_data(&self.data_path, self.options)?;
        let (data_identity, lock_identity) = self.identities(&file, lock.is_some())?;
        #[cfg(feature = "std")]
        self.checkpoints(&file, lock.as_ref()).prepare()?;
        let mut base = self.base(&file)?;
        let alone = lock.as_ref().is_some_and(LockFile::is_exclusive);
        // Nothing was ever committed, and the process that made the file may have failed to make it
        // durable. So the file is written again, unchanged.
        let again = alone && files::is_fresh(&base.meta) && !self.options.read_only;
        let used = (base.meta.last.0 + 1).saturating_mul(base.meta.page_size() as u64);
        let size = MapSize::new(
            self.options.map,
            base.meta.map_size,
            used,
            DiskRoom::reserve(base.meta.page_size()),
        );
        let map = self.reserve(&file, &base, &size, used)?;
        if base.is_new {
            base.meta.map_size = size.bytes();
            if self.options.fixed_map {
                base.meta.map_address = map.address() as u64;
            }
        }
        if base.is_new || again {
            files::create(&file, &self.data_path, &base.meta).map_err(|e| self.file_error(e))?;
        }
        #[cfg(feature = "std")]
        let checkpoints = self.checkpoints(&file, lock.as_ref()).begin(&base.meta)?;
        let mapping =
            Mapping::new(Arc::new(file), map, base.meta.page_size()).map_err(&engine_error)?;
        if mapping.map().is_writable() {
            mapping.extend_to(size.bytes()).map_err(&engine_error)?;
        }
        if let Some(lock) = &lock {
            lock.settle(base.meta.txnid)
                .map_err(OpenError::file(&self.lock_path))?;
        }
        let shared = Shared {
            mapping,
            lock,
            size,
            is_fixed: self.options.fixed_map && base.meta.map_address != 0,
            abandoned: AtomicBool::new(base.abandons),
            fork_generation: fork_generation(),
            disk_room: DiskRoom::default(),
            failed: AtomicBool::new(false),
            flush_failed: AtomicBool::new(false),
            flushing: Mutex::new(()),
            flush_times: FlushCounters::default(),
            writer: WriterMark::default(),
            local_writer: Mutex::new(()),
            window: StoreWindow::default(),
            runs: Mutex::default(),
            count_free: self.count_free,
            #[cfg(feature = "std")]
            checkpoints,
        };
        Ok(Strong::new(|registered| RegisteredEnvironment {
            shared,
            registration: Registration::enter(data_identity, lock_identity, registered),
        }))
    }

    #[cfg(feature = "std")]
    fn checkpoints<'a>(
        &'a self,
        file: &'a DataFile,
        lock: Option<&'a LockFile>,
    ) -> checkpoints::Opening<'a> {
        checkpoints::Opening {
            path: &self.data_path,
            options: self.options,
            file,
            lock,
        }
    }

    /// Returns true if the environment goes back to its previous snapshot, for all processes.
    fn goes_back(&self) -> bool {
        self.options.previous_snapshot && !self.options.read_only
    }

    fn check_alone(&self, lock: Option<&LockFile>) -> Result<(), OpenError> {
        if self.goes_back() && lock.is_some_and(|lock| !lock.is_exclusive()) {
            return Err(OpenError::Busy(self.data_path.clone()));
        }
        Ok(())
    }

    /// The identities to enter in the registry. Files that were exchanged since they were looked up
    /// are refused.
    fn identities(
        &self,
        file: &DataFile,
        locks: bool,
    ) -> Result<(FileIdentity, Option<FileIdentity>), OpenError> {
        let data = file.pages().identity().map_err(|e| self.file_error(e))?;
        if !matches!(registry::look_up(data), FileUse::Unknown) {
            return Err(OpenError::AlreadyOpen(self.lock_path.clone()));
        }
        let lock = locks
            .then(|| FileIdentity::at(FileRole::Lock, &self.lock_path))
            .transpose()
            .map_err(OpenError::file(&self.lock_path))?;
        Ok((data, lock))
    }

    /// The snapshot to begin from.
    fn base(&self, file: &DataFile) -> Result<StartSnapshot, OpenError> {
        let metas = files::read_metas(file, &self.data_path, self.options)?;
        Ok(match metas {
            None => StartSnapshot {
                meta: files::new_meta(self.options),
                is_new: true,
                abandons: false,
            },
            Some(MetaPages { newest, older }) if self.goes_back() => StartSnapshot {
                meta: older,
                is_new: false,
                abandons: newest.txnid > older.txnid,
            },
            Some(MetaPages { newest, .. }) => StartSnapshot {
                meta: newest,
                is_new: false,
                abandons: false,
            },
        })
    }

    /// Reserves address space over the file.
    fn reserve(
        &self,
        file: &DataFile,
        base: &StartSnapshot,
        size: &MapSize,
        used: u64,
    ) -> Result<Map, OpenError> {
        let writable = self.options.write_map && !self.options.read_only;
        let least = usize::try_from(used).unwrap_or(usize::MAX / 4);
        let len = size.reservation().max(least);
        let map = if !self.options.fixed_map {
            Map::reserve(file.pages(), len, least, writable)
        } else if base.is_new {
            fixed::reserve_anywhere(file, len, least, writable)
        } else {
            fixed::reserve(file, len, least, writable, base.meta.map_address)
        };
        let mut map =
            map.map_err(|source| fixed::open_error(source, &base.meta, &self.data_path))?;
        if self.options.no_read_ahead {
            map.advise_random();
        }
        Ok(map)
    }

    fn file_error(&self, source: io::Error) -> OpenError {
        OpenError::file(&self.data_path)(source)
    }
}
