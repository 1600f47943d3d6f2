//! An entry that waits in the spool for its parent.

use crate::bytes::{take, u32_at, u64_at};

/// A spooled entry: line u64 | length of normal name u32 | length of name u32 | normal name | name
/// | record.
pub(super) struct WaitingEntry<'a> {
    pub(super) line: u64,
    pub(super) name: &'a str,
    pub(super) dn: &'a str,
    pub(super) head_len: usize,
}

impl<'a> WaitingEntry<'a> {
    pub(super) fn encode(line: u64, normal: &str, pretty: &str, record: &[u8]) -> Vec<u8> {
        let mut block = line.to_le_bytes().to_vec();
        for text in [normal, pretty] {
            block.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
        }
        block.extend_from_slice(normal.as_bytes());
        block.extend_from_slice(pretty.as_bytes());
        block.extend_from_slice(record);
        block
    }

    pub(super) fn parse(block: &'a [u8]) -> Option<WaitingEntry<'a>> {
        let mut rest = block;
        let head = take(&mut rest, 16)?;
        let name = std::str::from_utf8(take(&mut rest, u32_at(head, 8)? as usize)?).ok()?;
        let dn = std::str::from_utf8(take(&mut rest, u32_at(head, 12)? as usize)?).ok()?;
        Some(WaitingEntry {
            line: u64_at(head, 0)?,
            name,
            dn,
            head_len: block.len() - rest.len(),
        })
    }
}
