//! A search under way: its legs one after the other, then what was put in order.

use std::collections::VecDeque;

use fulgurite_access::Decisions;
use fulgurite_ldap::control::SortResponse;
use fulgurite_ldap::{LdapResult, ResultCode, Scope, oid};
use fulgurite_schema::Dn;
use fulgurite_store::{StoreError, View};

use super::database_search::{Left, Leg, Sought};
use super::output::{End, Output};
use super::regions::Region;
use super::sort::{Item, Unsorted};
use super::vlv::{self, Ordered};
use crate::core::database::Database;
use crate::core::index_advice::Advice;
use crate::core::result;
use crate::directory::Directory;
use crate::features::sssvlv::SortPermit;
use crate::rights::projection::Verdicts;
use crate::rights::snapshots::Snapshots;

/// How much a search may do before it lets others work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantum {
    /// Candidates to look at; fewer if the filter is a large one.
    pub candidates_max: usize,
    /// Octets to write; the entry that reaches this is still written whole.
    pub bytes_max: usize,
}

impl Default for Quantum {
    /// About a millisecond of work.
    fn default() -> Quantum {
        Quantum {
            candidates_max: 1024,
            bytes_max: 1 << 18,
        }
    }
}

/// A leg that has not begun.
pub(crate) struct Start<'d> {
    pub(crate) database: &'d Database,
    pub(crate) decisions: Decisions<'d>,
    pub(crate) base: Dn,
    pub(crate) scope: Scope,
}

/// What became of the sort control.
pub(crate) enum Sorting {
    None,
    Asked {
        /// Given back at the end of the search.
        _leave: SortPermit,
    },
    /// It was not critical and could not be honoured.
    Not(Unsorted),
}

/// A search under way.
pub(crate) struct Run<'d> {
    directory: &'d Directory,
    pub(crate) output: Output,
    sought: Sought,
    waiting: VecDeque<Start<'d>>,
    /// The legs begun so far, by their numbers; in a sorted search they are kept to write what they found.
    legs: Vec<Option<Box<Leg<'d>>>>,
    /// What a leg that is done has left.
    spare: Option<Left<'d>>,
    ordered: Option<Ordered>,
    view: Option<vlv::View>,
    sorting: Sorting,
    started_us: u64,
    examined: u64,
    /// Work of the last step, in candidates.
    pub(crate) worked: usize,
    /// Indexes that would have spared candidates, if nobody has been told of them.
    pub(crate) missing_indexes: Vec<String>,
}

