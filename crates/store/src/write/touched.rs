//! The entries that a watched writer has touched.

use fulgurite_schema::Attribute;

use crate::ids::EntryId;

/// All that the store has of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryContent {
    /// Its parent; [`EntryId::ROOT`] for a suffix entry.
    pub parent: EntryId,
    /// Its RDN as the user wrote it; of a suffix entry, the whole name.
    pub rdn: Vec<u8>,
    /// The attributes of its record, in stored order.
    pub attributes: Vec<Attribute>,
    /// The attributes of its bind state. One without values hides those of the record.
    pub bind_state: Vec<Attribute>,
}

/// An entry that a watched writer has touched.
#[derive(Clone, Debug)]
pub struct TouchedEntry {
    /// The entry.
    pub id: EntryId,
    /// Its content before; `None` for a new entry.
    pub before: Option<EntryContent>,
}
