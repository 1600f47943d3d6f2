//! The walk over a part: its snapshot, the regions that aliases add, and the candidates.

use fulgurite_ldap::ResultCode;
use fulgurite_store::{EntryWalk, StoreError, View};

use super::{CandidateOutcome, DatabaseSearch, SnapshotState};
use crate::core::result::refuse;
use crate::request::alias::{self, AliasResolution};
use crate::search::candidates::{ScanSource, ScanStep};
use crate::search::filter::PreparedFilter;
use crate::search::output::{Output, SearchEnd};
use crate::search::regions::REGIONS_MAX;

impl<'d> DatabaseSearch<'d> {
    /// Returns the snapshot to work on: a new one if the present one is parked or old.
    pub(super) fn current_view(&mut self, now: u64) -> Result<Box<View<'d>>, StoreError> {
        let age_max = u64::from(self.database.limits.limits.snapshot_s_max) * 1_000_000;
        let examined = self.examined();
        let many = match self.database.snapshot_candidates_max {
            0 => false,
            max => examined - self.examined_before >= max,
        };
        let old = many || age_max > 0 && now.saturating_sub(self.since_us) >= age_max;
        let view = match self.held.take() {
            Some(SnapshotState::View(view)) if !old => return Ok(view),
            Some(SnapshotState::View(mut view)) => {
                (self.since_us, self.examined_before) = (now, examined);
                if !view.refresh()? {
                    // No newer state exists, so a new snapshot would pin the same pages.
                    return Ok(view);
                }
                view
            }
            Some(SnapshotState::Parked(parked)) => Box::new(parked.resume()?),
            None => return Err(StoreError::Poisoned),
        };
        self.planned_here = false;
        (self.since_us, self.examined_before) = (now, examined);
        self.names.clear();
        self.normals.clear();
        self.scan.mark_inexact();
        self.tested = PreparedFilter::new(&self.spec.filter, &view, self.requester());
        Ok(view)
    }

    pub(super) fn work(
        &mut self,
        view: &View<'d>,
        output: &mut Output,
        out: &mut Vec<u8>,
        bytes_end: usize,
        left: &mut usize,
    ) -> Result<Option<SearchEnd>, StoreError> {
        if self.lists.is_some() && !self.resolve_lists(view, left)? {
            return Ok(None);
        }
        if let Some(end) = self.follow_chains(view, left)? {
            return Ok(Some(end));
        }
        self.plan_members(view, left)?;
        if let Some(end) = self.walk_aliases(view, left)? {
            return Ok(Some(end));
        }
        let mut walk = EntryWalk::new();
        while *left > 0 && out.len() < bytes_end {
            if self.lists.is_some() {
                if let Some(end) = self.continue_expansion(view, output, out, left)? {
                    return Ok(Some(end));
                }
                if *left == 0 {
                    break;
                }
            }
            let cost = self.candidate_cost;
            let source = ScanSource {
                regions: &self.regions,
                filter: &self.planned,
                cost,
            };
            let next = self.scan.next(view, &mut walk, source, left)?;
            if output.limits.is_unchecked(self.scan.planned()) {
                return Ok(Some(output.end(ResultCode::AdminLimitExceeded)));
            }
            match next {
                ScanStep::Entry(entry) => {
                    let outcome = match &output.sync {
                        None => {
                            self.candidate((view, &entry), self.scan.is_exact(), output, out)?
                        }
                        Some(_) => self.candidate_in_order(view, &entry, output, out)?,
                    };
                    match outcome {
                        CandidateOutcome::Skipped | CandidateOutcome::Sent => {}
                        CandidateOutcome::End(end) => return Ok(Some(end)),
                    }
                }
                ScanStep::Pause => *left = 0,
                ScanStep::Exhausted => return Ok(None),
            }
        }
        *left = 0;
        Ok(None)
    }

    /// Follows the aliases of the known regions, which may add regions.
    fn walk_aliases(
        &mut self,
        view: &View<'d>,
        left: &mut usize,
    ) -> Result<Option<SearchEnd>, StoreError> {
        let types = &self.core.types;
        let mut walk = EntryWalk::new();
        while let Some(aliases) = &mut self.aliases {
            let source = ScanSource {
                regions: &self.regions,
                filter: &types.alias_filter,
                cost: 1,
            };
            match aliases.next(view, &mut walk, source, left)? {
                ScanStep::Pause => return Ok(None),
                ScanStep::Exhausted => self.aliases = None,
                ScanStep::Entry(entry) if entry.id() == self.base.base => {}
                ScanStep::Entry(entry) => {
                    let name = view.resolved_dn(entry.id())?;
                    let depth_max = self.database.max_deref_depth;
                    let followed =
                        alias::follow(view, self.core, &self.decisions, &name, depth_max)?;
                    let AliasResolution::Resolved(_, found) = followed else {
                        continue;
                    };
                    if let Some(target) = found.entry() {
                        let scope = self.base.scope;
                        self.regions.add_target(view, target, scope)?;
                    }
                    if self.regions.len() > REGIONS_MAX {
                        let text = "aliases lead to too many places";
                        return Ok(Some(SearchEnd::plain(refuse(
                            ResultCode::AdminLimitExceeded,
                            text,
                        ))));
                    }
                }
            }
        }
        Ok(None)
    }
}
