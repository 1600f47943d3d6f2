//! Referral objects (RFC 3296): entries with the URLs of the servers that hold their subtree.
//!
//! With the ManageDsaIT control an operation works on the object itself. Otherwise the client gets
//! the URLs.

use fulgurite_access::{Decisions, Rights};
use fulgurite_ldap::{LdapResult, LdapUrl, ResultCode, Scope};
use fulgurite_schema::Dn;
use fulgurite_store::{EntryId, EntryView, NameLookup, Snapshot, StoreError, View};

use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::core::result::{self, OpResult};
use crate::core::well_known_types::WellKnownTypes;
use crate::rights::disclosure;
use crate::rights::facts::{EntryFacts, EntrySource};

/// The treatment of referral objects by a request.
#[derive(Clone, Copy)]
pub(crate) struct Referrals<'d> {
    pub(crate) core: &'d Core,
    /// The scope of a search.
    pub(crate) scope: Option<Scope>,
    /// True if a named referral object is meant itself. Names below one are referred all the same.
    pub(crate) managed: bool,
    /// True if the request gets no referrals.
    pub(crate) ignored: bool,
}

/// Returns true if a state of the database has any referral objects; `id` is one of its entries.
pub(crate) fn has_referrals(
    core: &Core,
    database: &Database,
    view: &View<'_>,
    id: EntryId,
) -> OpResult<bool> {
    let classes = database.special_classes(view, &core.types, id);
    Ok(classes.map_err(|error| result::store(&error))?.referrals)
}

impl Referrals<'_> {
    /// Returns the entry found for the name `target`.
    ///
    /// # Errors
    /// A referral if a referral object is at or above the name, or noSuchObject.
    pub(crate) fn resolve<T: Snapshot>(
        self,
        view: &View<'_, T>,
        decisions: &Decisions<'_>,
        target: &Dn,
        found: NameLookup,
    ) -> OpResult<EntryId> {
        match found {
            NameLookup::Entry(id) => match self.instead_of(view, decisions, target, id)? {
                None => Ok(id),
                Some(result) => Err(result),
            },
            NameLookup::Missing { deepest } => {
                let above = deepest.map(|(id, _)| id);
                Err(self.missing(view, decisions, target, above))
            }
        }
    }

    /// Returns the result that replaces the operation if the entry named `target` is a referral
    /// object.
    pub(crate) fn instead_of<T: Snapshot>(
        self,
        view: &View<'_, T>,
        decisions: &Decisions<'_>,
        target: &Dn,
        id: EntryId,
    ) -> OpResult<Option<LdapResult>> {
        if self.managed || self.ignored {
            return Ok(None);
        }
        let failed = |error| result::store(&error);
        let entry = view.entry(id).map_err(failed)?;
        let Some(entry) = entry.filter(|entry| self.core.types.is_referral(entry)) else {
            return Ok(None);
        };
        let facts = EntryFacts::new(self.core, view, EntrySource::Stored(entry));
        let rights = facts.rights(decisions, target.normal()).entry();
        // A search needs the right to search from the object, as from any other base.
        let needed = match self.scope {
            Some(_) => Rights::SEARCH,
            None => Rights::DISCLOSE,
        };
        Ok(Some(if rights.allows(needed) {
            self.referral(view, &entry, target, target)
                .map_err(failed)?
        } else if rights.allows(Rights::DISCLOSE) {
            LdapResult::new(ResultCode::InsufficientAccessRights)
        } else {
            self.hidden(view, decisions, target, id)
        }))
    }

    /// Returns the result for a name without an entry; `above` is its deepest ancestor in the
    /// store.
    ///
    /// It is a referral if the nearest ancestor that the requester may know of is a referral
    /// object, otherwise noSuchObject.
    pub(crate) fn missing<T: Snapshot>(
        self,
        view: &View<'_, T>,
        decisions: &Decisions<'_>,
        target: &Dn,
        above: Option<EntryId>,
    ) -> LdapResult {
        self.try_missing(view, decisions, target, above)
            .unwrap_or_else(|error| result::store(&error))
    }

    fn try_missing<T: Snapshot>(
        self,
        view: &View<'_, T>,
        decisions: &Decisions<'_>,
        target: &Dn,
        above: Option<EntryId>,
    ) -> Result<LdapResult, StoreError> {
        let result = LdapResult::new(ResultCode::NoSuchObject);
        let Some((id, name)) = disclosure::nearest(self.core, view, decisions, above)? else {
            return Ok(result);
        };
        let entry = view.entry(id)?.filter(|_| !self.ignored);
        match entry.filter(|entry| self.core.types.is_referral(entry)) {
            Some(entry) => self.referral(view, &entry, &name, target),
            // If the rules hide every name, slapd gives no matched name for hidden entries. Missing
            // entries look the same.
            None if !self.may_know_neighbours(view, decisions, target) => Ok(result),
            None => Ok(result.matched(name.pretty())),
        }
    }

    /// Returns true if the rules would disclose a sibling with an unused name.
    ///
    /// The name itself is not asked about: the answer would reveal a rule that hides just that
    /// name.
    fn may_know_neighbours<T: Snapshot>(
        self,
        view: &View<'_, T>,
        decisions: &Decisions<'_>,
        target: &Dn,
    ) -> bool {
        let facts = EntryFacts::new(self.core, view, EntrySource::Missing);
        let parent = target.parent().unwrap_or_else(Dn::root);
        let neighbour = format!("cn=nobody has this name,{}", parent.normal());
        let rights = facts.rights(decisions, &neighbour);
        rights.entry().allows(Rights::DISCLOSE)
    }

    /// Returns the result for an entry that the requester may not know of: the same as if it were
    /// missing.
    pub(crate) fn hidden<T: Snapshot>(
        self,
        view: &View<'_, T>,
        decisions: &Decisions<'_>,
        target: &Dn,
        id: EntryId,
    ) -> LdapResult {
        match view.parent(id) {
            Ok(above) => self.missing(view, decisions, target, above),
            Err(error) => result::store(&error),
        }
    }

    /// Returns `refused` to requesters that may know of the entry named `target`, otherwise the
    /// result for a missing entry.
    pub(crate) fn refusal<T: Snapshot>(
        self,
        view: &View<'_, T>,
        decisions: &Decisions<'_>,
        (target, id): (&Dn, EntryId),
        refused: LdapResult,
    ) -> LdapResult {
        let tells = [
            ResultCode::InsufficientAccessRights,
            ResultCode::AssertionFailed,
            ResultCode::NoSuchAttribute,
        ];
        if !tells.contains(&refused.code) {
            return refused;
        }
        match disclosure::shown_name(self.core, view, decisions, id) {
            Ok(Some(_)) => refused,
            Ok(None) => self.hidden(view, decisions, target, id),
            Err(error) => result::store(&error),
        }
    }

    /// Returns the referral of an object for a name at or below it; noSuchObject if it has no URLs.
    fn referral<T: Snapshot>(
        self,
        view: &View<'_, T>,
        entry: &EntryView<'_>,
        object: &Dn,
        target: &Dn,
    ) -> Result<LdapResult, StoreError> {
        let types = &self.core.types;
        let urls = urls(entry, types, (object, Some(target)), self.scope);
        let code = if urls.is_empty() {
            ResultCode::NoSuchObject
        } else {
            ResultCode::Referral
        };
        let mut result = LdapResult::new(code).matched(view.dn(entry.id())?);
        result.referrals = urls;
        Ok(result)
    }
}

