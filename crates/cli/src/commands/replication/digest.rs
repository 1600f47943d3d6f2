//! Digests of the contents of two servers, in bounded memory.
//!
//! An entry belongs to one of 2^12 leaves, by the first 12 bits of its UUID. The digest of a leaf
//! is a sum over its entries, so their order does not matter.

use sha2::{Digest as _, Sha256};

/// Leaves.
const LEAVES: usize = 1 << 12;

/// The digest of one leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Leaf {
    sum: u128,
    entries: u64,
}

/// The digests of a content.
#[derive(Clone, Debug)]
pub(super) struct ContentDigest(Vec<Leaf>);

impl ContentDigest {
    pub(super) fn new() -> ContentDigest {
        ContentDigest(vec![Leaf::default(); LEAVES])
    }

    /// Takes an entry in, with the text of its state.
    pub(super) fn add(&mut self, uuid: u128, state: &str) {
        let mut hash = Sha256::new();
        hash.update(uuid.to_be_bytes());
        hash.update(state.as_bytes());
        let hash = hash.finalize();
        let first = hash.first_chunk::<16>().copied().unwrap_or_default();
        if let Some(leaf) = self.0.get_mut(leaf_of(uuid)) {
            leaf.sum = leaf.sum.wrapping_add(u128::from_be_bytes(first));
            leaf.entries += 1;
        }
    }

    /// Returns the number of entries.
    pub(super) fn entries(&self) -> u64 {
        self.0.iter().map(|leaf| leaf.entries).sum()
    }

    /// Returns the leaves that differ, ascending. Together they have `entries_max` entries at most,
    /// unless the first alone has more. The second value is true if others differ too.
    pub(super) fn differences(
        &self,
        other: &ContentDigest,
        entries_max: u64,
    ) -> (Vec<usize>, bool) {
        let pairs = self.0.iter().zip(&other.0).enumerate();
        let differing = pairs.filter(|(_, (one, other))| one != other);
        let (mut leaves, mut entries) = (Vec::new(), 0);
        for (at, (one, other)) in differing {
            entries += one.entries + other.entries;
            if entries > entries_max && !leaves.is_empty() {
                return (leaves, true);
            }
            leaves.push(at);
        }
        (leaves, false)
    }
}

/// Returns the leaf of an entry.
pub(super) fn leaf_of(uuid: u128) -> usize {
    (uuid >> 116) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_contents_have_equal_digests_in_any_order() {
        let uuid = |number: u128| number << 110 | number;
        let digest = |numbers: &[u128]| {
            let mut digest = ContentDigest::new();
            numbers
                .iter()
                .for_each(|number| digest.add(uuid(*number), "csn"));
            digest
        };
        let (one, other) = (digest(&[1, 2, 3_000]), digest(&[3_000, 1, 2]));
        assert_eq!(one.differences(&other, 10), (Vec::new(), false));
        assert_eq!(one.entries(), 3);
        let less = digest(&[1, 2]);
        assert_eq!(
            one.differences(&less, 10),
            (vec![leaf_of(uuid(3_000))], false)
        );
        let mut changed = digest(&[1, 3_000]);
        changed.add(uuid(2), "another csn");
        assert_eq!(
            one.differences(&changed, 10),
            (vec![leaf_of(uuid(2))], false)
        );
        let nothing = ContentDigest::new();
        assert_eq!(one.differences(&nothing, 1), (vec![leaf_of(uuid(1))], true));
    }
}
