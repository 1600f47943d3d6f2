//! The states of a search task.

use fulgurite_ldap::LdapResult;

use super::output::{CompleteOutput, SearchEnd};
use super::run::SearchRun;

/// A running search, or its end.
pub(crate) enum SearchState<'d> {
    Run(Box<SearchRun<'d>>),
    /// The next step writes it.
    Ready(CompleteOutput),
    /// The search is done. Its reusable state remains.
    Done(Option<Box<SearchRun<'d>>>),
}

impl SearchState<'_> {
    pub(super) fn refused(result: LdapResult) -> Self {
        SearchState::Ready(CompleteOutput::end(SearchEnd::plain(result)))
    }

    /// Returns the end of a paged search that the client abandons.
    pub(super) fn nothing_more() -> Self {
        let mut end = SearchEnd::plain(LdapResult::success());
        end.cookie = Some(Vec::new());
        SearchState::Ready(CompleteOutput::end(end))
    }
}
