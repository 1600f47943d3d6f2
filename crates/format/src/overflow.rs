//! Overflow runs: consecutive pages that hold one value, with a header in the first page only.

use crate::bytes::{put, u16_at, u32_at};
use crate::layout::header_pgno;
use crate::{Malformed, PageFlags, Pgno, layout};

/// The checked header of an overflow run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverflowHeader {
    /// Pages in the run, at least 1.
    pub pages: u64,
}

impl OverflowHeader {
    /// Checks the first page of the run at `pgno` that holds a value of `value_len` bytes.
    /// # Errors
    /// Wrong number, wrong kind, too short for the value, or reaching behind `last`.
    #[inline(always)]
    pub fn parse(
        page: &[u8],
        pgno: Pgno,
        page_size: usize,
        value_len: usize,
        last: Pgno,
    ) -> Result<OverflowHeader, Malformed> {
        let number = header_pgno(page).ok_or(Malformed::Truncated)?;
        if number != pgno.0 {
            return Err(Malformed::Number(Pgno(number)));
        }
        let flags = u16_at(page, layout::FLAGS_AT).ok_or(Malformed::Truncated)?;
        if flags & PageFlags::KIND != PageFlags::OVERFLOW {
            return Err(Malformed::Kind {
                found: flags,
                wanted: "the start of an overflow run",
            });
        }
        let pages = u64::from(u32_at(page, layout::RUN_AT).ok_or(Malformed::Truncated)?);
        let ends_inside = pgno
            .0
            .checked_add(pages)
            .is_some_and(|end| end <= last.0.saturating_add(1));
        if pages < overflow_pages(value_len, page_size) || !ends_inside {
            return Err(Malformed::Overflow { pages });
        }
        Ok(OverflowHeader { pages })
    }
}

/// Pages needed for a value of `value_len` bytes.
#[must_use]
pub fn overflow_pages(value_len: usize, page_size: usize) -> u64 {
    layout::whole_pages((layout::HEADER_LEN - 1 + value_len) as u64, page_size) + 1
}

/// Writes the header of a run of `pages` pages into its first page.
pub fn write_overflow_header(page: &mut [u8], pgno: Pgno, pages: u32) {
    let done = put(page, 0, &pgno.0.to_le_bytes())
        .and_then(|()| put(page, 8, &[0; 2]))
        .and_then(|()| put(page, layout::FLAGS_AT, &PageFlags::OVERFLOW.to_le_bytes()))
        .and_then(|()| put(page, layout::RUN_AT, &pages.to_le_bytes()));
    debug_assert!(done.is_some(), "a page is larger than its header");
}
