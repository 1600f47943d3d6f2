//! A running search: its parts in their order, then the sorted list.

use std::collections::VecDeque;

use fulgurite_access::Decisions;
use fulgurite_ldap::control::SortResponse;
use fulgurite_ldap::{ResultCode, Scope, oid};
use fulgurite_schema::{AttributeSelector, Dn, Filter};
use fulgurite_store::StoreError;
use smallvec::SmallVec;

use super::database_search::{DatabaseSearch, Finished, PartStart, SearchSpec};
use super::filter_shape::filter_shape;
use super::output::{Output, SearchEnd};
use super::regions::Region;
use super::repeated::RepeatableRequest;
use super::sort::SortItem;
use super::sort_plan::{SortPlan, SortState, sort_response};
use super::vlv::{self, SortedOutput};
use crate::core::database::Database;
use crate::core::index_advice::IndexAdvice;
use crate::core::result;
use crate::core::slow_searches::SlowSearches;
use crate::directory::Directory;
use crate::rights::projection::AttributeRights;
use crate::rights::snapshots::Snapshots;

/// The work of one step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantum {
    /// The number of candidates to examine; fewer for a large filter.
    pub candidates_max: usize,
    /// The bytes to write. The entry that reaches this number is written completely.
    pub bytes_max: usize,
}

impl Default for Quantum {
    /// Returns about a millisecond of work.
    fn default() -> Quantum {
        Quantum {
            candidates_max: 1024,
            bytes_max: 1 << 18,
        }
    }
}

/// A part that has not begun.
pub(crate) struct PendingSearch<'d> {
    pub(crate) database: &'d Database,
    pub(crate) decisions: Decisions<'d>,
    pub(crate) base: Dn,
    pub(crate) scope: Scope,
}

/// A running search.
pub(crate) struct SearchRun<'d> {
    directory: &'d Directory,
    pub(crate) output: Box<Output>,
    spec: SearchSpec,
    waiting: VecDeque<PendingSearch<'d>>,
    /// The parts begun so far, by number. A sorted search keeps them to write their entries.
    parts: SmallVec<[Option<Box<DatabaseSearch<'d>>>; 1]>,
    /// The reusable state of a finished part.
    spare: Option<Finished<'d>>,
    sorted_output: Option<Box<SortedOutput>>,
    view: Option<vlv::ListView>,
    sorting: SortState,
    started_us: u64,
    /// The work of the steps so far, but for the last one, in microseconds.
    worked_us: u64,
    /// The entries returned and the work done when the last part began.
    before_part: (u32, u64),
    examined: u64,
    /// The work of the last step, in candidates.
    pub(crate) worked: usize,
    /// Missing indexes that the log has not named yet.
    pub(crate) missing_indexes: Vec<String>,
    /// Present if the search may be repeated.
    pub(crate) repeatable: Option<Box<RepeatableRequest>>,
}

