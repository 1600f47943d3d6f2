//! A scan of the candidates in the regions of a search, with a bounded amount of work for each
//! step.

use std::sync::Arc;

use fulgurite_schema::{AttributeSelector, Filter};
use fulgurite_store::{Candidates, EntryId, EntryView, EntryWalk, Planning, StoreError, View};

use super::regions::{Regions, store_scope};

/// The position of a scan.
#[derive(Debug, Default)]
pub(crate) struct CandidateScan {
    region: usize,
    step: Option<ScanState>,
    /// The entry to continue after in the first region.
    after: Option<EntryId>,
    /// An upper bound of the candidates of all regions planned so far.
    planned: u64,
    /// The number of candidates examined.
    examined: u64,
}

#[derive(Debug)]
enum ScanState {
    Planning(Box<Planning>),
    Candidates(Box<Candidates>),
}

/// The regions and the filter of a scan.
#[derive(Clone, Copy)]
pub(crate) struct ScanSource<'q> {
    pub(crate) regions: &'q Regions,
    pub(crate) filter: &'q Arc<Filter<AttributeSelector>>,
    /// The work that one candidate counts as.
    pub(crate) cost: usize,
}

/// The result of a step.
pub(crate) enum ScanStep<'v> {
    Entry(EntryView<'v>),
    /// The permitted work is used up.
    Pause,
    /// There are no more candidates.
    Exhausted,
}

impl CandidateScan {
    /// Makes a scan that begins after an entry of a region.
    pub(crate) fn after(region: usize, id: EntryId) -> CandidateScan {
        CandidateScan {
            region,
            after: Some(id),
            ..CandidateScan::default()
        }
    }

    /// Returns the number of the current region.
    pub(crate) fn region(&self) -> usize {
        self.region
    }

    /// Continues with another state of the store: candidates are no longer exact.
    pub(crate) fn mark_inexact(&mut self) {
        if let Some(ScanState::Candidates(candidates)) = &mut self.step {
            candidates.mark_inexact();
        }
    }

    /// Returns an upper bound of the candidates of all regions planned so far.
    pub(crate) fn planned(&self) -> u64 {
        self.planned
    }

    /// Returns the number of ids examined.
    pub(crate) fn examined(&self) -> u64 {
        self.examined
    }

    /// Returns true if every candidate of the current region matches the filter.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(&self.step, Some(ScanState::Candidates(candidates)) if candidates.is_exact())
    }

    /// Returns the next candidate.
    ///
    /// `walk` belongs to this view. `left` decreases by the cost of each candidate; at zero the
    /// scan pauses.
    pub(crate) fn next<'v>(
        &mut self,
        view: &'v View<'_>,
        walk: &mut EntryWalk<'v>,
        source: ScanSource<'_>,
        left: &mut usize,
    ) -> Result<ScanStep<'v>, StoreError> {
        let ScanSource {
            regions,
            filter,
            cost,
        } = source;
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
                    debug_assert!(ids_left <= before, "work only decreases");
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

    /// Begins with the candidates of a planned region.
    fn begin(&mut self, mut candidates: Candidates) {
        self.planned = self.planned.saturating_add(candidates.count_max());
        if let Some(after) = self.after.take() {
            candidates.seek(after);
        }
        self.step = Some(ScanState::Candidates(Box::new(candidates)));
    }
}
