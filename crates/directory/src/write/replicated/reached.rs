//! Stores the state of a copy, in the transaction of the changes that it covers.

use fulgurite_schema::CheckedEntry;
use fulgurite_store::{EntryId, View};

use super::applier::Applier;
use super::error::ContentResult;
use super::state::{State, state_of};

impl Applier<'_, '_> {
    /// Returns the stored state.
    pub(super) fn read_state(&self) -> ContentResult<State> {
        let view: &View<'_, _> = self.writer;
        Ok(State::of(&state_of(self.database, view)?))
    }

    /// Stores the state. A missing suffix entry becomes glue.
    pub(super) fn write_state(&mut self, state: &State) -> ContentResult {
        let Some(context_csn) = self.context_csn.clone() else {
            return Ok(());
        };
        let Some(suffix) = self.database.suffixes().first().cloned() else {
            return Ok(());
        };
        let newest = state.newest();
        let id = self.entry_or_glue(&suffix, newest.as_bytes())?;
        debug_assert_ne!(id, EntryId::ROOT, "a suffix entry has an id");
        let mut entry = self.copy_of(id)?;
        let values = state.values();
        let held = entry.attribute(&context_csn);
        if held.is_some_and(|held| held.values == values) {
            return Ok(());
        }
        entry.set(&context_csn, values);
        let checked = CheckedEntry::on_trust(entry, &self.core.schema);
        Ok(self.writer.modify(id, &checked)?)
    }
}
