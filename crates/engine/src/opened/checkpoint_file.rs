//! The file next to the data file that describes its last checkpoint.
//!
//! ```text
//!   byte    0  slot 0     magic, sequence, boot id, meta page, fingerprint, checksum
//!        4096  slot 1     the same
//! ```
//!
//! The slot with the higher sequence counts. The next description goes to the other slot, so a torn
//! write leaves the one before. A description without a boot id names no system's memory. One
//! without a meta page says that the data file needs no checkpoint: it was closed in order.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use fulgurite_format::{Meta, Pgno};
use fulgurite_os::platform::io;
use fulgurite_os::platform::path::Path;
use fulgurite_os::{Access, DataFile, DiskObserver, File, FileRole};

use super::files::directory_of;

const MAGIC: [u8; 8] = *b"FULGCHK1";
/// Distance of the slots. A disk that tears a sector of one leaves the other alone.
const SLOT_LEN: usize = 4096;
const SEQUENCE_AT: usize = 8;
const BOOT_LEN_AT: usize = 16;
const BOOT_AT: usize = 24;
/// Longest boot id, in bytes.
pub(super) const BOOT_MAX: usize = 64;
const HAS_META_AT: usize = 17;
const META_AT: usize = BOOT_AT + BOOT_MAX;
const FINGERPRINT_AT: usize = META_AT + Meta::LEN;
const CHECKSUM_AT: usize = FINGERPRINT_AT + 8;
/// Bytes of a slot that mean something: within one sector.
const LEN: usize = CHECKSUM_AT + 8;

/// A snapshot all of whose pages are durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Checkpoint {
    pub(super) meta: Meta,
    /// A hash of the pages at the roots of its trees.
    pub(super) fingerprint: u64,
}

/// The content of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Description {
    /// The start of the system that had the newest pages in memory; empty if none is trusted.
    pub(super) boot: Vec<u8>,
    /// `None` after the environment was closed in order.
    pub(super) checkpoint: Option<Checkpoint>,
}

/// The open file.
#[derive(Debug)]
pub(super) struct CheckpointFile {
    file: DataFile,
    /// The number of the description that counts.
    sequence: u64,
}

impl CheckpointFile {
    /// Opens the file and reads it; `None` if there is none.
    /// # Errors
    /// The system's; [`io::ErrorKind::InvalidData`] if no slot is sound.
    pub(super) fn open(
        path: &Path,
        access: Access,
        observer: Option<&Arc<dyn DiskObserver>>,
    ) -> io::Result<Option<(CheckpointFile, Description)>> {
        let file = match File::open(FileRole::Checkpoint, path, access) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let observer = observer.and_then(|observer| observer.checkpoint());
        let mut opened = CheckpointFile {
            file: DataFile::new(file, None, observer),
            sequence: 0,
        };
        let Some((sequence, description)) = opened.read()? else {
            return Ok(None);
        };
        opened.sequence = sequence;
        Ok(Some((opened, description)))
    }

    /// Opens the file to describe checkpoints and reads it, and makes it if there is none.
    /// # Errors
    /// As [`CheckpointFile::open`].
    pub(super) fn create(
        path: &Path,
        mode: u32,
        observer: Option<&Arc<dyn DiskObserver>>,
    ) -> io::Result<(CheckpointFile, Description)> {
        let access = Access::Change { mode };
        if let Some(opened) = Self::open(path, access, observer)? {
            return Ok(opened);
        }
        let file = File::open(FileRole::Checkpoint, path, access)?;
        let observer = observer.and_then(|observer| observer.checkpoint());
        let mut made = CheckpointFile {
            file: DataFile::new(file, None, observer),
            sequence: 0,
        };
        made.write(&Description::default())?;
        // The file's name has to survive a power loss too.
        made.file.sync_directory(directory_of(path))?;
        Ok((made, Description::default()))
    }

    /// Makes another description durable. If that fails, either may count.
    /// # Errors
    /// The system's.
    pub(super) fn write(&mut self, description: &Description) -> io::Result<()> {
        let sequence = self.sequence + 1;
        let slot = encode(sequence, description);
        self.file.write_at(sequence % 2 * SLOT_LEN as u64, &slot)?;
        self.file.sync()?;
        self.sequence = sequence;
        Ok(())
    }

