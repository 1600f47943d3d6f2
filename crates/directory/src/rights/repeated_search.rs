//! A search that clients repeat for other entries: its parts, kept for the next one.
//!
//! ```text
//!   the first search:  request -> base, target, limits, rights, filter, projection -> plan -> entry
//!   the next ones:     request -> equal but for the value? ------------------------> index -> entry
//!                      request -> equal but for the base? --> name ----------------> names -> entry
//! ```
//!
//! A search is kept if nothing but one value decides about its answer, or nothing but its base. The
//! filter is one equality item, or it is true of every base. Rights are the same for every entry,
//! and no control, alias, referral or list takes part. Everything that depends on the state of the
//! store is asked anew.

use fulgurite_access::Decisions;
use fulgurite_ldap::{Deref, Filter, MessageId, Scope, SearchRequest};
use fulgurite_schema::{AttributeSelector, Dn, MatchingRule};
use fulgurite_store::{EntryId, SoleOwner, StoreError, View, WantedValue};

use crate::core::connection::Strength;
use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::core::session::{Identity, Session};
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::projection::{AttributeRights, EntryCaches, Projection, StoredEntry};
use crate::rights::requester_rights::RequesterRights;

/// The number of searches that are begun in the usual way after one that found several entries.
const PAUSE: u8 = 15;

/// The same after one whose base was missing.
const PAUSE_OF_MISSING: u8 = 3;

/// Bytes of the names in a kept request, at most.
const SHAPE_BYTES_MAX: usize = 2048;

/// The number of selected attributes in a kept request, at most.
const SELECTED_MAX: usize = 64;

/// The way to the entry of a search.
#[derive(Clone, Copy)]
pub(crate) enum EntryPath<'r> {
    /// By this value of this attribute.
    Value(&'r [u8], &'r [u8]),
    /// By the base, which has this attribute.
    Base(&'r [u8]),
}

impl<'r> EntryPath<'r> {
    /// Returns the way of a request that may be repeated.
    pub(crate) fn of(request: &SearchRequest<'r>) -> Option<EntryPath<'r>> {
        match &request.filter {
            Filter::Equality(assertion) if request.scope != Scope::Base => {
                Some(EntryPath::Value(assertion.attribute, assertion.value))
            }
            Filter::Present(attribute) if request.scope == Scope::Base => {
                Some(EntryPath::Base(attribute))
            }
            _ => None,
        }
    }

    fn attribute(self) -> &'r [u8] {
        match self {
            EntryPath::Value(attribute, _) | EntryPath::Base(attribute) => attribute,
        }
    }
}

/// The parts of a request and of its session that decide about the answer. The value or the base
/// that leads to the entry is not among them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SearchShape {
    /// None if it leads to the entry.
    base: Option<Box<[u8]>>,
    scope: Scope,
    size_limit: u32,
    time_limit_s: u32,
    types_only: bool,
    attribute: Box<[u8]>,
    selected: Vec<Box<[u8]>>,
    identity: Identity,
    strength: Strength,
}

impl SearchShape {
    /// Returns the shape of a search that has no controls. `None` if more than the shape may decide
    /// about the answer.
    pub(crate) fn of(
        session: &Session,
        request: &SearchRequest<'_>,
        path: EntryPath<'_>,
    ) -> Option<SearchShape> {
        let attribute = path.attribute();
        let names = request.attributes.iter().map(|name| name.len());
        let bytes = names.sum::<usize>() + request.base.len() + attribute.len();
        let is_small = bytes <= SHAPE_BYTES_MAX && request.attributes.len() <= SELECTED_MAX;
        if !is_small || !is_repeatable(session, request) {
            return None;
        }
        Some(SearchShape {
            base: matches!(path, EntryPath::Value(..)).then(|| request.base.into()),
            scope: request.scope,
            size_limit: request.size_limit,
            time_limit_s: request.time_limit_s,
            types_only: request.types_only,
            attribute: attribute.into(),
            selected: request.attributes.iter().map(|&name| name.into()).collect(),
            identity: session.identity().clone(),
            strength: session.connection().strength,
        })
    }

    /// Returns true if a search without controls has this shape.
    pub(crate) fn is_of(
        &self,
        session: &Session,
        request: &SearchRequest<'_>,
        path: EntryPath<'_>,
    ) -> bool {
        let selected = || self.selected.iter().zip(&request.attributes);
        is_repeatable(session, request)
            && self.scope == request.scope
            && *self.attribute == *path.attribute()
            && self.base.as_deref().is_none_or(|base| base == request.base)
            && self.size_limit == request.size_limit
            && self.time_limit_s == request.time_limit_s
            && self.types_only == request.types_only
            && self.selected.len() == request.attributes.len()
            && selected().all(|(known, name)| **known == **name)
            && self.strength == session.connection().strength
            && self.identity == *session.identity()
    }
}

/// Returns true if the rest of request and session decides nothing.
fn is_repeatable(session: &Session, request: &SearchRequest<'_>) -> bool {
    request.deref == Deref::Never && !session.acts_for_another()
}

