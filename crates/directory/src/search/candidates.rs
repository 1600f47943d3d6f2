//! One way through the regions of a search: plans each and hands out its candidates, a bounded amount of work at a
//! time.

use std::sync::Arc;

use fulgurite_schema::{AttributeSelector, Filter};
use fulgurite_store::{Candidates, EntryId, EntryView, EntryWalk, Planning, StoreError, View};

use super::regions::{Regions, store_scope};

/// Where it stands.
#[derive(Debug, Default)]
pub(crate) struct CandidateScan {
    region: usize,
    step: Option<ScanState>,
    /// Where to begin within the first region.
    after: Option<EntryId>,
    /// Upper bound of the candidates of all regions planned so far.
    planned: u64,
    /// Candidates that had to be looked at.
    examined: u64,
}

#[derive(Debug)]
enum ScanState {
    Planning(Box<Planning>),
    Candidates(Box<Candidates>),
}

/// What comes next.
pub(crate) enum ScanStep<'v> {
    Entry(EntryView<'v>),
    /// The work allowed is used up.
    Pause,
    /// There are no more candidates.
    Exhausted,
}

impl CandidateScan {
    /// A pass that begins after an entry of a region.
    pub(crate) fn after(region: usize, id: EntryId) -> CandidateScan {
        CandidateScan {
            region,
            after: Some(id),
            ..CandidateScan::default()
        }
    }

    /// The region under way.
    pub(crate) fn region(&self) -> usize {
        self.region
    }

    /// Goes on with another state of the store.
    pub(crate) fn mark_inexact(&mut self) {
        if let Some(ScanState::Candidates(candidates)) = &mut self.step {
            candidates.mark_inexact();
        }
    }

    /// Upper bound of the candidates, as far as they are known.
    pub(crate) fn planned(&self) -> u64 {
        self.planned
    }

    /// How many ids have been looked at.
    pub(crate) fn examined(&self) -> u64 {
        self.examined
    }

    /// Whether the candidates of the region under way match the filter for certain.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(&self.step, Some(ScanState::Candidates(candidates)) if candidates.is_exact())
    }

    /// The next candidate. `walk` is one of this view; `left` counts down with the work done, by `cost` for each candidate; at zero there is a pause.
    pub(crate) fn next<'v>(
        &mut self,
        view: &'v View<'_>,
        walk: &mut EntryWalk<'v>,
        regions: &Regions,
        filter: &Arc<Filter<AttributeSelector>>,
        cost: usize,
        left: &mut usize,
    ) -> Result<ScanStep<'v>, StoreError> {
        while *left > 0 {
            match &mut self.step {
                None => {
                    let Some(region) = regions.get(self.region) else {
                        return Ok(ScanStep::Exhausted);
                    };
                    let scope = store_scope(region.scope);
                    let mut planning = view.begin_plan(region.base, scope, filter);
                    match planning.step(view, left)? {
                        Some(candidates) => self.begin(candidates),
                        None => self.step = Some(ScanState::Planning(Box::new(planning))),
                    }
                }
                Some(ScanState::Planning(planning)) => {
                    if let Some(candidates) = planning.step(view, left)? {
                        self.begin(candidates);
                    }
                }
                Some(ScanState::Candidates(candidates)) => {
                    let before = left.div_ceil(cost);
                    let mut ids_left = before;
                    let entry = candidates.next_entry_within(view, walk, &mut ids_left)?;
                    let examined = before - ids_left;
                    self.examined += examined as u64;
                    *left = left.saturating_sub(examined.saturating_mul(cost));
                    if let Some(entry) = entry {
                        return Ok(ScanStep::Entry(entry));
                    }
                    if ids_left > 0 {
                        self.step = None;
                        self.region += 1;
                    }
                }
            }
        }
        Ok(ScanStep::Pause)
    }

    /// Begins with the candidates of a region that has been planned.
    fn begin(&mut self, mut candidates: Candidates) {
        self.planned = self.planned.saturating_add(candidates.count_max());
        if let Some(after) = self.after.take() {
            candidates.seek(after);
        }
        self.step = Some(ScanState::Candidates(Box::new(candidates)));
    }
}
