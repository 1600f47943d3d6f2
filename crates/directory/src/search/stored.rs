//! A search that begins in a database with a store.

use std::collections::VecDeque;
use std::sync::Arc;

use fulgurite_access::Decisions;
use fulgurite_ldap::ResultCode;
use fulgurite_schema::Dn;
use fulgurite_store::View;

use super::base::BaseLookup;
use super::database_search::{PartStart, SearchSpec, SubentryVisibility};
use super::output::{CompleteOutput, Output};
use super::query::SearchQuery;
use super::repeated::RepeatableRequest;
use super::run::{PendingSearch, SearchRun};
use super::sort::Sorter;
use super::sort_plan::{SortPlan, SortState};
use super::state::SearchState;
use crate::core::database::Database;
use crate::core::result::{self, OpResult};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::features::glue;
use crate::rights::snapshots::Snapshots;

/// A search that begins in a database with a store.
pub(super) struct StoredSearch<'d, 'q> {
    pub(super) directory: &'d Directory,
    pub(super) session: &'q Session,
    pub(super) database: &'d Database,
    pub(super) query: &'q SearchQuery<'q, 'q>,
    /// True if the request has any controls.
    pub(super) has_controls: bool,
}

impl<'d> StoredSearch<'d, '_> {
    /// Returns the look-up of the base in a snapshot.
    pub(super) fn lookup<'a>(
        &'a self,
        view: &'a View<'d>,
        decisions: &'a Decisions<'d>,
    ) -> BaseLookup<'a, 'd> {
        BaseLookup {
            core: self.directory.core(),
            database: self.database,
            view,
            decisions,
            query: self.query,
        }
    }

    pub(super) fn begin(
        &self,
        snapshots: &mut Snapshots<'d>,
        mut plan: SortPlan,
        mut output: Box<Output>,
    ) -> OpResult<SearchState<'d>> {
        let failed = |error| result::store(&error);
        let (directory, database, query) = (self.directory, self.database, self.query);
        let decisions = database.decisions(self.session);
        let view = snapshots.take(&database.store).map_err(failed)?;
        let lookup = self.lookup(&view, &decisions);
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
        if parts.is_empty() {
            return VecDeque::new();
        }
        let pending = parts.into_iter().map(|part| PendingSearch {
            database: part.database,
            decisions: part.database.decisions(self.session),
            base: part.base,
            scope: part.scope,
        });
        pending.collect()
    }
}
