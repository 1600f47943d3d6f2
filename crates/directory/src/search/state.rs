//! The states of a search task.

use fulgurite_ldap::LdapResult;

use super::log_walk::LogWalk;
use super::output::{CompleteOutput, SearchEnd};
use super::run::SearchRun;
use crate::rights::repeated_search::RepeatedSearch;
use crate::search::sync::following::FollowingSearch;

/// A running search, or its end.
pub(crate) enum SearchState<'d> {
    Run(Box<SearchRun<'d>>),
    /// A search that repeats an earlier one.
    Repeated(Box<RepeatedSearch<'d>>),
    /// Such a search is done. Its parts remain.
    RepeatedDone(Box<RepeatedSearch<'d>>),
    /// A search of logs of changes.
    Log(Box<LogWalk<'d>>),
    /// The synchronisation of a consumer.
    Following(FollowingSearch<'d>),
    /// The next step writes it. It is large and rare, and a state moves often.
    Ready(Box<CompleteOutput>),
    /// The search is done. Its reusable state remains.
    Done(Option<Box<SearchRun<'d>>>),
}

impl SearchState<'_> {
    pub(super) fn ready(complete: CompleteOutput) -> Self {
        SearchState::Ready(Box::new(complete))
    }

    pub(super) fn refused(result: LdapResult) -> Self {
        SearchState::ready(CompleteOutput::end(SearchEnd::plain(result)))
    }

    /// Returns the end of a paged search that the client abandons.
    pub(super) fn nothing_more() -> Self {
        let mut end = SearchEnd::plain(LdapResult::success());
        end.cookie = Some(Vec::new());
        SearchState::ready(CompleteOutput::end(end))
    }
}
