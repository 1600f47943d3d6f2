//! Meta pages: where a snapshot begins.

use crate::bytes::{put, put_words, u16_at, u32_at, u64_at};
use crate::{
    Malformed, PAGE_SIZE_MAX, PAGE_SIZE_MIN, PageFlags, Pgno, TREE_RECORD_LEN, TreeRecord, Txnid,
    layout,
};
use alloc::vec;
use alloc::vec::Vec;

/// Pages 0 and 1 are meta pages; transaction t is committed in page t mod 2.
pub const META_PAGES: u64 = 2;

const MAGIC: u32 = 0xBEEF_C0DE;
const MAGIC_AT: usize = 16;
const VERSION_AT: usize = 20;
const ADDRESS_AT: usize = 24;
const MAP_SIZE_AT: usize = 32;
const FREE_AT: usize = 40;
const MAIN_AT: usize = 88;
const LAST_AT: usize = 136;
const TXNID_AT: usize = 144;

/// The contents of a meta page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// Address for fixed mappings, else 0.
    pub map_address: u64,
    /// Size of the map in bytes.
    pub map_size: u64,
    /// The free-list tree; its `pad` is the page size.
    pub free: TreeRecord,
    /// The main tree.
    pub main: TreeRecord,
    /// Last page in use.
    pub last: Pgno,
    /// The transaction that wrote it.
    pub txnid: Txnid,
}

/// Why bytes are refused as a meta page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MetaError {
    /// They are no meta page of any version.
    #[error("it is not a meta page")]
    Foreign,
    /// They are one of another version of the format: this one.
    #[error("it has data format version {0}")]
    Version(u32),
}

impl Meta {
    /// Bytes of a meta page that mean something, from the page's start.
    pub const LEN: usize = 152;
    /// Where in the page the part is that a commit writes.
    pub const COMMIT_AT: usize = MAP_SIZE_AT;
    /// Bytes a commit writes.
    pub const COMMIT_LEN: usize = Self::LEN - MAP_SIZE_AT;

    /// Reads the first [`Meta::LEN`] bytes of a meta page. Checks magic and version only.
    ///
    /// # Errors
    /// As [`MetaError`] tells.
    #[inline]
    pub fn read(page: &[u8]) -> Result<Meta, MetaError> {
        let missing = MetaError::Foreign;
        // With a fixed length, reading fields needs no bounds checks; readers begin with this.
        let page: &[u8; Self::LEN] = page.first_chunk().ok_or(missing)?;
        let flags = u16_at(page, layout::FLAGS_AT).ok_or(missing)?;
        if flags & PageFlags::META == 0 || u32_at(page, MAGIC_AT) != Some(MAGIC) {
            return Err(missing);
        }
        let version = u32_at(page, VERSION_AT).ok_or(missing)?;
        if version != layout::DATA_VERSION {
            return Err(MetaError::Version(version));
        }
        let tree = |at: usize| {
            page.get(at..at + TREE_RECORD_LEN)
                .and_then(TreeRecord::read)
                .ok_or(missing)
        };
        Ok(Meta {
            map_address: u64_at(page, ADDRESS_AT).ok_or(missing)?,
            map_size: u64_at(page, MAP_SIZE_AT).ok_or(missing)?,
            free: tree(FREE_AT)?,
            main: tree(MAIN_AT)?,
            last: Pgno(u64_at(page, LAST_AT).ok_or(missing)?),
            txnid: Txnid(u64_at(page, TXNID_AT).ok_or(missing)?),
        })
    }

    /// Page size in bytes, as claimed.
    #[must_use]
    pub const fn page_size(&self) -> usize {
        self.free.pad as usize
    }

    /// Returns true if the claimed page size is one the format has.
    #[must_use]
    pub fn page_size_is_valid(&self) -> bool {
        (PAGE_SIZE_MIN..=PAGE_SIZE_MAX).contains(&self.page_size())
            && self.page_size().is_power_of_two()
    }

    /// Checks that the snapshot is possible.
    /// # Errors
    /// The first contradiction found.
    #[inline]
    pub fn check(&self) -> Result<(), Malformed> {
        let end = self
            .last
            .0
            .checked_add(1)
            .and_then(|pages| pages.checked_mul(self.page_size() as u64));
        if self.last.0 < 1 || end.is_none_or(|end| end > i64::MAX as u64) {
            return Err(Malformed::PageOutOfRange(self.last));
        }
        if !self.free.flags.has(crate::DatabaseFlags::INTEGER_KEY) {
            return Err(Malformed::TreeRecord);
        }
        self.free.check(self.last)?;
        self.main.check(self.last)
    }

    /// The whole meta page number `pgno` of a new file, `page_size` bytes.
    #[must_use]
    pub fn to_page(&self, pgno: Pgno) -> Vec<u8> {
        let mut page = vec![0; self.page_size()];
        let done = put(&mut page, 0, &pgno.0.to_le_bytes())
            .and_then(|()| put(&mut page, layout::FLAGS_AT, &PageFlags::META.to_le_bytes()))
            .and_then(|()| put(&mut page, MAGIC_AT, &MAGIC.to_le_bytes()))
            .and_then(|()| put(&mut page, VERSION_AT, &layout::DATA_VERSION.to_le_bytes()))
            .and_then(|()| put(&mut page, ADDRESS_AT, &self.map_address.to_le_bytes()))
            .and_then(|()| put(&mut page, Self::COMMIT_AT, &self.to_commit_bytes()));
        debug_assert!(done.is_some(), "a meta page is larger than its contents");
        page
    }

    /// The bytes a commit writes at [`Meta::COMMIT_AT`] of its meta page.
    #[must_use]
    pub fn to_commit_bytes(&self) -> [u8; Self::COMMIT_LEN] {
        let mut out = [0; Self::COMMIT_LEN];
        let (free, main) = (self.free.to_words(), self.main.to_words());
        let parts: [&[u64]; 4] = [&[self.map_size], &free, &main, &[self.last.0, self.txnid.0]];
        let mut at = 0;
        for words in parts {
            put_words(out.get_mut(at..).unwrap_or_default(), words);
            at += 8 * words.len();
        }
        out
    }
}
