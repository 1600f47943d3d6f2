//! The entries that a watched writer has touched.

use fulgurite_schema::{Attribute, AttributeDescription};

use super::value_change::ValueChange;
use crate::ids::EntryId;

/// All that the store has of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryContent {
    /// Its parent; [`EntryId::ROOT`] for a suffix entry.
    pub parent: EntryId,
    /// Its RDN as the user wrote it; of a suffix entry, the whole name.
    pub rdn: Vec<u8>,
    /// The attributes of its record, in stored order. One that was left out has no values.
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
    /// The attributes whose values the content leaves out. Only [`values`](Self::values) tell of
    /// their changes.
    pub left_out: Vec<AttributeDescription>,
    /// The changes of their values, in their order.
    pub values: Vec<ChangedValues>,
    /// True if another change has followed, so that these do not tell all.
    pub is_partial: bool,
}

/// A change of single values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedValues {
    /// The values, as they were stored and are.
    pub change: ValueChange,
    /// True if none of the values of before has stayed.
    pub is_whole: bool,
}

impl TouchedEntry {
    /// Returns an entry that is as `before`.
    pub(super) fn new(id: EntryId, before: Option<EntryContent>) -> TouchedEntry {
        TouchedEntry {
            id,
            before,
            left_out: Vec::new(),
            values: Vec::new(),
            is_partial: false,
        }
    }
}
