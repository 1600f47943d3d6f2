//! The beginning of a search: base, controls, restrictions, limits and sorting. The target decides
//! how it goes on.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use fulgurite_ldap::control::SyncRequest;
use fulgurite_ldap::{
    Controls, LdapResult, MessageId, Operation, ResultCode, Scope, SearchRequest,
};
use fulgurite_schema::Dn;

use super::base::BaseLookup;
use super::chain::Chains;
use super::database_search::{PartStart, SearchSpec, SubentryVisibility};
use super::dereference::ResolvedDereference;
use super::generated::{GeneratedSearch, in_scope};
use super::log_walk::LogWalk;
use super::output::{CompleteOutput, Output};
use super::page::{Page, SearchHash};
use super::query::SearchQuery;
use super::repeated::RepeatableRequest;
use super::run::{PendingSearch, SearchRun};
use super::sort::Sorter;
use super::sort_plan::{SortPlan, SortState, sort_plan};
use super::state::SearchState;
use super::usability::AccountPolicies;
use crate::core::cookie::CookieKey;
use crate::core::database::Database;
use crate::core::result::{self, OpResult, refuse};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::features::glue;
use crate::generated::namespace::NamespaceTarget;
use crate::generated::tree::{GeneratedEntry, Tree};
use crate::request::controls::RequestKind;
use crate::rights::snapshots::Snapshots;
use crate::search::sync::content::has_all;
use crate::search::sync::log_content::{LogContent, LogSearch};
use crate::search::sync::start::{PlanRules, SyncPlan, SyncSearch, SyncStart};
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
                let search = StoredSearch {
                    directory,
                    session,
                    database,
                    query: &query,
                    has_controls,
                };
                return search.synchronise(snapshots, request);
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
        let mut output = Output::new(id, projection, query.limits, *cookie_key);
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
    LogContent::begin(core, log, search, request).map(SearchState::LogContent)
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
        TreeAnswer::Waits(run) => SearchState::TreeContent(run),
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

/// A search that begins in a database with a store.
struct StoredSearch<'d, 'q> {
    directory: &'d Directory,
    session: &'q Session,
    database: &'d Database,
    query: &'q SearchQuery<'q, 'q>,
    /// True if the request has any controls.
    has_controls: bool,
}

