//! The base of a search in a stored database.

use std::borrow::Cow;

use fulgurite_access::{Decisions, Rights};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::{Dn, Filter};
use fulgurite_store::{EntryId, NameLookup, View};

use super::query::SearchQuery;
use super::regions::Region;
use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::core::result::{self, OpResult, require};
use crate::request::alias::{self, AliasResolution};
use crate::request::referral::{Referrals, has_referrals};
use crate::rights::computed::{self};
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::requester_rights::RequesterRights;
use crate::rights::{assertion, disclosure};

/// Finds the base of a search.
pub(super) struct BaseLookup<'a, 'd> {
    pub(super) core: &'a Core,
    pub(super) database: &'a Database,
    pub(super) view: &'a View<'d>,
    pub(super) decisions: &'a Decisions<'d>,
    pub(super) query: &'a SearchQuery<'a, 'a>,
}

impl<'a> BaseLookup<'a, '_> {
    /// Returns the base with its name, if the requester may search from it; `None` if there are too
    /// many aliases.
    pub(super) fn find(&self) -> OpResult<Option<(Cow<'a, Dn>, Region)>> {
        let (query, view) = (self.query, self.view);
        let (name, base) = if query.base.is_root() {
            (Cow::Owned(Dn::root()), EntryId::ROOT)
        } else {
            let Some((name, found)) = self.dereferenced()? else {
                return Ok(None);
            };
            let base = match found {
                NameLookup::Entry(id) if !has_referrals(self.core, self.database, view, id)? => id,
                found => {
                    if query.controls.domain_scope {
                        self.hide_referral(found)?;
                    }
                    self.referrals()
                        .resolve(view, self.decisions, &name, found)?
                }
            };
            (name, base)
        };
        let scope = query.request.scope;
        let region = Region { base, scope };
        self.require_base(&name, region).map_err(|refused| {
            self.referrals()
                .refusal(view, self.decisions, (&name, base), refused)
        })?;
        Ok(Some((name, region)))
    }

    /// Looks the name up, along aliases if the search follows them.
    fn dereferenced(&self) -> OpResult<Option<(Cow<'a, Dn>, NameLookup)>> {
        let failed = |error| result::store(&error);
        let name = &*self.query.base;
        if !self.query.request.deref.finding() {
            let found = self.view.find(name).map_err(failed)?;
            return Ok(Some((Cow::Borrowed(name), found)));
        }
        let depth_max = self.database.max_deref_depth;
        let followed = alias::follow(self.view, self.core, self.decisions, name, depth_max);
        match followed.map_err(failed)? {
            AliasResolution::Resolved(name, found) => Ok(Some((Cow::Owned(name), found))),
            AliasResolution::Problem(result) => Err(result),
            AliasResolution::TooMany => Ok(None),
        }
    }

    /// Requires the right to search from the base, and that the client's assertion is true of it.
    fn require_base(&self, name: &Dn, region: Region) -> OpResult {
        let failed = |error| result::store(&error);
        let (core, view) = (self.core, self.view);
        let facts = if self.decisions.uniform() {
            // No rule looks at the entry.
            EntryFacts::new(core, view, EntrySource::Missing)
        } else {
            EntryFacts::of(core, view, region.base).map_err(failed)?
        };
        let rights = facts.rights(self.decisions, name.normal());
        require(rights.entry().allows(Rights::SEARCH), "")?;
        let Some(assert) = &self.query.controls.assertion else {
            return Ok(());
        };
        let filter = Filter::resolve(&core.schema, &assert.filter);
        let requester = RequesterRights {
            stored_only: self.query.controls.manage_dsa_it,
            ..RequesterRights::new(core, self.database, self.decisions)
        };
        // The empty suffix is no entry that an assertion could be true of.
        if region.base == EntryId::ROOT {
            return Err(LdapResult::new(ResultCode::NoSuchObject));
        }
        let entry = computed::whole_entry(view, requester, region.base).map_err(failed)?;
        assertion::require(&core.schema, rights, &entry, &filter)
    }

    fn referrals(&self) -> Referrals<'a> {
        Referrals {
            core: self.core,
            scope: Some(self.query.request.scope),
            managed: self.query.controls.manage_dsa_it,
            ignored: self.query.controls.domain_scope,
        }
    }

    /// With the domain scope control a referral object does not exist, unless it is meant itself.
    fn hide_referral(&self, found: NameLookup) -> OpResult {
        let NameLookup::Entry(id) = found else {
            return Ok(());
        };
        let entry = self.view.entry(id).map_err(|error| result::store(&error))?;
        let is_referral = entry.is_some_and(|entry| self.core.types.is_referral(&entry));
        if !is_referral || self.query.controls.manage_dsa_it {
            return Ok(());
        }
        let (core, view, decisions) = (self.core, self.view, self.decisions);
        Err(disclosure::no_such_object(core, view, decisions, Some(id)))
    }
}