    /// Reads the description that counts, with its number; `None` if nothing was ever written.
    fn read(&self) -> io::Result<Option<(u64, Description)>> {
        let mut bytes = vec![0; 2 * SLOT_LEN];
        let len = self.file.read_at(0, &mut bytes)?;
        let slots = bytes.chunks(SLOT_LEN).filter_map(decode);
        if let Some(newest) = slots.max_by_key(|(sequence, _)| *sequence) {
            return Ok(Some(newest));
        }
        // A power loss may interrupt the making of the file. The environment has no checkpoint yet.
        let is_new = len <= SLOT_LEN + LEN && bytes.iter().take(SLOT_LEN).all(|byte| *byte == 0);
        match is_new {
            true => Ok(None),
            false => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

fn encode(sequence: u64, description: &Description) -> Vec<u8> {
    debug_assert!(description.boot.len() <= BOOT_MAX, "boot ids are short");
    let mut slot = vec![0; LEN];
    put(&mut slot, 0, &MAGIC);
    put(&mut slot, SEQUENCE_AT, &sequence.to_le_bytes());
    put(&mut slot, BOOT_LEN_AT, &[description.boot.len() as u8]);
    put(&mut slot, BOOT_AT, &description.boot);
    if let Some(Checkpoint { meta, fingerprint }) = &description.checkpoint {
        put(&mut slot, HAS_META_AT, &[1]);
        let page = meta.to_page(Pgno(0));
        put(
            &mut slot,
            META_AT,
            page.get(..Meta::LEN).unwrap_or_default(),
        );
        put(&mut slot, FINGERPRINT_AT, &fingerprint.to_le_bytes());
    }
    let sum = hash(HASH_START, slot.get(..CHECKSUM_AT).unwrap_or_default());
    put(&mut slot, CHECKSUM_AT, &sum.to_le_bytes());
    slot
}

fn decode(slot: &[u8]) -> Option<(u64, Description)> {
    let sum = hash(HASH_START, slot.get(..CHECKSUM_AT)?);
    if slot.get(..MAGIC.len())? != MAGIC || word(slot, CHECKSUM_AT)? != sum {
        return None;
    }
    let boot_len = usize::from(*slot.get(BOOT_LEN_AT)?);
    let checkpoint = match slot.get(HAS_META_AT)? {
        0 => None,
        _ => Some(Checkpoint {
            meta: Meta::read(slot.get(META_AT..FINGERPRINT_AT)?).ok()?,
            fingerprint: word(slot, FINGERPRINT_AT)?,
        }),
    };
    let boot = slot.get(BOOT_AT..META_AT)?.get(..boot_len)?.to_vec();
    let description = Description { boot, checkpoint };
    Some((word(slot, SEQUENCE_AT)?, description))
}

fn put(slot: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = slot.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

fn word(slot: &[u8], at: usize) -> Option<u64> {
    let bytes = slot.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes))
}

/// The hash of no bytes.
const HASH_START: u64 = 0xCBF2_9CE4_8422_2325;

/// Continues a hash with more bytes (FNV-1a, 64 bits). It tells torn from whole, not friend from
/// foe.
fn hash(before: u64, bytes: &[u8]) -> u64 {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    bytes.iter().fold(before, add)
}

impl Checkpoint {
    /// Describes the snapshot of a meta page, by the pages at the roots of its trees.
    /// # Errors
    /// Those of `page`, which returns a page.
    pub(super) fn of<B: AsRef<[u8]>, E>(
        meta: Meta,
        page: impl Fn(Pgno) -> Result<B, E>,
    ) -> Result<Checkpoint, E> {
        let roots = [meta.main.root, meta.free.root].into_iter();
        let mut roots = roots.filter(|root| !root.is_none());
        let fingerprint = roots.try_fold(HASH_START, |sum, root| {
            page(root).map(|page| hash(sum, page.as_ref()))
        })?;
        Ok(Checkpoint { meta, fingerprint })
    }
}

#[cfg(test)]
mod tests;