impl<'d> StoredSearch<'d, '_> {
    fn begin(
        &self,
        snapshots: &mut Snapshots<'d>,
        mut plan: SortPlan,
        mut output: Output,
    ) -> OpResult<SearchState<'d>> {
        let failed = |error| result::store(&error);
        let (directory, database, query) = (self.directory, self.database, self.query);
        let decisions = database.decisions(self.session);
        let view = snapshots.take(&database.store).map_err(failed)?;
        let lookup = BaseLookup {
            core: directory.core(),
            database,
            view: &view,
            decisions: &decisions,
            query,
        };
        let (base, region) = match lookup.find() {
            Ok(Some(found)) => found,
            Ok(None) => {
                snapshots.give(view);
                let end = output.end(ResultCode::Success);
                return Ok(SearchState::ready(CompleteOutput::end(end)));
            }
            Err(refused) => {
                snapshots.give(view);
                return Err(refused);
            }
        };
        if matches!(plan.state, SortState::Requested { .. }) {
            let bytes_max = directory.search_settings().sssvlv.limits.bytes_max;
            output.sorter = Some(Box::new(Sorter::new(bytes_max)));
            output.sort_keys = std::mem::take(&mut plan.keys);
        }
        // The log of a database knows nothing of those below it.
        let waiting = match output.sync {
            Some(_) => VecDeque::new(),
            None => self.glued_searches(&base),
        };
        let (rights_class, selection) = (decisions.rights_class(), &output.projection.selection);
        let attribute_rights =
            snapshots.take_attribute_rights(&database.store, rights_class, selection);
        let spec = self.spec();
        let mut run = SearchRun::new(directory, output, spec, plan, waiting);
        if !self.has_controls {
            run.repeatable = RepeatableRequest::of(self.session, query.request, &query.base);
        }
        run.begin(PartStart {
            database,
            decisions,
            view,
            base: region,
            attribute_rights,
        })
        .map_err(failed)?;
        Ok(SearchState::Run(run))
    }

    /// Begins the synchronisation of a consumer. Like slapd, it ignores pages and orders.
    fn synchronise(
        &self,
        snapshots: &mut Snapshots<'d>,
        request: &SyncRequest<'_>,
    ) -> OpResult<SearchState<'d>> {
        let (directory, database, query) = (self.directory, self.database, self.query);
        let scope = query.request.scope;
        if Chains::of(&query.filter).is_some() {
            let text = "memberships in chain are not synchronised";
            return Err(refuse(ResultCode::UnwillingToPerform, text));
        }
        let decisions = database.decisions(self.session);
        let view = snapshots
            .take(&database.store)
            .map_err(|error| result::store(&error))?;
        let lookup = BaseLookup {
            core: directory.core(),
            database,
            view: &view,
            decisions: &decisions,
            query,
        };
        if let Err(missing) = lookup.find()
            && missing.code == ResultCode::NoSuchObject
            && let Some(end) = SyncStart::without_content(&view, request)?
        {
            snapshots.give(view);
            return Ok(SearchState::ready(CompleteOutput::end(end)));
        }
        let is_whole = scope == Scope::Subtree && database.suffixes().contains(&query.base);
        let planned = lookup.find().and_then(|found| {
            let rules = PlanRules {
                is_whole_tree: is_whole,
                has_unchanged: is_whole
                    && has_all(&query.filter, &directory.core().schema)
                    && query.controls.manage_dsa_it
                    && decisions.uniform()
                    && database.last_mod,
                server: directory.core().csn.server(),
                is_multi_provider: database.is_multi_provider(),
                is_copy: !database.consumers().is_empty(),
            };
            let start = SyncStart::plan(&view, request, rules)?;
            Ok(found.map(|(base, _)| (base.into_owned(), start)))
        });
        snapshots.give(view);
        let Some((base, start)) = planned? else {
            return Err(LdapResult::new(ResultCode::AliasProblem));
        };
        let full = match start.plan {
            SyncPlan::Full(_) | SyncPlan::Index(_) => {
                let projection = query.projection(directory);
                let mut output =
                    Output::new(query.id, projection, query.limits, database.cookie_key);
                output.sync = Some(Box::new(start.entries()));
                match self.begin(snapshots, SortPlan::none(), output)? {
                    SearchState::Run(mut run) => {
                        if let Some(filter) = start.narrowing(&directory.core().schema) {
                            run.narrow(&filter);
                        }
                        Some(run)
                    }
                    other => return Ok(other),
                }
            }
            _ => None,
        };
        let search = SyncSearch {
            directory,
            database,
            id: query.id,
            base,
            scope,
            filter: Arc::clone(&query.filter),
            projection: query.projection(directory),
            has_referrals: query.controls.manage_dsa_it,
            size_max: query.limits.size_max,
        };
        let mut encoded = Vec::new();
        Ok(
            match start.begin(self.session, search, full, &mut encoded) {
                Ok(run) => SearchState::Sync(run.after(encoded)),
                Err(end) => SearchState::ready(CompleteOutput {
                    encoded,
                    entries: 0,
                    end: *end,
                }),
            },
        )
    }

    /// Returns the specification that all parts of the search share.
    fn spec(&self) -> SearchSpec {
        let (query, controls) = (self.query, &self.query.controls);
        let visible = match controls.subentries {
            None => SubentryVisibility::AsNamed,
            Some(control) if control.visible => SubentryVisibility::OnlySubentries,
            Some(_) => SubentryVisibility::NoSubentries,
        };
        SearchSpec {
            filter: Arc::clone(&query.filter),
            deref: query.request.deref.searching(),
            references: !controls.manage_dsa_it
                && !controls.domain_scope
                && visible != SubentryVisibility::OnlySubentries,
            hides_glue: !controls.manage_dsa_it,
            hides_referrals: controls.domain_scope && !controls.manage_dsa_it,
            visible,
            stored_only: controls.manage_dsa_it,
        }
    }

    /// Returns the searches of the databases glued below the base.
    fn glued_searches(&self, base: &Dn) -> VecDeque<PendingSearch<'d>> {
        let databases = &self.directory.core().databases;
        let parts = glue::glued_parts(databases, self.database, base, self.query.request.scope);
        let pending = parts.into_iter().map(|part| PendingSearch {
            database: part.database,
            decisions: part.database.decisions(self.session),
            base: part.base,
            scope: part.scope,
        });
        pending.collect()
    }
}
