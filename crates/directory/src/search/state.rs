//! The stages of a search.

use fulgurite_ldap::LdapResult;

use super::output::{CompleteOutput, SearchEnd};
use super::run::SearchRun;

/// A search under way, or its end.
pub(crate) enum SearchState<'d> {
    Run(Box<SearchRun<'d>>),
    /// The next step writes it.
    Ready(CompleteOutput),
    /// With what has been of use until the end.
    Done(Option<Box<SearchRun<'d>>>),
}

impl SearchState<'_> {
    pub(super) fn refused(result: LdapResult) -> Self {
        SearchState::Ready(CompleteOutput::end(SearchEnd::plain(result)))
    }

    /// The end of a paged search that the client does not want to go on with.
    pub(super) fn nothing_more() -> Self {
        let mut end = SearchEnd::plain(LdapResult::success());
        end.cookie = Some(Vec::new());
        SearchState::Ready(CompleteOutput::end(end))
    }
}
