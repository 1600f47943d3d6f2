//! The chains of the log: the records of each server with ascending numbers.
//!
//! ```text
//!   state:  server 1 -> 7          record 7 -> record 4 -> record 3 -> nothing before
//!           server 2 -> 6          record 6 -> record 5 -> a record that the log has dropped
//! ```
//!
//! A record in a chain has the distance to the one before. So the records after a number are found
//! from the newest one back, and need no row of an index. Records that come out of order are in no
//! chain. The table `change_csn` has them, and those of stores from before the chains.

use super::csn::PackedCsn;
use crate::bytes::{take, u16_at, u64_at};

/// The newest record of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChainEnd {
    pub(crate) csn: PackedCsn,
    pub(crate) position: u64,
}

/// The newest record of each chain, one for each server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chains(Vec<ChainEnd>);

impl Chains {
    /// Appends a record. Returns the distance to the one before, or 0 without any. `None` if the
    /// number is not greater than the newest of its server. Then the chain stays as it is.
    pub(crate) fn append(&mut self, csn: PackedCsn, position: u64) -> Option<u64> {
        let new = ChainEnd { csn, position };
        let server = csn.server();
        let Some(end) = self.0.iter_mut().find(|end| end.csn.server() == server) else {
            self.0.push(new);
            return Some(0);
        };
        if end.csn >= csn {
            return None;
        }
        debug_assert!(end.position < position, "positions ascend");
        let back = position - end.position;
        *end = new;
        Some(back)
    }

    /// Returns the newest records.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ChainEnd> {
        self.0.iter().copied()
    }

    /// Forgets all records.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Appends the stored form: the length, and the ends.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let len = u16::try_from(self.0.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&len.to_le_bytes());
        for end in self.0.iter().take(usize::from(len)) {
            out.extend_from_slice(end.csn.as_bytes());
            out.extend_from_slice(&end.position.to_le_bytes());
        }
    }

    /// Takes the stored form off the front of `bytes`.
    pub(crate) fn decode(bytes: &mut &[u8]) -> Option<Chains> {
        let len = u16_at(take(bytes, 2)?, 0)?;
        let mut ends = Vec::new();
        for _ in 0..len {
            let csn = PackedCsn::from_bytes(take(bytes, PackedCsn::LEN)?)?;
            let position = u64_at(take(bytes, 8)?, 0)?;
            ends.push(ChainEnd { csn, position });
        }
        Some(Chains(ends))
    }
}