/// The parts of a finished search.
pub(crate) struct RepeatedSearch<'d> {
    pub(crate) shape: SearchShape,
    /// It identifies the configuration: each one has its own.
    pub(crate) core: &'d Core,
    pub(crate) database: &'d Database,
    pub(crate) scope: fulgurite_store::Scope,
    pub(crate) path: RepeatedPath,
    pub(crate) decisions: Decisions<'d>,
    pub(crate) projection: Projection,
    pub(crate) attribute_rights: AttributeRights,
    pub(crate) progress: RepeatedProgress<'d>,
}

/// The known part of the way to the entry.
pub(crate) enum RepeatedPath {
    /// An attribute below a base.
    Value {
        base: Dn,
        attribute: AttributeSelector,
        rule: &'static MatchingRule,
    },
    /// None: the entry is the base.
    Base,
}

/// The state of the present search.
#[derive(Default)]
pub(crate) struct RepeatedProgress<'d> {
    view: Option<Box<View<'d>>>,
    base: EntryId,
    owner: Option<EntryId>,
    /// Room for a key.
    key: Vec<u8>,
    /// The number of searches to begin in the usual way.
    pause: u8,
}

impl<'d> RepeatedSearch<'d> {
    /// Returns true if the usual way has to begin this search.
    pub(crate) fn pauses(&mut self) -> bool {
        let pauses = self.progress.pause > 0;
        self.progress.pause = self.progress.pause.saturating_sub(1);
        pauses
    }

    /// Looks a value up. Returns false if the usual way has to begin the search.
    ///
    /// # Errors
    /// [`StoreError`] if the engine fails or the store is damaged.
    pub(crate) fn look_up_value(
        &mut self,
        view: Box<View<'d>>,
        value: &[u8],
    ) -> Result<bool, StoreError> {
        let view = self.progress.view.insert(view);
        let RepeatedPath::Value {
            base,
            attribute,
            rule,
        } = &self.path
        else {
            return Ok(false);
        };
        let Ok(normal) = rule.normalise_assertion(&*self.core.schema, value) else {
            return Ok(false);
        };
        let Some(base) = view.find(base)?.entry() else {
            return Ok(false);
        };
        let special = self
            .database
            .special_classes(view, &self.core.types, base)?;
        if special.any() || !view.attributes().covers_itself(attribute) {
            return Ok(false);
        }
        let wanted = WantedValue {
            attribute,
            rule,
            normal: &normal,
        };
        self.progress.base = base;
        self.progress.owner = match view.sole_owner(wanted, &mut self.progress.key)? {
            SoleOwner::Nobody => None,
            SoleOwner::Entry(id) => Some(id),
            SoleOwner::Unknown => {
                self.progress.pause = PAUSE;
                return Ok(false);
            }
        };
        Ok(true)
    }

    /// Looks a base up. Returns false if the usual way has to begin the search.
    ///
    /// # Errors
    /// [`StoreError`] if the engine fails or the store is damaged.
    pub(crate) fn look_up_base(
        &mut self,
        view: Box<View<'d>>,
        name: &Dn,
    ) -> Result<bool, StoreError> {
        let view = self.progress.view.insert(view);
        let Some(base) = view.find(name)?.entry() else {
            self.progress.pause = PAUSE_OF_MISSING;
            return Ok(false);
        };
        let special = self
            .database
            .special_classes(view, &self.core.types, base)?;
        self.progress.base = base;
        self.progress.owner = Some(base);
        Ok(!special.any())
    }

    /// Returns the number of entries to examine.
    pub(crate) fn candidates(&self) -> usize {
        usize::from(self.progress.owner.is_some())
    }

    /// Writes the entry that was looked up. Returns false if it is outside the scope.
    ///
    /// # Errors
    /// [`StoreError`] if the engine fails or the store is damaged.
    pub(crate) fn write(&mut self, id: MessageId, out: &mut Vec<u8>) -> Result<bool, StoreError> {
        let (Some(view), Some(owner)) = (&self.progress.view, self.progress.owner) else {
            return Ok(false);
        };
        let Some(entry) = view.entry(owner)? else {
            return Ok(false);
        };
        if !view.is_within(&entry, self.progress.base, self.scope)? {
            return Ok(false);
        }
        let facts = EntryFacts::new(self.core, &**view, EntrySource::Stored(entry));
        let stored = StoredEntry {
            controls: &[],
            other_name: None,
            entry: &entry,
            view,
            requester: RequesterRights::new(self.core, self.database, &self.decisions),
            // Rights do not depend on the name.
            rights: facts.rights(&self.decisions, ""),
        };
        let mut names = view.take_dn_cache();
        let mut caches = EntryCaches {
            attribute_rights: &mut self.attribute_rights,
            names: &mut names,
        };
        self.projection
            .write_stored(out, id, &stored, &mut caches)?;
        view.keep_dn_cache(names);
        Ok(true)
    }

    /// Ends the present search. Returns its view.
    pub(crate) fn take_view(&mut self) -> Option<Box<View<'d>>> {
        self.progress.view.take()
    }
}

impl std::fmt::Debug for RepeatedSearch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RepeatedSearch")
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}
