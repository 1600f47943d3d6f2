//! The beginning of a search: base, controls, restrictions, limits and sorting. The target decides
//! how it goes on.

use std::borrow::Cow;
use std::sync::Arc;

use fulgurite_ldap::control::SyncRequest;
use fulgurite_ldap::{
    Controls, LdapResult, MessageId, Operation, ResultCode, Scope, SearchRequest,
};

use super::dereference::ResolvedDereference;
use super::generated::{GeneratedSearch, in_scope};
use super::log_walk::LogWalk;
use super::output::{CompleteOutput, Output};
use super::page::{Page, SearchHash};
use super::provided::ProvidedSearch;
use super::query::SearchQuery;
use super::sort_plan::sort_plan;
use super::state::SearchState;
use super::stored::StoredSearch;
use super::usability::AccountPolicies;
use crate::core::cookie::CookieKey;
use crate::core::result::{self, OpResult, refuse};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::generated::namespace::NamespaceTarget;
use crate::generated::tree::{GeneratedEntry, Tree};
use crate::request::controls::RequestKind;
use crate::rights::snapshots::Snapshots;
use crate::search::sync::following::FollowingSearch;
use crate::search::sync::log_content::{LogContent, LogSearch};
use crate::search::sync::tree_content::{TreeAnswer, TreeContent};

/// Begins a search.
///
/// # Errors
/// The result that refuses the search.
pub(super) fn begin<'d>(
    directory: &'d Directory,
    snapshots: &mut Snapshots<'d>,
    session: &Session,
    (id, request): (MessageId, &SearchRequest<'_>),
    controls: &Controls<'_>,
) -> OpResult<SearchState<'d>> {
    // slapd parses the base first, too.
    let mut base = match directory.core().databases.suffix_written(request.base) {
        Some(suffix) => Cow::Borrowed(suffix),
        None => Cow::Owned(snapshots.dn(directory.schema(), request.base)?),
    };
    let has_controls = !controls.is_empty();
    let kind = RequestKind::Operation(Operation::Search);
    let (controls, acting) = directory.controls_of(session, kind, controls)?;
    let session = acting.as_ref().unwrap_or(session);
    directory.require_password_policy(&controls)?;
    let usability = controls.account_usability;
    let dereference = controls.dereference.as_ref();
    let dereference =
        dereference.map(|control| ResolvedDereference::resolve(directory.schema(), control));
    let dereference = dereference.transpose()?;
    if let Some(default) = &directory.search_settings().default_base
        && base.is_root()
        && request.scope != Scope::Base
    {
        base = Cow::Borrowed(default);
    }
    let (query, target) =
        SearchQuery::permitted(directory, session, (id, request), base, controls)?;
    if let Some(request) = &query.controls.sync {
        match target {
            NamespaceTarget::Database(database)
                if directory.features_of(database).provider.is_some() =>
            {
                let sync = *request;
                let search = ProvidedSearch {
                    directory,
                    session,
                    database,
                    has_controls,
                };
                return search.begin(snapshots, query, &sync);
            }
            NamespaceTarget::Tree(tree) if is_followed(tree, &query) => {
                return follow_log((directory, session), &query, tree, request);
            }
            NamespaceTarget::Tree(tree) if tree.provides_entries() => {
                return follow_tree((directory, session), &query, tree, request);
            }
            _ if query.controls.sync_critical => {
                let text = "critical control unavailable in context";
                return Err(refuse(ResultCode::UnavailableCriticalExtension, text));
            }
            _ => {}
        }
    }
    let hash = query.hash(directory, session, &target);
    let cookie_key = cookie_key(directory, &target);
    let page = match page(directory, &query, hash, cookie_key)? {
        Some(page) if page.size == 0 => return Ok(SearchState::nothing_more()),
        page => page,
    };
    let plan = match sort_plan(directory, session, &query, hash) {
        Ok(plan) => plan,
        Err(end) => return Ok(SearchState::ready(CompleteOutput::end(*end))),
    };
    let projection = query.projection(directory);
    if let NamespaceTarget::Database(database) = target {
        let mut output = Box::new(Output::new(id, projection, query.limits, *cookie_key));
        output.page = page.map(Box::new);
        output.dereference = dereference.map(Box::new);
        output.usability = usability.then(|| Box::new(AccountPolicies::of(directory)));
        let search = StoredSearch {
            directory,
            session,
            database,
            query: &query,
            has_controls,
        };
        return search.begin(snapshots, plan, output);
    }
    let search = GeneratedSearch {
        directory,
        session,
        query: &query,
        projection,
    };
    if let NamespaceTarget::Tree(tree) = target
        && let Some(log) = tree.log()
        && *query.base == log.suffix
        && request.scope != Scope::Base
    {
        return LogWalk::begin(directory, (tree, log), search, plan).map(SearchState::Log);
    }
    search.target(&target, plan).map(SearchState::ready)
}

