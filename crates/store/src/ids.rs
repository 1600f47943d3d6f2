//! Numbers that must not mix: entries and attribute descriptions.

use std::fmt;

/// Number of an entry within one store. Ids are dense and ascend in order of creation. An id is not
/// reused while a higher one exists. Zero is no entry; it is the parent of the suffix entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub u64);

impl EntryId {
    /// The parent of the suffix entries.
    pub const ROOT: EntryId = EntryId(0);

    /// Returns the database key. It is big-endian, so that keys sort as ids.
    pub(crate) fn key(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    pub(crate) fn from_key(key: &[u8]) -> Option<EntryId> {
        Some(EntryId(u64::from_be_bytes(key.try_into().ok()?)))
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Persistent number of an attribute description (`cn;lang-de`) within one store. Zero is no
/// description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributeId(pub u16);

impl AttributeId {
    /// The pseudo-attribute of index keys under which all entries are listed.
    pub(crate) const ENTRIES: AttributeId = AttributeId(0);

    pub(crate) fn key(self) -> [u8; 2] {
        self.0.to_be_bytes()
    }

    pub(crate) fn from_key(key: &[u8]) -> Option<AttributeId> {
        Some(AttributeId(u16::from_be_bytes(key.try_into().ok()?)))
    }
}
