//! The short way of a search that differs from an earlier one in the value alone: see
//! [`RepeatedSearch`].

use std::sync::Arc;

use fulgurite_ldap as ldap;
use fulgurite_ldap::{Controls, LdapResult, MessageId, Operation, SearchRequest};
use fulgurite_schema::{AttributeSelector, Dn, Filter};

use super::database_search::PlainSearch;
use super::output::{Output, SearchEnd};
use super::regions::store_scope;
use crate::core::result;
use crate::core::session::Session;
use crate::directory::Directory;
use crate::generated::namespace::NamespaceTarget;
use crate::rights::projection::AttributeRights;
use crate::rights::repeated_search::{RepeatedProgress, RepeatedSearch, SearchShape};
use crate::rights::snapshots::Snapshots;

/// Begins a search whose parts are known. `None` if the usual way has to begin it.
pub(super) fn begin<'d>(
    directory: &'d Directory,
    snapshots: &mut Snapshots<'d>,
    session: &Session,
    request: &SearchRequest<'_>,
    controls: &Controls<'_>,
) -> Option<Box<RepeatedSearch<'d>>> {
    let ldap::Filter::Equality(assertion) = &request.filter else {
        return None;
    };
    if !controls.is_empty() {
        return None;
    }
    let core = directory.core();
    let mut search = snapshots.take_repeated(|known| {
        std::ptr::eq(known.core, core) && known.shape.is_of(session, request, assertion.attribute)
    })?;
    let target = NamespaceTarget::Database(search.database);
    let permitted = directory
        .policy()
        .permit_reading(session, &target, Operation::Search);
    if permitted.is_ok()
        && let Some(normal) = search.normal(assertion.value)
        && let Ok(view) = snapshots.take(&search.database.store)
        // The usual way reports what fails.
        && matches!(search.look_up(view, &normal), Ok(true))
    {
        return Some(search);
    }
    end(search, snapshots);
    None
}

/// Writes the entry. Returns the number of entries written, and the end.
pub(super) fn finish(
    search: &mut RepeatedSearch<'_>,
    id: MessageId,
    out: &mut Vec<u8>,
) -> (u32, SearchEnd) {
    match search.write(id, out) {
        Ok(found) => (u32::from(found), SearchEnd::plain(LdapResult::success())),
        Err(error) => (0, SearchEnd::plain(result::store(&error))),
    }
}

/// Puts the search and its view back.
pub(super) fn end<'d>(mut search: Box<RepeatedSearch<'d>>, snapshots: &mut Snapshots<'d>) {
    if let Some(view) = search.take_view() {
        snapshots.give(view);
    }
    snapshots.give_repeated(search);
}

/// What a search needs to be repeated, besides the parts that it makes itself.
pub(crate) struct RepeatableRequest {
    shape: SearchShape,
    base: Dn,
}

impl RepeatableRequest {
    /// Returns the request if its search may be repeated.
    pub(super) fn of(
        session: &Session,
        request: &SearchRequest<'_>,
        base: &Dn,
    ) -> Option<Box<RepeatableRequest>> {
        let ldap::Filter::Equality(assertion) = &request.filter else {
            return None;
        };
        if base.is_root() {
            return None;
        }
        Some(Box::new(RepeatableRequest {
            shape: SearchShape::of(session, request, assertion.attribute)?,
            base: base.clone(),
        }))
    }

    /// Keeps the parts of a finished search for the next one.
    pub(super) fn keep<'d>(
        self,
        snapshots: &mut Snapshots<'d>,
        directory: &'d Directory,
        (plain, output): (PlainSearch<'d>, Output),
        filter: &Arc<Filter<AttributeSelector>>,
        attribute_rights: AttributeRights,
    ) {
        let Filter::Equality(assertion) = &**filter else {
            return;
        };
        let limits = &output.limits;
        if limits.size_max == Some(0) || limits.is_unchecked(1) {
            return;
        }
        snapshots.keep_repeated(Box::new(RepeatedSearch {
            scope: store_scope(plain.scope),
            shape: self.shape,
            core: directory.core(),
            database: plain.database,
            base: self.base,
            attribute: assertion.attribute.clone(),
            rule: assertion.rule,
            decisions: plain.decisions,
            projection: output.projection,
            attribute_rights,
            progress: RepeatedProgress::default(),
        }));
    }
}
