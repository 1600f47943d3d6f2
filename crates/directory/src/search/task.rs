//! The search task, which a server advances step by step.

use fulgurite_ldap::control::PagedResults;
use fulgurite_ldap::{
    Control, Controls, MessageId, Operation, ResultCode, SearchRequest, encode, oid,
};

use super::begin;
use super::output::SearchEnd;
use super::repeated;
use super::run::Quantum;
use super::state::SearchState;
use crate::core::session::Session;
use crate::directory::Directory;
use crate::rights::snapshots::Snapshots;
use crate::search::sync::run::SyncProgress;

/// The progress of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another step is needed.
    More,
    /// There is nothing to do until [`Directory::on_change`] tells of a change.
    Waiting,
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
    /// Begins a search. Entries, result and errors come from [`SearchTask::advance`].
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

    /// Does the same as [`begin_search`](Self::begin_search) with the thread's cached views.
    /// [`SearchTask::leave`] puts the view back.
    #[must_use]
    pub fn begin_search_on<'d>(
        &'d self,
        snapshots: &mut Snapshots<'d>,
        session: &Session,
        id: MessageId,
        request: &SearchRequest<'_>,
        controls: &Controls<'_>,
    ) -> SearchTask<'d> {
        let known = repeated::begin(self, snapshots, session, request, controls);
        let state = known.map_or_else(
            || {
                begin::begin(self, snapshots, session, (id, request), controls)
                    .unwrap_or_else(SearchState::refused)
            },
            SearchState::Repeated,
        );
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
            SearchState::Done(_) | SearchState::RepeatedDone(_) => return Progress::Done,
            SearchState::Repeated(mut search) => {
                let (entries, end) = repeated::finish(&mut search, self.id, out);
                self.entries = entries;
                self.worked = search.candidates();
                self.examined = self.worked as u64;
                self.state = SearchState::RepeatedDone(search);
                end
            }
            SearchState::Ready(complete) => {
                self.entries += complete.entries;
                out.extend_from_slice(&complete.encoded);
                complete.end
            }
            SearchState::Log(mut walk) => {
                let end = walk.advance(out, quantum);
                self.entries = walk.sent;
                self.examined = walk.examined;
                self.worked = walk.worked;
                let Some(end) = end else {
                    self.state = SearchState::Log(walk);
                    return Progress::More;
                };
                end
            }
            SearchState::Following(mut search) => {
                let progress = search.advance(out, quantum);
                (self.entries, self.worked) = search.figures();
                match progress {
                    SyncProgress::End(end) => end,
                    other => {
                        self.state = SearchState::Following(search);
                        return progress_of(&other);
                    }
                }
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

    /// Gives up the snapshot for a client that does not read. The next step takes a newer one.
    pub fn park(&mut self) {
        match &mut self.state {
            SearchState::Run(run) => run.park(),
            SearchState::Following(search) => search.park(),
            // It holds no snapshot between its steps.
            SearchState::Log(_)
            | SearchState::Ready(_)
            | SearchState::Repeated(_)
            | SearchState::RepeatedDone(_)
            | SearchState::Done(_) => {}
        }
    }

    /// Puts the view of a finished search into the thread's cache.
    pub fn leave(self, snapshots: &mut Snapshots<'d>) {
        match self.state {
            SearchState::Done(Some(run)) => run.leave(snapshots),
            SearchState::RepeatedDone(search) => repeated::end(search, snapshots),
            _ => {}
        }
    }

    /// Returns what the search looks for, without values, for administrators.
    #[must_use]
    pub fn about(&self) -> String {
        match &self.state {
            SearchState::Run(run) => run.filter_shape(),
            SearchState::Following(_) => "content of a copy".to_owned(),
            SearchState::Log(_) => "log of changes".to_owned(),
            SearchState::Ready(_)
            | SearchState::Repeated(_)
            | SearchState::RepeatedDone(_)
            | SearchState::Done(_) => String::new(),
        }
    }

    /// Returns the number of entries written.
    #[must_use]
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// Returns the number of search references written.
    #[must_use]
    pub fn references(&self) -> u32 {
        self.references
    }

    /// Returns the number of candidates examined.
    #[must_use]
    pub fn examined(&self) -> u64 {
        self.examined
    }

    /// Returns the work of the last step, in candidates of its quantum.
    ///
    /// Planning and large filters count too. It is the whole quantum if the bytes ran out first.
    #[must_use]
    pub fn worked(&self) -> usize {
        self.worked
    }

    /// Returns the missing indexes (`l:eq`) of a finished search that examined far too many
    /// candidates.
    ///
    /// A directory and its successors name each index once.
    #[must_use]
    pub fn missing_indexes(&self) -> &[String] {
        &self.missing_indexes
    }

    /// Returns the result code of a finished search.
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

/// Returns the progress of a search that is not at its end.
fn progress_of(progress: &SyncProgress) -> Progress {
    match progress {
        SyncProgress::Waiting => Progress::Waiting,
        SyncProgress::More | SyncProgress::End(_) => Progress::More,
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
