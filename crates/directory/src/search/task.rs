//! Search (RFC 4511, section 4.5): a task that works in steps.
//!
//! ```text
//!   begin_search: base, rights, plan          advance, again and again                    the last one
//!   request -------------------------> task -----------------------------> entries ... -----------------> result
//!                                            candidates -> record in the map -> filter
//!                                            -> rights -> octets of the response
//! ```
//!
//! Between steps the task is plain data and a snapshot. It can be parked, which gives up the snapshot, and dropped at
//! any time, which abandons the search.

use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{
    Control, Controls, MessageId, Operation, ResultCode, SearchRequest, encode, oid,
};

use super::begin;
use super::output::SearchEnd;
use super::run::Quantum;
use super::state::SearchState;
use crate::core::session::Session;
use crate::directory::Directory;
use crate::rights::snapshots::Snapshots;

/// Whether a search needs another step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    More,
    /// The result has been written.
    Done,
}

/// A search in progress. Dropping it abandons the search.
pub struct SearchTask<'d> {
    id: MessageId,
    state: SearchState<'d>,
    entries: u32,
    references: u32,
    examined: u64,
    worked: usize,
    missing_indexes: Vec<String>,
    code: ResultCode,
}

impl Directory {
    /// Begins a search. Looks its base up; plan, entries and errors alike come from [`SearchTask::advance`].
    #[must_use]
    pub fn begin_search(
        &self,
        session: &Session,
        id: MessageId,
        request: &SearchRequest<'_>,
        controls: &Controls<'_>,
    ) -> SearchTask<'_> {
        self.begin_search_on(&mut Snapshots::default(), session, id, request, controls)
    }

    /// As [`begin_search`](Self::begin_search), on a snapshot that the thread keeps; [`SearchTask::leave`] gives it back.
    #[must_use]
    pub fn begin_search_on<'d>(
        &'d self,
        snapshots: &mut Snapshots<'d>,
        session: &Session,
        id: MessageId,
        request: &SearchRequest<'_>,
        controls: &Controls<'_>,
    ) -> SearchTask<'d> {
        let state = begin::begin(self, snapshots, session, (id, request), controls)
            .unwrap_or_else(SearchState::refused);
        SearchTask {
            id,
            state,
            entries: 0,
            references: 0,
            examined: 0,
            worked: 0,
            missing_indexes: Vec::new(),
            code: ResultCode::Success,
        }
    }
}

impl<'d> SearchTask<'d> {
    /// Works for one quantum and appends encoded responses to `out`: entries, and the result with
    /// [`Progress::Done`].
    pub fn advance(&mut self, out: &mut Vec<u8>, quantum: Quantum) -> Progress {
        self.worked = 0;
        let end = match std::mem::replace(&mut self.state, SearchState::Done(None)) {
            SearchState::Done(_) => return Progress::Done,
            SearchState::Ready(complete) => {
                self.entries += complete.entries;
                out.extend_from_slice(&complete.encoded);
                complete.end
            }
            SearchState::Run(mut run) => {
                let end = run.advance(out, quantum);
                self.entries = run.output.sent;
                self.references = run.output.references;
                self.examined = run.examined();
                self.worked = run.worked;
                match end {
                    Some(end) => {
                        self.missing_indexes = std::mem::take(&mut run.missing_indexes);
                        self.state = SearchState::Done(Some(run));
                        end
                    }
                    None => {
                        self.state = SearchState::Run(run);
                        return Progress::More;
                    }
                }
            }
        };
        self.code = end.result.code;
        self.write_end(out, &end);
        Progress::Done
    }

    /// Gives up what pins the store, for a client that does not read. The next step takes up a newer snapshot.
    pub fn park(&mut self) {
        if let SearchState::Run(run) = &mut self.state {
            run.park();
        }
    }

    /// Leaves the snapshot that a search has come to its end with to those that come after it on the same thread.
    pub fn leave(self, snapshots: &mut Snapshots<'d>) {
        if let SearchState::Done(Some(run)) = self.state {
            run.leave(snapshots);
        }
    }

    /// How many entries have been written.
    #[must_use]
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// How many search references have been written.
    #[must_use]
    pub fn references(&self) -> u32 {
        self.references
    }

    /// How many candidates have been looked at: what the entries written have cost.
    #[must_use]
    pub fn examined(&self) -> u64 {
        self.examined
    }

    /// How much of its quantum's candidates the last step took: those it looked at, planning, and what the filter
    /// costs for each; all of them if the octets ran out first.
    #[must_use]
    pub fn worked(&self) -> usize {
        self.worked
    }

    /// Indexes (`l:eq`) that would have spared a search that is done most of what it looked at. Each is named once in the
    /// life of a directory and those that replace it, for whoever keeps a log.
    #[must_use]
    pub fn missing_indexes(&self) -> &[String] {
        &self.missing_indexes
    }

    /// What the search came to, once it is done.
    #[must_use]
    pub fn code(&self) -> ResultCode {
        self.code
    }

    fn write_end(&self, out: &mut Vec<u8>, end: &SearchEnd) {
        if end.cookie.is_none() && end.controls.is_empty() {
            return encode::result(out, self.id, Operation::Search, &end.result, &[]);
        }
        let page = end.cookie.as_ref().map(|cookie| {
            PagedResults {
                size: end.estimate,
                cookie,
            }
            .encode()
        });
        let others = end.controls.iter().map(|(oid, value)| (*oid, value));
        let controls: Vec<Control<'_>> = others
            .chain(page.as_ref().map(|value| (oid::PAGED_RESULTS, value)))
            .map(|(oid, value)| Control::with_value(oid, false, value))
            .collect();
        encode::result(out, self.id, Operation::Search, &end.result, &controls);
    }
}

impl std::fmt::Debug for SearchTask<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchTask")
            .field("id", &self.id)
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}
