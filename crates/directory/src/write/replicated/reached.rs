//! The state of a copy: the vector of the store, which moves with the changes that it covers.

use fulgurite_store::{EntryId, PackedCsn};

use super::applier::Applier;
use super::error::ContentResult;
use super::state::vector_of;
use super::untold::note_untold;
use crate::core::csn::Csn;

/// Microseconds that a number of this server may be ahead of its clock.
const OWN_AHEAD_US_MAX: u64 = 24 * 60 * 60 * 1_000_000;

impl Applier<'_, '_> {
    /// Moves the vector: up, or to where a provider is that has lost changes.
    pub(super) fn reach(&mut self, csns: &[String], replaces: bool) -> ContentResult {
        let mut numbers = vector_of(csns);
        let own = numbers.of(self.core.csn.server());
        if let Some(own) = own.filter(|own| self.is_impossible(*own)) {
            let text = format!("{own}: a provider tells a number of this server in the future");
            self.report.warnings.push(text);
            let others = numbers.iter().filter(|csn| *csn != own);
            numbers = others.collect();
        }
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
        if self.waiting.has_any {
            let mut state = self.vector.clone();
            state.raise_all(&numbers);
            self.settle(&state)?;
        }
        if self.content.multi_provider && self.content.lacks_deletions {
            note_untold(self.writer, &numbers, &self.vector)?;
        }
        self.content.lacks_deletions &= self.content.is_refreshing;
        for csn in numbers.iter() {
            // Nobody has told this copy the deletions from before. Providers of each other do.
            if self.vector.of(csn.server()).is_none() && !self.content.multi_provider {
                self.writer.raise_horizons(csn)?;
            }
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

    /// Returns true for a number that this server cannot have given. Each of its changes would stay
    /// below, so no consumer would look for them.
    pub(super) fn is_impossible(&self, csn: PackedCsn) -> bool {
        let is_own = self.content.multi_provider && csn.server() == self.core.csn.server();
        let time = |csn: PackedCsn| Some(Csn::parse(&csn.text())?.time().0);
        // The clock may have been set back.
        let given = self.vector.of(csn.server()).and_then(time);
        let latest_us = self.core.clock.now().0.max(given.unwrap_or(0));
        let latest_us = latest_us.saturating_add(OWN_AHEAD_US_MAX);
        is_own && time(csn).is_some_and(|time| time > latest_us)
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
