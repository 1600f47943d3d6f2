//! The order of a full refresh: parents come before the entries below them.
//!
//! Candidates come by ids. An entry that has moved may have one with a greater id above it.

use fulgurite_ldap::Scope;
use fulgurite_store::{EntryView, StoreError, View};

use super::{CandidateOutcome, DatabaseSearch};
use crate::search::output::Output;

impl<'d> DatabaseSearch<'d> {
    /// Does the same as [`candidate`](Self::candidate) in a full refresh, and before it what is
    /// above the candidate.
    #[cold]
    pub(super) fn candidate_in_order(
        &mut self,
        view: &View<'d>,
        entry: &EntryView<'_>,
        output: &mut Output,
        out: &mut Vec<u8>,
    ) -> Result<CandidateOutcome, StoreError> {
        let Some(refresh) = &mut output.sync else {
            return Ok(CandidateOutcome::Skipped);
        };
        if refresh.came_early(entry.id()) {
            return Ok(CandidateOutcome::Skipped);
        }
        let (top, scope) = (self.base.base, self.base.scope);
        let has_above = self.regions.len() == 1 && entry.id() != top;
        let mut next = match scope {
            Scope::Subtree | Scope::Children if has_above => entry.parent(),
            _ => None,
        };
        let settled = refresh.settle_below(next);
        let mut early = Vec::new();
        while let Some(id) = next.filter(|id| scope == Scope::Subtree || *id != top) {
            if Some(id) == settled {
                break;
            }
            // One with a lesser id has come, or the filter passes over it. Those above may follow.
            if id > entry.id() {
                if !refresh.comes_early(id) {
                    break;
                }
                early.push(id);
            }
            next = if id == top { None } else { view.parent(id)? };
        }
        while let Some(id) = early.pop() {
            let Some(above) = view.entry(id)? else {
                continue;
            };
            let outcome = self.candidate((view, &above), false, output, out)?;
            if let CandidateOutcome::End(_) = outcome {
                return Ok(outcome);
            }
        }
        self.candidate((view, entry), self.scan.is_exact(), output, out)
    }
}
