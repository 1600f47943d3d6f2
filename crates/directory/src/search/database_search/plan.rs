//! The plan of a part: what the filter and the options of a search come to in one database.

use std::convert::Infallible;
use std::sync::Arc;

use fulgurite_access::Rights;
use fulgurite_ldap::{ResultCode, Scope};
use fulgurite_schema::{AttributeSelector, Filter};
use fulgurite_store::{StoreError, View};

use super::{DatabaseSearch, SearchSpec, SubentryVisibility};
use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::core::result::refuse;
use crate::rights::facts::{EntryFacts, EntrySource};
use crate::rights::requester_rights::RequesterRights;
use crate::search::chain::{ChainContext, ChainProgress};
use crate::search::filter::PreparedFilter;
use crate::search::output::SearchEnd;
use crate::search::regions::{Region, store_scope};

impl SearchSpec {
    /// Returns true if some entries are skipped, followed or returned as references.
    pub(super) fn has_special_entries(&self) -> bool {
        self.deref || self.references || self.hides_referrals || self.hides_glue
    }

    /// Forgets referral objects if there are none. Returns true if candidates must be tested for
    /// being subentries.
    pub(super) fn fit_to(
        &mut self,
        core: &Core,
        database: &Database,
        view: &View<'_>,
        base: Region,
    ) -> Result<bool, StoreError> {
        let types = &core.types;
        let holds = |class: &Filter<AttributeSelector>| {
            let plan = view.plan(base.base, store_scope(base.scope), class)?;
            Ok::<_, StoreError>(plan.count_max() > 0)
        };
        let wide = base.scope != Scope::Base;
        let kinds = database.special_classes(view, types, base.base)?;
        let referrals = wide && (self.deref || kinds.referrals && holds(&types.referral_filter)?);
        self.references &= referrals;
        self.hides_referrals &= referrals;
        self.hides_glue &= kinds.glue || self.deref;
        Ok(match self.visible {
            SubentryVisibility::AsNamed => {
                wide && (self.deref || kinds.subentries && holds(&types.subentry_filter)?)
            }
            SubentryVisibility::OnlySubentries | SubentryVisibility::NoSubentries => true,
        })
    }

    /// Returns the filter to plan: with referral objects, if they are returned as references.
    pub(super) fn planned(
        &self,
        filter: &Arc<Filter<AttributeSelector>>,
        core: &Core,
    ) -> Arc<Filter<AttributeSelector>> {
        let types = &core.types;
        let with = |class: &Filter<AttributeSelector>| vec![class.clone(), Filter::clone(filter)];
        if self.references {
            Arc::new(Filter::Or(with(&types.referral_filter)))
        } else if self.visible == SubentryVisibility::OnlySubentries {
            Arc::new(Filter::And(with(&types.subentry_filter)))
        } else {
            Arc::clone(filter)
        }
    }
}

impl<'d> DatabaseSearch<'d> {
    /// Plans with another filter, too. Entries are tested as before, so no right to search by its
    /// attributes is needed.
    pub(crate) fn narrow(&mut self, filter: &Filter<AttributeSelector>) {
        debug_assert!(self.chains.is_none() && self.member_items.is_none());
        let both = vec![filter.clone(), Filter::clone(&self.planned)];
        self.planned = Arc::new(Filter::And(both));
    }

    /// Replaces the in-chain items of the filter by the entries they lead to.
    pub(super) fn follow_chains(
        &mut self,
        view: &View<'d>,
        left: &mut usize,
    ) -> Result<Option<SearchEnd>, StoreError> {
        let Some(chains) = &mut self.chains else {
            return Ok(None);
        };
        let ground = ChainContext {
            core: self.core,
            database: self.database,
            view,
            decisions: &self.decisions,
            stored_only: self.spec.stored_only,
        };
        let found = match chains.step(&ground, left)? {
            ChainProgress::Pause => return Ok(None),
            ChainProgress::TooMany => {
                let text = "membership leads through too many entries";
                let result = refuse(ResultCode::AdminLimitExceeded, text);
                return Ok(Some(SearchEnd::plain(result)));
            }
            ChainProgress::Done(found) => found,
        };
        self.chains = None;
        let mut found = found.into_iter();
        let filter = Filter::clone(&self.spec.filter);
        let filter = filter.replace_chains::<Infallible>(&mut |_, _| {
            Ok(Filter::Entries(found.next().unwrap_or_default()))
        });
        let Ok(filter) = filter;
        self.spec.filter = Arc::new(filter.clone());
        self.planned = self.spec.planned(&self.spec.filter, self.core);
        self.tested = PreparedFilter::new(&filter, view, self.requester());
        Ok(None)
    }

    /// Plans with the members of the groups that the filter names.
    pub(super) fn plan_members(
        &mut self,
        view: &View<'d>,
        left: &mut usize,
    ) -> Result<(), StoreError> {
        let Some(items) = &mut self.member_items else {
            return Ok(());
        };
        let (memberships, filter) = (&self.database.memberships, &self.spec.filter);
        let requester = RequesterRights {
            stored_only: self.spec.stored_only,
            cache: self.lists.as_deref().map(|lists| &lists.cache),
            ..RequesterRights::new(self.core, self.database, &self.decisions)
        };
        if !items.step(requester, filter, view, left)? {
            return Ok(());
        }
        let members = Arc::new(items.planned(memberships, filter, view.schema()));
        let uniform = self.decisions.uniform() && !self.decisions.by_value();
        if uniform && self.planned_here {
            // Later snapshots have other members, so they test the filter as it is.
            let facts = EntryFacts::new(self.core, view, EntrySource::Missing);
            let rights = facts.rights(&self.decisions, "");
            let tested = items.tested(memberships, filter, |attribute| {
                rights.attribute(attribute).allows(Rights::SEARCH)
            });
            self.tested = PreparedFilter::new(&tested, view, requester);
        }
        self.planned = self.spec.planned(&members, self.core);
        self.member_items = None;
        Ok(())
    }
}
