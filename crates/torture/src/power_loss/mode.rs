//! The ways of committing that are tried, and what each promises.

use std::fmt;
use std::str::FromStr;

use fulgurite::{Durability, OpenOptions};

/// How a history's commits are made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Every commit waits for its pages and its meta page.
    Full,
    /// Commits wait for their pages only.
    NoMetaSync,
    /// Some commits wait for both, some for their pages only.
    Mixed,
    /// Commits wait for nothing.
    NoSync,
    /// [`Mode::Full`] with a writable map.
    MapFull,
    /// [`Mode::NoMetaSync`] with a writable map.
    MapNoMetaSync,
    /// A writable map whose flushes are begun and not waited for.
    MapAsync,
    /// [`Mode::NoSync`] with a writable map.
    MapNoSync,
    /// Commits wait for nothing, and a power loss leads back to the last checkpoint.
    Checkpoints,
    /// A copy of an environment is made; what is cut is the copy.
    Copy,
    /// A compacting copy.
    Compact,
    /// [`Mode::Full`] on a disk that reports syncs as done and does not do them.
    Liar,
    /// [`Mode::Full`] on a disk that tears the sector of a meta page, in any order of its bytes.
    TornMeta,
}

/// The promise for the states after a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// Each opens on a whole snapshot, no older than was promised; and the other meta page's is
    /// whole too.
    Both,
    /// Each opens on a whole snapshot, no older than was promised.
    Newest,
    /// As [`Promise::Newest`], of the checkpoint that the file next to the data file describes.
    Checkpoint,
    /// The file is whole, or it is none.
    WholeOrNone,
    /// Nothing but an end without a crash: outcomes are counted.
    Counted,
}

impl Mode {
    /// All of them, in the order they are reported in.
    pub const ALL: [Mode; 13] = [
        Mode::Full,
        Mode::NoMetaSync,
        Mode::Mixed,
        Mode::MapFull,
        Mode::MapNoMetaSync,
        Mode::Checkpoints,
        Mode::Copy,
        Mode::Compact,
        Mode::NoSync,
        Mode::MapAsync,
        Mode::MapNoSync,
        Mode::Liar,
        Mode::TornMeta,
    ];

    const fn name(self) -> &'static str {
        match self {
            Mode::Full => "full",
            Mode::NoMetaSync => "no-meta-sync",
            Mode::Mixed => "mixed",
            Mode::NoSync => "no-sync",
            Mode::MapFull => "map-full",
            Mode::MapNoMetaSync => "map-no-meta-sync",
            Mode::MapAsync => "map-async",
            Mode::MapNoSync => "map-no-sync",
            Mode::Checkpoints => "checkpoints",
            Mode::Copy => "copy",
            Mode::Compact => "compact",
            Mode::Liar => "liar",
            Mode::TornMeta => "torn-meta",
        }
    }

    pub(super) const fn promise(self) -> Promise {
        match self {
            Mode::Full | Mode::MapFull => Promise::Both,
            Mode::NoMetaSync | Mode::Mixed | Mode::MapNoMetaSync => Promise::Newest,
            Mode::Checkpoints => Promise::Checkpoint,
            Mode::Copy | Mode::Compact => Promise::WholeOrNone,
            Mode::NoSync | Mode::MapAsync | Mode::MapNoSync | Mode::Liar | Mode::TornMeta => {
                Promise::Counted
            }
        }
    }

    pub(super) const fn has_writable_map(self) -> bool {
        matches!(
            self,
            Mode::MapFull | Mode::MapNoMetaSync | Mode::MapAsync | Mode::MapNoSync
        )
    }

    pub(super) const fn durability(self) -> Durability {
        match self {
            Mode::NoMetaSync | Mode::MapNoMetaSync => Durability::NoMetaSync,
            Mode::NoSync | Mode::MapNoSync => Durability::NoSync,
            _ => Durability::Full,
        }
    }

    pub(super) fn apply(self, options: OpenOptions) -> OpenOptions {
        options
            .durability(self.durability())
            .write_map(self.has_writable_map())
            .map_async(self == Mode::MapAsync)
            .checkpoints(self == Mode::Checkpoints)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(name: &str) -> Result<Mode, String> {
        let known = || Mode::ALL.map(Mode::name).join(", ");
        let found = Mode::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or_else(|| format!("no such mode; there are {}", known()))
    }
}
