//! The beginning of a synchronisation with a database, and with those glued below it.
//!
//! Like slapd, it goes on in glued databases if the overlay `glue` is configured before `syncprov`.

use std::borrow::Cow;
use std::sync::Arc;

use fulgurite_access::Decisions;
use fulgurite_ldap::control::{SyncMode, SyncRequest};
use fulgurite_ldap::{LdapResult, ResultCode, Scope, SearchRequest};
use fulgurite_schema::Dn;

use super::chain::Chains;
use super::output::{CompleteOutput, Output};
use super::query::SearchQuery;
use super::sort_plan::SortPlan;
use super::state::SearchState;
use super::stored::StoredSearch;
use crate::core::database::Database;
use crate::core::result::{self, OpResult, refuse};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::features::glue::{self, SearchPart};
use crate::rights::snapshots::Snapshots;
use crate::search::sync::content::has_all;
use crate::search::sync::following::FollowingSearch;
use crate::search::sync::glued::{GluedPart, GluedRun, GluedStart};
use crate::search::sync::run::SyncRun;
use crate::search::sync::start::{PlanRules, SyncPlan, SyncSearch, SyncStart};

/// A search of a consumer.
pub(super) struct ProvidedSearch<'d, 'q> {
    pub(super) directory: &'d Directory,
    pub(super) session: &'q Session,
    pub(super) database: &'d Database,
    /// True if the request has any controls.
    pub(super) has_controls: bool,
}

/// The plan of a synchronisation with one database.
enum Planned {
    /// There is nothing to synchronise: the database has had no content.
    End(CompleteOutput),
    Start(Dn, Box<SyncStart>),
}

/// A running synchronisation, or its end.
enum Begun<'d> {
    Run(Box<SyncRun<'d>>),
    End(CompleteOutput),
}

impl<'d> ProvidedSearch<'d, '_> {
    /// Begins the synchronisation of a consumer. Like slapd, it ignores pages and orders.
    pub(super) fn begin<'r>(
        &self,
        snapshots: &mut Snapshots<'d>,
        query: SearchQuery<'r, 'r>,
        request: &SyncRequest<'_>,
    ) -> OpResult<SearchState<'d>> {
        if Chains::of(&query.filter).is_some() {
            let text = "memberships in chain are not synchronised";
            return Err(refuse(ResultCode::UnwillingToPerform, text));
        }
        let provider = self.directory.features_of(self.database).provider.as_ref();
        if provider.is_some_and(|provider| provider.is_glued) {
            let databases = &self.directory.core().databases;
            let scope = query.request.scope;
            let parts = glue::parts(databases, self.database, &query.base, scope);
            if parts.len() > 1 {
                return self.begin_glued(snapshots, query, request, parts);
            }
        }
        let search = self.stored(self.database, &query);
        Ok(
            match search.plan_provided(snapshots, request, PartRules::default())? {
                Planned::End(end) => SearchState::ready(end),
                Planned::Start(base, start) => {
                    match search.begin_provided(snapshots, base, *start)? {
                        Begun::Run(run) => SearchState::Following(FollowingSearch::Database(run)),
                        Begun::End(end) => SearchState::ready(end),
                    }
                }
            },
        )
    }

    fn stored<'q>(
        &'q self,
        database: &'d Database,
        query: &'q SearchQuery<'q, 'q>,
    ) -> StoredSearch<'d, 'q> {
        StoredSearch {
            directory: self.directory,
            session: self.session,
            database,
            query,
            has_controls: self.has_controls,
        }
    }

    /// Begins the synchronisation with several databases, from the top down.
    fn begin_glued<'r>(
        &self,
        snapshots: &mut Snapshots<'d>,
        query: SearchQuery<'r, 'r>,
        request: &SyncRequest<'_>,
        mut parts: Vec<SearchPart<'d>>,
    ) -> OpResult<SearchState<'d>> {
        parts.sort_by_key(|part| part.base.depth());
        let requests = parts.iter();
        let requests: Vec<SearchRequest<'_>> = requests
            .map(|part| request_of(query.request, part.scope))
            .collect();
        let mut query: SearchQuery<'_, '_> = query;
        let core = self.directory.core();
        // Changes of this server up to here are in all views that follow.
        let mut start = GluedStart::new(core, self.database, query.id, request);
        // A refresh that tells no deletions names all entries. Then each part has to.
        let mut names_all = false;
        loop {
            let mut planned = Vec::new();
            for (part, part_request) in parts.iter().zip(&requests) {
                let rules = PartRules {
                    is_part: true,
                    names_all,
                };
                (query.request, query.base) = (part_request, Cow::Borrowed(&part.base));
                let search = self.stored(part.database, &query);
                planned.push(search.plan_part(snapshots, request, rules)?);
            }
            let tells_all = |(_, start): &(Dn, Box<SyncStart>)| start.tells_deletions();
            if names_all || planned.iter().all(tells_all) {
                start.require_older(planned.iter().map(|(_, start)| &**start))?;
                let requested = parts.iter().zip(&requests);
                for ((part, part_request), (base, planned)) in requested.zip(planned) {
                    (query.request, query.base) = (part_request, Cow::Borrowed(&part.base));
                    let search = self.stored(part.database, &query);
                    match search.begin_provided(snapshots, base, *planned)? {
                        Begun::Run(run) => start.push(GluedPart::new(part.database, run)),
                        Begun::End(end) => return Ok(SearchState::ready(end)),
                    }
                }
                let persists = request.mode == SyncMode::RefreshAndPersist;
                let run = GluedRun::new(core, start, persists);
                let search = FollowingSearch::Glued(Box::new(run));
                return Ok(SearchState::Following(search));
            }
            names_all = true;
        }
    }
}

