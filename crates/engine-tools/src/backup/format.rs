//! The bytes of a backup file.
//!
//! All numbers are little-endian; a digest is 32 bytes of BLAKE3.
//!
//! ```text
//!   at 0        header
//!        0  16  "fulgurite backup"
//!       16   4  version of this layout: 1
//!       20   4  page size in bytes
//!       24   8  transaction of the file before it in the chain; all ones in a full backup
//!       32   8  transaction of the snapshot
//!       40   8  last page of the snapshot
//!       48   8  pages that the snapshot reaches
//!       56   8  zero
//!       64  32  the digest at the end of the file before it in the chain; zeros in a full backup
//!       96  32  digest of the bytes before
//!   at 128      the used parts of meta pages 0 and 1, 152 bytes each
//!   at 432      frames, one after the other
//!        0   4  pages in the frame, 1 to 64; 0 ends the frames, with nothing after it
//!        4   4  length of the body in bytes
//!        8   4  0: the body is the pages; 1: it is an LZ4 block of them
//!       12      body
//!   then        table: for each page, in the order of the frames, which is ascending
//!        0   8  page number
//!        8  32  digest of the page
//!   then        trailer, up to the end of the file
//!        0   8  offset of the table
//!        8   8  pages in the frames, and entries of the table
//!       16  16  "end of fulgurite"
//!       32  32  digest of the table
//!       64  32  digest of all bytes of the file before these
//! ```

use super::BackupError;
use std::path::Path;

pub(super) const HEADER_LEN: usize = 128;
pub(super) const META_LEN: usize = 152;
pub(super) const FRAMES_AT: u64 = (HEADER_LEN + 2 * META_LEN) as u64;
pub(super) const FRAME_HEADER_LEN: usize = 12;
/// The most pages in a frame.
pub(super) const FRAME_PAGES: usize = 64;
pub(super) const ENTRY_LEN: usize = 40;
pub(super) const TRAILER_LEN: usize = 96;
/// Bytes of the trailer that the whole file's digest covers.
pub(super) const TRAILER_HASHED: usize = 64;

const MAGIC: &[u8; 16] = b"fulgurite backup";
const END_MAGIC: &[u8; 16] = b"end of fulgurite";
const VERSION: u32 = 1;
const PAGE_SIZES: std::ops::RangeInclusive<u32> = 256..=32768;
/// The number for no transaction.
const NONE: u64 = u64::MAX;

/// A digest of BLAKE3.
pub(super) type Digest = [u8; 32];

/// The encodings of a frame.
pub(super) const PLAIN: u32 = 0;
pub(super) const LZ4: u32 = 1;

/// The head of a backup file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) page_size: u32,
    /// `None` in a full backup.
    pub(super) from: Option<u64>,
    pub(super) to: u64,
    pub(super) last: u64,
    pub(super) reached: u64,
    pub(super) before: Digest,
}

impl Header {
    pub(super) fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut out = Vec::with_capacity(HEADER_LEN);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend(self.page_size.to_le_bytes());
        for number in [
            self.from.unwrap_or(NONE),
            self.to,
            self.last,
            self.reached,
            0,
        ] {
            out.extend(number.to_le_bytes());
        }
        out.extend(self.before);
        let digest = blake3::hash(&out);
        out.extend(digest.as_bytes());
        let mut bytes = [0; HEADER_LEN];
        bytes.copy_from_slice(&out);
        bytes
    }

    pub(super) fn read(bytes: &[u8; HEADER_LEN], path: &Path) -> Result<Header, BackupError> {
        if !bytes.starts_with(MAGIC) {
            return Err(BackupError::NotABackup(path.to_owned()));
        }
        let version = u32_at(bytes, 16);
        if version != VERSION {
            return Err(BackupError::Version {
                path: path.to_owned(),
                found: version,
            });
        }
        let (hashed, digest) = bytes.split_at(HEADER_LEN - 32);
        let header = Header {
            page_size: u32_at(bytes, 20),
            from: Some(u64_at(bytes, 24)).filter(|from| *from != NONE),
            to: u64_at(bytes, 32),
            last: u64_at(bytes, 40),
            reached: u64_at(bytes, 48),
            before: digest_at(bytes, 64),
        };
        let is_sound = blake3::hash(hashed).as_bytes() == digest
            && PAGE_SIZES.contains(&header.page_size)
            && header.page_size.is_power_of_two()
            && header.last < i64::MAX as u64 / u64::from(header.page_size);
        if !is_sound {
            return Err(BackupError::damaged(path, "its header"));
        }
        Ok(header)
    }
}

/// The end of a backup file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) table_at: u64,
    pub(super) pages: u64,
    pub(super) table: Digest,
    /// The digest of the whole file except these bytes.
    pub(super) file: Digest,
}

impl Trailer {
    /// Returns the trailer without its last part, the digest of the file.
    pub(super) fn hashed_bytes(table_at: u64, pages: u64, table: &Digest) -> [u8; TRAILER_HASHED] {
        let mut out = Vec::with_capacity(TRAILER_HASHED);
        out.extend(table_at.to_le_bytes());
        out.extend(pages.to_le_bytes());
        out.extend(END_MAGIC);
        out.extend(table);
        let mut bytes = [0; TRAILER_HASHED];
        bytes.copy_from_slice(&out);
        bytes
    }

    /// Reads the trailer of a file of `len` bytes.
    pub(super) fn read(
        bytes: &[u8; TRAILER_LEN],
        len: u64,
        path: &Path,
    ) -> Result<Trailer, BackupError> {
        let trailer = Trailer {
            table_at: u64_at(bytes, 0),
            pages: u64_at(bytes, 8),
            table: digest_at(bytes, 32),
            file: digest_at(bytes, 64),
        };
        let end = trailer
            .pages
            .checked_mul(ENTRY_LEN as u64)
            .and_then(|table| table.checked_add(trailer.table_at))
            .and_then(|end| end.checked_add(TRAILER_LEN as u64));
        if bytes.get(16..32) != Some(END_MAGIC) {
            return Err(BackupError::CutOff(path.to_owned()));
        }
        if end != Some(len) || trailer.table_at < FRAMES_AT + FRAME_HEADER_LEN as u64 {
            return Err(BackupError::damaged(path, "its trailer"));
        }
        Ok(trailer)
    }
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    word.map_or(0, |word| u64::from_le_bytes(*word))
}

pub(super) fn digest_at(bytes: &[u8], at: usize) -> Digest {
    let digest = bytes.get(at..).and_then(|rest| rest.first_chunk());
    digest.copied().unwrap_or_default()
}

/// Returns the digest of one page.
pub(super) fn digest_of(page: &[u8]) -> Digest {
    *blake3::hash(page).as_bytes()
}
