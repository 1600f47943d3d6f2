//! The order of a sorted search: the keys of its entries, and the entries of the sorted list.

use fulgurite_access::Rights;
use fulgurite_schema::AttributeDescription;
use fulgurite_store::{EntryView, StoreError, View};

use super::{CandidateOutcome, DatabaseSearch, MatchOutcome, SnapshotState};
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::search::output::{Output, SearchEnd};
use crate::search::sort::{self, SortItem};

impl<'d> DatabaseSearch<'d> {
    /// Writes an entry of the sorted list if it still matches.
    pub(crate) fn write_sorted(
        &mut self,
        item: SortItem,
        output: &mut Output,
        out: &mut Vec<u8>,
    ) -> Result<Option<SearchEnd>, StoreError> {
        let view = self.current_view(output.now_us)?;
        let outcome = match view.entry(item.at.id)? {
            Some(entry)
                if matches!(self.test_entry(&view, &entry, false)?, MatchOutcome::Entry) =>
            {
                self.write(&view, &entry, item, output, out)?
            }
            _ => CandidateOutcome::Skipped,
        };
        if self.lists.is_some()
            && let Some(end) = self.finish_expansion(&view, output, out)?
        {
            self.held = Some(SnapshotState::View(view));
            return Ok(Some(end));
        }
        self.held = Some(SnapshotState::View(view));
        Ok(match outcome {
            CandidateOutcome::End(end) => Some(end),
            CandidateOutcome::Skipped | CandidateOutcome::Sent => None,
        })
    }

    /// Returns the sort key of the entry tested last. Only readable values count.
    pub(super) fn sort_key(
        &self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        output: &Output,
    ) -> Result<Box<[u8]>, StoreError> {
        let facts = EntryFacts::new(self.core, view, EntrySource::Stored(*entry));
        let rights = facts.rights(&self.decisions, &self.normal);
        let by_value = self.decisions.by_value();
        let readable = |description: &AttributeDescription, value: &[u8]| {
            let rights = if by_value {
                rights.value(description, value)
            } else {
                rights.attribute(description)
            };
            let computed = self.requester().computed(description);
            rights.allows(Rights::READ)
                && computed.is_none_or(|computed| computed.is_visible(self.requester()))
        };
        sort::key_of(&output.sort_keys, self.requester(), view, entry, readable)
    }
}