/// Returns true if a consumer may follow the log that a tree shows.
fn is_followed(tree: &Tree, query: &SearchQuery<'_, '_>) -> bool {
    let log = tree.provided_log();
    log.is_some_and(|log| *query.base == log.suffix && query.request.scope != Scope::Base)
}

/// Begins the synchronisation of a consumer that repeats the operations of a log.
fn follow_log<'d>(
    (directory, session): (&'d Directory, &Session),
    query: &SearchQuery<'_, '_>,
    tree: &'d Tree,
    request: &SyncRequest<'_>,
) -> OpResult<SearchState<'d>> {
    let core = directory.core();
    let Some(log) = tree.provided_log() else {
        return Err(LdapResult::new(ResultCode::Other));
    };
    let top = log
        .top(&core.schema)
        .map_err(|error| result::store(&error))?;
    let search = GeneratedSearch {
        directory,
        session,
        query,
        projection: query.projection(directory),
    };
    let decisions = tree.decisions(session);
    search.require_base(&decisions, &[GeneratedEntry::plain(top)])?;
    let search = LogSearch {
        id: query.id,
        decisions,
        filter: Arc::clone(&query.filter),
        projection: search.projection,
        size_max: query.limits.size_max,
    };
    let begun = LogContent::begin(core, log, search, request);
    begun.map(|run| SearchState::Following(FollowingSearch::Log(run)))
}

/// Begins the synchronisation of a consumer with the entries of a tree.
fn follow_tree<'d>(
    (directory, session): (&'d Directory, &Session),
    query: &SearchQuery<'_, '_>,
    tree: &'d Tree,
    request: &SyncRequest<'_>,
) -> OpResult<SearchState<'d>> {
    let core = directory.core();
    let search = GeneratedSearch {
        directory,
        session,
        query,
        projection: query.projection(directory),
    };
    let decisions = tree.decisions(session);
    let entries = tree.entries(&core.schema, &query.base)?;
    search.require_base(&decisions, &entries)?;
    let search = LogSearch {
        id: query.id,
        decisions,
        filter: Arc::clone(&query.filter),
        projection: search.projection,
        size_max: query.limits.size_max,
    };
    let entries = entries.iter().map(|generated| &generated.entry);
    let entries = entries.filter(|entry| in_scope(&entry.dn, &query.base, query.request.scope));
    let answer = TreeContent::begin(core, &search, entries, request);
    Ok(match answer {
        TreeAnswer::Done(output) => SearchState::ready(output),
        TreeAnswer::Waits(run) => SearchState::Following(FollowingSearch::Tree(run)),
    })
}

/// Returns the key of the cookies of searches that begin at the target.
fn cookie_key<'d>(directory: &'d Directory, target: &NamespaceTarget<'d>) -> &'d CookieKey {
    match target {
        NamespaceTarget::Database(database) => &database.cookie_key,
        _ => &directory.search_settings().cookie_key,
    }
}

/// Returns the page to fill. There is no paging if the client's size limit ends the search first
/// (RFC 2696, section 3).
fn page(
    directory: &Directory,
    query: &SearchQuery<'_, '_>,
    hash: SearchHash,
    key: &CookieKey,
) -> OpResult<Option<Page>> {
    let Some(control) = &query.controls.paged else {
        return Ok(None);
    };
    let page = Page::of(control, hash, directory.core().clock.now().0, key)?;
    Ok((!query.limits.unpaged).then_some(page))
}
