//! Subordinate counts of an entry. Only entries with children have a row.

use crate::bytes::u64_at;
use crate::error::Damage;

/// Subordinates of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// One level below.
    pub(crate) children: u64,
    /// On every level below.
    pub(crate) descendants: u64,
}

impl Counts {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Counts, Damage> {
        match (u64_at(bytes, 0), u64_at(bytes, 8)) {
            (Some(children), Some(descendants)) if bytes.len() == 16 => Ok(Counts {
                children,
                descendants,
            }),
            _ => Err(Damage::Counts),
        }
    }

    pub(crate) fn bytes(self) -> [u8; 16] {
        let mut out = [0; 16];
        let (head, tail) = out.split_at_mut(8);
        head.copy_from_slice(&self.children.to_le_bytes());
        tail.copy_from_slice(&self.descendants.to_le_bytes());
        out
    }

    /// Returns the counts after a change; fails if they would become negative.
    pub(crate) fn changed(self, children: i64, descendants: i64) -> Result<Counts, Damage> {
        let children = self
            .children
            .checked_add_signed(children)
            .ok_or(Damage::Counts)?;
        let descendants = self
            .descendants
            .checked_add_signed(descendants)
            .ok_or(Damage::Counts)?;
        Ok(Counts {
            children,
            descendants,
        })
    }
}
