//! The state of a copy: the vector of the store, which moves with the changes that it covers.

use fulgurite_store::{EntryId, PackedCsn};

use super::applier::Applier;
use super::error::ContentResult;
use super::state::vector_of;

impl Applier<'_, '_> {
    /// Moves the vector: up, or to where a provider is that has lost changes.
    pub(super) fn reach(&mut self, csns: &[String], replaces: bool) -> ContentResult {
        let numbers = vector_of(csns);
        let is_behind = |held: PackedCsn| {
            let number = numbers.of(held.server());
            number.is_some_and(|csn| csn < held)
        };
        if replaces && self.vector.iter().any(is_behind) {
            let others = self.vector.iter();
            let others = others.filter(|held| numbers.of(held.server()).is_none());
            self.vector = others.chain(numbers.iter()).collect();
            self.writer.rewind_vector(self.vector.clone())?;
        }
        if !self.waiting.is_empty() {
            let mut state = self.vector.clone();
            state.raise_all(&numbers);
            self.settle(&state)?;
        }
        for csn in numbers.iter() {
            self.vector.raise(csn);
            self.writer.raise_vector(csn)?;
        }
        if self.content.multi_provider {
            self.keep_told(&numbers)?;
        }
        let own = numbers.of(self.core.csn.server());
        if let Some(own) = own.filter(|_| self.content.multi_provider) {
            self.core.csn.continue_after(own);
        }
        self.has_reached = true;
        self.show_state()
    }

    /// Makes a missing suffix entry glue, because it shows the state.
    fn show_state(&mut self) -> ContentResult {
        let suffix = self.database.suffixes().first().cloned();
        let Some((suffix, newest)) = suffix.zip(self.vector.iter().max()) else {
            return Ok(());
        };
        let id = self.entry_or_glue(&suffix, newest.text().as_bytes())?;
        debug_assert_ne!(id, EntryId::ROOT, "a suffix entry has an id");
        Ok(())
    }
}
