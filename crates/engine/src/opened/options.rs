//! The options for opening an environment.

use alloc::sync::Arc;
use core::fmt;

use fulgurite_format::lockfile;
use fulgurite_os::DiskObserver;

use crate::ReaderPolicy;

/// The commits that survive a power loss. A crash of the process alone never loses a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Every commit, once it has returned. Two flushes to the disk each.
    #[default]
    Full,
    /// All but possibly the last commit; the file stays sound. One flush each.
    NoMetaSync,
    /// Data that the system happened to have written; [`crate::Environment::sync`] makes everything
    /// so far durable. If the disk reorders writes, the file may be damaged.
    NoSync,
}

/// The reader slots of the lock file that read transactions of a handle use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SlotPolicy {
    /// A stock that belongs to the process. A slot stays in it once taken, for any transaction of
    /// any thread. Beginning takes no lock once the process has had as many readers at a time
    /// before.
    #[default]
    Stock,
    /// A slot per thread, kept until the thread ends: a thread has one read transaction at a time.
    /// The default of LMDB's C interface.
    PerThread,
    /// A slot per transaction, given back to all processes when it ends. `MDB_NOTLS` asks for this.
    PerTransaction,
}

/// How large the file may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MapRule {
    /// As large as needed, up to that many bytes; the map size that other processes see grows with
    /// it.
    Grows(u64),
    /// Up to a map size that is set. 0 means the size stored in the file.
    Exact(u64),
}

/// Options for opening an environment, each with LMDB's default unless it says otherwise.
#[derive(Clone)]
pub struct OpenOptions {
    pub(super) map: MapRule,
    pub(super) readers_max: u32,
    pub(super) databases_max: usize,
    pub(super) dirty_bytes_max: usize,
    pub(super) file_mode: u32,
    pub(super) durability: Durability,
    pub(super) no_subdir: bool,
    pub(super) read_only: bool,
    pub(super) write_map: bool,
    pub(super) map_async: bool,
    pub(super) no_lock: bool,
    pub(super) no_read_ahead: bool,
    pub(super) fixed_map: bool,
    pub(super) previous_snapshot: bool,
    pub(super) slots: SlotPolicy,
    pub(super) reader_policy: Option<ReaderPolicy>,
    pub(super) observer: Option<Arc<dyn DiskObserver>>,
    #[cfg(feature = "std")]
    pub(super) checkpoints: bool,
    /// Replaces the system's boot id.
    #[cfg(feature = "std")]
    pub(super) boot_id: Option<alloc::vec::Vec<u8>>,
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenOptions")
            .field("map", &self.map)
            .field("read_only", &self.read_only)
            .finish_non_exhaustive()
    }
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions {
            map: MapRule::Grows(1 << 40),
            readers_max: lockfile::SLOTS_DEFAULT,
            databases_max: 1024,
            dirty_bytes_max: 256 << 20,
            file_mode: 0o664,
            durability: Durability::Full,
            no_subdir: false,
            read_only: false,
            write_map: false,
            map_async: false,
            no_lock: false,
            no_read_ahead: false,
            fixed_map: false,
            previous_snapshot: false,
            slots: SlotPolicy::Stock,
            reader_policy: None,
            observer: None,
            #[cfg(feature = "std")]
            checkpoints: false,
            #[cfg(feature = "std")]
            boot_id: None,
        }
    }
}

#[cfg(feature = "std")]
impl OpenOptions {
    /// Flushes at checkpoints only, see [`crate::Environment::checkpoint`]. For programs that can
    /// repeat what they have done since, from a log for example.
    ///
    /// Commits flush nothing, whatever the durability of a handle. If the process ends, the last
    /// commit counts. If the machine stops, the last checkpoint does. A file next to the data file
    /// says which of the two it was. Its name is `checkpoint.mdb`. With
    /// [`OpenOptions::no_subdir`] it is that of the data file with `-checkpoint` appended.
    ///
    /// A power loss takes transactions that a program may have read, such as a backup. Their ids
    /// are not used again: the checkpoint gets an id that is higher by 2^40.
    ///
    /// Pages of the checkpoint are not reused before the next one. So the file grows by what is
    /// changed between two checkpoints.
    ///
    /// The environment must be open nowhere else, and no other process may write meanwhile; this
    /// library refuses to. Readers may come. Programs with the original library see the last commit
    /// as long as the machine runs. They must not write, and after a power loss they must not open
    /// it before this library has. Closing the last handle makes it an environment like any other,
    /// and so does opening it without this option.
    ///
    /// The system has one boot id for all that it has in memory. So the file system must be
    /// unmounted in order while it runs. A system without boot ids always begins at the checkpoint.
    ///
    /// It excludes [`OpenOptions::no_lock`], [`OpenOptions::write_map`] and
    /// [`OpenOptions::previous_snapshot`], and means nothing with [`OpenOptions::read_only`].
    #[must_use]
    pub fn checkpoints(mut self, yes: bool) -> Self {
        self.checkpoints = yes;
        self
    }

    /// Replaces the system's boot id; for tests that simulate power losses.
    #[doc(hidden)]
    #[must_use]
    pub fn boot_id(mut self, id: &[u8]) -> Self {
        self.boot_id = Some(id.to_vec());
        self
    }
}

