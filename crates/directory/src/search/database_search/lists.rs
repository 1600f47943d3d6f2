//! The part of a database's search that dynamic lists need.
//!
//! ```text
//!   items of the filter about lists -> sets of entries      a list that matches -> expanded -> written
//! ```

use std::sync::Arc;

use fulgurite_ldap::ResultCode;
use fulgurite_schema::AttributeDescription;
use fulgurite_store::{EntryView, StoreError, View};

use super::{CandidateOutcome, DatabaseSearch};
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::projection::StoredEntry;
use crate::rights::requester_rights::RequesterRights;
use crate::search::filter::PreparedFilter;
use crate::search::list_state::{ListState, PendingEntry, expansion};
use crate::search::output::{Output, SearchEnd};
use crate::search::sort::SortItem;

impl<'d> DatabaseSearch<'d> {
    /// Resolves the items of the filter about dynamic lists. Returns true at the end.
    #[cold]
    pub(super) fn resolve_lists(
        &mut self,
        view: &View<'d>,
        left: &mut usize,
    ) -> Result<bool, StoreError> {
        let Some(lists) = &mut self.lists else {
            return Ok(true);
        };
        let Some(items) = &mut lists.items else {
            return Ok(true);
        };
        let requester = RequesterRights {
            cache: Some(&lists.cache),
            ..RequesterRights::new(self.core, self.database, &self.decisions)
        };
        if !items.step(requester, view, left)? {
            return Ok(false);
        }
        if let Some(items) = lists.items.take() {
            let filter = items.resolved(&self.spec.filter);
            self.spec.filter = Arc::new(filter);
            self.planned = self.spec.planned(&self.spec.filter, self.core);
            self.tested = PreparedFilter::new(&self.spec.filter, view, self.requester());
        }
        Ok(true)
    }

    /// Continues to expand a dynamic list, and writes it at the end.
    #[cold]
    pub(super) fn continue_expansion(
        &mut self,
        view: &View<'d>,
        output: &mut Output,
        out: &mut Vec<u8>,
        left: &mut usize,
    ) -> Result<Option<SearchEnd>, StoreError> {
        let Some(lists) = &mut self.lists else {
            return Ok(None);
        };
        let Some(mut pending) = lists.pending.take() else {
            return Ok(None);
        };
        let Some(entry) = view.entry(pending.item.at.id)? else {
            return Ok(None);
        };
        let selection = &output.projection.selection;
        let wants =
            |description: &AttributeDescription| selection.selects(view.schema(), description);
        let requester = self.requester();
        let step = pending
            .expansion
            .step(requester, view, (&entry, &wants), left)?;
        if !step {
            if let Some(lists) = &mut self.lists {
                lists.pending = Some(pending);
            }
            return Ok(None);
        }
        if !self.decisions.uniform() {
            self.normals.write(view, &entry, &mut self.normal)?;
        }
        let outcome = self.write_expanded(view, &entry, pending, output, out)?;
        Ok(match outcome {
            CandidateOutcome::End(end) => Some(end),
            CandidateOutcome::Skipped | CandidateOutcome::Sent => None,
        })
    }

    /// Expands a dynamic list of a sorted search in one step.
    #[cold]
    pub(super) fn finish_expansion(
        &mut self,
        view: &View<'d>,
        output: &mut Output,
        out: &mut Vec<u8>,
    ) -> Result<Option<SearchEnd>, StoreError> {
        let is_pending = |lists: &ListState| lists.pending.is_some();
        while self.lists.as_deref().is_some_and(is_pending) {
            let mut left = usize::MAX;
            if let Some(end) = self.continue_expansion(view, output, out, &mut left)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Writes an entry whose expansion is complete.
    #[cold]
    pub(super) fn write_expanded(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        pending: PendingEntry,
        output: &mut Output,
        out: &mut Vec<u8>,
    ) -> Result<CandidateOutcome, StoreError> {
        if let Some(end) = output.full() {
            return Ok(CandidateOutcome::End(end));
        }
        let mut name = String::new();
        entry.write_dn(&mut self.names, &mut name)?;
        let facts = EntryFacts::new(self.core, view, EntrySource::Stored(*entry));
        let stored = StoredEntry {
            controls: &[],
            entry,
            other_name: Some(&name),
            view,
            requester: self.requester(),
            rights: facts.rights(&self.decisions, &self.normal),
        };
        let exceeds = pending.expansion.exceeds();
        let added = pending.expansion.into_attributes();
        let projection = &output.projection;
        projection.write_expanded(out, output.id, &stored, added)?;
        output.wrote(pending.item);
        Ok(match exceeds {
            true => CandidateOutcome::End(output.end(ResultCode::SizeLimitExceeded)),
            false => CandidateOutcome::Sent,
        })
    }

    /// Writes an entry of a database with dynamic lists, or begins to expand it. `None` for an
    /// entry that shows what is stored.
    #[cold]
    pub(super) fn begin_expansion(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        item: &SortItem,
        output: &Output,
    ) -> Result<bool, StoreError> {
        let expansion = expansion(self.requester(), view, entry, &output.projection)?;
        let (Some(lists), Some(expansion)) = (&mut self.lists, expansion) else {
            return Ok(false);
        };
        debug_assert!(lists.pending.is_none(), "entries are written one by one");
        lists.pending = Some(PendingEntry {
            item: item.clone(),
            expansion,
        });
        Ok(true)
    }

    /// Returns true if the entry written last has more groups than an entry may show.
    #[cold]
    pub(super) fn has_too_many_groups(&self) -> bool {
        let lists = self.lists.as_ref();
        lists.is_some_and(|lists| lists.cache.exceeded.get())
    }
}
