//! The short way of a search that differs from an earlier one in one value or its base: see
//! [`RepeatedSearch`].

use std::borrow::Cow;
use std::sync::Arc;

use fulgurite_ldap::{Controls, LdapResult, MessageId, Operation, SearchRequest};
use fulgurite_schema::{AttributeSelector, Dn, Filter};

use super::database_search::PlainSearch;
use super::output::{Output, SearchEnd};
use super::regions::store_scope;
use crate::core::database::Database;
use crate::core::result;
use crate::core::session::Session;
use crate::directory::Directory;
use crate::generated::namespace::NamespaceTarget;
use crate::rights::projection::AttributeRights;
use crate::rights::repeated_search::{
    EntryPath, RepeatedPath, RepeatedProgress, RepeatedSearch, SearchShape,
};
use crate::rights::snapshots::Snapshots;

/// Begins a search whose parts are known. `None` if the usual way has to begin it.
pub(super) fn begin<'d>(
    directory: &'d Directory,
    snapshots: &mut Snapshots<'d>,
    session: &Session,
    request: &SearchRequest<'_>,
    controls: &Controls<'_>,
) -> Option<Box<RepeatedSearch<'d>>> {
    let path = EntryPath::of(request).filter(|_| controls.is_empty())?;
    let core = directory.core();
    let has_shape = |known: &RepeatedSearch<'_>| {
        std::ptr::eq(known.core, core) && known.shape.is_of(session, request, path)
    };
    let (mut search, base) = match path {
        EntryPath::Value(..) => (snapshots.take_repeated(has_shape)?, None),
        EntryPath::Base(_) => {
            if !snapshots.has_repeated(has_shape) {
                return None;
            }
            let (base, database) = base_of(directory, snapshots, request)?;
            let is_it = |known: &RepeatedSearch<'_>| {
                std::ptr::eq(known.database, database) && has_shape(known)
            };
            (snapshots.take_repeated(is_it)?, Some(base))
        }
    };
    let target = NamespaceTarget::Database(search.database);
    let policy = directory.policy();
    let permitted = policy.permit_reading(session, &target, Operation::Search);
    if permitted.is_ok()
        && !search.pauses()
        && let Ok(view) = snapshots.take(&search.database.store)
    {
        let found = match (path, base) {
            (EntryPath::Value(_, value), _) => search.look_up_value(view, value),
            (_, Some(base)) => search.look_up_base(view, &base),
            (EntryPath::Base(_), None) => Ok(false),
        };
        // The usual way reports what fails.
        if matches!(found, Ok(true)) {
            return Some(search);
        }
    }
    end(search, snapshots);
    None
}

/// Returns the name of a base with its database, if it has one.
fn base_of<'d>(
    directory: &'d Directory,
    snapshots: &mut Snapshots<'d>,
    request: &SearchRequest<'_>,
) -> Option<(Cow<'d, Dn>, &'d Database)> {
    let databases = &directory.core().databases;
    let base = match databases.suffix_written(request.base) {
        Some(suffix) => Cow::Borrowed(suffix),
        None => Cow::Owned(snapshots.dn(directory.schema(), request.base).ok()?),
    };
    let generated = directory.generated();
    match generated.target_of_search(databases, &base, request.scope) {
        NamespaceTarget::Database(database) => Some((base, database)),
        _ => None,
    }
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

/// A request whose search may be repeated.
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
        if base.is_root() {
            return None;
        }
        let path = EntryPath::of(request)?;
        Some(Box::new(RepeatableRequest {
            shape: SearchShape::of(session, request, path)?,
            base: base.clone(),
        }))
    }

    /// Keeps the parts of a finished search for the next one.
    pub(super) fn keep<'d>(
        self,
        snapshots: &mut Snapshots<'d>,
        directory: &'d Directory,
        (plain, output): (PlainSearch<'d>, Box<Output>),
        filter: &Arc<Filter<AttributeSelector>>,
        attribute_rights: AttributeRights,
    ) {
        let classes = directory.schema().object_class_attribute();
        let path = match &**filter {
            Filter::Equality(assertion) => RepeatedPath::Value {
                base: self.base,
                attribute: assertion.attribute.clone(),
                rule: assertion.rule,
            },
            // Every entry has classes.
            Filter::Present(attribute)
                if attribute.attribute == classes && attribute.options().is_none() =>
            {
                RepeatedPath::Base
            }
            _ => return,
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
            path,
            decisions: plain.decisions,
            projection: output.projection,
            attribute_rights,
            progress: RepeatedProgress::default(),
        }));
    }
}
