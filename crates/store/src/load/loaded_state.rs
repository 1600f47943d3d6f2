//! The state of the content as the loaded entries tell it.

use fulgurite_schema::{AttributeIndex, Entry, Schema};

use crate::changes::{CsnVector, PackedCsn};

/// The attribute with the number of an entry's last change.
const ENTRY_CSN: &str = "entryCSN";

/// The attribute with the state of a whole database.
const CONTEXT_CSN: &str = "contextCSN";

/// The greatest entryCSN of each server among loaded entries.
#[derive(Clone, Debug)]
pub(super) struct LoadedState {
    entry_csn: Option<AttributeIndex>,
    context_csn: Option<AttributeIndex>,
    vector: CsnVector,
    /// True if an entry tells the state of the whole database, as a dump of a server does.
    is_told: bool,
}

impl LoadedState {
    /// Returns the state of no entries.
    pub(super) fn of_none(schema: &Schema) -> LoadedState {
        let index = |name: &str| schema.attribute(name).map(|attribute| attribute.index);
        LoadedState {
            entry_csn: index(ENTRY_CSN),
            context_csn: index(CONTEXT_CSN),
            vector: CsnVector::default(),
            is_told: false,
        }
    }

    /// Notes an entry.
    pub(super) fn note(&mut self, entry: &Entry) {
        let values = |index: Option<AttributeIndex>| index.map(|index| entry.values(index));
        let own = values(self.entry_csn).and_then(|values| PackedCsn::parse(values.first()?));
        if let Some(csn) = own {
            self.vector.raise(csn);
        }
        self.is_told |= values(self.context_csn).is_some_and(|values| !values.is_empty());
    }

    /// Adds the entries of another state.
    pub(super) fn join(&mut self, other: &LoadedState) {
        self.vector.raise_all(&other.vector);
        self.is_told |= other.is_told;
    }

    /// Returns the vector of the entries; `None` if an entry tells another one.
    pub(super) fn vector(&self) -> Option<&CsnVector> {
        (!self.is_told).then_some(&self.vector)
    }
}