impl OpenOptions {
    /// Sets the largest size of the file in bytes: 1 TiB by default. As much address space is
    /// reserved, or less if the process may not have that much. Costs no memory and no disk.
    #[must_use]
    pub fn map_bytes_max(mut self, bytes: u64) -> Self {
        self.map = MapRule::Grows(bytes);
        self
    }

    /// Fixes the map size in bytes instead, as LMDB does: at that size the environment is full. A
    /// size of 0 takes the one that the file records, 1 MiB for a new file. A smaller size than the
    /// pages in use is raised to them. A larger size is stored in the file by the next commit; a
    /// smaller one holds for this process only.
    ///
    /// If another process lets the file grow beyond it, transactions begin with
    /// [`crate::Error::MapResized`] until [`crate::Environment::set_map_size`] is called. The last
    /// of this and [`OpenOptions::map_bytes_max`] counts.
    #[must_use]
    pub fn map_size(mut self, bytes: u64) -> Self {
        self.map = MapRule::Exact(bytes);
        self
    }

    /// Reader slots of a new lock file, 126 by default. A live file keeps the number it has.
    #[must_use]
    pub fn readers_max(mut self, slots: u32) -> Self {
        self.readers_max = slots.max(1);
        self
    }

    /// How many named databases this environment can have handles for, 1024 by default.
    #[must_use]
    pub fn databases_max(mut self, count: usize) -> Self {
        self.databases_max = count;
        self
    }

    /// Sets the bytes of changed pages that a transaction keeps in memory, 256 MiB by default.
    /// Beyond, it writes them to their places in the file early.
    #[must_use]
    pub fn dirty_bytes_max(mut self, bytes: usize) -> Self {
        self.dirty_bytes_max = bytes;
        self
    }

    /// Permissions of new files, before the process's mask; 0664 by default.
    #[must_use]
    pub fn file_mode(mut self, mode: u32) -> Self {
        self.file_mode = mode;
        self
    }

    /// The commits that survive a power loss.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The path is that of the data file itself, and the lock file is next to it with `-lock`
    /// appended.
    #[must_use]
    pub fn no_subdir(mut self, yes: bool) -> Self {
        self.no_subdir = yes;
        self
    }

    /// Refuses changes. The lock file is still written, unless the file system is read-only.
    #[must_use]
    pub fn read_only(mut self, yes: bool) -> Self {
        self.read_only = yes;
        self
    }

    /// Changes pages in the map instead of writing them, which saves copies. But the file takes its
    /// whole map size at once, and a stray pointer of the program can damage it.
    #[must_use]
    pub fn write_map(mut self, yes: bool) -> Self {
        self.write_map = yes;
        self
    }

    /// With [`OpenOptions::write_map`]: flushes are started but not waited for.
    #[must_use]
    pub fn map_async(mut self, yes: bool) -> Self {
        self.map_async = yes;
        self
    }

    /// Uses no lock file. The caller ensures that no process writes while another has the
    /// environment open.
    #[must_use]
    pub fn no_lock(mut self, yes: bool) -> Self {
        self.no_lock = yes;
        self
    }

    /// Tells the system not to read ahead; better for random reads of files larger than memory.
    #[must_use]
    pub fn no_read_ahead(mut self, yes: bool) -> Self {
        self.no_read_ahead = yes;
        self
    }

    /// Maps the file where it was mapped first. A file created with this option stores its address.
    /// Opening it with this option maps it exactly there, or fails with
    /// [`crate::OpenError::AddressInUse`]. For values that hold pointers into the map; a file that
    /// stores no address is mapped anywhere.
    #[must_use]
    pub fn fixed_map(mut self, yes: bool) -> Self {
        self.fixed_map = yes;
        self
    }

    /// Opens on the snapshot before the last commit: the way back from a commit that went wrong.
    ///
    /// A writable environment must be open nowhere else ([`crate::OpenError::Busy`]). It goes back
    /// for all processes, and its first change makes the abandoned snapshot disappear for ever.
    /// With [`OpenOptions::read_only`] it may be open elsewhere. Each transaction of this handle
    /// then shows the snapshot before the newest. Beginning a transaction waits for a write
    /// transaction of another thread or process. The next commit replaces the meta page that it
    /// needs.
    #[must_use]
    pub fn previous_snapshot(mut self, yes: bool) -> Self {
        self.previous_snapshot = yes;
        self
    }

    /// Sets the reader slots that read transactions use; [`SlotPolicy::Stock`] by default.
    #[must_use]
    pub fn slots(mut self, policy: SlotPolicy) -> Self {
        self.slots = policy;
        self
    }

    /// Sets the policy of this handle's writers for readers of old snapshots, in any process;
    /// nothing by default.
    #[must_use]
    pub fn reader_policy(mut self, policy: ReaderPolicy) -> Self {
        self.reader_policy = Some(policy);
        self
    }

    /// Reports every write, flush and change of length of the data file; for tests that simulate
    /// power losses. Of changes made through a writable map only the meta page's are reported.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn DiskObserver>) -> Self {
        self.observer = Some(observer);
        self
    }
}
