//! A search request with its controls, limits and filter.

use std::borrow::Cow;
use std::sync::Arc;

use fulgurite_ldap::{MessageId, Operation, SearchRequest};
use fulgurite_schema::{AttributeSelector, Dn, Filter};

use super::page::{SearchHash, search_hash};
use crate::core::result::OpResult;
use crate::core::session::{Name, Session};
use crate::directory::Directory;
use crate::features::glue;
use crate::generated::namespace::NamespaceTarget;
use crate::request::controls::OptionalControls;
use crate::request::limits::{LimitsRequest, SearchLimits, search_limits};
use crate::rights::facts::UnstoredFacts;
use crate::rights::projection::Projection;
use crate::rights::selection::Selection;
use crate::rights::value_filter::ValuesFilter;

/// A search request that the directory permits.
pub(super) struct SearchQuery<'r, 'c> {
    pub(super) id: MessageId,
    pub(super) request: &'r SearchRequest<'r>,
    pub(super) controls: OptionalControls<'c>,
    pub(super) base: Cow<'r, Dn>,
    pub(super) limits: SearchLimits,
    pub(super) filter: Arc<Filter<AttributeSelector>>,
}

impl<'r, 'c> SearchQuery<'r, 'c> {
    /// Checks restrictions and limits of a request, and resolves its filter.
    pub(super) fn permitted<'d>(
        directory: &'d Directory,
        session: &Session,
        (id, request): (MessageId, &'r SearchRequest<'r>),
        base: Cow<'r, Dn>,
        controls: OptionalControls<'c>,
    ) -> OpResult<(SearchQuery<'r, 'c>, NamespaceTarget<'d>)> {
        let core = directory.core();
        let target = directory
            .generated()
            .target_of_search(&core.databases, &base, request.scope);
        directory
            .policy()
            .permit_reading(session, &target, Operation::Search)?;
        let (granted, is_root) = match target {
            NamespaceTarget::Database(database) => (&database.limits, database.is_root(session)),
            NamespaceTarget::Tree(tree) => (&tree.limits, tree.is_root(session)),
            NamespaceTarget::RootDse | NamespaceTarget::Subschema | NamespaceTarget::Outside => {
                (&directory.search_settings().limits, false)
            }
        };
        let wanted = LimitsRequest {
            requester: session.identity().name().map_or("", Name::normal),
            is_root,
            base: base.normal(),
            size: request.size_limit,
            time_s: request.time_limit_s,
            page: controls.paged.as_ref().map(|paged| paged.size),
        };
        let limits = search_limits(granted, &wanted, &UnstoredFacts::unstored(core, None))?;
        let query = SearchQuery {
            id,
            request,
            controls,
            base,
            limits,
            filter: Arc::new(Filter::resolve(&core.schema, &request.filter)),
        };
        Ok((query, target))
    }

    /// Returns the projection of entries that the request selects.
    pub(super) fn projection(&self, directory: &Directory) -> Projection {
        let core = directory.core();
        let selection = Selection::parse(&core.schema, &self.request.attributes);
        // Like slapd, ignore the control if the client wants no values.
        let values = self.controls.matched_values.as_ref();
        let values = values.filter(|_| !self.request.types_only);
        let values = values.and_then(|control| ValuesFilter::resolve(&core.schema, control));
        let stored_values = self.controls.stored_values || self.controls.sync.is_some();
        Projection::new(core, selection, self.request.types_only)
            .only(values)
            .ordered(!stored_values)
            .for_copies(self.controls.sync.is_some())
    }

    /// Returns the hash of the search for its cookies.
    pub(super) fn hash(
        &self,
        directory: &Directory,
        session: &Session,
        target: &NamespaceTarget<'_>,
    ) -> SearchHash {
        // Most searches have no cookies.
        if self.controls.paged.is_none() && self.controls.vlv.is_none() {
            return SearchHash::default();
        }
        let parts = self.part_bases(directory, target);
        let filter = self.request.filter.to_string();
        let how = [
            self.request.scope.number(),
            self.request.deref.number(),
            u8::from(self.controls.manage_dsa_it),
            self.controls
                .subentries
                .map_or(2, |control| u8::from(control.visible)),
        ];
        let order = self.controls.sort.as_ref().map(|sort| sort.encode());
        let bases = parts.iter().map(|base| base.normal().as_bytes());
        let fields = [
            session.name().as_bytes(),
            self.base.normal().as_bytes(),
            filter.as_bytes(),
            how.as_slice(),
            order.as_deref().unwrap_or_default(),
        ];
        search_hash(fields.into_iter().chain(bases))
    }

    /// Returns the bases of all parts of the search. A cookie holds the number of a part.
    fn part_bases(&self, directory: &Directory, target: &NamespaceTarget<'_>) -> Vec<Dn> {
        match target {
            NamespaceTarget::Database(database) if self.controls.paged.is_some() => {
                let databases = &directory.core().databases;
                let parts = glue::parts(databases, database, &self.base, self.request.scope);
                parts.into_iter().map(|part| part.base).collect()
            }
            _ => Vec::new(),
        }
    }
}
