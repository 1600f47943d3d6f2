//! A long batch in the log: its parts come first, and the list of them takes its place last.
//!
//! ```text
//!   part 1, part 2, ...      keys of the position and of the batch's digest, each a value
//!   list of the parts        at the place of the batch: with it, the batch is appended
//! ```
//! So nobody sees a half written batch. Parts without a list go with the next trim.
//!
//! ```text
//!   "FGBP"  version u16  bytes of a part u32  bytes of the batch u64  its digest 32
//! ```

use crate::batch::{LONG_BATCH_BYTES_MAX, digest};
use crate::values::Digest;

const MAGIC: [u8; 4] = *b"FGBP";
const VERSION: u16 = 1;

/// The list of the parts of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartList {
    part_bytes: u32,
    bytes: u64,
    digest: Digest,
}

impl PartList {
    /// Returns the list for a batch; `None` if it needs no parts.
    ///
    /// # Panics
    /// If a part would have no bytes.
    #[must_use]
    pub fn of(batch: &[u8], part_bytes: u32) -> Option<PartList> {
        assert!(part_bytes > 0, "a part has bytes");
        (batch.len() > part_bytes as usize).then(|| PartList {
            part_bytes,
            bytes: batch.len() as u64,
            digest: digest(batch),
        })
    }

    /// Returns the digest of the batch, which names its parts.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the number of parts.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.bytes.div_ceil(u64::from(self.part_bytes))
    }

    /// Returns the parts of the batch.
    pub fn parts<'b>(&self, batch: &'b [u8]) -> impl Iterator<Item = &'b [u8]> {
        batch.chunks(self.part_bytes as usize)
    }

    /// Returns the bytes for the place of the batch.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        out.extend(self.part_bytes.to_le_bytes());
        out.extend(self.bytes.to_le_bytes());
        out.extend(self.digest.0);
        out
    }

    /// Reads a list; `None` for everything else, such as a batch.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<PartList> {
        let rest = bytes.strip_prefix(&MAGIC)?;
        let (version, rest) = rest.split_first_chunk()?;
        let (part_bytes, rest) = rest.split_first_chunk()?;
        let (bytes, rest) = rest.split_first_chunk()?;
        let list = PartList {
            part_bytes: u32::from_le_bytes(*part_bytes),
            bytes: u64::from_le_bytes(*bytes),
            digest: Digest(rest.try_into().ok()?),
        };
        let is_sound = u16::from_le_bytes(*version) == VERSION
            && list.part_bytes > 0
            && list.bytes > u64::from(list.part_bytes)
            && list.bytes <= LONG_BATCH_BYTES_MAX as u64;
        is_sound.then_some(list)
    }

    /// Returns the batch of these parts; `None` if they are not its parts.
    #[must_use]
    pub fn join(&self, parts: &[Vec<u8>]) -> Option<Vec<u8>> {
        let batch = parts.concat();
        let is_it = batch.len() as u64 == self.bytes && digest(&batch) == self.digest;
        is_it.then_some(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_put_together_from_its_parts() {
        let batch: Vec<u8> = (0..250).collect();
        assert_eq!(PartList::of(&batch, 250), None);
        let list = PartList::of(&batch, 100).expect("it is longer");
        assert_eq!(PartList::decode(&list.encode()), Some(list));
        let parts: Vec<Vec<u8>> = list.parts(&batch).map(<[u8]>::to_vec).collect();
        assert_eq!((parts.len() as u64, list.count()), (3, 3));
        assert_eq!(list.join(&parts), Some(batch));
        assert_eq!(list.join(&parts[..2]), None);
        let [one, other, last] = <[Vec<u8>; 3]>::try_from(parts).expect("three parts");
        assert_eq!(list.join(&[other, one, last]), None);
    }

    #[test]
    fn other_bytes_are_no_list() {
        let list = PartList::of(&[0; 30], 20).expect("it is longer");
        let bytes = list.encode();
        for len in 0..bytes.len() {
            assert_eq!(PartList::decode(&bytes[..len]), None);
        }
        assert_eq!(PartList::decode(&[&bytes[..], b"0"].concat()), None);
        // Magic, version, the length of a part, and that of the batch.
        for (at, byte) in [(0, b'X'), (4, 9), (6, 0), (6, 30), (17, 1)] {
            let mut other = bytes.clone();
            other[at] = byte;
            assert_eq!(PartList::decode(&other), None, "byte {at}");
        }
    }
}