impl<'d> Run<'d> {
    /// A search that begins at an entry that has been looked up, and goes on in other databases.
    pub(crate) fn new(
        directory: &'d Directory,
        mut output: Output,
        sought: Sought,
        sorting: Sorting,
        view: Option<vlv::View>,
        waiting: VecDeque<Start<'d>>,
    ) -> Box<Run<'d>> {
        let started_us = directory.clock.elapsed_us();
        output.now_us = started_us;
        Box::new(Run {
            directory,
            output,
            sought,
            legs: Vec::with_capacity(1 + waiting.len()),
            waiting,
            spare: None,
            ordered: None,
            view,
            sorting,
            started_us,
            examined: 0,
            worked: 0,
            missing_indexes: Vec::new(),
        })
    }

    /// Begins a leg at its base.
    pub(crate) fn begin(
        &mut self,
        database: &'d Database,
        decisions: Decisions<'d>,
        view: Box<View<'d>>,
        region: Region,
        verdicts: Verdicts,
    ) -> Result<(), StoreError> {
        let number = u16::try_from(self.legs.len()).unwrap_or(u16::MAX);
        let all_shown = |after: &Item| after.at.leg > number;
        if self.output.sorter.is_none() && self.resumes_at().is_some_and(all_shown) {
            // The page before ended in a later leg.
            self.legs.push(None);
            return Ok(());
        }
        let sought = self.sought.clone();
        let place = (database, number);
        let held = (view, self.output.now_us);
        let directory = self.directory;
        let mut leg = Leg::new(directory, place, decisions, held, region, sought, verdicts)?;
        if let Some(after) = self.resumes_at()
            && after.at.leg == number
            && self.output.sorter.is_none()
        {
            leg.after(after.at);
        }
        self.legs.push(Some(leg));
        Ok(())
    }

    /// Gives up what pins the stores.
    pub(crate) fn park(&mut self) {
        self.legs.iter_mut().flatten().for_each(|leg| leg.park());
    }

    /// Leaves the snapshot worked on last to others, and what is known of its attributes.
    pub(crate) fn leave(mut self: Box<Self>, snapshots: &mut Snapshots<'d>) {
        let last = self.legs.last_mut().and_then(Option::as_mut);
        if let Some(left) = last.and_then(|leg| leg.take_left()).or(self.spare) {
            let selection = self.output.shown.selection;
            let (store, likeness) = (left.view.store(), left.likeness);
            snapshots.give_verdicts(store, likeness, selection, left.verdicts);
            snapshots.give(left.view);
        }
    }

    /// Candidates looked at so far.
    pub(crate) fn examined(&self) -> u64 {
        let running = self.legs.iter().flatten().map(|leg| leg.examined());
        self.examined + running.sum::<u64>()
    }

    /// Works for one quantum; the end once it is reached.
    pub(crate) fn advance(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> Option<End> {
        self.worked = 0;
        let now = self.directory.clock.elapsed_us();
        self.output.now_us = now;
        let limit = self.output.limits.time_us_max;
        let end = if limit.is_some_and(|limit| now.saturating_sub(self.started_us) >= limit) {
            Ok(Some(self.output.end(ResultCode::TimeLimitExceeded)))
        } else {
            self.work(out, quantum)
        };
        let mut end = end.unwrap_or_else(|error| Some(End::plain(result::store(&error))))?;
        self.tell_of_sorting(&mut end);
        Some(end)
    }

    fn work(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> Result<Option<End>, StoreError> {
        let bytes_end = out.len().saturating_add(quantum.bytes_max);
        let candidates_max = quantum.candidates_max.max(1);
        let mut left = candidates_max;
        let end = self.work_within(out, bytes_end, &mut left);
        self.worked = candidates_max - left;
        end
    }

    fn work_within(
        &mut self,
        out: &mut Vec<u8>,
        bytes_end: usize,
        left: &mut usize,
    ) -> Result<Option<End>, StoreError> {
        loop {
            if let Some(ordered) = &mut self.ordered {
                let legs = &mut self.legs;
                return ordered.advance(legs, &mut self.output, out, bytes_end, left);
            }
            if let Some(Some(leg)) = self.legs.last_mut() {
                let end = leg.advance(&mut self.output, out, bytes_end, left)?;
                if end.is_some() || *left == 0 {
                    return Ok(end);
                }
            }
            if let Some(end) = self.next_leg()? {
                return Ok(Some(end));
            }
        }
    }

    /// After the last candidate of a leg: the next leg, or the order, or the end.
    fn next_leg(&mut self) -> Result<Option<End>, StoreError> {
        if self.output.sorter.is_none()
            && let Some(slot) = self.legs.last_mut()
            && let Some(leg) = slot
        {
            self.examined += leg.examined();
            if Advice::is_due(leg.examined(), self.output.sent.into()) {
                let told = self.directory.advice.new_ones(leg.missing_indexes());
                self.missing_indexes.extend(told);
            }
            self.spare = leg.take_left();
            *slot = None;
        }
        while let Some(start) = self.waiting.pop_front() {
            let view = Box::new(start.database.store.snapshot()?);
            let skipped = self
                .resumes_at()
                .is_some_and(|after| usize::from(after.at.leg) > self.legs.len());
            let found = if self.output.sorter.is_none() && skipped {
                None
            } else {
                view.find(&start.base)?.entry()
            };
            let Some(base) = found else {
                self.legs.push(None);
                continue;
            };
            let scope = start.scope;
            self.begin(
                start.database,
                start.decisions,
                view,
                Region { base, scope },
                Verdicts::default(),
            )?;
            return Ok(None);
        }
        let Some(sorter) = self.output.sorter.take() else {
            return Ok(Some(self.output.end(ResultCode::Success)));
        };
        let after = self.output.page.as_ref();
        let after = after.and_then(|page| Some((page.after.clone()?, page.returned)));
        match Ordered::new(sorter.merge(), self.view.take(), after.as_ref()) {
            Ok(ordered) => {
                self.ordered = Some(ordered);
                Ok(None)
            }
            Err(end) => Ok(Some(*end)),
        }
    }

    fn resumes_at(&self) -> Option<&Item> {
        self.output.page.as_ref()?.after.as_ref()
    }

    fn tell_of_sorting(&self, end: &mut End) {
        let response = match &self.sorting {
            Sorting::None => return,
            Sorting::Asked { .. } if end.result.code != ResultCode::Success => return,
            Sorting::Asked { .. } => SortResponse {
                code: 0,
                attribute: None,
            },
            Sorting::Not(unsorted) => sort_response(unsorted),
        };
        let control = (oid::SORT_RESPONSE, response.encode());
        end.controls.insert(0, control);
    }
}

/// What the sort response control says of a request that could not be honoured.
pub(crate) fn sort_response(unsorted: &Unsorted) -> SortResponse<'_> {
    SortResponse {
        code: unsorted.result.code.number(),
        attribute: unsorted.attribute.as_deref(),
    }
}

/// The end of a search that demands an order that cannot be had.
pub(crate) fn unsortable(unsorted: &Unsorted) -> End {
    let mut end = End::plain(unsorted.result.clone());
    let response = sort_response(unsorted);
    end.controls.push((oid::SORT_RESPONSE, response.encode()));
    end
}

/// The end of a search that asks for a view of a list without order.
pub(crate) fn view_without_order() -> End {
    let text = "Sort control is required with VLV";
    let mut end = End::plain(LdapResult::with_diagnostic(vlv::VLV_ERROR, text));
    let code = vlv::SORT_CONTROL_MISSING;
    end.controls.push(vlv::response(0, 0, code, &[]));
    end
}
