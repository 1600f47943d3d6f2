//! The names that have come, and those that entries wait for.

use std::hash::{BuildHasher, Hasher, RandomState};

use rustc_hash::FxHashMap;

use super::spool::SpoolBlock;
use crate::ids::EntryId;

/// 128 bits that represent a normal name. The keys of the hash are random, so no input can make two
/// names collide. By chance two of a hundred million names collide with a probability of 10^-23.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint([u32; 4]);

/// Makes fingerprints. Clones make the same ones.
#[derive(Clone)]
pub(crate) struct Fingerprints([RandomState; 2]);

impl Fingerprints {
    #[allow(clippy::cast_possible_truncation)] // halves
    pub(crate) fn of(&self, normal: &str) -> Fingerprint {
        let Fingerprints(keys) = self;
        let [a, b] = keys.each_ref().map(|keys| {
            let mut hasher = keys.build_hasher();
            hasher.write(normal.as_bytes());
            hasher.finish()
        });
        Fingerprint([a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32])
    }
}

/// Names by fingerprint. A row takes 24 bytes, plus the free part of the table.
pub(crate) struct ParentTable {
    fingerprints: Fingerprints,
    /// Zero for an entry that waits for its parent.
    known: FxHashMap<Fingerprint, PackedId>,
    waiting: FxHashMap<Fingerprint, Vec<SpoolBlock>>,
}

/// An [`EntryId`] aligned to four bytes, which makes a row of the table eight bytes shorter.
#[derive(Clone, Copy, Debug)]
struct PackedId([u32; 2]);

impl From<EntryId> for PackedId {
    #[allow(clippy::cast_possible_truncation)] // halves
    fn from(id: EntryId) -> PackedId {
        PackedId([id.0 as u32, (id.0 >> 32) as u32])
    }
}

impl From<PackedId> for EntryId {
    fn from(PackedId([low, high]): PackedId) -> EntryId {
        EntryId(u64::from(low) | (u64::from(high) << 32))
    }
}

impl ParentTable {
    pub(crate) fn new() -> ParentTable {
        ParentTable {
            fingerprints: Fingerprints([RandomState::new(), RandomState::new()]),
            known: FxHashMap::default(),
            waiting: FxHashMap::default(),
        }
    }

    pub(crate) fn fingerprints(&self) -> &Fingerprints {
        &self.fingerprints
    }

    pub(crate) fn fingerprint(&self, normal: &str) -> Fingerprint {
        self.fingerprints.of(normal)
    }

    /// Returns the id of an entry. `None` if it has not come, or waits for its parent.
    pub(crate) fn id_of(&self, name: Fingerprint) -> Option<EntryId> {
        self.known
            .get(&name)
            .map(|id| EntryId::from(*id))
            .filter(|id| *id != EntryId::ROOT)
    }

    /// Returns true if an entry of this name has come.
    pub(crate) fn is_known(&self, name: Fingerprint) -> bool {
        self.known.contains_key(&name)
    }

    /// Notes an entry's id, and returns the entries that waited for it.
    pub(crate) fn place(&mut self, name: Fingerprint, id: EntryId) -> Vec<SpoolBlock> {
        self.known.insert(name, id.into());
        if self.waiting.is_empty() {
            Vec::new()
        } else {
            self.waiting.remove(&name).unwrap_or_default()
        }
    }

    /// Notes that an entry waits for its parent.
    pub(crate) fn wait(&mut self, name: Fingerprint, parent: Fingerprint, block: SpoolBlock) {
        self.known.insert(name, EntryId::ROOT.into());
        self.waiting.entry(parent).or_default().push(block);
    }

    /// Returns all waiting entries, by parent.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (Fingerprint, &[SpoolBlock])> {
        self.waiting
            .iter()
            .map(|(parent, blocks)| (*parent, blocks.as_slice()))
    }
}
