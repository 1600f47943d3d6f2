//! Name lists on their way into the tree of names, sorted by parent and hash.

use super::error::Failure;
use super::external_sort::{Buffer, RowSink};
use crate::bytes::take;
use crate::ids::EntryId;
use crate::names;

const KEY_LEN: usize = 16;

/// Rows one behind the other: key, length, list.
#[derive(Default)]
pub(crate) struct NameBuffer {
    arena: Vec<u8>,
    rows: Vec<(u128, usize)>,
}

impl NameBuffer {
    pub(crate) fn push(&mut self, key: [u8; KEY_LEN], id: EntryId, rdn_normal: &[u8]) {
        self.rows.push((u128::from_be_bytes(key), self.arena.len()));
        let list = names::with(&[], id, rdn_normal);
        self.arena
            .extend_from_slice(&(list.len() as u64).to_le_bytes());
        self.arena.extend_from_slice(&list);
    }

    fn list_at(&self, at: usize) -> &[u8] {
        let row = || {
            let mut row = self.arena.get(at..)?;
            let len = u64::from_le_bytes(take(&mut row, 8)?.try_into().ok()?);
            take(&mut row, usize::try_from(len).ok()?)
        };
        row().unwrap_or_default()
    }
}

impl Buffer for NameBuffer {
    fn bytes(&self) -> usize {
        self.arena.len() + self.rows.len() * size_of::<(u128, usize)>()
    }

    fn drain(&mut self, sink: &mut RowSink<'_>) -> Result<(), Failure> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_unstable();
        let mut joined = Vec::new();
        for equal in rows.chunk_by(|a, b| a.0 == b.0) {
            joined.clear();
            equal
                .iter()
                .for_each(|(_, at)| joined.extend_from_slice(self.list_at(*at)));
            if let Some((key, _)) = equal.first() {
                sink(&key.to_be_bytes(), &joined)?;
            }
        }
        self.arena.clear();
        Ok(())
    }
}