impl<'d> SearchRun<'d> {
    /// Makes a search that continues in the `waiting` databases.
    pub(crate) fn new(
        directory: &'d Directory,
        mut output: Box<Output>,
        spec: SearchSpec,
        plan: SortPlan,
        waiting: VecDeque<PendingSearch<'d>>,
    ) -> Box<SearchRun<'d>> {
        let started_us = directory.core().clock.elapsed_us();
        output.now_us = started_us;
        Box::new(SearchRun {
            directory,
            output,
            spec,
            parts: SmallVec::with_capacity(1 + waiting.len()),
            waiting,
            spare: None,
            sorted_output: None,
            view: plan.view,
            sorting: plan.state,
            started_us,
            worked_us: 0,
            before_part: (0, 0),
            examined: 0,
            worked: 0,
            missing_indexes: Vec::new(),
            repeatable: None,
        })
    }

    /// Begins a part at its base.
    pub(crate) fn begin(&mut self, start: PartStart<'d>) -> Result<(), StoreError> {
        let number = u16::try_from(self.parts.len()).unwrap_or(u16::MAX);
        let all_shown = |after: &SortItem| after.at.part > number;
        if self.output.sorter.is_none() && self.resumes_at().is_some_and(all_shown) {
            // The previous page ended in a later part.
            self.parts.push(None);
            return Ok(());
        }
        let core = self.directory.core();
        let (since_us, spec) = (self.output.now_us, self.spec.clone());
        let mut part = DatabaseSearch::new(core, start, number, since_us, spec)?;
        if let Some(after) = self.resumes_at()
            && after.at.part == number
            && self.output.sorter.is_none()
        {
            part.after(after.at);
        }
        self.parts.push(Some(part));
        Ok(())
    }

    /// Plans with another filter, too. The search has one part, which has not begun to plan.
    pub(crate) fn narrow(&mut self, filter: &Filter<AttributeSelector>) {
        for part in self.parts.iter_mut().flatten() {
            part.narrow(filter);
        }
    }

    /// Gives up the snapshots.
    pub(crate) fn park(&mut self) {
        self.parts.iter_mut().flatten().for_each(|part| part.park());
    }

    /// Puts the last view and its attribute rights into the thread's cache.
    pub(crate) fn leave(mut self: Box<Self>, snapshots: &mut Snapshots<'d>) {
        let is_whole = self.parts.len() == 1 && self.waiting.is_empty();
        let repeatable = self.repeatable.take().filter(|_| is_whole);
        let last = self.parts.pop().flatten();
        let finished = last.and_then(|part| part.finish(repeatable.is_some()));
        let Some(finished) = finished.or(self.spare) else {
            return;
        };
        let store = finished.view.store();
        snapshots.give(finished.view);
        let attribute_rights = finished.attribute_rights;
        if let (Some(request), Some(plain)) = (repeatable, finished.plain) {
            let parts = (*plain, self.output);
            return request.keep(
                snapshots,
                self.directory,
                parts,
                &self.spec.filter,
                attribute_rights,
            );
        }
        snapshots.give_attribute_rights(
            store,
            finished.rights_class,
            self.output.projection.selection,
            attribute_rights,
        );
    }

    /// Returns the number of candidates examined so far.
    pub(crate) fn examined(&self) -> u64 {
        let running = self.parts.iter().flatten().map(|part| part.examined());
        self.examined + running.sum::<u64>()
    }

    /// Returns the filter without values.
    pub(crate) fn filter_shape(&self) -> String {
        filter_shape(&self.directory.core().schema, &self.spec.filter)
    }

    /// Works for one quantum. Returns the end once it is reached.
    pub(crate) fn advance(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> Option<SearchEnd> {
        self.worked = 0;
        let now = self.directory.core().clock.elapsed_us();
        self.output.now_us = now;
        let limit = self.output.limits.time_us_max;
        let end = if limit.is_some_and(|limit| now.saturating_sub(self.started_us) >= limit) {
            Ok(Some(self.output.end(ResultCode::TimeLimitExceeded)))
        } else {
            self.work(out, quantum)
        };
        let end = end.unwrap_or_else(|error| Some(SearchEnd::plain(result::store(&error))));
        let Some(mut end) = end else {
            let until = self.directory.core().clock.elapsed_us();
            self.worked_us += until.saturating_sub(now);
            return None;
        };
        self.add_sort_response(&mut end);
        Some(end)
    }

    /// Returns the work so far in microseconds; zero in the first step.
    fn work_us(&self) -> u64 {
        if self.worked_us == 0 {
            return 0;
        }
        let now = self.directory.core().clock.elapsed_us();
        self.worked_us + now.saturating_sub(self.output.now_us)
    }

    /// Notes a part that has ended, if it was slow. The log gets the indexes that it lacked, and
    /// administrators see the search.
    fn note_slow(&mut self, part: &DatabaseSearch<'d>, returned: u32, work_us: u64) {
        let is_wasteful = IndexAdvice::is_due(part.examined(), returned.into());
        if !is_wasteful && !SlowSearches::is_long(work_us) {
            return;
        }
        let settings = self.directory.search_settings();
        if is_wasteful {
            let told = settings.index_advice.new_ones(part.missing_indexes());
            self.missing_indexes.extend(told);
        }
        let now = self.directory.core().clock.now();
        let search = part.describe(now, returned, work_us);
        settings.slow_searches.add(search);
    }

    /// Does so for the parts of a sorted search, which have ended together. Each has a share of the
    /// work by the entries that it looked at.
    fn note_slow_sorted(&mut self, returned: u32) {
        let (work_us, examined) = (self.work_us(), self.examined().max(1));
        let parts = std::mem::take(&mut self.parts);
        for part in parts.iter().flatten() {
            let share = u128::from(work_us) * u128::from(part.examined()) / u128::from(examined);
            self.note_slow(part, returned, u64::try_from(share).unwrap_or(u64::MAX));
        }
        self.parts = parts;
    }

    fn work(
        &mut self,
        out: &mut Vec<u8>,
        quantum: Quantum,
    ) -> Result<Option<SearchEnd>, StoreError> {
        let bytes_end = out.len().saturating_add(quantum.bytes_max);
        let candidates_max = quantum.candidates_max.max(1);
        let mut left = candidates_max;
        let end = self.work_within(out, bytes_end, &mut left);
        debug_assert!(left <= candidates_max, "work only decreases");
        self.worked = candidates_max - left;
        end
    }

    fn work_within(
        &mut self,
        out: &mut Vec<u8>,
        bytes_end: usize,
        left: &mut usize,
    ) -> Result<Option<SearchEnd>, StoreError> {
        loop {
            if let Some(sorted_output) = &mut self.sorted_output {
                let parts = &mut self.parts;
                return sorted_output.advance(parts, &mut self.output, out, bytes_end, left);
            }
            if let Some(Some(part)) = self.parts.last_mut() {
                let end = part.advance(&mut self.output, out, bytes_end, left)?;
                if end.is_some() || *left == 0 {
                    return Ok(end);
                }
            }
            if let Some(end) = self.next_part()? {
                return Ok(Some(end));
            }
        }
    }

    /// Begins the next part, or the sorted list, or returns the end.
    fn next_part(&mut self) -> Result<Option<SearchEnd>, StoreError> {
        if self.output.sorter.is_none()
            && let Some(part) = self.parts.last_mut().and_then(Option::take)
        {
            self.examined += part.examined();
            let (sent, work_us) = (self.output.sent, self.work_us());
            let (sent_before, worked_before) = self.before_part;
            self.before_part = (sent, work_us);
            self.note_slow(&part, sent - sent_before, work_us - worked_before);
            self.spare = part.finish(self.repeatable.is_some());
        }
        while let Some(start) = self.waiting.pop_front() {
            let view = Box::new(start.database.store.snapshot()?);
            let skipped = self
                .resumes_at()
                .is_some_and(|after| usize::from(after.at.part) > self.parts.len());
            let found = if self.output.sorter.is_none() && skipped {
                None
            } else {
                view.find(&start.base)?.entry()
            };
            let Some(base) = found else {
                self.parts.push(None);
                continue;
            };
            let scope = start.scope;
            self.begin(PartStart {
                database: start.database,
                decisions: start.decisions,
                view,
                base: Region { base, scope },
                attribute_rights: AttributeRights::default(),
            })?;
            return Ok(None);
        }
        let Some(sorter) = self.output.sorter.take() else {
            return Ok(Some(self.output.end(ResultCode::Success)));
        };
        self.note_slow_sorted(u32::try_from(sorter.len()).unwrap_or(u32::MAX));
        let after = self.output.page.as_ref();
        let after = after.and_then(|page| Some((page.after.clone()?, page.returned)));
        match SortedOutput::new(sorter.merge(), self.view.take(), after.as_ref()) {
            Ok(sorted_output) => {
                self.sorted_output = Some(Box::new(sorted_output));
                Ok(None)
            }
            Err(end) => Ok(Some(*end)),
        }
    }

    fn resumes_at(&self) -> Option<&SortItem> {
        self.output.page.as_ref()?.after.as_ref()
    }

    fn add_sort_response(&self, end: &mut SearchEnd) {
        let response = match &self.sorting {
            SortState::None => return,
            SortState::Requested { .. } if end.result.code != ResultCode::Success => return,
            SortState::Requested { .. } => SortResponse {
                code: 0,
                attribute: None,
            },
            SortState::Refused(refusal) => sort_response(refusal),
        };
        let control = (oid::SORT_RESPONSE, response.encode());
        end.controls.insert(0, control);
    }
}
