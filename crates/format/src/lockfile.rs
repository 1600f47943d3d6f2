//! The lock file: the snapshots of readers, the writer, the last commit.
//!
//! ```text
//!     0  magic u32, format u32
//!     8  reader mutex, 40 bytes      48  last committed txnid u64     56  slots ever used u32
//!    64  writer mutex, 40 bytes
//!   128  reader slots of 64 bytes:   +0 txnid u64   +8 pid u32   +16 thread u64
//!                                     +24 stamped txnid u64   +32 begin u64   +40 end mark u64
//! ```
//!
//! The last three are Fulgurite's own. They use padding of the original, which neither reads nor
//! writes it. So they may be left over from an earlier use of the slot. The stamp counts if its
//! snapshot and process are the slot's. The mark counts if its snapshot is the slot's.

/// First word of a lock file.
pub const MAGIC: u32 = 0xBEEF_C0DE;
/// Second word: lock layout 1, and readers hold a lock on the byte of their process id.
pub const FORMAT: u32 = 0x0001_0001;
/// Where the magic is.
pub const MAGIC_AT: usize = 0;
/// Where the format is.
pub const FORMAT_AT: usize = 4;
/// Where the reader mutex is.
pub const READER_MUTEX_AT: usize = 8;
/// Where the id of the last committed transaction is.
pub const LAST_TXNID_AT: usize = 48;
/// Where the number of slots ever used is.
pub const USED_SLOTS_AT: usize = 56;
/// Where the writer mutex is.
pub const WRITER_MUTEX_AT: usize = 64;
/// In the first word of a mutex: bits that name the thread which holds it. The other bits record
/// waiting threads, or the death of the holder.
pub const MUTEX_THREAD_MASK: u32 = 0x3FFF_FFFF;
/// Where the reader slots begin.
pub const SLOTS_AT: usize = 128;
/// Bytes of a reader slot.
pub const SLOT_LEN: usize = 64;
/// In a slot: where the snapshot's id is.
pub const SLOT_TXNID_AT: usize = 0;
/// In a slot: the offset of the process id. 0 marks a free slot.
pub const SLOT_PID_AT: usize = 8;
/// In a slot: where the thread word is.
pub const SLOT_THREAD_AT: usize = 16;
/// In a slot: the snapshot that the stamp is for.
pub const SLOT_STAMP_TXNID_AT: usize = 24;
/// In a slot: the time when that snapshot was pinned, and by which process. See [`stamp`].
pub const SLOT_STAMP_AT: usize = 32;
/// In a slot: the snapshot whose reader is asked to end. 0 means none.
pub const SLOT_END_AT: usize = 40;
/// Snapshot id of a slot that reads nothing.
pub const IDLE: u64 = u64::MAX;
/// Slots of a new lock file unless told otherwise.
pub const SLOTS_DEFAULT: u32 = 126;
/// Largest number of slots. A file that is longer than these slots is no lock file.
pub const SLOTS_MAX: u32 = 1 << 22;
/// A file shorter than this is no lock file.
pub const LEN_MIN: u64 = 192;

/// Bytes of a lock file with this many slots.
#[must_use]
pub const fn len_for(slots: u32) -> usize {
    SLOTS_AT + SLOT_LEN * slots as usize
}

/// Returns the number of slots in a lock file of `len` bytes, which is at least [`LEN_MIN`]. A
/// count of 32 bits bounds it.
#[must_use]
pub const fn slots_in(len: u64) -> u32 {
    let slots = (len - LEN_MIN) / SLOT_LEN as u64 + 1;
    if slots > u32::MAX as u64 {
        return u32::MAX;
    }
    slots as u32
}

/// Where slot number `index` begins.
#[must_use]
#[inline(always)]
pub const fn slot_at(index: u32) -> usize {
    SLOTS_AT + SLOT_LEN * index as usize
}

/// Number of bits of a stamp that hold the process id. No system here has larger ids, and as many
/// nanoseconds are 4 ms, one tick of a coarse clock.
const STAMP_PID_BITS: u32 = 22;

/// Returns the word with the time when a snapshot was pinned, and by which process. All processes
/// of the machine share the clock.
#[must_use]
#[inline]
pub const fn stamp(clock_ns: u64, pid: u32) -> u64 {
    let mask = (1 << STAMP_PID_BITS) - 1;
    (clock_ns & !mask) | (pid as u64 & mask)
}

/// Returns the time in a stamp, in nanoseconds, if that process made it. Otherwise another process
/// left it over.
#[must_use]
pub const fn stamped_ns(stamp: u64, pid: u32) -> Option<u64> {
    let mask = (1 << STAMP_PID_BITS) - 1;
    if stamp & mask == pid as u64 & mask && stamp & !mask != 0 {
        Some(stamp & !mask)
    } else {
        None
    }
}