/// Returns the request of a part.
fn request_of<'r>(request: &SearchRequest<'r>, scope: Scope) -> SearchRequest<'r> {
    SearchRequest {
        scope,
        ..request.clone()
    }
}

/// The rules of a database that is a part of a glued content.
#[derive(Clone, Copy, Default)]
struct PartRules {
    is_part: bool,
    /// True if the refresh has to name all entries.
    names_all: bool,
}

impl<'d> StoredSearch<'d, '_> {
    fn plan_provided(
        &self,
        snapshots: &mut Snapshots<'d>,
        request: &SyncRequest<'_>,
        part: PartRules,
    ) -> OpResult<Planned> {
        let database = self.database;
        let decisions = database.decisions(self.session);
        let view = snapshots
            .take(&database.store)
            .map_err(|error| result::store(&error))?;
        let lookup = self.lookup(&view, &decisions);
        if !part.is_part
            && let Err(missing) = lookup.find()
            && missing.code == ResultCode::NoSuchObject
            && let Some(end) = SyncStart::without_content(&view, request)?
        {
            snapshots.give(view);
            return Ok(Planned::End(CompleteOutput::end(end)));
        }
        let planned = lookup.find().and_then(|found| {
            let rules = self.plan_rules(&decisions, part);
            let start = SyncStart::plan(&view, request, rules)?;
            Ok(found.map(|(base, _)| (base.into_owned(), start)))
        });
        snapshots.give(view);
        let Some((base, start)) = planned? else {
            return Err(LdapResult::new(ResultCode::AliasProblem));
        };
        Ok(Planned::Start(base, Box::new(start)))
    }

    fn plan_rules(&self, decisions: &Decisions<'_>, part: PartRules) -> PlanRules {
        let (directory, database, query) = (self.directory, self.database, self.query);
        let is_whole =
            query.request.scope == Scope::Subtree && database.suffixes().contains(&query.base);
        PlanRules {
            is_whole_tree: is_whole,
            has_unchanged: is_whole
                && has_all(&query.filter, &directory.core().schema)
                && query.controls.manage_dsa_it
                && decisions.uniform()
                && database.last_mod,
            server: directory.core().csn.server(),
            is_multi_provider: database.is_multi_provider(),
            is_copy: !database.consumers().is_empty(),
            is_part: part.is_part,
            names_all: part.names_all,
        }
    }

    /// Plans a part. Its base may be missing.
    fn plan_part(
        &self,
        snapshots: &mut Snapshots<'d>,
        request: &SyncRequest<'_>,
        rules: PartRules,
    ) -> OpResult<(Dn, Box<SyncStart>)> {
        match self.plan_provided(snapshots, request, rules) {
            Ok(Planned::Start(base, start)) => return Ok((base, start)),
            Ok(Planned::End(_)) => {}
            Err(missing) if missing.code == ResultCode::NoSuchObject => {}
            Err(error) => return Err(error),
        }
        let view = snapshots.take(&self.database.store);
        let view = view.map_err(|error| result::store(&error))?;
        let decisions = self.database.decisions(self.session);
        let rules = self.plan_rules(&decisions, rules);
        let is_suffix = self.database.suffixes().contains(&self.query.base);
        let start = SyncStart::without_base(&view, request, rules, is_suffix);
        snapshots.give(view);
        Ok((self.query.base.clone().into_owned(), Box::new(start?)))
    }

    fn begin_provided(
        &self,
        snapshots: &mut Snapshots<'d>,
        base: Dn,
        start: SyncStart,
    ) -> OpResult<Begun<'d>> {
        let (directory, database, query) = (self.directory, self.database, self.query);
        let full = match start.plan {
            SyncPlan::Full(_) | SyncPlan::Index(_) => {
                let projection = query.projection(directory);
                let output = Output::new(query.id, projection, query.limits, database.cookie_key);
                let mut output = Box::new(output);
                output.sync = Some(Box::new(start.entries()));
                match self.begin(snapshots, SortPlan::none(), output)? {
                    SearchState::Run(mut run) => {
                        if let Some(filter) = start.narrowing(&directory.core().schema) {
                            run.narrow(&filter);
                        }
                        Some(run)
                    }
                    SearchState::Ready(end) => return Ok(Begun::End(*end)),
                    _ => return Err(LdapResult::new(ResultCode::Other)),
                }
            }
            _ => None,
        };
        let search = SyncSearch {
            directory,
            database,
            id: query.id,
            base,
            scope: query.request.scope,
            filter: Arc::clone(&query.filter),
            projection: query.projection(directory),
            has_referrals: query.controls.manage_dsa_it,
            size_max: query.limits.size_max,
        };
        let mut encoded = Vec::new();
        Ok(
            match start.begin(self.session, search, full, &mut encoded) {
                Ok(run) => Begun::Run(run.after(encoded)),
                Err(end) => Begun::End(CompleteOutput {
                    encoded,
                    entries: 0,
                    end: *end,
                }),
            },
        )
    }
}