/// Returns the entry of a name.
///
/// # Errors
/// A referral, or noSuchObject with the nearest ancestor.
pub(crate) fn locate(
    view: &View<'_>,
    dn: &Dn,
    decisions: &Decisions<'_>,
    referrals: Referrals<'_>,
) -> OpResult<EntryId> {
    let found = view.find(dn).map_err(|error| result::store(&error))?;
    referrals.resolve(view, decisions, dn, found)
}

/// Returns the URLs of a search reference.
pub(crate) fn reference(
    entry: &EntryView<'_>,
    types: &WellKnownTypes,
    object: &Dn,
    searched: Scope,
) -> Vec<String> {
    let scope = match searched {
        Scope::One | Scope::Base => Scope::Base,
        Scope::Subtree | Scope::Children => Scope::Subtree,
    };
    urls(entry, types, (object, None), Some(scope))
}

/// The URLs of servers that know names outside all databases.
#[derive(Debug)]
pub(crate) struct DefaultReferral(pub(crate) Vec<String>);

impl DefaultReferral {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the URLs as they are configured.
    pub(crate) fn plain(&self) -> LdapResult {
        let mut result = LdapResult::new(ResultCode::Referral);
        result.referrals.clone_from(&self.0);
        result
    }

    /// Returns the referral for a name outside all databases, or `without` if no URL is configured.
    pub(crate) fn result(&self, dn: &Dn, scope: Option<Scope>, without: ResultCode) -> LdapResult {
        if self.0.is_empty() {
            return LdapResult::new(without);
        }
        let mut result = LdapResult::new(ResultCode::Referral);
        let urls = self.0.iter();
        result.referrals = urls.map(|url| default_url(url, dn, scope)).collect();
        result
    }
}

/// Adds a name and a scope to a configured URL that has none (RFC 4511, section 4.1.10).
fn default_url(url: &str, dn: &Dn, scope: Option<Scope>) -> String {
    let Ok(mut url) = url.parse::<LdapUrl>() else {
        return url.to_owned();
    };
    if url.dn.is_empty() {
        dn.pretty().clone_into(&mut url.dn);
    }
    url.scope = url.scope.or(scope);
    url.to_string()
}

/// Returns the object's URLs for `target` below it, or for the object itself.
fn urls(
    entry: &EntryView<'_>,
    types: &WellKnownTypes,
    (object, target): (&Dn, Option<&Dn>),
    scope: Option<Scope>,
) -> Vec<String> {
    let values = entry.plain_values(types.reference.attribute);
    values
        .into_iter()
        .flat_map(|values| values.iter())
        .filter_map(|value| std::str::from_utf8(value).ok())
        .map(|value| rewritten(value, object, target, scope))
        // A value of spaces has no URL.
        .filter(|url| !url.is_empty())
        .collect()
}

/// Rewrites one URL without its label. URLs of other schemes stay as they are.
fn rewritten(value: &str, object: &Dn, target: Option<&Dn>, scope: Option<Scope>) -> String {
    let text = value.split_ascii_whitespace().next().unwrap_or_default();
    // An update of the object itself gets the URL as stored.
    if scope.is_none() && target.is_some_and(|target| target == object) {
        return text.to_owned();
    }
    let Ok(mut url) = text.parse::<LdapUrl>() else {
        return text.to_owned();
    };
    if url.dn.is_empty() {
        url.dn = target.unwrap_or(object).pretty().to_owned();
    } else if let Some(target) = target {
        let below = target.depth().saturating_sub(object.depth());
        let rdns: Vec<&str> = target.rdns().take(below).map(|rdn| rdn.pretty()).collect();
        if !rdns.is_empty() {
            url.dn = format!("{},{}", rdns.join(","), url.dn);
        }
    }
    if url.scope.is_none() {
        url.scope = scope;
    }
    url.to_string()
}
